"""Pages of tables: the payout history and the set-up of the house. Pages that show messages are in `devices.views`."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounting.addresses import day_named
from accounting.day_queries import house_days
from accounting.elsewhere import reads_elsewhere
from accounting.office import registry
from accounting.people.queries import FilterShown, filters_of
from accounting.people.services import filters as keeping
from accounting.people.services.acting import PersonRefused
from accounting.queries import the_property, trial_balance
from accounting.rules import parameters
from accounting.rules.parameters import BadParameter, Parameters
from accounting.rules.roles import ROLES, in_order
from accounting.shell.pages import page, roles_of
from accounting.shell.templatetags.pages import money, title, words
from jackpot import hit_queries
from jackpot import queries as jackpot_queries
from jackpot.rules.paytable import FIVE_CARD_HANDS
from tables.models import Payout
from tables.queries import locks, payouts, set_up, weeks, worth
from tables.queries.days import tables_on
from tables.queries.unclaimed import owed

PAYOUTS_SHOWN = 50
HANDS = [*reversed(FIVE_CARD_HANDS), "mini_royal"]
ADDED_UP_AT_ONCE_SECONDS = 0.25
ADDED_UP_SECONDS = 20.0
# The filters of the page in the order of its form, each as the page calls it. Amounts are typed in dollars.
FIELDS = {
    "from": "From gaming day",
    "to": "To gaming day",
    "table": "Table",
    "link": "Link",
    "level": "Level",
    "hand": "Hand",
    "kind": "Kind",
    "seat": "Seat",
    "min": "At least, $",
    "max": "At most, $",
    "state": "State",
    "slip": "Slip",
    "sort": "Order",
}
CENTS = {"min": "min_cents", "max": "max_cents"}
ORDERS = {"newest": "newest first", "oldest": "oldest first", "largest": "largest first"}


@page("payouts")
@reads_elsewhere
def payout_search(request: HttpRequest) -> HttpResponse:
    """The payout history: the filters of the API, and pages by key."""
    typed = {name: request.GET.get(name, "").strip() for name in FIELDS}
    cursor = request.GET.get("cursor", "")
    context: dict[str, Any] = {"typed": typed, "cursor": cursor, "orders": ORDERS, **_choices(typed)}
    context |= _saved(request)
    try:
        filters = _filters(request.GET)
        found = payouts.page(filters | ({"cursor": cursor} if cursor else {}), limit=PAYOUTS_SHOWN)
    except BadParameter as refusal:
        named = {cents: name for name, cents in CENTS.items()}.get(refusal.name, refusal.name)
        context["refusal"] = {"name": FIELDS.get(named, named), "field": named, "detail": refusal.detail}
        return render(request, "tables/payouts.html", context, status=400)
    kept = {name: value for name, value in typed.items() if value}
    context |= {
        "items": found.items,
        "locked": locks.counted_from_locks(
            [item["id"] for item in found.items if item["counts_at"] != item["dealt_at"]]
        ),
        "page_cents": sum(item["cents"] for item in found.items),
        "total": payouts.total(filters, seconds=ADDED_UP_AT_ONCE_SECONDS),
        "named": _in_words(kept),
        "order": ORDERS[typed["sort"] or "newest"],
        "first": urlencode(kept),
        "sorted": {order: urlencode(kept | {"sort": order}) for order in ORDERS},
        "next": urlencode(kept | {"cursor": found.next}) if found.next else None,
        "download": urlencode(filters | {"format": "csv"}),
    }
    return render(request, "tables/payouts.html", context)


@page("payouts")
@reads_elsewhere
def payout_total(request: HttpRequest) -> HttpResponse:
    """What all payouts that match come to, for a page that could not wait for it."""
    total = payouts.total(_filters(request.GET), seconds=ADDED_UP_SECONDS)
    return render(request, "tables/total.html", {"total": total, "given_up": total is None})


def _filters(query: QueryDict) -> dict[str, str]:
    """The filters of a page's address as the API has them; BadParameter for what cannot be read."""
    given = parameters.read(query.lists(), (*FIELDS, "cursor"))
    stripped = {name: value.strip() for name, value in given.given.items() if name != "cursor"}
    dollars = Parameters({name: value for name, value in stripped.items() if name in CENTS and value})
    filters = {name: value for name, value in stripped.items() if name not in CENTS and value}
    return filters | {CENTS[name]: str(dollars.dollars(name)) for name in dollars.given}


