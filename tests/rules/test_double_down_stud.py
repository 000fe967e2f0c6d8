"""Double down stud (SPEC §7; seed 003, 19:47-17.6 to 17.11)."""

from __future__ import annotations

from typing import Any

import pytest

from tables.rules.table import TableTerms
from tests.rules.felt import (
    REPORTS,
    five_card_link,
    lines,
    message,
    only_seat,
    play,
    reasons,
    refused,
    report,
    seat,
    table,
)

PAYTABLES = {"base": "dds-base"}

# Own card, common cards, category, odds to 1; 0 is a push, None loses (19:47-17.10(b)).
HANDS = [
    ("As", "Ks Qs Js Ts", "royal_flush", 1000),
    ("9s", "Ks Qs Js Ts", "straight_flush", 100),
    ("7s", "7d 7h 7c 2d", "four_of_a_kind", 25),
    ("7s", "7d 7h 2c 2d", "full_house", 10),
    ("2s", "4s 9s Js Ks", "flush", 8),
    ("As", "2d 3s 4s 5c", "straight", 5),
    ("7s", "7d 7h Kc 2d", "three_of_a_kind", 3),
    ("7s", "7d Kh Kc 2d", "two_pair", 2),
    ("3s", "3d 2h 2c 9d", "two_pair", 2),
    ("As", "Ad Kh 4c 2d", "pair", 1),
    ("Js", "Jd Kh 4c 2d", "pair", 1),
    ("Ts", "Td Kh 4c 2d", "pair", 0),
    ("6s", "6d Kh 4c 2d", "pair", 0),
    ("5s", "5d Kh 4c 2d", "pair", None),
    ("2s", "2d Kh 4c 9d", "pair", None),
    ("Qs", "Kd Ah 2c 3d", "high_card", None),
]


@pytest.fixture
def terms() -> TableTerms:
    return table("double-down-stud", PAYTABLES)


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize(("own", "common", "hand", "odds"), HANDS)
def test_every_row_pays_both_wagers(
    terms: TableTerms, own: str, common: str, hand: str, odds: int | None, doubled: bool
) -> None:
    wagers = {"wager": 700, "double_down": 700} if doubled else {"wager": 700}
    entry = only_seat(terms, message(seat(1, own, **wagers), community=common))
    if odds is None:
        expected: tuple[Any, ...] = ("lose", None, 0, 0)
    elif odds == 0:
        expected = ("push", None, 0, 700)
    else:
        expected = ("win", f"{odds} to 1", 700 * odds, 700 * odds + 700)
    assert lines(entry) == dict.fromkeys(wagers, expected)
    assert (entry["hand"], entry["result"]) == (hand, expected[0])


@pytest.mark.parametrize(
    ("wagers", "expected"),
    [
        ({"wager": 500, "double_down": 400}, ["wager_not_allowed"]),
        ({"wager": 500, "double_down": 1000}, ["wager_not_allowed"]),
        ({"wager": 499}, ["wager_not_allowed"]),
        ({"wager": 100_001}, ["wager_not_allowed"]),
        ({"double_down": 500}, ["wager_out_of_order"]),
        ({}, ["wager_out_of_order"]),
        ({"wager": 500, "bonus": 100}, ["wager_not_offered"]),
        ({"wager": 500}, []),
        ({"wager": 100_000, "double_down": 100_000}, []),
    ],
)
def test_what_may_be_wagered(terms: TableTerms, wagers: dict[str, int], expected: list[str]) -> None:
    sent = message(seat(1, "Ts", **wagers), community="Td Kh 4c 2d")
    assert reasons(terms, sent) == expected
    assert reasons(terms, sent | {"irregularities": [report("card_exposed_early")]}) == expected


def test_nobody_folds_and_nothing_is_withdrawn(terms: TableTerms) -> None:
    for more, pointer in (({"folded": "double_down"}, "folded"), ({"withdrawn": ["wager"]}, "withdrawn/0")):
        sent = message(seat(1, "Ts", wager=500, **more), community="Td Kh 4c 2d")
        assert refused(terms, sent) == ("invalid_value", f"/seats/0/{pointer}")


@pytest.mark.parametrize(
    ("own", "common", "dealer"), [("Ts 3h", "Td Kh 4c 2d", ""), ("Ts", "Td Kh 4c", ""), ("Ts", "Td Kh 4c 2d", "3h 5h")]
)
def test_other_numbers_of_cards_are_held(terms: TableTerms, own: str, common: str, dealer: str) -> None:
    assert reasons(terms, message(seat(1, own, wager=500), community=common, dealer=dealer)) == ["wrong_card_count"]


def test_the_limit_is_a_hundred_thousand_dollars_a_hand(terms: TableTerms) -> None:
    entry = only_seat(terms, message(seat(1, "As", wager=5_000, double_down=5_000), community="Ks Qs Js Ts"))
    assert entry["limit"] == {"limit_cents": 10_000_000, "uncapped_win_cents": 10_000_000, "withheld_cents": 0}
    entry = only_seat(terms, message(seat(1, "As", wager=10_001, double_down=10_001), community="Ks Qs Js Ts"))
    assert [line["win_cents"] for line in entry["lines"]] == [5_000_000, 5_000_000]
    assert entry["limit"] == {"limit_cents": 10_000_000, "uncapped_win_cents": 20_002_000, "withheld_cents": 10_002_000}
    assert entry["paid_cents"] == 10_000_000 + 20_002


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    sent = message(seat(1, "As", wager=500, double_down=500), community="Ad Kh 4c 2d")
    settled = play(terms, sent | {"irregularities": [report(code)]}).settlement
    standing = code in ("face_up_card", "shuffler_failed")
    assert settled["outcome"] == ("settled" if standing else "void")
    assert settled["reasons"] == ([] if standing else [code])
    assert settled["seats"][0]["paid_cents"] == (2000 if standing else 1000)


@pytest.mark.parametrize("where", [{"seat": 1}, {"position": "community"}, {"position": "dealer"}])
def test_any_misdeal_voids_all_hands(terms: TableTerms, where: dict[str, Any]) -> None:
    sent = message(seat(1, "As 5h", wager=500), seat(2, "Ac", wager=500), community="Ad Kh 4c 2d")
    settled = play(terms, sent | {"irregularities": [report("wrong_card_count", **where)]}).settlement
    assert (settled["outcome"], settled["reasons"]) == ("void", ["wrong_card_count"])
    assert [entry["paid_cents"] for entry in settled["seats"]] == [500, 500]


def test_a_table_on_a_five_card_link_hits_with_or_without_doubling() -> None:
    terms = table("double-down-stud", PAYTABLES, link=five_card_link("ms-mg-02"))
    sent = message(
        seat(1, "As", wager=500, double_down=500, progressive=500),
        seat(2, "9s", wager=500, progressive=500),
        community="Ks Qs Js Ts",
    )
    settled = play(terms, sent).settlement
    # Both contributions are in first; the straight flush at the dealer's right takes a tenth, then the royal the rest.
    meter = 1_000_000 + 2 * 85
    tenth = meter // 10
    assert [(award["seat"], award["paid_cents"]) for award in settled["awards"]] == [(2, tenth), (1, meter - tenth)]
    # The straight flush neighbour is due the royal's envy and the other way round.
    assert [[each["paid_cents"] for each in entry["envy"]] for entry in settled["seats"]] == [[500_000], [150_000]]
    assert lines(settled["seats"][0])["progressive"] == ("win", "10% of major", tenth, tenth)
