"""Pages of slips: the register with its gaps, one slip with its prints and forms, who won."""

import secrets
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounting import addresses  # noqa: F401  # registers `anything`
from accounting.office.callers import person_of
from accounting.queries import links_with_books, tables_with_books, the_property
from accounting.rules import parameters
from accounting.rules.acts import ActRefused
from accounting.rules.parameters import BadParameter, Parameters
from accounting.shell.pages import page, roles_of
from accounting.shell.templatetags.pages import words
from accounting.slips import queries
from accounting.slips.documents.tax_forms import DOCUMENTS, W2G
from accounting.slips.payables import PAYABLES
from accounting.slips.rules.register import PRINTS, STATES, slip_name
from accounting.slips.rules.winners import FIELDS, LOOKS, MOST_PAYEES, TAKES_DOWN, masked, written
from accounting.slips.services import forms, payers, printing, winners

SHOWN = 50
ROWS_OFFERED = 4
ASKED = {
    "from": "From gaming day",
    "to": "To gaming day",
    "slip": "Slip",
    "state": "State",
    "kind": "Kind",
    "table": "Table",
    "link": "Link",
    "method": "Paid from",
    "by": "Prepared by",
    "min": "At least, $",
    "max": "At most, $",
    "noted": "Noted",
}
"""The filters of the register in the order of its form, each as the page calls it. Amounts are typed in dollars."""

CENTS = {"min": "min_cents", "max": "max_cents"}
NOTED = {
    "override": "override",
    "checks": "not all was checked",
    "form": "tax form",
    "form_open": "winner not known",
    "replaced": "replaces another",
}


@page("slips")
def register(request: HttpRequest) -> HttpResponse:
    """Every slip by its number, the highest first: filters, totals, and the numbers that are missing."""
    typed = {name: request.GET.get(name, "").strip() for name in ASKED}
    cursor = request.GET.get("cursor", "")
    missing, last = queries.missing_numbers()
    context: dict[str, Any] = {
        "typed": typed, "cursor": cursor, "states": STATES, "noted": NOTED, "missing": missing, "last": last,
        "last_name": slip_name(last), "open": queries.subjects_open(),
        "asked": [{"name": name, "title": title} for name, title in ASKED.items()],
        "tables": _offered(tables_with_books(), typed["table"]), "links": _offered(links_with_books(), typed["link"]),
        "payer": payers.payer_on(forms.local_date(timezone.now())), "home": the_property().code,
    }  # fmt: skip
    try:
        filters = _filters(request)
        found = queries.page(filters | ({"cursor": cursor} if cursor else {}), limit=SHOWN)
    except BadParameter as refusal:
        named = {cents: name for name, cents in CENTS.items()}.get(refusal.name, refusal.name)
        context["refusal"] = {"name": ASKED.get(named, named), "detail": refusal.detail}
        return render(request, "slips/register.html", context, status=400)
    kept = {name: value for name, value in typed.items() if value}
    context |= {
        "items": found.items,
        "totals": queries.totals(filters),
        "named": [f"{ASKED[name]} {words(value)}" for name, value in kept.items()],
        "first": urlencode(kept),
        "next": urlencode(kept | {"cursor": found.next}) if found.next else None,
        "download": urlencode(filters | {"format": "csv"}),
    }
    return render(request, "slips/register.html", context)


def _offered(codes: list[str], asked: str) -> list[str]:
    """What a filter offers; what is asked for and not offered is offered as well, so that it can be seen."""
    return codes if not asked or asked in codes else [*codes, asked]


def _filters(request: HttpRequest) -> dict[str, str]:
    """The filters of the page's address as the API has them; BadParameter for what cannot be read."""
    given = parameters.read(request.GET.lists(), (*ASKED, "cursor"))
    stripped = {name: value.strip() for name, value in given.given.items() if name != "cursor"}
    dollars = Parameters({name: value for name, value in stripped.items() if name in CENTS and value})
    filters = {name: value for name, value in stripped.items() if name not in CENTS and value}
    return filters | {CENTS[name]: str(dollars.dollars(name)) for name in dollars.given}


