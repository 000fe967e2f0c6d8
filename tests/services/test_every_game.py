"""A round of every game goes the whole way: through the door, the queue, the ledger and verification."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import DjangoDbBlocker

from jackpot.rules.meter import opening
from tables.odds import of_edition
from tables.queries import statistics
from tables.rules import door, floor
from tables.rules.game import ANY_NUMBER
from tables.rules.games import GAMES, Games, game_of
from tables.rules.message import RoundMessage
from tables.rules.settle import settle
from tables.services import floors
from tests.services import auditor
from tests.services.fixtures import Databases
from tests.services.house import DEALT, DEALT_AT, OPENED, House, rows, verify

ACCEPTANCE = Path(__file__).parents[1] / "acceptance"
# Games of the acceptance floor have tables there, and but for Boston 5 cases; the others are played with these.
TABLES = {
    "FAH-1": ("fast-action-holdem", 6, 6, "fah-base"),
    "PGP-1": ("pai-gow-poker", 6, 1, "pgp-base"),
    "RO-1": ("roulette", 7, 1, "ro-00-half"),
    "BS-1": ("big-six", 7, 1, "bs-base"),
    "CR-1": ("craps", 7, 1, "cr-base"),
    "MB-1": ("minibaccarat", 7, 8, "mb-base"),
    "BJ-1": ("blackjack", 7, 6, "bj-base"),
    "PG-1": ("pai-gow", 7, 1, "pg-base"),
}
MESSAGES: dict[str, dict[str, Any]] = {
    "B5-1": {
        "dealer": ["Kc", "Jd", "9c", "6h", "3h"],
        "seats": [
            {
                "seat": 1,
                "cards": ["7s", "7d", "7h", "7c", "2d"],
                "wagers": {"ante": 500, "first": 500, "second": 500, "optional_bonus": 100},
            },
        ],
    },
    "FAH-1": {
        "community": ["Kd", "Jh", "8s", "5c", "2d"],
        "dealer": ["Ts", "9d", "4c", "3h"],
        "seats": [
            {"seat": 1, "cards": ["As", "Qc", "4d", "3d"], "wagers": {"wager": 500, "split": 500}},
            {"seat": 2, "cards": ["8s", "8d", "8d", "8h"], "wagers": {"wager": 500}},
            {"seat": 3, "cards": ["3s", "4c", "9d", "2h"], "folded": "setting", "wagers": {"wager": 501}},
        ],
    },
    "PGP-1": {
        "dealer": ["Qs", "Qd", "9h", "7c", "4d", "Kc", "Jd"],
        "seats": [{"seat": 1, "cards": ["Ks", "Kd", "9s", "7d", "4c", "JK", "2d"], "wagers": {"wager": 1000}}],
    },
    "RO-1": {
        "result": "0",
        "seats": [{"seat": 1, "cards": [], "wagers": {"straight_0": 500, "split_0_00": 500, "red": 501}}],
    },
    "BS-1": {"result": "joker", "seats": [{"seat": 1, "cards": [], "wagers": {"joker": 500, "flag": 500}}]},
    "CR-1": {"result": "6:3-4", "seats": [{"seat": 1, "cards": [], "wagers": {"pass": 500, "place_lose_10": 500}}]},
    "MB-1": {
        "community": ["Tc", "5d", "4h"],
        "dealer": ["Kc", "5h"],
        "seats": [{"seat": 1, "cards": [], "wagers": {"player": 500, "banker": 500}}],
    },
    "BJ-1": {
        "result": "no_blackjack",
        "dealer": ["As", "9d"],
        "seats": [
            {"seat": 1, "cards": ["Ad", "Kd"], "result": "blackjack", "wagers": {"wager": 501, "insurance": 200}},
            {"seat": 2, "cards": [], "result": "surrender", "wagers": {"wager": 501}},
        ],
    },
    "PG-1": {
        "dealer": ["66", "35", "55", "46"],
        "seats": [{"seat": 1, "cards": ["44", "44", "46", "15"], "wagers": {"wager": 1000}}],
    },
}


def floor_text() -> str:
    """The acceptance floor, and a table for each further game."""
    text = (ACCEPTANCE / "floors" / "games.toml").read_text("utf-8")
    for code, (game, seats, decks, base) in TABLES.items():
        text += f"""
[[tables]]
code = "{code}"
game = "{game}"
seats = {seats}
decks = {decks}
minimum_cents = 500
maximum_cents = 100000
paytables = {{ base = "{base}" }}
"""
    return text


def messages() -> list[dict[str, Any]]:
    """What the tables post, in turn."""
    found = []
    for case in sorted((ACCEPTANCE / "public").glob("p11[0-4]-*.json")):
        found += json.loads(case.read_text("utf-8"))["rounds"]
    for code, more in MESSAGES.items():
        plain = {
            "round": f"{code}-1",
            "table": code,
            "dealt_at": DEALT_AT,
            "dealing": {"method": "hand"},
            "community": [],
        }
        found.append(plain | more)
    return found


def cards_of(sent: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Where cards lie in a message: in the middle, before the dealer, or at a seat by its place."""
    return [
        ("community", sent["community"]), ("dealer", sent.get("dealer", [])),
        *((str(place), seat["cards"]) for place, seat in enumerate(sent["seats"])),
    ]  # fmt: skip


def with_cards(sent: dict[str, Any], place: str, cards: list[str]) -> dict[str, Any]:
    """The message with other cards in one of these places."""
    told = copy.deepcopy(sent)
    if place in ("community", "dealer"):
        told[place] = cards
    else:
        told["seats"][int(place)]["cards"] = cards
    return told


