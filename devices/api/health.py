"""Whether rounds can be accepted and are being settled. Open to everyone (CONTRACT §5)."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from drf_spectacular.utils import extend_schema
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from devices import queries
from devices.intake import directory

SILENT_SECONDS = 10.0


class StoppedShown(serializers.Serializer[Any]):
    """A stream that stands still for a fault of the service's: its rounds wait and are settled once it is mended."""

    stream = serializers.CharField()
    since = serializers.DateTimeField()
    reason = serializers.CharField()


class HealthShown(serializers.Serializer[Any]):
    """How the service does. Without a database the first three keys are all there is."""

    status = serializers.CharField(help_text="ok, or what is missing")
    queued = serializers.IntegerField(allow_null=True)
    oldest_unsettled_seconds = serializers.FloatField(allow_null=True)
    database = serializers.CharField(required=False)
    settling = serializers.CharField(required=False)
    last_sweep_seconds = serializers.FloatField(allow_null=True, required=False)
    stopped = StoppedShown(many=True, required=False)


class JsonWhateverIsAsked(BaseContentNegotiation):
    """A load balancer or browser that asks for something else gets the same answer."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The first parser."""
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first renderer."""
        return renderers[0], renderers[0].media_type


class Health(APIView):
    """Open to everyone; nobody is even asked who they are, which would need the database."""

    authentication_classes = []
    permission_classes = [AllowAny]
    content_negotiation_class = JsonWhateverIsAsked

    @extend_schema(responses={200: HealthShown, 503: HealthShown}, auth=[], operation_id="health")
    def get(self, request: Request) -> Response:
        """200 once rounds can be accepted, 503 while they cannot; `status` says what is missing, if anything is."""
        body, status = _health()
        return Response(body, status=status)


def _health() -> tuple[dict[str, Any], int]:
    try:
        found = queries.health()
        stopped = queries.stopped()
    except DatabaseError:
        return {"status": "no database", "queued": None, "oldest_unsettled_seconds": None}, 503
    now = timezone.now()
    waited = (now - found.oldest_received_at).total_seconds() if found.oldest_received_at else 0.0
    swept = (now - found.swept_at).total_seconds() if found.swept_at else None
    alive = swept is not None and swept < SILENT_SECONDS
    body: dict[str, Any] = {
        "status": "ok" if found.has_floor else "no floor",
        "queued": found.queued,
        "oldest_unsettled_seconds": round(max(0.0, waited), 3),
        "database": "ok",
        "settling": "ok" if alive else "silent",
        "last_sweep_seconds": None if swept is None else round(swept, 3),
        "stopped": StoppedShown(stopped, many=True).data,
    }
    if found.has_floor and not alive:
        body["status"] = "settling is silent"
    elif stopped:
        more = f" (and {len(stopped) - 1} more)" if len(stopped) > 1 else ""
        body["status"] = f"stream {stopped[0].stream}{more} stands still: {stopped[0].reason}"
    return body, 200 if found.has_floor else 503


class Queue(Collector):
    """What waits, read from the database when somebody asks."""

    def collect(self) -> list[GaugeMetricFamily]:
        """The queue's length and the age of its oldest message; nothing while there is no database."""
        try:
            found, stopped = queries.health(), queries.stopped()
        except DatabaseError:
            return []
        oldest = found.oldest_received_at
        waited = (timezone.now() - oldest).total_seconds() if oldest else 0.0
        return [
            GaugeMetricFamily("jackpot_queued_messages", "messages accepted and not settled yet", found.queued),
            GaugeMetricFamily("jackpot_oldest_unsettled_seconds", "age of the oldest of them", max(0.0, waited)),
            GaugeMetricFamily("jackpot_stopped_streams", "streams that stand still for a fault of ours", len(stopped)),
        ]

    def describe(self) -> list[GaugeMetricFamily]:
        """Registering must not read the database."""
        return []


REGISTRY.register(Queue())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics: for a scraper on this machine, a device key or a signed-in person."""
    local = request.META.get("REMOTE_ADDR") in ("127.0.0.1", "::1", "") and "X-Forwarded-For" not in request.headers
    known = request.user.is_authenticated or directory.caller(
        request.headers.get("Authorization", ""), directory.current()
    )
    if not ((local and not settings.HTTPS) or known):
        raise PermissionDenied("metrics are for this machine, a device key or a signed-in person")
    return ExportToDjangoView(request)
