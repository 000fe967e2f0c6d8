"""Blackjack from posted results (SPEC §7; seed 003, 19:47-2.6 to 2.11)."""

from __future__ import annotations

from typing import Any

import pytest

from tables.rules.table import TableTerms
from tests.rules.felt import lines, message, only_seat, play, reasons, refused, report, seat, table

LOST = ("lose", None, 0, 0)
BACK = ("push", None, 0, 1000)
WON = ("win", "1 to 1", 1000, 2000)
NO = "no_blackjack"


@pytest.fixture
def terms() -> TableTerms:
    return table("blackjack", {"base": "bj-base"}, decks=6)


@pytest.fixture
def face_up() -> TableTerms:
    return table("blackjack", {"base": "bj-face-up"}, decks=2)


def hand(result: str | None, dealer: str | None = NO, **wagers: int) -> dict[str, Any]:
    entry = seat(1, "As Kd", **({"wager": 1000} | wagers))
    sent = message(entry if result is None else entry | {"result": result}, dealer="Qs 9d")
    return sent if dealer is None else sent | {"result": dealer}


@pytest.mark.parametrize(
    ("result", "dealer", "line", "seat_result"),
    [
        ("blackjack", NO, ("win", "3 to 2", 1500, 2500), "win"),
        ("win", NO, WON, "win"),
        ("tie", NO, BACK, "push"),
        ("lose", NO, LOST, "lose"),
        ("surrender", NO, ("lose", None, 0, 500), "fold"),
        ("blackjack", "blackjack", BACK, "push"),  # a stand off (2.7(b))
        ("lose", "blackjack", LOST, "lose"),
        ("surrender", "blackjack", LOST, "fold"),  # the entire wager (2.8(a)2)
    ],
)
def test_one_hand(terms: TableTerms, result: str, dealer: str, line: tuple[Any, ...], seat_result: str) -> None:
    entry = only_seat(terms, hand(result, dealer))
    assert (lines(entry), entry["hand"], entry["result"]) == ({"wager": line}, result, seat_result)


@pytest.mark.parametrize(("wager", "win"), [(500, 750), (501, 751), (1003, 1504)])
def test_three_to_two_is_rounded_down_to_the_cent(terms: TableTerms, wager: int, win: int) -> None:
    assert lines(only_seat(terms, hand("blackjack", wager=wager)))["wager"] == ("win", "3 to 2", win, win + wager)


def test_with_both_cards_up_ties_lose_and_blackjack_is_even_money(face_up: TableTerms) -> None:
    """2.6(k): the house's other game, another edition."""
    for result, dealer, line in (
        ("blackjack", NO, WON),
        ("blackjack", "blackjack", WON),
        ("win", NO, WON),
        ("tie", NO, LOST),
        ("lose", "blackjack", LOST),
    ):
        assert lines(only_seat(face_up, hand(result, dealer))) == {"wager": line}
    assert reasons(face_up, hand("surrender")) == ["result_impossible"]
    assert reasons(face_up, hand("win", insurance=500)) == ["wager_not_offered"]


@pytest.mark.parametrize(("result", "line", "more"), [("win", WON, 600), ("lose", LOST, -600), ("tie", BACK, 0)])
def test_a_double_shares_the_hands_result(terms: TableTerms, result: str, line: tuple[Any, ...], more: int) -> None:
    entry = only_seat(terms, hand(result, double_down=600))
    assert lines(entry)["wager"] == line
    assert entry["paid_cents"] - entry["staked_cents"] == (line[3] - 1000) + more


@pytest.mark.parametrize(
    ("result", "first", "second", "seat_result"),
    [
        ("win/win", WON, WON, "win"),
        ("win/lose", WON, LOST, "push"),
        ("lose/tie", LOST, BACK, "lose"),
        ("tie/win", BACK, WON, "win"),
    ],
)
def test_a_split_pair_is_two_hands(
    terms: TableTerms, result: str, first: tuple[Any, ...], second: tuple[Any, ...], seat_result: str
) -> None:
    entry = only_seat(terms, hand(result, split=1000, split_double_down=1000))
    assert lines(entry) == {"wager": first, "split": second, "split_double_down": second}
    assert only_seat(terms, hand(result, split=1000))["result"] == seat_result


