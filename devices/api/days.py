"""Gaming days over HTTP: the closed ones with what was signed, the checklist of one, its readings, the file of heads."""

from datetime import date, datetime
from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.day_queries import house_days
from accounting.office.api.requests import StrictJson, refusals, somebody
from accounting.office.refusals import NotYours
from accounting.office.rules import asking
from accounting.office.rules.person import Person
from accounting.rules import parameters
from accounting.rules.acts import ActRefused
from accounting.rules.heads import Signed, to_file
from accounting.rules.moments import instant, is_moment
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER
from accounting.services import closed_days, readings
from devices.closing import checklist, sheet
from tables.rules.days import day_named

BOOKS_AND_AUDIT = frozenset({ACCOUNTING, CONTROLLER, AUDITOR})
"""Who sees the books: the roles of the pages under Accounting."""
READERS = frozenset({ACCOUNTING, CONTROLLER})
REFUSED = {
    403: OpenApiResponse(description="`not_your_role`"),
    404: OpenApiResponse(description="no such gaming day"),
    422: OpenApiResponse(description="`code` and `pointer` name the fault"),
}


class HeadShown(serializers.Serializer[Any]):
    """A stream's event that closed a day."""

    stream = serializers.CharField()
    sequence = serializers.IntegerField()
    hash = serializers.CharField(help_text="SHA-256, hexadecimal")
    signature = serializers.CharField(help_text="Ed25519, hexadecimal")


class ClosedDayShown(serializers.Serializer[Any]):
    """A closed gaming day."""

    day = serializers.DateField()
    number = serializers.IntegerField(help_text="of its closing, from 1")
    closed_at = serializers.DateTimeField()
    heads = HeadShown(many=True)
    digest = serializers.CharField(help_text="SHA-256 over the signed statement, hexadecimal")
    signature = serializers.CharField()
    public_key = serializers.CharField()


class ClosedDayPage(serializers.Serializer[Any]):
    """Closed days, newest first."""

    items = ClosedDayShown(many=True)
    next = serializers.CharField(allow_null=True)


class ItemShown(serializers.Serializer[Any]):
    """A line of the checklist."""

    code = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=[checklist.DONE, checklist.LISTED, checklist.OPEN])
    words = serializers.CharField()
    things = serializers.ListField(child=serializers.CharField())


class DayShown(serializers.Serializer[Any]):
    """A gaming day: closed, or what stands in the way. `sequences` is the payload that `day.close` would be proposed with."""

    day = serializers.DateField()
    is_closed = serializers.BooleanField()
    is_ready = serializers.BooleanField()
    began_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    checklist = ItemShown(many=True)
    sequences = serializers.DictField(child=serializers.IntegerField())


class ReadingsShown(serializers.Serializer[Any]):
    """The sheet of a gaming day; amounts are whole cents."""

    items = serializers.ListField(child=serializers.DictField())
    next = serializers.CharField(allow_null=True)


class ReadingsIn(serializers.Serializer[Any]):
    """Readings by hand, by LINK/LEVEL in whole cents, and when they were taken."""

    readings = serializers.DictField(child=serializers.IntegerField())
    read_at = serializers.DateTimeField()
    note = serializers.CharField(required=False)


class ExplanationIn(serializers.Serializer[Any]):
    """Why a reading differs."""

    text = serializers.CharField()


def _only(request: Request, roles: frozenset[str]) -> Person:
    by = somebody(request)
    if roles.isdisjoint(by.roles):
        raise NotYours(f"this is for {', '.join(sorted(roles))}")
    return by


def _day(text: str) -> date:
    first, today = house_days(timezone.now())
    try:
        found = day_named(text)
    except ActRefused as refusal:
        raise NotFound(str(refusal)) from None
    if not first <= found <= today:
        raise NotFound(f"gaming day {text} is before the house, or has not begun")
    return found


def _shown(signed: Signed) -> dict[str, Any]:
    return {
        "day": signed.statement.day.isoformat(),
        "number": signed.statement.number,
        "closed_at": signed.statement.closed_at,
        "heads": [
            {
                "stream": head.stream, "sequence": head.sequence, "hash": head.hash.hex(),
                "signature": signed.heads[head.stream].hex(),
            }
            for head in signed.statement.heads
        ],
        "digest": signed.statement.digest().hex(),
        "signature": signed.signature.hex(),
        "public_key": signed.public_key.hex(),
    }  # fmt: skip


SPAN = [OpenApiParameter("from", date), OpenApiParameter("to", date)]


class Days(APIView):
    """The closed days."""

    @extend_schema(parameters=SPAN, responses=REFUSED | {200: ClosedDayPage}, operation_id="days_list")
    def get(self, request: Request) -> Response:
        """Closed days from one to another, newest first."""
        given = parameters.read(request.query_params.lists(), ("from", "to"))
        with refusals():
            _only(request, BOOKS_AND_AUDIT)
        found = closed_days.signed_days(since=given.day("from"), until=given.day("to"))
        return Response({"items": [_shown(signed) for signed in reversed(found)], "next": None})


