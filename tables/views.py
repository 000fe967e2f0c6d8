"""Pages of tables: the payout history and the set-up of the house. Pages that show messages are in `devices.views`."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from accounting.queries import the_property
from accounting.shell.pages import page
from accounting.shell.templatetags.pages import money, words
from jackpot import queries as jackpot_queries
from jackpot.rules.paytable import FIVE_CARD_HANDS
from tables.models import Payout
from tables.queries import payouts, set_up, worth
from tables.queries.payouts import BadFilter
from tables.templatetags.cards import title

PAYOUTS_SHOWN = 50
AMOUNT = re.compile(r"\$?(\d{1,13})(?:\.(\d{0,2}))?", re.ASCII)
HANDS = [*reversed(FIVE_CARD_HANDS), "mini_royal"]
DOLLARS = {"min": "min_cents", "max": "max_cents"}
FIELDS = ("from", "to", "table", "link", "level", "hand", "kind", "seat", "state", "slip")


@page("payouts")
def payout_search(request: HttpRequest) -> HttpResponse:
    """The payout history: the filters of the API, and pages by key."""
    typed = {name: request.GET.get(name, "").strip() for name in (*FIELDS, *DOLLARS)}
    cursor = request.GET.get("cursor", "")
    context: dict[str, Any] = {
        "typed": typed,
        "cursor": cursor,
        "kinds": Payout.Kind.values,
        "hands": HANDS,
        "states": payouts.STATES,
    }
    try:
        filters = {name: typed[name] for name in FIELDS if typed[name]}
        filters |= {DOLLARS[name]: str(_cents(name, typed[name])) for name in DOLLARS if typed[name]}
        found = payouts.page(filters | ({"cursor": cursor} if cursor else {}), limit=PAYOUTS_SHOWN)
    except BadFilter as refusal:
        return render(request, "tables/payouts.html", context | {"refusal": refusal}, status=400)
    kept = {name: value for name, value in typed.items() if value}
    context |= {
        "items": found.items,
        "total_cents": sum(item["cents"] for item in found.items),
        "first": urlencode(kept),
        "next": urlencode(kept | {"cursor": found.next}) if found.next else None,
        "download": urlencode(filters | {"format": "csv"}),
    }
    return render(request, "tables/payouts.html", context)


def _cents(name: str, dollars: str) -> int:
    """Dollars as typed, such as `1,234.56` or `$50`, in whole cents. BadFilter when they cannot be read."""
    found = AMOUNT.fullmatch(dollars.replace(",", ""))
    if found is None:
        raise BadFilter(name, "an amount in dollars is expected")
    return int(found[1]) * 100 + int((found[2] or "").ljust(2, "0"))


@page("set-up")
def house(request: HttpRequest) -> HttpResponse:
    """The property, its links and tables with the terms in force, and every paytable edition row by row."""
    context = {
        "home": the_property(),
        "links": jackpot_queries.links_with_terms(),
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


urlpatterns = [
    path("payouts/", payout_search, name="payout-search"),
    path("set-up/", house, name="set-up"),
]
