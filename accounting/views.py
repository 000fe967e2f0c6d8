"""Pages of accounting: the trial balance, statements of accounts, the chart, what is exported, the audit trail."""

import json
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounting import book_queries, day_queries, event_queries, made_reports, queries
from accounting.addresses import day_named, place
from accounting.rules import parameters
from accounting.rules.accounts import named
from accounting.rules.chart import CHART, CREDIT, DEBIT, kind_of, worked_examples
from accounting.rules.events import KINDS, LOCK, REASONS, ROUND
from accounting.rules.moments import instant, is_moment, moment_of
from accounting.rules.parameters import BadParameter
from accounting.rules.roles import ACCOUNTING, CONTROLLER
from accounting.services import house_numbers
from accounting.shell.pages import page, roles_of

AUDIT_PAGE = 50
LINES_SHOWN = 200
BOOKKEEPERS = frozenset({ACCOUNTING, CONTROLLER})
"""Who gives accounts the house's numbers; auditors look."""


@page(None)
def clock(request: HttpRequest) -> HttpResponse:
    """The gaming day and the time in the header, read anew now and then."""
    return render(request, "clock.html")


@page("accounting")
def trial_balance(request: HttpRequest, day: str | None = None) -> HttpResponse:
    """Every account's balance on one gaming day, without one on the day that it is now; or as it was at a moment."""
    given = parameters.read(request.GET.lists(), ("at",))
    first, today = day_queries.house_days(timezone.now())
    chosen, moment = day_named(day) if day else today, _typed(given.text("at"))
    balances = queries.trial_balance(chosen) if moment is None else book_queries.balances_at(moment)
    earlier, later = day_queries.days_around(chosen)
    numbers = queries.house_numbers()
    context = {
        "day": chosen,
        "moment": moment,
        "exact": None if moment is None else moment.isoformat(),
        "at": None if moment is None else timezone.localtime(moment).strftime("%Y-%m-%dT%H:%M:%S"),
        "is_today": chosen == today,
        "first": first,
        "not_begun": moment is None and chosen > today,
        "before_the_house": moment is None and chosen < first,
        "earlier": earlier,
        "later": later,
        "closed_at": day_queries.closed_at(chosen),
        "balances": [(balance, numbers.get(balance.code, "")) for balance in balances],
        "numbers": numbers,
        "debits": sum(balance.debit_cents for balance in balances),
        "credits": sum(balance.credit_cents for balance in balances),
        "debit_balances": sum(max(balance.after_cents, 0) for balance in balances),
        "credit_balances": sum(max(-balance.after_cents, 0) for balance in balances),
    }
    return render(request, "accounting/trial_balance.html", context)


def _typed(text: str | None) -> datetime | None:
    """A moment as it was typed on the property's clock, or with its offset; None where it was not. BadParameter `at`."""
    if text is None:
        return None
    try:
        found = moment_of(text, ZoneInfo(queries.the_property().time_zone))
    except ValueError as fault:
        raise BadParameter("at", str(fault)) from None
    if not is_moment(found):
        raise BadParameter("at", "a date and time like 2026-11-27T22:00 is expected")
    return instant(found)


STATEMENT = ("to", "stream", "reason", "other", "kind", "subject", "min", "max")
"""As on the API, but for amounts, which people type in dollars."""


@page("accounting")
def statement(request: HttpRequest, day: str, code: str) -> HttpResponse:
    """What moved on one account, from a gaming day to the end of it or of a later one, with its balance behind each line."""
    given = parameters.read(request.GET.lists(), (*STATEMENT, "after"))
    first, account = day_named(day), queries.account_named(code)
    if account is None:
        raise Http404(f"no account {code}")
    last = given.day("to") or first
    if last < first:
        raise BadParameter("to", f"a day that is not before {first} is expected")
    amounts = {"min_cents": given.dollars("min"), "max_cents": given.dollars("max")}
    filters = book_queries.filters_of(given) | amounts
    found = book_queries.statement(account, first, last, filters, after=place(given, "after"), limit=LINES_SHOWN + 1)
    debits, credits = book_queries.turnover(account, first, last)
    before = book_queries.brought_forward(account, first)
    asked = {name: given.given[name] for name in STATEMENT if name in given}
    context = {
        "day": first,
        "to": last,
        "account": account,
        "name": named(code),
        "kind": CHART[account.kind],
        "number": queries.house_numbers().get(code, ""),
        "lines": found[:LINES_SHOWN],
        "before_cents": before,
        "debits": debits,
        "credits": credits,
        "balance_cents": before + debits - credits,
        "given": given.given,
        "filtered": any(name != "to" for name in asked),
        "reasons": REASONS,
        "kinds": KINDS,
        "streams": book_queries.streams(),
        "accounts": [each.code for each in book_queries.accounts()],
        "after": "after" in given,
        "asked": urlencode(asked),
        "file": urlencode(
            {name: value for name, value in filters.items() if value is not None}
            | {"from": first, "to": last, "form": "csv"}
        ),
        "next": found[LINES_SHOWN - 1].place.text if len(found) > LINES_SHOWN else None,
    }
    return render(request, "accounting/statement.html", context)