def test_the_dealers_blackjack_takes_the_original_wager_only(terms: TableTerms) -> None:
    entry = only_seat(terms, hand("lose/lose", "blackjack", double_down=500, split=1000, split_double_down=700))
    assert lines(entry) == {
        "wager": LOST,
        "double_down": ("push", None, 0, 500),
        "split": BACK,
        "split_double_down": ("push", None, 0, 700),
    }


@pytest.mark.parametrize(
    ("result", "dealer"), [("blackjack", "blackjack"), ("blackjack", NO), ("lose", "blackjack"), ("win", NO)]
)
def test_insurance_has_no_bearing_on_the_hand(terms: TableTerms, result: str, dealer: str) -> None:
    plain, insured = only_seat(terms, hand(result, dealer)), only_seat(terms, hand(result, dealer, insurance=500))
    line = ("win", "2 to 1", 1000, 1500) if dealer == "blackjack" else LOST
    assert lines(insured) == lines(plain) | {"insurance": line}
    assert insured["result"] == plain["result"]


def test_an_insured_blackjack_comes_to_even_money_either_way(terms: TableTerms) -> None:
    """The consolidated payment of 2.7(c) is what the two wagers come to anyhow."""
    for dealer in ("blackjack", NO):
        entry = only_seat(terms, hand("blackjack", dealer, insurance=500))
        assert entry["paid_cents"] - entry["staked_cents"] == 1000


@pytest.mark.parametrize(
    ("result", "dealer", "wagers", "expected"),
    [
        ("win", NO, {"double_down": 1001}, ["wager_not_allowed"]),
        ("win", NO, {"double_down": 1}, []),
        ("win/win", NO, {"split": 900}, ["wager_not_allowed"]),
        ("win/win", NO, {"split": 1000, "split_double_down": 1001}, ["wager_not_allowed"]),
        ("win", NO, {"split_double_down": 500}, ["wager_out_of_order"]),
        ("win", NO, {"insurance": 501}, ["wager_not_allowed"]),
        ("win", NO, {"wager": 700, "insurance": 400}, []),  # half of $7, to the next dollar
        ("win", NO, {"wager": 700, "insurance": 401}, ["wager_not_allowed"]),
        ("win", NO, {"wager": 499}, ["wager_not_allowed"]),
        ("win", NO, {"wager": 100_001}, ["wager_not_allowed"]),
        (None, NO, {}, ["result_impossible"]),
        ("win", None, {}, ["result_impossible"]),
        ("win", "blackjack", {}, ["result_impossible"]),
        ("tie", "blackjack", {}, ["result_impossible"]),
        ("win/lose", NO, {}, ["result_impossible"]),
        ("win", NO, {"split": 1000}, ["result_impossible"]),
        ("lose/win", "blackjack", {"split": 1000}, ["result_impossible"]),
        ("blackjack", NO, {"double_down": 500}, ["result_impossible"]),
        ("surrender", NO, {"double_down": 500}, ["result_impossible"]),
    ],
)
def test_what_is_held(
    terms: TableTerms, result: str | None, dealer: str | None, wagers: dict[str, int], expected: list[str]
) -> None:
    assert reasons(terms, hand(result, dealer, **wagers)) == expected


def test_no_wager_no_hand(terms: TableTerms) -> None:
    sent = message(seat(1, "", insurance=500) | {"result": "win"}, result=NO)
    assert reasons(terms, sent) == ["wager_out_of_order"]


def test_results_at_the_door(terms: TableTerms) -> None:
    assert refused(terms, hand("won")) == ("invalid_value", "/seats/0/result")
    assert refused(terms, hand("blackjack/win", split=1000)) == ("invalid_value", "/seats/0/result")
    assert refused(terms, hand("win", "21")) == ("invalid_value", "/result")
    # Within a seat it is read last.
    sent = message(seat(1, "", wager=500, withdrawn=["wager"]) | {"result": "won"}, result=NO)
    assert refused(terms, sent) == ("invalid_value", "/seats/0/withdrawn/0")


def test_a_void_seat_and_a_void_round_need_no_result(terms: TableTerms) -> None:
    sent = hand(None, NO) | {"irregularities": [report("wrong_card_count", seat=1)]}
    assert only_seat(terms, sent)["result"] == "void"
    sent = hand(None, None) | {"irregularities": [report("shoe_failed")]}
    assert play(terms, sent).outcome == "void"
