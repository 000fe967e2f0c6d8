"""Rounds over HTTP: posting them, one round, and the rounds of a stream in its order (CONTRACT §5)."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.event_queries import events_page
from accounting.queries import stream_exists
from accounting.rules import parameters
from accounting.rules.parameters import BadParameter, Parameters
from devices import posting, queries
from devices.intake import directory, inbox, significant, wakes
from devices.intake.directory import Caller

MOST = 1_000
USUAL = 100


class Receipt(serializers.Serializer[Any]):
    """What became of a posted message."""

    index = serializers.IntegerField()
    round = serializers.CharField(allow_null=True)
    table = serializers.CharField(allow_null=True)
    status = serializers.ChoiceField(["accepted", "duplicate", "refused", "reused"])
    code = serializers.CharField(required=False)
    pointer = serializers.CharField(required=False)


class RoundState(serializers.Serializer[Any]):
    """A round and its settlement; `sequence` is null while it is queued or held."""

    round = serializers.CharField()
    table = serializers.CharField()
    state = serializers.ChoiceField(["queued", "held", "settled", "void"])
    received_at = serializers.DateTimeField()
    stream = serializers.CharField()
    sequence = serializers.IntegerField(allow_null=True)
    message = serializers.JSONField()
    settlement = serializers.JSONField(allow_null=True)
    decided = serializers.JSONField(
        allow_null=True, help_text="what people decided of a held round, and by which message"
    )


class RoundPage(serializers.Serializer[Any]):
    """Rounds in stream order."""

    items = RoundState(many=True)
    next = serializers.CharField(allow_null=True)


class EventShown(serializers.Serializer[Any]):
    """Whatever took a number on a stream, with the digests it is chained by."""

    stream = serializers.CharField()
    sequence = serializers.IntegerField()
    kind = serializers.CharField()
    subject = serializers.CharField()
    gaming_date = serializers.DateField()
    original_date = serializers.DateField(allow_null=True)
    recorded_at = serializers.DateTimeField()
    rules = serializers.IntegerField(help_text="the rules edition that the event was decided by")
    received_at = serializers.DateTimeField(allow_null=True, help_text="of a round's message, which its hash covers")
    device_id = serializers.IntegerField(allow_null=True, help_text="the number of the device that sent it, likewise")
    message_digest = serializers.CharField()
    result_digest = serializers.CharField()
    previous = serializers.CharField()
    hash = serializers.CharField()
    act = serializers.CharField(allow_null=True, help_text="what people decided; null where a message is the cause")
    by = serializers.CharField(allow_null=True)
    result = serializers.JSONField(allow_null=True)


class EventPage(serializers.Serializer[Any]):
    """Events in stream order."""

    items = EventShown(many=True)
    next = serializers.CharField(allow_null=True)


class AnyBody(BaseParser):
    """Leaves the body alone: the door reads the bytes as they came."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> dict[str, Any]:
        """Nothing is parsed here."""
        return {}


def place(given: Parameters) -> tuple[int, int]:
    """Where in a stream's order a page begins and how long it is: `cursor` goes on from `after_sequence`."""
    after = given.whole("after_sequence", least=-1)
    cursor = given.whole("cursor", least=-1)
    limit = given.whole("limit", least=1, most=MOST)
    return next((number for number in (cursor, after) if number is not None), 0), limit or USUAL


class Rounds(APIView):
    """Posting round messages, and listing the rounds of a stream."""

    parser_classes = [AnyBody]

    @extend_schema(
        request=OpenApiTypes.OBJECT,
        parameters=[
            OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="`wait=2` waits for the settlement")
        ],
        responses={
            200: OpenApiResponse(description="a settlement that was waited for, or the receipt of a duplicate"),
            202: OpenApiResponse(Receipt, description="stored durably; an array is answered by a list of receipts"),
            400: OpenApiResponse(description="not JSON"),
            401: OpenApiResponse(description="no or unknown key"),
            403: OpenApiResponse(description="not this device's table; nothing stored"),
            409: OpenApiResponse(description="the reference was used for other content"),
            413: OpenApiResponse(description="more than 1,000 messages"),
            422: OpenApiResponse(description="refused at the door: `code` and `pointer` name the fault"),
        },
    )
    def post(self, request: Request) -> HttpResponse:
        """Store one message or an array of up to 1,000, durably, before answering (`devices.asgi` is the fast way in)."""
        known = directory.current()
        caller = request.user
        if not isinstance(caller, Caller):
            if request.user.is_authenticated:
                raise PermissionDenied("rounds are posted by devices, not by people")
            raise NotAuthenticated("a device key is required")
        post = posting.read(request.body, caller, known, timezone.now())
        if isinstance(post, posting.Problem):
            if post.noted is not None:
                significant.note([post.noted])
            return Response(post.body(), status=post.status, content_type="application/problem+json")
        arrivals = post.arrivals
        verdicts = inbox.accept(arrivals)
        if noted := posting.reused(post, verdicts, caller):
            significant.note(noted)
        wakes.wake({arrival.stream_id for arrival in arrivals})
        said = posting.answer(post, verdicts)
        kind = "application/problem+json" if said.problem else "application/json"
        return Response(said.body, status=said.status, content_type=kind)

    @extend_schema(
        parameters=[
            OpenApiParameter("stream", str, required=True),
            OpenApiParameter("after_sequence", int),
            OpenApiParameter("cursor", str),
            OpenApiParameter("limit", int),
        ],
        responses=RoundPage,
    )
    def get(self, request: Request) -> Response:
        """Rounds of a stream in its order; `next` is the sequence to go on after."""
        given = parameters.read(request.query_params.lists(), ("stream", "after_sequence", "cursor", "limit"))
        stream = given.text("stream")
        if stream is None:
            raise BadParameter("stream", "a link's or table's code is required")
        after, limit = place(given)
        if not stream_exists(stream):
            raise NotFound(f"no stream {stream}")
        found = queries.rounds_on(stream, after_sequence=after, limit=limit + 1)
        following = str(found[limit - 1].sequence) if len(found) > limit else None
        return Response({"items": [row.shown() for row in found[:limit]], "next": following})


class OneRound(APIView):
    """One round wherever it stands."""

    @extend_schema(responses=RoundState, operation_id="round_retrieve")
    def get(self, request: Request, path: str) -> Response:
        """A round by its table and reference, both percent-encoded."""
        found = queries.round_at(path)
        if found is None:
            raise NotFound("no round of this table and reference")
        return Response(found.shown())


class StreamEvents(APIView):
    """Whatever else than a round takes a number on a stream: opening, release, adjustment, day close (CONTRACT §5)."""

    @extend_schema(
        parameters=[
            OpenApiParameter("rounds", str, enum=["yes", "no"], description="`yes` lists the rounds among them"),
            OpenApiParameter("after_sequence", int, description="-1 shows the opening, which is number 0"),
            OpenApiParameter("cursor", str),
            OpenApiParameter("limit", int),
        ],
        responses=EventPage,
    )
    def get(self, request: Request, code: str) -> Response:
        """Events of a stream in its order, with the digests they are chained by."""
        given = parameters.read(request.query_params.lists(), ("rounds", "after_sequence", "cursor", "limit"))
        with_rounds = given.choice("rounds", ("yes", "no")) == "yes"
        after, limit = place(given)
        if not stream_exists(code):
            raise NotFound(f"no stream {code}")
        found = events_page(code, after_sequence=after, limit=limit + 1, with_rounds=with_rounds)
        following = str(found[limit - 1]["sequence"]) if len(found) > limit else None
        return Response({"items": queries.with_receipts(found[:limit]), "next": following})
