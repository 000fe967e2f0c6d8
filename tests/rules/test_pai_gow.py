"""Pai gow (SPEC §7; seed 003, 19:47-10.1 and 10.2)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from tables.rules.pai_gow import PAIRS, RANK, TWICE, name, strength
from tables.rules.table import TableTerms
from tests.rules.felt import REPORTS, lines, message, only_seat, play, reasons, refused, report, seat, table

DEALER = "66 35 55 46"  # a gong high, nothing low with the ten as its highest tile
SET = sorted([*RANK, *TWICE])

# The permissible pairs, best first (10.2(b)).
PAIRED = [
    "24 12", "66 66", "11 11", "44 44", "13 13", "55 55", "33 33", "22 22", "56 56", "46 46", "16 16", "15 15",
    "36 45", "35 26", "34 25", "14 23", "66 45", "11 36", "66 26", "11 44",
]  # fmt: skip


@pytest.fixture
def terms() -> TableTerms:
    return table("pai-gow", {"base": "pg-base"})


def against_dealer(tiles: str, dealer: str = DEALER, wager: int = 1000) -> dict[str, Any]:
    return message(seat(1, tiles, wager=wager), dealer=dealer)


def worth(tiles: str) -> tuple[int, int, int]:
    return strength(tiles.split())


def test_a_set_has_32_tiles_in_16_pairs() -> None:
    assert len(SET) == 32
    assert sum(len(pairs) for _, pairs in PAIRS) == 1 + 11 + 4 + 4 + 6


def test_the_twenty_ranks_of_pairs_in_their_order() -> None:
    found = [worth(tiles) for tiles in PAIRED]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(PAIRS) == 20
    assert all(worth(" ".join(reversed(tiles.split()))) == worth(tiles) for tiles in PAIRED)
    lowest = found[-1]
    others = [pair for pair in combinations(SET, 2) if strength(pair)[0] == 0]
    assert all(strength(pair) < lowest for pair in others)
    assert {name(tiles.split()) for tiles in PAIRED} == {"supreme_pair", "matched_pair", "mixed_pair", "wong", "gong"}


@pytest.mark.parametrize(
    "alike", [("66 45", "66 36"), ("11 45", "11 36"), ("66 26", "66 35", "66 44"), ("11 26", "11 35", "11 44")]
)
def test_wongs_and_gongs_of_one_rank_are_alike(alike: tuple[str, ...]) -> None:
    assert len({worth(tiles) for tiles in alike}) == 1


@pytest.mark.parametrize(
    ("tiles", "value"),
    [
        ("11 33", 8),
        ("56 16", 8),
        ("55 46", 0),
        ("36 46", 9),
        ("12 15", 9),  # the three counts as six only where that is more
        ("12 33", 9),
        ("24 33", 9),  # the six counts as three
        ("24 16", 3),
        ("24 22", 7),
        ("12 16", 3),  # 3 + 7 is nothing, 6 + 7 is three
    ],
)
def test_values_drop_the_left_digit(tiles: str, value: int) -> None:
    assert worth(tiles)[1] == value
    assert name(tiles.split()) == f"value_{value}"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("66 16", "11 16"),
        ("13 14", "36 46"),
        ("35 56", "15 12"),
    ],
)
def test_nines_go_by_their_highest_tile(better: str, worse: str) -> None:
    assert worth(better)[1] == worth(worse)[1] == 9
    assert worth(better) > worth(worse)


def test_the_highest_tile_decides_between_equal_values() -> None:
    nines = {pair: strength(pair) for pair in combinations(sorted(RANK), 2) if strength(pair)[:2] == (0, 9)}
    for (pair, found), (other, less) in combinations(nines.items(), 2):
        best, second = (min(RANK[tile] for tile in tiles) for tiles in (pair, other))
        if not {"12", "24"} & {*pair, *other}:
            assert (found > less) == (best < second)
            assert (found == less) == (best == second)


def test_the_three_counted_as_six_ranks_fifteenth() -> None:
    # 12 as a six with 33 is 12, value 2; as a three it is value 9: the better is taken.
    assert worth("12 33") == (0, 9, -RANK["33"])
    # With a five-spot the three counts as six: value 1 against 8; it stays a three.
    assert worth("12 14") == (0, 8, -RANK["14"])
    # With a seven it becomes six, and ranks above the five-spots.
    assert worth("12 34") == (0, 3, -RANK["34"])
    assert worth("24 14") == (0, 8, -RANK["14"])  # the six as three ranks seventeenth, below the five


@pytest.mark.parametrize(
    ("tiles", "line"),
    [
        ("44 44 46 15", ("win", "19 to 20", 950, 1950)),
        ("55 16 46 15", ("push", None, 0, 1000)),
        ("66 44 46 15", ("push", None, 0, 1000)),  # a gong against a gong is a copy, the dealer's; the low hand wins
        ("16 36 15 22", ("lose", None, 0, 0)),  # both nothing low, but the ten ranks above the four
    ],
)
def test_both_hands_against_the_dealer(terms: TableTerms, tiles: str, line: tuple[Any, ...]) -> None:
    assert lines(only_seat(terms, against_dealer(tiles))) == {"wager": line}


def test_a_low_hand_above_the_high_hand_loses(terms: TableTerms) -> None:
    weak = "34 23 22 33"
    assert worth("22 33")[1] == 0
    assert only_seat(terms, against_dealer("11 11 66 66", weak))["result"] == "lose"
    assert only_seat(terms, against_dealer("66 66 11 11", weak))["result"] == "win"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (against_dealer("66 66 46 15"), ["duplicate_card"]),
        (against_dealer("12 33 46 15", dealer="12 35 55 46"), ["duplicate_card"]),
        (against_dealer("66 66 46", dealer="11 35 55 46"), ["wrong_card_count"]),
        (against_dealer("66 66 46 15", dealer="55 46 11 35"), ["result_impossible"]),
        (against_dealer("66 66 46 15", dealer="11 35 55 46", wager=499), ["wager_not_allowed"]),
        (against_dealer("66 66 46 15", dealer="11 35 55 46"), []),
    ],
)
def test_what_is_held(terms: TableTerms, sent: dict[str, Any], expected: list[str]) -> None:
    assert reasons(terms, sent) == expected


def test_tiles_are_named_smaller_end_first(terms: TableTerms) -> None:
    assert refused(terms, against_dealer("66 66 64 15")) == ("invalid_value", "/seats/0/cards/2")
    assert refused(terms, against_dealer("66 66 As 15")) == ("invalid_value", "/seats/0/cards/2")
    sent = against_dealer("66 66 46 15", dealer="11 35 55 46") | {"dealing": {"method": "hand", "cards_in_deck": 31}}
    assert reasons(terms, sent) == ["deck_count_wrong"]


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    sent = against_dealer("66 66 46 15", dealer="11 35 55 46") | {"irregularities": [report(code)]}
    assert play(terms, sent).outcome == ("settled" if code in ("face_up_card", "shuffler_failed") else "void")


def test_every_pair_of_tiles_is_counted() -> None:
    """496 pairs of 32 tiles: 1 supreme, 11 matched, 4 mixed, 8 wongs, 16 gongs."""
    counted = Counter(name(pair) for pair in combinations(SET, 2))
    assert sum(counted.values()) == 496
    assert {kind: counted[kind] for kind in ("supreme_pair", "matched_pair", "mixed_pair", "wong", "gong")} == {
        "supreme_pair": 1, "matched_pair": 11, "mixed_pair": 4, "wong": 8, "gong": 16,
    }  # fmt: skip
