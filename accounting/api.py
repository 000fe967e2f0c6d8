"""The books over HTTP, for those who keep and audit them: chart, balances, statements, the general ledger (SPEC §9)."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from django.http import HttpResponseBase
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounting import book_queries, day_queries, general_ledger, queries
from accounting.addresses import place
from accounting.models import Account
from accounting.office.callers import person_of
from accounting.queries import Balance
from accounting.rules import parameters
from accounting.rules.accounts import named
from accounting.rules.chart import CHART, in_its_sign
from accounting.rules.parameters import BadParameter, Parameters
from accounting.rules.plain_text import dollars
from accounting.rules.spreadsheet import row
from accounting.shell.downloads import download
from accounting.shell.navigation import may_use

MOST = 1_000
CSV = "text/csv"


class KeepsBooks(BasePermission):
    """Whoever uses the pages of accounting; devices are nobody here."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Refuses with `not_your_role`."""
        if may_use("accounting", person_of(request).roles):
            return True
        raise PermissionDenied("the books are for accounting, its manager and auditors", "not_your_role")


class BooksView(APIView):
    """A part of the books."""

    permission_classes = [IsAuthenticated, KeepsBooks]


class BalanceShown(serializers.Serializer[Any]):
    """An account: debits less credits in cents, and the same in the sign of its kind."""

    account = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()
    type = serializers.ChoiceField(("asset", "liability", "income", "expense"))
    number = serializers.CharField(help_text="the house's own account number, empty where it has none")
    before_cents = serializers.IntegerField()
    debit_cents = serializers.IntegerField()
    credit_cents = serializers.IntegerField()
    balance_cents = serializers.IntegerField(help_text="debits less credits")
    in_its_sign_cents = serializers.IntegerField(help_text="positive on the side on which its kind usually stands")


class BalancePage(serializers.Serializer[Any]):
    """A trial balance."""

    items = BalanceShown(many=True)


class LineShown(serializers.Serializer[Any]):
    """One movement of an account, with its balance behind it."""

    gaming_date = serializers.DateField()
    original_date = serializers.DateField(allow_null=True)
    recorded_at = serializers.DateTimeField()
    stream = serializers.CharField()
    sequence = serializers.IntegerField()
    line = serializers.IntegerField()
    kind = serializers.CharField()
    subject = serializers.CharField()
    reason = serializers.CharField()
    other = serializers.CharField(help_text="the account on the other side")
    debit_cents = serializers.IntegerField()
    credit_cents = serializers.IntegerField()
    balance_cents = serializers.IntegerField()


class Statement(serializers.Serializer[Any]):
    """Movements in their order."""

    items = LineShown(many=True)
    next = serializers.CharField(allow_null=True)


BALANCE: tuple[str, ...] = (
    "account", "name", "kind", "type", "number", "before_cents", "debit_cents", "credit_cents", "balance_cents",
    "in_its_sign_cents",
)  # fmt: skip


def balances(given: Parameters) -> tuple[list[Balance], str]:
    """The trial balance that is asked for: of a gaming day, of a moment, else of now; and what it is of."""
    day, moment = given.day("day"), given.moment("at")
    if day is not None and moment is not None:
        raise BadParameter("at", "a day or a moment, not both")
    if moment is not None:
        return book_queries.balances_at(moment), moment.isoformat()
    chosen = day or day_queries.house_days(timezone.now())[1]
    return queries.trial_balance(chosen), chosen.isoformat()


def shown(balance: Balance, numbers: dict[str, str]) -> dict[str, Any]:
    """A balance as the API shows it."""
    return {
        "account": balance.code,
        "name": balance.name,
        "kind": balance.kind,
        "type": CHART[balance.kind].type,
        "number": numbers.get(balance.code, ""),
        "before_cents": balance.before_cents,
        "debit_cents": balance.debit_cents,
        "credit_cents": balance.credit_cents,
        "balance_cents": balance.after_cents,
        "in_its_sign_cents": in_its_sign(balance.kind, balance.after_cents),
    }


