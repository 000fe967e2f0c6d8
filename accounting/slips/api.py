"""Slips over HTTP: the register as JSON and CSV, one slip, its prints; who won."""

import csv
import secrets
from collections.abc import Iterator
from io import StringIO
from typing import Any

from django.http import HttpResponseBase
from django.urls import path
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.office.api.requests import Refused, StrictJson, refusals, somebody
from accounting.office.callers import person_of
from accounting.office.refusals import NotYours
from accounting.office.rules.person import Person
from accounting.rules import parameters
from accounting.rules.acts import LONGEST_TEXT, escaped
from accounting.shell.downloads import download
from accounting.shell.navigation import may_use
from accounting.shell.negotiation import Negotiation
from accounting.slips import queries
from accounting.slips.rules.register import PRINTS, STATES, slip_name
from accounting.slips.rules.winners import LOOKS, TAKES_DOWN
from accounting.slips.services import printing, winners

COLUMNS = (
    "slip", "state", "kind", "subject", "table", "link", "seat", "hand", "cents", "method", "form", "gaming_date",
    "issued_at", "prepared_by", "paid_at", "paid_by", "void_at", "void_by", "void_agreed_by", "void_reason", "replaces",
    "replaced_by", "override", "complete",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")


class SlipRow(serializers.Serializer[Any]):
    """A slip on one line of the register; whole cents."""

    slip = serializers.CharField()
    state = serializers.ChoiceField(choices=STATES)
    kind = serializers.CharField()
    subject = serializers.CharField(help_text="the hit or envy payout that it is for")
    table = serializers.CharField()
    link = serializers.CharField()
    seat = serializers.IntegerField()
    hand = serializers.CharField()
    cents = serializers.IntegerField()
    method = serializers.CharField()
    form = serializers.CharField()
    gaming_date = serializers.DateField()
    issued_at = serializers.DateTimeField()
    prepared_by = serializers.CharField()
    paid_at = serializers.DateTimeField(allow_null=True)
    paid_by = serializers.CharField(allow_null=True)
    void_at = serializers.DateTimeField(allow_null=True)
    void_by = serializers.CharField(allow_null=True)
    void_reason = serializers.CharField(allow_null=True)
    void_agreed_by = serializers.CharField(allow_null=True)
    replaces = serializers.CharField(allow_null=True)
    replaced_by = serializers.CharField(allow_null=True)
    override = serializers.CharField()
    complete = serializers.BooleanField()


class SlipPage(serializers.Serializer[Any]):
    """Slips, the highest number first."""

    items = SlipRow(many=True)
    next = serializers.CharField(allow_null=True)


class Csv(BaseRenderer):
    """Says that the register comes as CSV too; the rows are written by the view itself."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        """Only an error comes here, and an error is JSON whatever was asked for."""
        return bytes(JSONRenderer().render(data))


def csv_rows(found: Iterator[dict[str, Any]]) -> str:
    """One header row, then the slips with dollars beside cents; no text that a spreadsheet would run as a formula."""
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow((*COLUMNS, "dollars"))
    for row in found:
        cells = [row[name] for name in COLUMNS]
        writer.writerow([*map(_cell, cells), f"{row['cents'] // 100}.{row['cents'] % 100:02d}"])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _may_read(request: Request) -> None:
    """Slips are for the people whose pages they are; a device has nothing to do with them. NotYours as 403."""
    if not may_use("slips", person_of(request).roles):
        raise Refused(403, NotYours.code, "slips are not for this role")


class Slips(APIView):
    """The register of slips."""

    renderer_classes = [JSONRenderer, Csv]
    content_negotiation_class = Negotiation

    @extend_schema(
        parameters=[OpenApiParameter(name, str) for name in queries.FILTERS] + [OpenApiParameter("limit", int)],
        responses=SlipPage,
        operation_id="slips_list",
    )
    def get(self, request: Request) -> HttpResponseBase:
        """A page of slips; `Accept: text/csv` has all that match. `from` and `to` are gaming days or moments of issue."""
        _may_read(request)
        given = parameters.read(request.query_params.lists(), (*queries.FILTERS, "limit", "format"))
        limit = given.whole("limit", least=1, most=queries.MOST) or 100
        filters = {name: text for name, text in given.given.items() if name in queries.FILTERS}
        if getattr(request.accepted_renderer, "format", "") == "csv":
            queries.page(filters, limit=1)  # a bad filter is refused before the download begins
            return download(
                request._request, csv_rows(queries.every(filters)), name="slips.csv", content_type="text/csv"
            )
        found = queries.page(filters, limit=limit)
        return Response({"items": found.items, "next": found.next})


class OneSlip(APIView):
    """One slip."""

    @extend_schema(responses={200: OpenApiTypes.OBJECT}, operation_id="slip")
    def get(self, request: Request, name: str) -> Response:
        """A slip with what it says, what became of it, its prints and tax forms, without who won."""
        _may_read(request)
        found = queries.slip_named(name)
        if found is None:
            raise NotFound(f"no slip {name}")
        return Response(queries.slip_shown(found))


class Prints(APIView):
    """The prints of a slip."""

    @extend_schema(request=None, responses={201: OpenApiTypes.OBJECT}, operation_id="slip_print")
    def post(self, request: Request, name: str) -> Response:
        """Print it once more: the first print is the original, every other a duplicate that says so."""
        _may_read(request)
        person = somebody(request)
        if PRINTS.isdisjoint(person.roles):
            raise Refused(403, NotYours.code, "slips are printed by those who pay and those who keep the books")
        found = queries.slip_named(name)
        if found is None:
            raise NotFound(f"no slip {name}")
        made = printing.print_slip(found.number, by=person.name, at=timezone.now(), origin=person.origin)
        return Response(
            {"slip": slip_name(found.number), "copy": made.copy, "at": made.at, "by": made.by,
             "digest": bytes(made.digest).hex()},
            status=201,
        )  # fmt: skip


class Winners(APIView):
    """Who won, taken down for tax forms. Nothing that was taken down is answered here."""

    parser_classes = [StrictJson]

    @extend_schema(request=OpenApiTypes.OBJECT, responses={201: OpenApiTypes.OBJECT}, operation_id="winners_take_down")
    def post(self, request: Request) -> Response:
        """`{subject, payees: [{name, address, taxpayer_number?, first_id, second_id, share_cents}]}`; shares total the payout."""
        person = _one_of(request, TAKES_DOWN, "who won is taken down by those who pay and those who keep the books")
        given = _body(request, ("subject", "payees"))
        with refusals():
            made = winners.take_down(
                given["subject"], given["payees"], by=person.name, at=timezone.now(), random=secrets.token_bytes,
                origin=person.origin,
            )  # fmt: skip
        return Response({"subject": given["subject"], "edition": made[0].edition, "payees": len(made)}, status=201)


class Looks(APIView):
    """Who won, for those who file tax forms: each look is on record before anything is answered."""

    parser_classes = [StrictJson]

    @extend_schema(request=OpenApiTypes.OBJECT, responses={200: OpenApiTypes.OBJECT}, operation_id="winners_look")
    def post(self, request: Request) -> Response:
        """`{subject, reason}`: the payees in clear, with their shares."""
        person = _one_of(request, LOOKS, "who won is shown to those who file tax forms")
        given = _body(request, ("subject", "reason"))
        with refusals():
            found = winners.look(
                given["subject"], by=person.name, at=timezone.now(), reason=given["reason"], origin=person.origin
            )
        return Response({"subject": given["subject"], "payees": found})


def _one_of(request: Request, roles: frozenset[str], why: str) -> Person:
    """The person who asks, of one of these roles; 403 for everybody else."""
    person = person_of(request)
    if roles.isdisjoint(person.roles):
        raise Refused(403, NotYours.code, why)
    return person


def _body(request: Request, names: tuple[str, str]) -> dict[str, Any]:
    """An object with exactly these keys, the texts among them texts; 422 with the pointer of the first fault."""
    given = request.data
    if type(given) is not dict:
        raise Refused(422, "invalid_value", "an object is expected", "")
    for key in given:
        if key not in names:
            raise Refused(422, "unknown_field", f"there is no {key}", f"/{escaped(str(key))}")
    for name in names:
        if name not in given:
            raise Refused(422, "missing_field", f"{name} is missing", f"/{name}")
        value = given[name]
        if name != "payees" and (type(value) is not str or len(value) > LONGEST_TEXT or "\0" in value):
            raise Refused(422, "invalid_value", f"{name} is a text", f"/{name}")
    return given


urlpatterns = [
    path("winners", Winners.as_view(), name="api-winners"),
    path("winners/looks", Looks.as_view(), name="api-winner-looks"),
    path("slips", Slips.as_view(), name="api-slips"),
    path("slips/<str:name>", OneSlip.as_view(), name="api-slip"),
    path("slips/<str:name>/prints", Prints.as_view(), name="api-slip-prints"),
]
