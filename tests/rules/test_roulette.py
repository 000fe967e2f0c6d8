"""Roulette (SPEC §7; seed 003, 19:47-5.1 to 5.4)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from tables.rules.games import game_of
from tables.rules.roulette import ON_DOUBLE_ZERO, ON_SINGLE_ZERO, Roulette
from tables.rules.table import TableTerms
from tests.rules.felt import five_card_link, lines, message, only_seat, play, reasons, refused, report, seat, table

LOST = ("lose", None, 0, 0)
WHEEL = ["0", "00", *map(str, range(1, 37))]


@pytest.fixture
def terms() -> TableTerms:
    return table("roulette", {"base": "ro-00"}, maximum_cents=1_000_000)


def spin(result: str | None, **wagers: int) -> dict[str, Any]:
    sent = message(seat(1, "", **wagers), dealing={"method": "hand"})
    return sent if result is None else sent | {"result": result}


@pytest.mark.parametrize(
    ("wager", "numbers", "odds"),
    [
        ("straight_0", "0", 35),
        ("straight_00", "00", 35),
        ("straight_36", "36", 35),
        ("split_0_00", "0 00", 17),
        ("split_17_18", "17 18", 17),
        ("split_33_36", "33 36", 17),
        ("three_34_35_36", "34 35 36", 11),
        ("three_0_00_2", "0 00 2", 11),
        ("four_1_2_4_5", "1 2 4 5", 8),
        ("four_32_33_35_36", "32 33 35 36", 8),
        ("first_five", "0 00 1 2 3", 6),
        ("six_31_32_33_34_35_36", "31 32 33 34 35 36", 5),
        ("column_1", "1 4 7 10 13 16 19 22 25 28 31 34", 2),
        ("column_3", "3 6 9 12 15 18 21 24 27 30 33 36", 2),
        ("dozen_2", "13 14 15 16 17 18 19 20 21 22 23 24", 2),
        ("red", "1 3 5 7 9 12 14 16 18 19 21 23 25 27 30 32 34 36", 1),
        ("black", "2 4 6 8 10 11 13 15 17 20 22 24 26 28 29 31 33 35", 1),
        ("odd", " ".join(map(str, range(1, 37, 2))), 1),
        ("even", " ".join(map(str, range(2, 37, 2))), 1),
        ("low", " ".join(map(str, range(1, 19))), 1),
        ("high", " ".join(map(str, range(19, 37))), 1),
    ],
)
def test_a_wager_wins_on_its_numbers_and_on_no_other(terms: TableTerms, wager: str, numbers: str, odds: int) -> None:
    for result in WHEEL:
        entry = only_seat(terms, spin(result, **{wager: 500}))
        won = ("win", f"{odds} to 1", 500 * odds, 500 * odds + 500)
        assert lines(entry) == {wager: won if result in numbers.split() else LOST}
        assert (entry["hand"], entry["result"], entry["limit"]) == (result, lines(entry)[wager][0], None)


def test_seven_numbers_where_the_edition_has_them(terms: TableTerms) -> None:
    assert reasons(terms, spin("10", seven_numbers=500)) == ["wager_not_offered"]
    seven = table("roulette", {"base": "ro-00-seven"})
    won = {result for result in WHEEL if only_seat(seven, spin(result, seven_numbers=500))["paid_cents"] == 2500}
    assert won == {"10", "11", "12", "13", "14", "15", "33"}


def test_the_layout_counts_its_wagers() -> None:
    kinds = Counter(wager.partition("_")[0] for wager in ON_DOUBLE_ZERO)
    assert (kinds["straight"], kinds["split"], kinds["three"], kinds["four"], kinds["six"]) == (
        38,
        57 + 5,
        12 + 3,
        22,
        11,
    )
    kinds = Counter(wager.partition("_")[0] for wager in ON_SINGLE_ZERO)
    assert (kinds["straight"], kinds["split"], kinds["three"], kinds["four"], kinds["six"]) == (
        37,
        57 + 3,
        12 + 2,
        23,
        11,
    )
    assert "first_five" not in ON_SINGLE_ZERO


def test_every_wager_names_its_numbers_and_has_the_edge_of_the_wheel() -> None:
    """2/38 on a double zero but for the five and the seven numbers (3/38), 1/37 on a single one."""
    for code, zeros in (("ro-00-seven", 2), ("ro-0", 1)):
        game = game_of(table("roulette", {"base": code}))
        assert isinstance(game, Roulette)
        wheel = [number for number in WHEEL if zeros == 2 or number != "00"]
        for wager in game.offered:
            paid = sum(game.line(wager, 1, result)["paid_cents"] for result in wheel)
            edge = Fraction(len(wheel) - paid, len(wheel))
            dearer = wager in ("first_five", "seven_numbers")
            assert edge == (Fraction(3, 38) if dearer else Fraction(zeros, 36 + zeros)), wager


@pytest.mark.parametrize("wager", ["red", "black", "odd", "even", "low", "high"])
@pytest.mark.parametrize("zero", ["0", "00"])
def test_even_money_at_zero_loses_all_or_half(wager: str, zero: str) -> None:
    for code, back in (("ro-00", 0), ("ro-00-half", 251)):
        entry = only_seat(
            table("roulette", {"base": code}), spin(zero, **{wager: 501, "straight_0": 500, "dozen_1": 500})
        )
        assert lines(entry)[wager] == ("lose", None, 0, back)
        assert lines(entry)["dozen_1"] == LOST
    single = table("roulette", {"base": "ro-0"})
    assert lines(only_seat(single, spin("0", **{wager: 501})))[wager] == LOST


def test_a_seat_is_what_its_wagers_come_to_together(terms: TableTerms) -> None:
    for wagers, result in (
        ({"red": 1000, "black": 1000}, "push"),
        ({"red": 1000, "straight_2": 200}, "win"),
        ({"red": 1000, "black": 1500}, "lose"),
    ):
        assert only_seat(terms, spin("1", **wagers))["result"] == result


@pytest.mark.parametrize(
    ("result", "wagers", "expected"),
    [
        ("1", {}, ["wager_out_of_order"]),
        ("1", {"red": 499}, ["wager_not_allowed"]),
        ("1", {"red": 250, "straight_1": 250}, []),
        ("1", {"red": 1_000_001}, ["wager_not_allowed"]),
        ("1", {"split_1_5": 500}, ["wager_not_offered"]),
        ("1", {"split_2_1": 500}, ["wager_not_offered"]),
        ("1", {"three_2_3_4": 500}, ["wager_not_offered"]),
        (None, {"red": 500}, ["result_impossible"]),
    ],
)
def test_what_is_held(terms: TableTerms, result: str | None, wagers: dict[str, int], expected: list[str]) -> None:
    assert reasons(terms, spin(result, **wagers)) == expected


def test_the_wheel_says_what_touches_zero() -> None:
    double, single = table("roulette", {"base": "ro-00"}), table("roulette", {"base": "ro-0"})
    for wager, on_double, on_single in (
        ("first_five", True, False),
        ("straight_00", True, False),
        ("split_0_3", False, True),
        ("four_0_1_2_3", False, True),
        ("three_0_2_3", False, True),
        ("three_0_1_2", True, True),
    ):
        for terms, offered in ((double, on_double), (single, on_single)):
            assert (reasons(terms, spin("2", **{wager: 500})) == []) is offered


def test_results_at_the_door(terms: TableTerms) -> None:
    for result in ("37", "000", "", 17, None, ["17"]):
        assert refused(terms, spin(None, red=500) | {"result": result}) == ("invalid_value", "/result")
    # It is read last; its name is known, others are not.
    assert refused(terms, spin("37", red=500) | {"sequence": 0}) == ("invalid_value", "/sequence")
    assert refused(terms, spin("1", red=500) | {"results": "1"}) == ("unknown_field", "/results")
    sent = message(seat(1, "", red=500) | {"result": "win"}, dealing={"method": "hand"}, result="1")
    assert refused(terms, sent) == ("unknown_field", "/seats/0/result")
    assert refused(terms, message(seat(1, "2c", red=500), result="1")) == ("invalid_value", "/seats/0/cards/0")


def test_other_games_know_no_result() -> None:
    other = table("red-dog", {"base": "rd-base"})
    sent = message(seat(1, "", wager=500), community="4c 7d 5h")
    assert refused(other, sent | {"result": "win"}) == ("unknown_field", "/result")
    assert refused(other, sent | {"result": "win", "table": "T-9"}) == ("unknown_field", "/result")
    assert refused(other, {"result": "win"}) == ("unknown_field", "/result")


def test_a_void_round_needs_no_result(terms: TableTerms) -> None:
    settled = play(terms, spin(None, red=500) | {"irregularities": [report("shoe_failed")]}).settlement
    assert (settled["outcome"], settled["seats"][0]["paid_cents"]) == ("void", 500)


def test_no_link_fits() -> None:
    with pytest.raises(DefinitionRefused) as refusal:
        table("roulette", {"base": "ro-0"}, link=five_card_link())
    assert refusal.value.path == "link"
