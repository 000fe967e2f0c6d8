"""Pages of accounting: the trial balance, the audit trail."""

from datetime import date

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from accounting import queries
from accounting.shell.header import Header
from accounting.shell.pages import page

AUDIT_PAGE = 50


@page(None)
def clock(request: HttpRequest) -> HttpResponse:
    """The gaming day and the time in the header, read anew now and then."""
    return render(request, "clock.html")


@page("accounting")
def trial_balance(request: HttpRequest, day: str | None = None) -> HttpResponse:
    """Every account's balance on one gaming day; without one, on the day that it is now."""
    today = Header(request).gaming_day
    try:
        chosen = date.fromisoformat(day) if day else today
    except ValueError:
        raise Http404(f"{day} is no date") from None
    assert chosen is not None  # `page` lets nobody in before there is a property
    balances = queries.trial_balance(chosen)
    earlier, later = queries.days_around(chosen)
    context = {
        "day": chosen,
        "is_today": chosen == today,
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


@page("audit")
def audit(request: HttpRequest) -> HttpResponse:
    """The audit trail by key, the chain heads of all streams, and how to verify both."""
    before, subject = request.GET.get("before", ""), request.GET.get("subject", "")
    records = queries.audit_records(
        before=int(before) if before.isdecimal() else None, subject=subject, limit=AUDIT_PAGE + 1
    )
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
    path("accounting/<str:day>/", trial_balance, name="trial-balance"),
    path("audit/", audit, name="audit"),
]
