"""Pages of accounting: the trial balance, the audit trail."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone

from accounting import queries
from accounting.addresses import day_named
from accounting.rules import parameters
from accounting.rules.accounts import named
from accounting.rules.parameters import BadParameter, Parameters
from accounting.shell.pages import page

AUDIT_PAGE = 50
ENTRIES_SHOWN = 200


@page(None)
def clock(request: HttpRequest) -> HttpResponse:
    """The gaming day and the time in the header, read anew now and then."""
    return render(request, "clock.html")


@page("accounting")
def trial_balance(request: HttpRequest, day: str | None = None) -> HttpResponse:
    """Every account's balance on one gaming day; without one, on the day that it is now."""
    parameters.read(request.GET.lists(), ())
    first, today = queries.house_days(timezone.now())
    chosen = day_named(day) if day else today
    balances = queries.trial_balance(chosen)
    earlier, later = queries.days_around(chosen)
    context = {
        "day": chosen,
        "is_today": chosen == today,
        "first": first,
        "not_begun": chosen > today,
        "before_the_house": chosen < first,
        "earlier": earlier,
        "later": later,
        "closed_at": queries.closed_at(chosen),
        "balances": balances,
        "debits": sum(balance.debit_cents for balance in balances),
        "credits": sum(balance.credit_cents for balance in balances),
        "debit_balances": sum(balance.after_cents for balance in balances if balance.after_cents > 0),
        "credit_balances": -sum(balance.after_cents for balance in balances if balance.after_cents < 0),
    }
    return render(request, "accounting/trial_balance.html", context)


@page("accounting")
def account_entries(request: HttpRequest, day: str, code: str) -> HttpResponse:
    """What moved on one account on a gaming day, entry by entry."""
    given = parameters.read(request.GET.lists(), ("after",))
    chosen, account = day_named(day), queries.account_named(code)
    if account is None:
        raise Http404(f"no account {code}")
    found = queries.entries(account, chosen, after=_place(given), limit=ENTRIES_SHOWN + 1)
    balance = next((each for each in queries.trial_balance(chosen) if each.code == code), None)
    context = {
        "day": chosen,
        "account": account,
        "name": named(code),
        "balance": balance,
        "entries": found[:ENTRIES_SHOWN],
        "after": "after" in given,
        "next": found[ENTRIES_SHOWN - 1].key if len(found) > ENTRIES_SHOWN else None,
    }
    return render(request, "accounting/account.html", context)


def _place(given: Parameters) -> tuple[int, int, int]:
    """Stream, sequence and line after which the entries go on."""
    text = given.text("after", longest=60)
    if text is None:
        return 0, -1, 0
    parts = text.split("-")
    if len(parts) != 3:
        raise BadParameter("after", "no place among the entries")
    numbers = [Parameters({"after": part or "x"}).whole("after", most=2**62) or 0 for part in parts]
    return numbers[0], numbers[1], numbers[2]


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
    path("clock", clock, name="clock"),
    path("accounting/", trial_balance, name="accounting"),
    path("accounting/<str:day>/accounts/<anything:code>/", account_entries, name="account-entries"),
    path("accounting/<str:day>/", trial_balance, name="trial-balance"),
    path("audit/", audit, name="audit"),
]