@page("accounting")
def event(request: HttpRequest, stream: str, sequence: int) -> HttpResponse:
    """One event of the ledger: what it booked, what it was decided from and came to, and its place in the chain."""
    parameters.read(request.GET.lists(), ())
    found = book_queries.event_of(stream, sequence)
    if found is None:
        raise Http404(f"no event {sequence} of {stream}")
    stream_id, shown = found
    transfers = event_queries.transfers_of(stream_id, sequence)
    documents = event_queries.documents_of(stream_id, sequence)
    asked = json.loads(documents["cause"]) if documents else {}
    context = {
        "event": shown,
        "is_message": shown["kind"] in (ROUND, LOCK),
        "about_a_round": shown["kind"].startswith(("round", "lock")),
        "transfers": transfers,
        "total_cents": sum(transfer["amount_cents"] for transfer in transfers),
        "documents": documents,
        "asked": asked,
        "last": book_queries.last_sequence(stream_id),
    }
    return render(request, "accounting/event.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@page("accounting")
def chart(request: HttpRequest) -> HttpResponse:
    """The chart of accounts: what each kind holds and on which side it stands; the house's own numbers, to be changed."""
    parameters.read(request.GET.lists(), ())
    may_change = not roles_of(request).isdisjoint(BOOKKEEPERS)
    refusal, typed = None, queries.house_numbers()
    if request.method == "POST":
        if not may_change:
            raise PermissionDenied("Only accounting gives accounts their numbers.")
        typed = {name.removeprefix("number:"): str(text).strip() for name, text in request.POST.items() if ":" in name}
        try:
            count = house_numbers.give(
                typed, by=request.user.get_username(), at=timezone.now(), origin=request.META.get("REMOTE_ADDR", "")
            )
        except house_numbers.NumberRefused as refused:
            refusal = refused
        else:
            said = "1 number was changed." if count == 1 else f"{count} numbers were changed."
            messages.success(request, said if count else "Nothing was changed.")
            return redirect("chart")
    accounts = [(account, named(account.code), typed.get(account.code, "")) for account in book_queries.accounts()]
    context = {
        "kinds": [
            {"kind": kind, "of": of, "accounts": [each for each in accounts if each[0].kind == kind]}
            for kind, of in CHART.items()
        ],
        "may_change": may_change,
        "refusal": refusal,
        "without": sum(not number for _, _, number in accounts),
    }
    return render(request, "accounting/chart.html", context, status=400 if refusal else 200)


@page("accounting")
def postings(request: HttpRequest) -> HttpResponse:
    """What events of every kind book, each on an example that was really recorded."""
    parameters.read(request.GET.lists(), ())
    examples = [example | {"rows": [_posted(row) for row in example["transfers"]]} for example in worked_examples()]
    context = {
        "examples": [example for example in examples if example["rows"]],
        "silent": [example for example in examples if not example["rows"]],
    }
    return render(request, "accounting/postings.html", context)


def _posted(transfer: dict[str, Any]) -> dict[str, Any]:
    """A transfer with what it does to each of its accounts in the account's own sign."""
    debit, credit = CHART[kind_of(transfer["debit"])], CHART[kind_of(transfer["credit"])]
    return transfer | {"debit_grows": debit.side == DEBIT, "credit_grows": credit.side == CREDIT}


@page("accounting")
def export(request: HttpRequest) -> HttpResponse:
    """What goes to the house's general ledger: which days, in which form."""
    given = parameters.read(request.GET.lists(), ())
    first, last = book_queries.days_booked(timezone.now())
    numbers = queries.house_numbers()
    without = [account.code for account in book_queries.accounts() if account.code not in numbers]
    context = {"first": first, "last": last, "without": without, "given": given.given}
    return render(request, "accounting/export.html", context)


@page("audit")
def audit(request: HttpRequest) -> HttpResponse:
    """The audit trail by key, the chain heads of all streams, and how to verify both."""
    given = parameters.read(request.GET.lists(), ("before", "subject"))
    before, subject = given.whole("before", least=1), given.text("subject") or ""
    records = queries.audit_records(before=before, subject=subject, limit=AUDIT_PAGE + 1)
    context = {
        "records": records[:AUDIT_PAGE],
        "older": records[AUDIT_PAGE - 1].pk if len(records) > AUDIT_PAGE else None,
        "before": before,
        "subject": subject,
        "heads": queries.stream_heads(),
        "audit_head": queries.audit_head(),
    }
    return render(request, "accounting/audit.html", context)


urlpatterns = [
    *made_reports.urlpatterns,
    path("clock", clock, name="clock"),
    path("accounting/", trial_balance, name="accounting"),
    path("accounting/chart/", chart, name="chart"),
    path("accounting/events/<anything:stream>/<int:sequence>/", event, name="event"),
    path("accounting/postings/", postings, name="postings"),
    path("accounting/export/", export, name="export"),
    path("accounting/<str:day>/accounts/<anything:code>/", statement, name="account-entries"),
    path("accounting/<str:day>/", trial_balance, name="trial-balance"),
    path("audit/", audit, name="audit"),
]