@page("slips")
def slip(request: HttpRequest, name: str) -> HttpResponse:
    """One slip: what it says, who signed, its prints, what tax came to, and what may be done."""
    parameters.read(request.GET.lists(), ())
    found = queries.slip_named(name)
    if found is None:
        raise Http404(f"no slip {name}")
    if slip_name(found.number) != name:
        return redirect("slip", slip_name(found.number))
    shown = queries.slip_shown(found)
    context = {
        "slip": shown,
        "payout": shown["facts"]["payout"],
        "issued": shown["facts"]["issued"],
        "may_print": not PRINTS.isdisjoint(roles_of(request)),
        "may_take_down": not TAKES_DOWN.isdisjoint(roles_of(request)) and shown["state"] != "void",
        "earlier": slip_name(found.number - 1) if found.number > 1 else None,
        "later": slip_name(found.number + 1) if queries.slip_named(str(found.number + 1)) else None,
        "known": queries.particulars_of(found.subject),
    }
    return render(request, "slips/slip.html", context)


@require_POST
@page("slips")
def print_slip(request: HttpRequest, name: str) -> HttpResponse:
    """Print a slip once more and show the print."""
    if PRINTS.isdisjoint(roles_of(request)):
        raise PermissionDenied("Slips are printed by those who pay and those who keep the books.")
    found = queries.slip_named(name)
    if found is None:
        raise Http404(f"no slip {name}")
    person = person_of(request)
    made = printing.print_slip(found.number, by=person.name, at=timezone.now(), origin=person.origin)
    return redirect("slip-print", slip_name(found.number), made.copy)