PAYOUTS = "payouts"
"""The page that searches of payouts are kept for."""


def _saved(request: HttpRequest) -> dict[str, Any]:
    """The searches that somebody keeps or is shown, each with what it asks in words, and whom theirs may be shared with."""
    held = roles_of(request)
    found = filters_of(_user(request), PAYOUTS, held)
    return {
        "saved": [(one, _asks(one)) for one in found],
        "colleagues": [(role, ROLES[role]) for role in in_order(held)],
    }


def _asks(one: FilterShown) -> str:
    kept = QueryDict(one.query).dict()
    order = ORDERS.get(str(kept.get("sort")))
    return "; ".join([*_in_words(kept), *([order] if order else [])])


def _in_words(kept: Mapping[str, Any]) -> list[str]:
    """Filters as people read them; the order is none."""
    return [f"{FIELDS.get(name, name)} {words(value)}" for name, value in kept.items() if name != "sort"]


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User), "`page` lets nobody else in"
    return request.user


@require_POST
@page("payouts")
def save_search(request: HttpRequest) -> HttpResponse:
    """Keep the search that is shown under a name, for oneself or for the people of a role of one's own too."""
    query = QueryDict(request.POST.get("query", ""), mutable=True)
    query.pop("cursor", None)
    _filters(query)  # what cannot be read is not kept: BadParameter
    kept = urlencode({name: query.get(name, "").strip() for name in FIELDS if query.get(name, "").strip()})
    name, share = request.POST.get("name", ""), request.POST.get("share", "")
    try:
        one = keeping.save(
            _user(request), PAYOUTS, name, kept, shared_with=share, roles=roles_of(request), at=timezone.now()
        )
        messages.success(request, f"The search is kept as {one.name}.")
    except PersonRefused as refusal:
        messages.error(request, f"Not kept: {refusal}.")
    return redirect(f"{reverse('payout-search')}?{kept}")


@require_POST
@page("payouts")
def change_search(request: HttpRequest, filter_id: int) -> HttpResponse:
    """Rename a search of one's own, share it otherwise, or remove it."""
    try:
        if "remove" in request.POST:
            messages.success(request, f"The search {keeping.remove(_user(request), filter_id)} is removed.")
        else:
            name, share = request.POST.get("name", ""), request.POST.get("share", "")
            keeping.change(
                _user(request), filter_id, name=name, shared_with=share, roles=roles_of(request), at=timezone.now()
            )
    except PersonRefused as refusal:
        messages.error(request, f"Not changed: {refusal}.")
    return redirect("payout-search")


def _choices(typed: dict[str, str]) -> dict[str, Any]:
    """What each filter offers; a value that is asked for and not offered is offered as well, so that it can be seen."""
    links = jackpot_queries.links_with_terms(at=timezone.now())
    offered: dict[str, list[str]] = {
        "tables": list(set_up.table_ids()),
        "links": [link["code"] for link in links],
        "levels": sorted({level["code"] for link in links for level in link["levels"]}),
        "hands": HANDS + [hand for hand in set_up.hands_paid() if hand not in HANDS],
        "kinds": list(Payout.Kind.values),
        "states": list(payouts.STATES),
    }
    for name, choices in offered.items():
        if (asked := typed[name.removesuffix("s")]) and asked not in choices:
            choices.append(asked)
    return offered