@dataclass
class Casino:
    """What was posted, and what it came to."""

    posted: list[dict[str, Any]]
    settlements: list[dict[str, Any]]


@pytest.fixture(scope="module")
def casino(databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[Casino]:
    """A house that plays every game but Mississippi Stud, after a round of each, in a database of its own."""
    with django_db_blocker.unblock():
        name = databases.create()
        with databases.entered(name):
            call_command("migrate", verbosity=0)
            floors.install(floor_text(), at=OPENED)
            posted = messages()
            yield Casino(posted, House().play(*posted))
        databases.drop(name)


def test_every_round_is_settled_as_the_rules_settle_it(casino: Casino) -> None:
    tables = floor.read_floor(floor_text()).tables
    games = {tables[sent["table"]].game for sent in casino.posted}
    assert games == set(GAMES) - {"mississippi-stud"}
    for sent, settlement in zip(casino.posted, casino.settlements, strict=True):
        table = tables[sent["table"]]
        read = door.read(sent, Games(tables))
        assert isinstance(read, RoundMessage)
        assert settlement["outcome"] == "settled", (sent["round"], settlement["reasons"])
        if table.link is None:
            assert settlement == json.loads(json.dumps(settle(read, game_of(table), {}).settlement))


def test_a_round_with_cards_too_few_or_too_many_is_held_for_them_alone() -> None:
    """In any place of any game, down to none: whatever else a game judges by its cards is left alone then."""
    tables = floor.read_floor(floor_text()).tables
    for sent in messages():
        table = tables[sent["table"]]
        game = game_of(table)
        meters = {level.code: opening(level) for level in table.link.levels} if table.link else {}
        more = sorted(game.deck - {card for _, cards in cards_of(sent) for card in cards})[:1]
        for place, cards in cards_of(sent):
            right = {"community": game.community_cards, "dealer": game.dealer_cards}.get(place, (game.own_cards,))
            for other in (*(cards[:count] for count in range(len(cards))), cards + more):
                if len(other) in right or right == (ANY_NUMBER,):
                    continue
                told = with_cards(sent, place, other)
                read = door.read(told, Games(tables))
                assert isinstance(read, RoundMessage)
                settled = settle(read, game, meters)
                assert (settled.outcome, settled.settlement["reasons"]) == ("held", ["wrong_card_count"]), told


def test_the_books_agree_and_every_round_can_be_derived_again(casino: Casino) -> None:
    assert verify().rounds == len(casino.posted)
    auditor.everything_agrees()


def test_payouts_name_the_wager_and_the_hand(casino: Casino) -> None:
    found = set(rows("SELECT kind, wager, hand, cents FROM tables_payout"))
    assert found >= {
        ("base", "wager", "natural", 2500),
        ("base", "wager", "pair", 950),
        ("base", "straight_0", "0", 17_500),
        ("base", "joker", "joker", 22_500),
        ("base", "place_lose_10", "3-4", 227),
        ("base", "player", "player", 500),
        ("base", "wager", "blackjack", 751),
        ("base", "wager", "matched_pair", 950),
        ("bonus", "bonus", "full_house", 20_000),
        ("bonus", "ante_bonus", "straight", 500),
        ("bonus", "optional_bonus", "three_of_a_kind", 2500),
        ("bonus", "pocket", "pair", 1500),
        ("base", "raise", "spread_2", 2000),
    }
    # Half of a stake that comes back is no winning.
    assert not [row for row in found if row[1] == "red"]


def test_statistics_know_every_wager_and_the_odds_of_those_that_were_counted(casino: Casino) -> None:
    handle: Counter[str] = Counter()
    paid: Counter[str] = Counter()
    lines = Counter[str]()
    for settled in casino.settlements:
        for seat in settled["seats"] if settled["outcome"] == "settled" else ():
            for line in seat["lines"]:
                if line["result"] != "void":
                    handle[settled["table"]] += line["stake_cents"]
                    paid[settled["table"]] += line["paid_cents"]
                    lines[settled["table"]] += 1
            paid[settled["table"]] += sum(envy["paid_cents"] for envy in seat["envy"])
    found = statistics.over(OPENED.date(), DEALT.date())
    by_table: Counter[str] = Counter()
    returned: Counter[str] = Counter()
    for each in found.wagers:
        by_table[each.table] += each.handle_cents
        returned[each.table] += each.paid_cents
    assert by_table == handle
    assert returned == paid
    assert found.voided == 0
    known = {(each.table, each.wager): each for each in found.wagers}
    dice, cards = known["CR-1", "pass, come"], known["MB-1", "banker"]
    assert dice.theory.win == Fraction(7, 495) * 500
    assert dice.theory.variance == Fraction(244_976, 245_025) * 500**2
    (edge,) = (each.edge for each in of_edition("mb-base").wagers if each.case == {"decks": 8, "bet": "banker"})
    assert edge is not None
    assert cards.theory.win == edge * 500
    assert known["RO-1", "straight"].theory.win == Fraction(500, 19)
    assert known["BS-1", "joker"].wagers == known["BS-1", "flag"].wagers == 1
    assert known["BJ-1", "insurance"].theory.win is not None
    assert known["BJ-1", "wager"].theory.win is None, "its edge is the house's own drawing rules'"
    assert known["PG-1", "base"].theory.win is None, "nobody counted it"
    assert known["B5-1", "base"].wagers < lines["B5-1"], "raises are within the first wager"