@page("slips")
def printed(request: HttpRequest, name: str, copy: int) -> HttpResponse:
    """A print of a slip as it was handed out, to the byte."""
    found = queries.print_of(name, copy)
    if found is None:
        raise Http404(f"no print {copy} of slip {name}")
    which = "original" if copy == 0 else f"duplicate-{copy}"
    return HttpResponse(
        bytes(found.content), content_type="application/pdf",
        headers={"Content-Disposition": f'inline; filename="slip-{slip_name(found.slip_id)}-{which}.pdf"'},
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@page("slips")
def winner(request: HttpRequest, subject: str) -> HttpResponse:
    """Who won a payout: taken down here, never shown here again."""
    if TAKES_DOWN.isdisjoint(roles_of(request)):
        raise PermissionDenied("Who won is taken down by those who pay and those who keep the books.")
    try:
        cents = PAYABLES.cents(subject)
    except ActRefused as refusal:
        raise Http404(str(refusal)) from refusal
    refusal_shown, status = None, 200
    typed = _typed(request) if request.method == "POST" else [{"share": f"{cents // 100}.{cents % 100:02d}"}]
    if request.method == "POST":
        person = person_of(request)
        try:
            winners.take_down(
                subject, _payees(typed), by=person.name, at=timezone.now(), random=secrets.token_bytes,
                origin=person.origin,
            )  # fmt: skip
        except ActRefused as refused:
            refusal_shown, status = refused, 422
        else:
            messages.success(request, f"Kept, sealed: who won {subject}.")
            found = queries.slip_of(subject)
            return redirect("slip", slip_name(found.number)) if found else redirect(_page_of(subject))
    context = {
        "subject": subject,
        "up": _page_of(subject),
        "cents": cents,
        "slip": queries.slip_of(subject),
        "known": queries.particulars_of(subject),
        "may_look": not LOOKS.isdisjoint(roles_of(request)),
        "fields": FIELDS,
        "payees": typed + [{} for _ in range(max(1, ROWS_OFFERED - len(typed)))],
        "refusal": refusal_shown,
    }
    return _kept_nowhere(render(request, "slips/winner.html", context, status=status))


def _page_of(subject: str) -> str:
    """The address of what was won: the hit, or of envy its round."""
    if "/" not in subject:
        return reverse("hit-page", args=[subject])
    return reverse("round-page", args=[subject.rsplit("/", 2)[0]])


def _typed(request: HttpRequest) -> list[dict[str, str]]:
    """The rows of the form in which something was typed."""
    columns = {name: request.POST.getlist(name) for name in (*FIELDS, "share")}
    count = max((len(values) for values in columns.values()), default=0)
    rows = [
        {name: values[place].strip() if place < len(values) else "" for name, values in columns.items()}
        for place in range(min(count, 50))
    ]
    return [row for row in rows if any(row.values())]


def _payees(typed: list[dict[str, str]]) -> list[dict[str, Any]]:
    """What was typed, as the rule takes it: amounts in cents. ActRefused for an amount that is none."""
    found = []
    for place, row in enumerate(typed):
        payee: dict[str, Any] = {name: row[name] for name in FIELDS}
        if row["share"]:
            try:
                payee["share_cents"] = Parameters({"share": row["share"]}).dollars("share")
            except BadParameter as refusal:
                raise ActRefused("invalid_value", f"/payees/{place}/share_cents", refusal.detail) from refusal
        found.append(payee)
    return found


@require_POST
@page("slips")
def look(request: HttpRequest, subject: str) -> HttpResponse:
    """Who won a payout, in clear, with the forms; the look is on record before anything is shown."""
    if LOOKS.isdisjoint(roles_of(request)):
        raise PermissionDenied("Who won is shown to those who file tax forms.")
    person = person_of(request)
    try:
        found = winners.look(
            subject, by=person.name, at=timezone.now(), reason=request.POST.get("reason", ""), origin=person.origin
        )
    except ActRefused as refused:
        messages.error(request, str(refused))
        return redirect("winner", subject)
    of_slip = queries.slip_of(subject)
    forms = {form.payee: form for form in queries.latest(of_slip)} if of_slip else {}
    for one in found:
        one |= {"written": written(one["taxpayer_number"]), "masked": masked(one["taxpayer_number"])}
        one["form"] = forms.get(one["payee"])
    shown = queries.slip_shown(of_slip) if of_slip else None
    context = {
        "subject": subject,
        "found": found,
        "slip": shown,
        "payout": shown["facts"]["payout"] if shown else None,
        "reason": request.POST.get("reason", ""),
        "is_shared": len(forms) > 1,
    }
    return _kept_nowhere(render(request, "slips/forms.html", context))


@require_POST
@page("slips")
def tax_form(request: HttpRequest, subject: str) -> HttpResponse:
    """A tax form of a payout as PDF, in clear; each print is a look, and on record as one."""
    if LOOKS.isdisjoint(roles_of(request)):
        raise PermissionDenied("Tax forms are printed by those who file them.")
    given = parameters.read(
        [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"],
        ("form", "payee", "reason"),
    )
    kind, person = given.choice("form", tuple(DOCUMENTS)), person_of(request)
    try:
        name, content = winners.print_form(
            subject, kind or W2G, given.whole("payee", least=1, most=MOST_PAYEES) or 1, by=person.name, at=timezone.now(),
            reason=given.given.get("reason", ""), origin=person.origin,
        )  # fmt: skip
    except ActRefused as refused:
        messages.error(request, str(refused))
        return redirect("winner", subject)
    shown = HttpResponse(content, content_type="application/pdf")
    shown.headers["Content-Disposition"] = f'inline; filename="{name}"'
    return _kept_nowhere(shown)


def _kept_nowhere(response: HttpResponse) -> HttpResponse:
    """Who won stays in no cache of a browser or a proxy."""
    response.headers["Cache-Control"] = "no-store"
    return response


urlpatterns = [
    path("slips/", register, name="slips"),
    path("slips/winners/<anything:subject>/look", look, name="winner-look"),
    path("slips/winners/<anything:subject>/form", tax_form, name="tax-form"),
    path("slips/winners/<anything:subject>/", winner, name="winner"),
    path("slips/<str:name>/", slip, name="slip"),
    path("slips/<str:name>/print", print_slip, name="slip-again"),
    path("slips/<str:name>/prints/<int:copy>.pdf", printed, name="slip-print"),
]
