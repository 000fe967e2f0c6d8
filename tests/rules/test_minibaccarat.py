"""Minibaccarat (SPEC §7; seed 003, 19:47-7.1 to 7.9)."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from tables.rules.minibaccarat import point_count
from tables.rules.table import TableTerms
from tests.rules.felt import REPORTS, lines, message, only_seat, play, reasons, report, seat, table, without

LOST = ("lose", None, 0, 0)


@pytest.fixture
def terms() -> TableTerms:
    return table("minibaccarat", {"base": "mb-base"}, decks=8)


def dealt(player: str, banker: str, /, **wagers: int) -> dict[str, Any]:
    return message(seat(1, "", **(wagers or {"player": 500})), community=player, dealer=banker)


@pytest.mark.parametrize(
    ("cards", "points"), [("As 9d", 0), ("Kc Qd", 0), ("Tc 9d", 9), ("7c 8d", 5), ("2c 3d 9h", 4), ("As Ad As", 3)]
)
def test_the_point_count_is_the_last_digit(cards: str, points: int) -> None:
    assert point_count(cards.split()) == points


@pytest.mark.parametrize(
    ("player", "banker", "winner"),
    [
        ("Tc 9d", "Kc 8d", "player"),
        ("Tc 7d", "Kc 8d", "banker"),
        ("Tc 6d", "Kc 6h", "tie"),
        ("Tc 2d 5h", "Kc 3d 4h", "tie"),
        ("Tc 2d 9h", "Kc 3d", "banker"),
        ("Tc 2d 9h", "Kc 3d Ts", "banker"),
        ("Tc 5d 4h", "Kc 5h", "player"),
    ],
)
def test_the_higher_count_wins(terms: TableTerms, player: str, banker: str, winner: str) -> None:
    entry = only_seat(terms, dealt(player, banker, player=1000, banker=1000, tie=100))
    back = ("push", None, 0, 1000)
    expected = {
        "player": {"player": ("win", "1 to 1", 1000, 2000), "banker": LOST, "tie": LOST},
        "banker": {"player": LOST, "banker": ("win", "19 to 20", 950, 1950), "tie": LOST},
        "tie": {"player": back, "banker": back, "tie": ("win", "8 to 1", 800, 900)},
    }
    assert lines(entry) == expected[winner]
    assert entry["hand"] == winner


@pytest.mark.parametrize(
    ("player", "banker", "expected"),
    [
        ("Tc 9d", "Kc 2d", []),  # a natural: no more cards
        ("Tc 2d", "Kc 8d", []),
        ("Tc 9d", "Kc 2d 3h", ["wrong_card_count"]),
        ("Tc 2d 3h", "Kc 8d", ["wrong_card_count"]),
        ("Tc 5d", "Kc 2d", ["wrong_card_count"]),  # five draws
        ("Tc 5d 2h", "Kc 2d", []),
        ("Tc 6d 2h", "Kc 2d", ["wrong_card_count"]),  # six stays
        ("Tc 6d", "Kc 2d 3h", []),
        ("Tc", "Kc 2d", ["wrong_card_count"]),
        ("Tc 2d 3h 4c", "Kc 2d", ["wrong_card_count"]),
    ],
)
def test_third_cards_follow_the_point_counts(terms: TableTerms, player: str, banker: str, expected: list[str]) -> None:
    assert reasons(terms, dealt(player, banker)) == expected


@pytest.mark.parametrize(
    ("wagers", "expected"),
    [
        ({"player": 400, "tie": 100}, []),
        ({"tie": 499}, ["wager_not_allowed"]),
        ({"banker": 100_001}, ["wager_not_allowed"]),
        ({"pair": 500}, ["wager_not_offered"]),
    ],
)
def test_what_may_be_wagered(terms: TableTerms, wagers: dict[str, int], expected: list[str]) -> None:
    assert reasons(terms, dealt("Tc 9d", "Kc 2d", **wagers)) == expected
    assert reasons(without(terms, "tie"), dealt("Tc 9d", "Kc 2d", tie=500)) == ["wager_not_offered"]
    empty = message(seat(1, ""), community="Tc 9d", dealer="Kc 2d")
    assert reasons(terms, empty) == ["wager_out_of_order"]


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    settled = play(terms, dealt("Tc 9d", "Kc 2d") | {"irregularities": [report(code)]}).settlement
    assert settled["outcome"] == ("settled" if code in ("face_up_card", "shuffler_failed") else "void")


def test_at_least_six_decks() -> None:
    with pytest.raises(DefinitionRefused) as refusal:
        table("minibaccarat", {"base": "mb-base"}, decks=1)
    assert refusal.value.path == "decks"
