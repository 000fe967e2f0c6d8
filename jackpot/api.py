"""Links and their meters over HTTP (CONTRACT §5)."""

from typing import Any

from django.http import HttpResponse
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.rules import parameters
from jackpot import queries
from jackpot.feeds import NUMBERED, invitation


class LevelShown(serializers.Serializer[Any]):
    """A level as it stands."""

    code = serializers.CharField()
    value_cents = serializers.IntegerField()
    residual_millionths = serializers.IntegerField()
    reserve_cents = serializers.IntegerField()
    reserve_residual_millionths = serializers.IntegerField()
    overflow_cents = serializers.IntegerField()
    overflow_residual_millionths = serializers.IntegerField()
    wagers = serializers.IntegerField(help_text="accepted progressive wagers of settled rounds, for ever")
    hits = serializers.IntegerField(help_text="awards of any share, for ever")
    wins_cents = serializers.IntegerField()
    state = serializers.CharField()


class LinkShown(serializers.Serializer[Any]):
    """A link with its levels."""

    code = serializers.CharField()
    name = serializers.CharField()
    state = serializers.CharField()
    levels = LevelShown(many=True)


class LinkPage(serializers.Serializer[Any]):
    """A list of links; they fit on one page."""

    items = LinkShown(many=True)
    next = serializers.CharField(allow_null=True)


class Links(APIView):
    """Every link of the property."""

    @extend_schema(responses=LinkPage, operation_id="links_list")
    def get(self, request: Request) -> Response:
        """Links with their levels."""
        parameters.read(request.query_params.lists(), ())
        return Response({"items": queries.link_states(), "next": None})


class OneLink(APIView):
    """One link."""

    @extend_schema(responses=LinkShown)
    def get(self, request: Request, code: str) -> Response:
        """A link with its levels."""
        found = queries.link_states(code)
        if not found:
            raise NotFound(f"no link {code}")
        return Response(found[0])


class EventStreamOnly(BaseContentNegotiation):
    """What a browser asks an event stream for is `text/event-stream`, whatever renderer documents it."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The first parser."""
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first renderer, which only a refusal needs."""
        return renderers[0], renderers[0].media_type


class LinkStream(APIView):
    """Server-sent events of a link: `meter`, `hit` and `state`."""

    content_negotiation_class = EventStreamOnly
    http_method_names = ["get", "options"]  # an invitation alone is nobody's business

    @extend_schema(
        responses={(200, "text/event-stream"): str},
        parameters=[OpenApiParameter("Last-Event-ID", int, OpenApiParameter.HEADER)],
    )
    def get(self, request: Request, code: str) -> HttpResponse:
        """The event stream; `jackpot.asgi` serves it to those who may have it."""
        found = queries.link_key(code)
        if found is None:
            raise NotFound(f"no link {code}")
        return invitation([(code, *found)], NUMBERED)


urlpatterns = [
    path("links", Links.as_view(), name="links"),
    path("links/<path:code>/stream", LinkStream.as_view(), name="link-stream"),
    path("links/<path:code>", OneLink.as_view(), name="link"),
]
