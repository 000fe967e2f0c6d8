"""Craps (SPEC §7; seed 001, 19:47-1.1 and 1.2)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tables.rules.craps import POINTS, WAGERS, decided
from tables.rules.games import game_of
from tables.rules.table import TableTerms
from tests.rules.felt import lines, message, only_seat, reasons, refused, seat, table, without

ROLLS = [f"{first}-{second}" for first, second in product(range(1, 7), repeat=2)]


@pytest.fixture
def terms() -> TableTerms:
    return table("craps", {"base": "cr-base"})


def roll(result: str | None, **wagers: int) -> dict[str, Any]:
    sent = message(seat(1, "", **wagers), dealing={"method": "hand"})
    return sent if result is None else sent | {"result": result}


def total(dice: str) -> int:
    return sum(int(die) for die in dice.split("-"))


@pytest.mark.parametrize("dice", ROLLS)
def test_the_come_out_roll(dice: str) -> None:
    """1.2(a)1 and 2: 7 and 11 pass, 2, 3 and 12 do not, 12 is nobody's, anything else makes a point."""
    shown = total(dice)
    passes = "win" if shown in (7, 11) else "lose" if shown in (2, 3, 12) else None
    against = "win" if shown in (2, 3) else "lose" if shown in (7, 11) else "push" if shown == 12 else None
    assert decided("pass", f"come_out:{dice}") == passes
    assert decided("dont_pass", f"come_out:{dice}") == against
    # Nothing can be put on the come line before the come out roll is over.
    assert decided("come", f"come_out:{dice}") is None
    assert decided("dont_come", f"come_out:{dice}") is None


@pytest.mark.parametrize("point", POINTS)
def test_after_the_come_out_roll(point: int) -> None:
    for dice in ROLLS:
        shown, result = total(dice), f"{point}:{dice}"
        made = "win" if shown == point else "lose" if shown == 7 else None
        missed = "lose" if shown == point else "win" if shown == 7 else None
        assert (decided("pass", result), decided("dont_pass", result)) == (made, missed)
        first = decided("pass", f"come_out:{dice}"), decided("dont_pass", f"come_out:{dice}")
        assert (decided("come", result), decided("dont_come", result)) == first
        for number in POINTS:
            made = "win" if shown == number else "lose" if shown == 7 else None
            missed = "lose" if shown == number else "win" if shown == 7 else None
            for before in (result, f"come_out:{dice}"):
                assert decided(f"come_{number}", before) == decided(f"place_{number}", before) == made
                assert decided(f"dont_come_{number}", before) == decided(f"place_lose_{number}", before) == missed


def test_four_the_hardway() -> None:
    for dice in ROLLS:
        expected = "win" if dice == "2-2" else "lose" if total(dice) in (4, 7) else None
        for before in ("come_out", "8", "4"):
            assert decided("hardway_4", f"{before}:{dice}") == expected


def test_the_pass_line_has_its_known_edge() -> None:
    """7/495 on pass, 3/220 on don't pass, each to the end of the hand."""
    chance = {shown: Fraction(sum(total(dice) == shown for dice in ROLLS), 36) for shown in range(2, 13)}
    gain = {"win": 1, "lose": -1, "push": 0}
    for wager, edge in (("pass", Fraction(7, 495)), ("dont_pass", Fraction(3, 220))):
        won = Fraction(0)
        for dice in ROLLS:
            outcome = decided(wager, f"come_out:{dice}")
            if outcome is not None:
                won += Fraction(gain[outcome], 36)
                continue
            point = total(dice)
            ways = {decided(wager, f"{point}:{other}"): total(other) for other in ROLLS if total(other) in (point, 7)}
            ended = chance[point] + chance[7]
            for end, shown in ways.items():
                won += gain[str(end)] * chance[shown] / ended / 36
        assert -won == edge


@pytest.mark.parametrize(
    ("result", "wager", "line"),
    [
        ("come_out:3-4", "pass", ("win", "1 to 1", 3000, 6000)),
        ("come_out:6-6", "dont_pass", ("push", None, 0, 3000)),
        ("6:6-6", "dont_come", ("push", None, 0, 3000)),
        ("6:4-2", "come_6", ("win", "1 to 1", 3000, 6000)),
        ("8:3-4", "dont_come_4", ("win", "1 to 1", 3000, 6000)),
        ("8:2-2", "place_4", ("win", "9 to 5", 5400, 8400)),
        ("8:4-1", "place_5", ("win", "7 to 5", 4200, 7200)),
        ("8:4-2", "place_6", ("win", "7 to 6", 3500, 6500)),
        ("8:6-1", "place_lose_10", ("win", "5 to 11", 1363, 4363)),  # down to the cent
        ("8:6-1", "place_lose_9", ("win", "5 to 8", 1875, 4875)),
        ("8:6-1", "place_lose_8", ("win", "4 to 5", 2400, 5400)),
        ("8:2-2", "hardway_4", ("win", "7 to 1", 21_000, 24_000)),
        ("8:3-1", "hardway_4", ("lose", None, 0, 0)),
    ],
)
def test_what_decided_wagers_pay(terms: TableTerms, result: str, wager: str, line: tuple[Any, ...]) -> None:
    entry = only_seat(terms, roll(result, **{wager: 3000}))
    assert (lines(entry), entry["hand"], entry["result"]) == ({wager: line}, result.partition(":")[2], line[0])


@pytest.mark.parametrize(
    ("result", "wager", "expected"),
    [
        ("come_out:2-2", "pass", ["wager_out_of_order"]),  # a point: it stands
        ("6:2-2", "pass", ["wager_out_of_order"]),
        ("6:2-2", "come", ["wager_out_of_order"]),
        ("come_out:3-4", "come", ["wager_out_of_order"]),
        ("6:5-6", "place_6", ["wager_out_of_order"]),
        ("6:3-3", "place_6", []),
        ("6:3-3", "place_7", ["wager_not_offered"]),
        ("6:3-3", "hardway_6", ["wager_not_offered"]),
        (None, "pass", ["result_impossible"]),
    ],
)
def test_what_is_held(terms: TableTerms, result: str | None, wager: str, expected: list[str]) -> None:
    assert reasons(terms, roll(result, **{wager: 500})) == expected


def test_every_wager_is_offered_and_paid(terms: TableTerms) -> None:
    assert game_of(terms).offered == set(WAGERS)
    assert len(WAGERS) == 4 + 4 * 6 + 1
    for result in ("7:1-1", "come_out:7-1", "come_out:0-1", "3-4", "6:34"):
        assert refused(terms, roll(result, **{"pass": 500})) == ("invalid_value", "/result")


def test_a_wager_without_a_row_is_not_offered(terms: TableTerms) -> None:
    fewer = without(terms, "hardway_4", "come", "place_4")
    come = {"come", *(f"come_{point}" for point in POINTS)}
    assert game_of(fewer).offered == set(WAGERS) - come - {"hardway_4", "place_4"}
    for wager in ("hardway_4", "come_4", "place_4"):
        assert (reasons(terms, roll("6:2-2", **{wager: 500})), reasons(fewer, roll("6:2-2", **{wager: 500}))) == (
            [],
            ["wager_not_offered"],
        )
