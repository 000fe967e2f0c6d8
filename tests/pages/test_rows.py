"""Which row paid, and for which hit: by what the record names, not by what the odds look like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoDbBlocker

from accounting.rules.roles import AUDITOR
from devices.views.rounds import _row_of
from tables.queries import payouts
from tables.queries.set_up import paytable_shown
from tables.services import floors
from tests.pages.conftest import SignedIn, person, text_of
from tests.services.fixtures import Databases
from tests.services.house import DEALT_AT, LINKED, OPENED, TWIN, House, message, royal, seat
from tests.services.test_every_game import floor_text


def chosen(client: Client, payout: dict[str, Any]) -> list[tuple[str, str]]:
    """The row that the payout's page marks, and what it pays."""
    body = client.get(f"/payouts/{payout['id']}/").content.decode()
    rows = re.findall(r'<tr class="chosen"><td>(.*?)</td><td class="n">(.*?)</td>', body)
    return [(hand.strip(), odds) for hand, odds in rows]


SPINS: dict[str, tuple[str, dict[str, Any], dict[str, Any], tuple[str, str]]] = {
    "red": ("RO-1", {"result": "1"}, {"wagers": {"red": 500, "black": 500}}, ("red", "1 to 1")),
    "black": ("RO-1", {"result": "2"}, {"wagers": {"red": 500, "black": 500}}, ("black", "1 to 1")),
    "even": ("RO-1", {"result": "2"}, {"wagers": {"even": 500}}, ("even", "1 to 1")),
    "3 to 2": (
        "BJ-1",
        {"result": "no_blackjack", "dealer": ["9s", "9d"]},
        {"wagers": {"wager": 501}, "cards": ["Ad", "Kd"], "result": "blackjack"},
        ("blackjack", "3 to 2"),
    ),
}


@pytest.fixture(scope="module")
def visitor(databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[Client]:
    """An auditor in a house that plays every game, after the rounds of SPINS."""
    with django_db_blocker.unblock():
        name = databases.create()
        with databases.entered(name):
            call_command("migrate", verbosity=0)
            floors.install(floor_text(), at=OPENED)
            plain = {"dealt_at": DEALT_AT, "dealing": {"method": "hand"}, "community": []}
            settled = House().play(*(
                {"round": round_, "table": table, "seats": [{"seat": 1, "cards": []} | played]} | plain | more
                for round_, (table, more, played, _) in SPINS.items()
            ))  # fmt: skip
            assert [settlement["outcome"] for settlement in settled] == ["settled"] * len(SPINS)
            client = Client()
            client.force_login(person("visitor", AUDITOR), backend="django.contrib.auth.backends.ModelBackend")
            yield client
        databases.drop(name)


@pytest.mark.parametrize("round_", SPINS)
def test_rows_of_the_same_odds_and_uneven_odds_are_told_apart(visitor: Client, round_: str) -> None:
    (payout,) = [item for item in payouts.page({}).items if item["round"] == round_]
    assert chosen(visitor, payout) == [SPINS[round_][3]]


def test_a_row_for_some_ranks_is_found_by_its_ranks(house: House, signed_in: SignedIn) -> None:
    house.play(message("b-1", seat(1, "Js 7d"), community="Jc 9h Kd"))
    payout = payouts.page({}).items[0]
    assert [hand for hand, _ in chosen(signed_in(), payout)] == ["pair J to A"]


def test_a_line_of_the_first_rules_edition_goes_by_its_odds() -> None:
    definition = {"rows": [{"hand": "flush", "pays": "to", "odds": 6}, {"hand": "straight", "pays": "to", "odds": 4}]}
    shown = paytable_shown("old", "", definition)
    line = {"wager": "ante", "odds": "4 to 1"}
    assert _row_of({"line": line, "payout": {}}, shown, 1) == definition["rows"][1]


def flushes(house: House) -> dict[str, Any]:
    """Two straight flushes at one board, and a neighbour without."""
    wager: dict[str, Any] = {"progressive": 100}
    sent = message(
        "two", seat(1, "2s 7d", **wager), seat(3, "5h 6h", **wager), seat(5, "Th Jh", **wager), community="7h 8h 9h"
    )
    (settlement,) = house.play(sent)
    assert [award["hand"] for award in settlement["awards"]] == ["straight_flush", "straight_flush"]
    return settlement


def test_two_envy_payouts_of_one_hand_lead_each_to_its_own_hit(house: House, signed_in: SignedIn) -> None:
    # Behind another round, and the royal at the same place of another stream with envy for the same seat.
    house.play(message("before"), message("before", table=TWIN), royal("envied", table=TWIN))
    settlement = flushes(house)
    client = signed_in()
    body = client.get(f"/rounds/{LINKED}/two").content.decode()
    linked = re.findall(r"<td>seat (\d), straight flush</td><td class=\"n\"><a href=\"/payouts/([^/]+)/\"", body)
    hits = {award["seat"]: award["hit"] for award in settlement["awards"]}
    ids = [payout_id for _, payout_id in linked]
    assert len(ids) == len(set(ids)) == 4, "one envy entry each for the hitters, two for their neighbour"
    for hit_seat, payout_id in linked:
        (envy,) = client.get(f"/api/v1/payouts/{payout_id}/explanation").json()["envy"]
        assert (envy["from_seat"], envy["hit"]) == (int(hit_seat), hits[int(hit_seat)])
        page = text_of(client.get(f"/payouts/{payout_id}/"))
        assert f"seat {hit_seat}, hit {hits[int(hit_seat)]}" in page


def test_a_bonus_is_found_by_the_hand_that_it_was_paid_for(house: House, signed_in: SignedIn) -> None:
    house.play(
        message(
            "bonus",
            seat(1, "7s 2d", three_card_bonus=500, cover_all=500),
            seat(2, "Ks Kd"),
            community="7h 8h 9h",
        )
    )
    found = signed_in().get("/api/v1/payouts?hand=straight_flush").json()["items"]
    assert [(item["kind"], item["seat"]) for item in found] == [("bonus", 1)]
    kinds = {item["kind"]: item["hand"] for item in payouts.page({}).items}
    assert kinds["bonus"] == "straight_flush"
    assert kinds.get("base", "pair") == "pair"
