"""The payout history over HTTP (CONTRACT §5). Explanations need messages, so they are in `devices.api`."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpResponseBase
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting.elsewhere import reads_elsewhere
from accounting.queries import the_property
from accounting.rules import parameters
from accounting.rules.spreadsheet import row as spreadsheet_row
from accounting.shell.downloads import download
from accounting.shell.negotiation import Negotiation
from tables.queries import payouts


class PayoutShown(serializers.Serializer[Any]):
    """Winnings of one line, or one envy entry, without the stake."""

    id = serializers.CharField()
    round = serializers.CharField()
    table = serializers.CharField()
    link = serializers.CharField(allow_null=True)
    level = serializers.CharField(allow_null=True)
    seat = serializers.IntegerField()
    hand = serializers.CharField(allow_null=True)
    kind = serializers.CharField()
    cents = serializers.IntegerField()
    state = serializers.CharField()
    slip = serializers.CharField(allow_null=True)
    dealt_at = serializers.DateTimeField(help_text="the deal as reported")
    counts_at = serializers.DateTimeField(help_text="the deal, or the receipt where the deal cannot be right")
    gaming_date = serializers.DateField(help_text="the gaming day that the ledger booked it on")


class PayoutPage(serializers.Serializer[Any]):
    """Payouts, newest first."""

    items = PayoutShown(many=True)
    next = serializers.CharField(allow_null=True)


class Csv(BaseRenderer):
    """Says that the list comes as CSV too; the rows are streamed by the view itself."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, media_type: str | None = None, context: Any = None) -> bytes:
        """Only an error comes here, and an error is JSON whatever was asked for."""
        return bytes(JSONRenderer().render(data))


# The columns of CONTRACT §5, then what a reader of spreadsheets would have to work out.
CSV_COLUMNS = (*payouts.COLUMNS, "dollars", "counts_at_local")


def csv_rows(found: Iterator[dict[str, Any]]) -> Iterator[str]:
    """One header row, then the payouts, with dollars and the house's own time beside cents and UTC."""
    yield spreadsheet_row(CSV_COLUMNS)
    zone: ZoneInfo | None = None
    for row in found:
        zone = zone or ZoneInfo(the_property().time_zone)
        local = datetime.fromisoformat(row["counts_at"]).astimezone(zone)
        dollars = f"{row['cents'] // 100}.{row['cents'] % 100:02d}"
        cells = [row[name] for name in payouts.COLUMNS]
        yield spreadsheet_row([*cells, dollars, f"{local:%Y-%m-%d %H:%M:%S %Z}"])


class Payouts(APIView):
    """The payout history."""

    renderer_classes = [JSONRenderer, Csv]
    content_negotiation_class = Negotiation

    @extend_schema(
        parameters=[OpenApiParameter(name, str) for name in payouts.FILTERS] + [OpenApiParameter("limit", int)],
        responses=PayoutPage,
    )
    @reads_elsewhere
    def get(self, request: Request) -> HttpResponseBase:
        """A page of payouts, newest first; `Accept: text/csv` streams all that match."""
        given = parameters.read(request.query_params.lists(), (*payouts.FILTERS, "limit", "format"))
        limit = given.whole("limit", least=1, most=payouts.MOST) or 100
        filters = {name: text for name, text in given.given.items() if name in payouts.FILTERS}
        if getattr(request.accepted_renderer, "format", "") == "csv":
            payouts.page(filters, limit=1)  # a bad filter is refused before the download begins
            return download(
                request._request, csv_rows(payouts.every(filters)), name="payouts.csv", content_type="text/csv"
            )
        found = payouts.page(filters, limit=limit)
        return Response({"items": found.items, "next": found.next})


# Named apart from the page of the same thing: of two addresses with one name, links lead to whichever was read last.
urlpatterns = [path("payouts", Payouts.as_view(), name="api-payouts")]
