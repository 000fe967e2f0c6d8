"""A device's sign of life (REQUIREMENTS R22): without one for a while, its tables' progressives are closed."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from devices.intake import contact
from devices.intake.directory import Caller


class Heard(serializers.Serializer[Any]):
    """When the sign of life came by our clock, and after how many seconds without the next one the device is silent."""

    heard_at = serializers.DateTimeField(allow_null=True)
    silent_after_seconds = serializers.FloatField()


class Known(Heard):
    """The same, with the device's tables whose progressives are closed because nothing is heard of them."""

    closed = serializers.ListField(child=serializers.CharField())


class Heartbeat(APIView):
    """Devices say that they are there; whoever has done so once is listened for."""

    @extend_schema(
        responses={200: Known, 404: OpenApiResponse(description="only devices give signs of life")},
        operation_id="heartbeat_retrieve",
    )
    def get(self, request: Request) -> Response:
        """When the device that asks was heard of last; null where it never was."""
        if not isinstance(request.user, Caller):
            raise NotFound("only devices give signs of life")
        heard_at = contact.heard_at(request.user.id)
        closed = (
            [] if heard_at is None else [each.table for each in contact.silent() if each.table in request.user.tables]
        )
        return Response(Known(_answer(heard_at) | {"closed": closed}).data)

    @extend_schema(
        request=None,
        responses={
            200: Heard,
            401: OpenApiResponse(description="no key, or an unknown one"),
            403: OpenApiResponse(description="only devices give signs of life"),
        },
        operation_id="heartbeat_create",
    )
    def post(self, request: Request) -> Response:
        """Note that a device is there. Its tables' progressives, closed for its silence, open within seconds."""
        if not isinstance(request.user, Caller):
            raise PermissionDenied("only devices give signs of life")
        at = timezone.now()
        contact.hear(request.user.id, at=at)
        return Response(Heard(_answer(at)).data)


def _answer(heard_at: datetime | None) -> dict[str, Any]:
    return {"heard_at": heard_at, "silent_after_seconds": settings.JACKPOT_SILENT_SECONDS}
