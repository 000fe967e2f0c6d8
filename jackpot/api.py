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
from jackpot import hit_queries, queries
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
    contributed_cents = serializers.IntegerField(
        help_text="wagers × rate of rounds and locks, what overflowed of it included, for ever; nothing lowers it"
    )
    contributed_residual_millionths = serializers.IntegerField()
    reserved_cents = serializers.IntegerField(help_text="wagers × reserve rate, for ever")
    reserved_residual_millionths = serializers.IntegerField()
    overflowed_cents = serializers.IntegerField(help_text="what the limit kept off the display, for ever")
    overflowed_residual_millionths = serializers.IntegerField()
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


class StepShown(serializers.Serializer[Any]):
    """A step that a hit has taken."""

    state = serializers.ChoiceField(choices=hit_queries.STATES)
    at = serializers.DateTimeField()
    by = serializers.CharField()
    note = serializers.CharField()


class HitShown(serializers.Serializer[Any]):
    """An award of a share of a level, locked when it was detected; `order` is its number on its link."""

    hit = serializers.CharField()
    link = serializers.CharField()
    level = serializers.CharField()
    order = serializers.IntegerField()
    table = serializers.CharField()
    round = serializers.CharField()
    seat = serializers.IntegerField()
    hand = serializers.CharField()
    share_ppm = serializers.IntegerField()
    meter_before_cents = serializers.IntegerField()
    paid_cents = serializers.IntegerField()
    meter_after_cents = serializers.IntegerField()
    state = serializers.ChoiceField(choices=hit_queries.STATES)
    steps = StepShown(many=True)
    detected_at = serializers.DateTimeField()


class HitPage(serializers.Serializer[Any]):
    """Hits, newest first."""

    items = HitShown(many=True)
    next = serializers.CharField(allow_null=True)


class Hits(APIView):
    """The hits of all links."""

    @extend_schema(
        parameters=[OpenApiParameter(name, str) for name in hit_queries.FILTERS] + [OpenApiParameter("limit", int)],
        responses=HitPage,
        operation_id="hits_list",
    )
    def get(self, request: Request) -> Response:
        """A page of hits; `from` and `to` are gaming days or moments of detection."""
        given = parameters.read(request.query_params.lists(), (*hit_queries.FILTERS, "limit"))
        limit = given.whole("limit", least=1, most=hit_queries.MOST) or 100
        found = hit_queries.page({name: text for name, text in given.given.items() if name != "limit"}, limit=limit)
        return Response({"items": found.items, "next": found.next})


class OneHit(APIView):
    """One hit."""

    @extend_schema(responses=HitShown)
    def get(self, request: Request, hit: str) -> Response:
        """A hit with its steps."""
        found = hit_queries.hit_named(hit)
        if found is None:
            raise NotFound(f"no hit {hit}")
        return Response(found)


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
    path("hits", Hits.as_view(), name="api-hits"),
    path("hits/<path:hit>", OneHit.as_view(), name="api-hit"),
    path("links", Links.as_view(), name="links"),
    path("links/<path:code>/stream", LinkStream.as_view(), name="link-stream"),
    path("links/<path:code>", OneLink.as_view(), name="link"),
]