class Heads(APIView):
    """The signed heads as a file."""

    @extend_schema(parameters=SPAN, responses=REFUSED | {(200, "application/json"): dict}, operation_id="days_heads")
    def get(self, request: Request) -> HttpResponse:
        """The file that `manage.py verify --heads` compares the house with."""
        given = parameters.read(request.query_params.lists(), ("from", "to"))
        with refusals():
            _only(request, BOOKS_AND_AUDIT)
        found = closed_days.signed_days(since=given.day("from"), until=given.day("to"))
        return HttpResponse(to_file(found), content_type="application/json")


class OneDay(APIView):
    """One gaming day."""

    @extend_schema(responses=REFUSED | {200: DayShown}, operation_id="days_retrieve")
    def get(self, request: Request, day: str) -> Response:
        """A gaming day with its checklist as things stand."""
        parameters.read(request.query_params.lists(), ())
        with refusals():
            _only(request, BOOKS_AND_AUDIT)
        found = checklist.look(_day(day), at=timezone.now())
        return Response(
            {
                "day": found.day.isoformat(),
                "is_closed": found.is_closed,
                "is_ready": found.is_ready,
                "began_at": found.began_at,
                "ends_at": found.ends_at,
                "checklist": [
                    {
                        "code": item.code,
                        "title": item.title,
                        "state": item.state,
                        "words": item.words,
                        "things": item.things,
                    }
                    for item in found.items
                ],
                "sequences": found.sequences,
            }
        )


class Readings(APIView):
    """The readings of a gaming day."""

    parser_classes = [StrictJson]

    @extend_schema(responses=REFUSED | {200: ReadingsShown}, operation_id="days_readings")
    def get(self, request: Request, day: str) -> Response:
        """Every level with its prior reading, movements, what it should show and what was read."""
        parameters.read(request.query_params.lists(), ())
        with refusals():
            _only(request, BOOKS_AND_AUDIT)
        return self._sheet(_day(day), 200)

    @extend_schema(request=ReadingsIn, responses=REFUSED | {201: ReadingsShown}, operation_id="days_read")
    def post(self, request: Request, day: str) -> Response:
        """Put on record what a person read."""
        at = timezone.now()
        with refusals():
            by = _only(request, READERS)
            body = asking.keys_of(request.data, ("readings", "read_at", "note"))
            typed = body.get("readings")
            if type(typed) is not dict:
                raise ActRefused("invalid_value", "/readings", "an object of levels is expected")
            read_at, note = _moment(body.get("read_at")), asking.words(body, "note")
            sheet.read_by_hand(_day(day), typed, read_at=read_at, at=at, by=by.name, note=note, origin=by.origin)
        return self._sheet(_day(day), 201)

    @staticmethod
    def _sheet(day: date, status: int) -> Response:
        found = sheet.lines(day, at=timezone.now())
        return Response({"items": [sheet.shown(line) for line in found], "next": None}, status=status)


class Explanations(APIView):
    """Why a reading differs."""

    parser_classes = [StrictJson]

    @extend_schema(request=ExplanationIn, responses=REFUSED | {204: None}, operation_id="readings_explain")
    def post(self, request: Request, reading_id: int) -> Response:
        """Explain a reading."""
        with refusals():
            by, body = _only(request, READERS), asking.keys_of(request.data, ("text",))
            text = asking.words(body, "text")
            readings.explain(reading_id, text, at=timezone.now(), by=by.name, origin=by.origin)
        return Response(status=204)


class Signature(APIView):
    """Agreeing to a reading."""

    parser_classes = [StrictJson]

    @extend_schema(request=None, responses=REFUSED | {204: None}, operation_id="readings_sign_off")
    def post(self, request: Request, reading_id: int) -> Response:
        """Sign off somebody else's reading."""
        with refusals():
            by = _only(request, READERS)
            asking.keys_of(request.data, ())
            readings.sign_off(reading_id, at=timezone.now(), by=by.name, origin=by.origin)
        return Response(status=204)


def _moment(value: object) -> datetime:
    if not is_moment(value):
        raise ActRefused("invalid_value", "/read_at", "when the meters were read: a moment with its offset is expected")
    return instant(str(value))


urlpatterns = [
    path("days", Days.as_view(), name="api-days"),
    path("days/heads", Heads.as_view(), name="api-heads"),
    path("days/<str:day>", OneDay.as_view(), name="api-day"),
    path("days/<str:day>/readings", Readings.as_view(), name="api-readings"),
    path("readings/<int:reading_id>/explanations", Explanations.as_view(), name="api-reading-explanations"),
    path("readings/<int:reading_id>/signature", Signature.as_view(), name="api-reading-signature"),
]