@page("accounting")
def tables_day(request: HttpRequest, day: str | None = None) -> HttpResponse:
    """What every table did on a gaming day; without one, on the day that it is now."""
    parameters.read(request.GET.lists(), ())
    first, today = house_days(timezone.now())
    chosen = day_named(day) if day else today
    rows = tables_on(chosen) if first <= chosen <= today else []
    sums = {name: sum(getattr(row, name) for row in rows) for name in SUMMED}
    context = {
        "day": chosen,
        "first": first,
        "not_begun": chosen > today,
        "before_the_house": chosen < first,
        "earlier": chosen - timedelta(days=1) if chosen > first else None,
        "later": chosen + timedelta(days=1) if chosen < today else None,
        "rows": rows,
        "sums": sums,
    }
    return render(request, "tables/day.html", context)


SUMMED = (
    "rounds", "handle_cents", "pays_cents", "jackpot_cents", "envy_cents", "contributions_cents", "win_cents",
)  # fmt: skip


@page("set-up")
def house(request: HttpRequest) -> HttpResponse:
    """The property, its links and tables with the terms in force, and every paytable edition row by row."""
    context = {
        "home": the_property(),
        "links": jackpot_queries.links_with_terms(at=timezone.now()),
        "worths": worth.link_worths(),
        "tables": set_up.tables_in_force(),
        "paytables": [set_up.paytable_shown(edition.code, about, edition.definition) for edition, about in _editions()],
    }
    return render(request, "tables/set_up.html", context)


def _editions() -> Iterator[tuple[Any, str]]:
    for progressive in jackpot_queries.editions():
        games = ", ".join(title(row.game) for row in progressive.games.all())
        yield progressive, f"progressive, {money(progressive.wager_cents)}; {games}"
    for edition in set_up.editions():
        yield edition, f"{title(edition.game)}, {words(edition.wager)}"


@page("accounting")
def unclaimed(request: HttpRequest) -> HttpResponse:
    """What is owed and not handed over yet, against its accounts: from when it is unclaimed, and from when the state's."""
    parameters.read(request.GET.lists(), ())
    today, found, roles = house_days(timezone.now())[1], owed(), roles_of(request)
    acts = {name: act for name, act in registry.acts().items() if not act.proposes.isdisjoint(roles)}
    balances = {balance.code: -balance.after_cents for balance in trial_balance(date.max)}
    detected = hit_queries.detected_cents()
    parts = []
    for name, account, of, says, beside in (
        ("Owed", "awards_payable", False, "awards payable, less what is detected and not approved yet", detected),
        ("Unclaimed", "unclaimed", True, "kept for whoever comes for it", 0),
    ):
        chosen = [each for each in found if each.is_unclaimed == of]
        cents, held = sum(each.cents for each in chosen), balances.get(account, 0) - beside
        rows = [(each, each.due(today), acts.get(each.due(today) or "")) for each in chosen]
        part = {
            "name": name,
            "says": says,
            "rows": rows,
            "cents": cents,
            "account_cents": held,
            "agrees": cents == held,
        }
        parts.append(part)
    return render(request, "tables/unclaimed.html", {"parts": parts})


@page("accounting")
def weeks_over(request: HttpRequest) -> HttpResponse:
    """Every week that is over: its sheet, whether somebody signed it off, and whether that is overdue."""
    parameters.read(request.GET.lists(), ())
    at = timezone.now()
    today, found = house_days(at)[1], weeks.weeks(at)
    rows = [(week, week.is_overdue(today)) for week in found]
    waiting = sum(not week.reviews for week in found)
    return render(request, "tables/weeks.html", {"rows": rows, "waiting": waiting, "at": at})


urlpatterns = [
    path("payouts/", payout_search, name="payout-search"),
    path("payouts/total", payout_total, name="payout-total"),
    path("payouts/searches", save_search, name="search-save"),
    path("payouts/searches/<int:filter_id>", change_search, name="search-change"),
    path("accounting/tables/", tables_day, name="tables-today"),
    path("accounting/tables/<str:day>/", tables_day, name="tables-day"),
    path("accounting/unclaimed/", unclaimed, name="unclaimed"),
    path("accounting/weeks/", weeks_over, name="weeks"),
    path("set-up/", house, name="set-up"),
]