class TrialBalance(BooksView):
    """Every account on a gaming day or at a moment."""

    @extend_schema(
        parameters=[
            OpenApiParameter("day", date, description="a gaming day, today's unless given"),
            OpenApiParameter(
                "at", datetime, description="a moment: what had been recorded by then, from the beginning"
            ),
            OpenApiParameter("form", str, enum=["csv"]),
        ],
        responses=BalancePage,
        operation_id="books_trial_balance",
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Every account that had moved; `form=csv` as a file."""
        given = parameters.read(request.query_params.lists(), ("day", "at", "form"))
        found, of = balances(given)
        numbers = queries.house_numbers()
        items = [shown(balance, numbers) for balance in found]
        if given.choice("form", ("csv",)) is None:
            return Response({"items": items})
        amounts = [name for name in BALANCE if name.endswith("_cents")]
        rows = [row([*BALANCE, *(name.removesuffix("_cents") for name in amounts)])]
        rows += [row([*item.values(), *(dollars(item[name]) for name in amounts)]) for item in items]
        name = f"trial-balance-{of.replace(':', '')}.csv"
        return download(request._request, rows, name=name, content_type=CSV)


STATEMENT = ("from", "to", *book_queries.FILTERS)


class AccountStatement(BooksView):
    """The movements of one account."""

    @extend_schema(
        parameters=[
            OpenApiParameter("from", date, description="the first gaming day, the house's first unless given"),
            OpenApiParameter("to", date, description="the last gaming day, the last booked unless given"),
            *(OpenApiParameter(name, int if name.endswith("_cents") else str) for name in book_queries.FILTERS),
            OpenApiParameter("cursor", str),
            OpenApiParameter("limit", int),
            OpenApiParameter("form", str, enum=["csv"]),
        ],
        responses={200: Statement, 404: OpenApiResponse(description="no such account")},
        operation_id="books_statement",
    )
    def get(self, request: Request, code: str) -> HttpResponseBase:
        """Day by day, stream by stream in their order, with the account's balance behind each; `form=csv` streams all."""
        given = parameters.read(request.query_params.lists(), (*STATEMENT, "cursor", "limit", "form"))
        account = queries.account_named(code)
        if account is None:
            raise NotFound(f"no account {code}")
        first, last = period(given)
        filters, limit = book_queries.filters_of(given), given.whole("limit", least=1, most=MOST) or 100
        if given.choice("form", ("csv",)) is not None:
            name = f"statement-{first}-{last}.csv"
            return download(
                request._request, statement_rows(account, first, last, filters), name=name, content_type=CSV
            )
        found = book_queries.statement(account, first, last, filters, after=place(given, "cursor"), limit=limit + 1)
        following = found[limit - 1].place.text if len(found) > limit else None
        return Response({"items": [line_shown(line) for line in found[:limit]], "next": following})


def period(given: Parameters) -> tuple[date, date]:
    """The gaming days asked for, all that are booked unless given; BadParameter where they end before they begin."""
    booked = book_queries.days_booked(timezone.now())
    first, last = given.day("from") or booked[0], given.day("to") or booked[1]
    if last < first:
        raise BadParameter("to", "a day that is not before from is expected")
    return first, last


LINE: tuple[str, ...] = (
    "gaming_date", "original_date", "recorded_at", "stream", "sequence", "line", "kind", "subject", "reason", "other",
    "debit_cents", "credit_cents", "balance_cents",
)  # fmt: skip


def line_shown(line: book_queries.Line) -> dict[str, Any]:
    """A line of a statement as the API shows it."""
    return {name: line.day if name == "gaming_date" else getattr(line, name) for name in LINE}


def statement_rows(account: Account, first: date, last: date, filters: dict[str, Any]) -> Iterator[str]:
    """A statement as CSV: one header row, then every line, with dollars beside the cents."""
    yield row(["account", "name", *LINE, "debit", "credit", "balance"])
    name = named(account.code)
    for line in book_queries.every_line(account, first, last, filters):
        values = line_shown(line) | {"recorded_at": line.recorded_at.isoformat()}
        amounts = (line.debit_cents, line.credit_cents, line.balance_cents)
        yield row([account.code, name, *values.values(), *map(dollars, amounts)])


FORMS = ("csv", "journal")
GENERAL_LEDGER = ("from", "to", "form", "detail", "carried")


class GeneralLedger(BooksView):
    """What goes to the house's general ledger."""

    @extend_schema(
        parameters=[
            OpenApiParameter("from", date, description="the first gaming day, the house's first unless given"),
            OpenApiParameter("to", date, description="the last gaming day, the last booked unless given"),
            OpenApiParameter("form", str, enum=FORMS, description="CSV, or a journal that hledger and beancount read"),
            OpenApiParameter(
                "detail", str, enum=general_ledger.LEVELS_OF_DETAIL, description="sums by day, or transfers"
            ),
            OpenApiParameter(
                "carried", str, enum=["yes"], description="a journal that begins with what is brought forward"
            ),
        ],
        responses={(200, CSV): str, (200, "text/plain"): str},
        operation_id="books_general_ledger",
    )
    def get(self, request: Request) -> HttpResponseBase:
        """A file, written while it is sent."""
        given = parameters.read(request.query_params.lists(), GENERAL_LEDGER)
        first, last = period(given)
        form = given.choice("form", FORMS) or "csv"
        detail = given.choice("detail", general_ledger.LEVELS_OF_DETAIL) or general_ledger.DAYS
        carried = given.choice("carried", ("yes",)) is not None
        name = f"general-ledger-{first}-{last}-{detail}"
        if form == "csv":
            if carried:
                raise BadParameter("carried", "only a journal begins with what is brought forward")
            rows = general_ledger.csv(first, last, detail)
            return download(request._request, rows, name=f"{name}.csv", content_type=CSV)
        text = general_ledger.journal(first, last, detail, carried=carried)
        return download(request._request, text, name=f"{name}.journal", content_type="text/plain")


urlpatterns = [
    path("books/trial-balance", TrialBalance.as_view(), name="api-trial-balance"),
    path("books/general-ledger", GeneralLedger.as_view(), name="api-general-ledger"),
    path("books/accounts/<anything:code>", AccountStatement.as_view(), name="api-statement"),
]
