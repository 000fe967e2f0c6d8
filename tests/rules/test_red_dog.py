"""Red dog (SPEC §7; seed 003, 19:47-6.1 to 6.7; DECISIONS A32)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from tables.rules.cards import DECK
from tables.rules.games import game_of
from tables.rules.red_dog import RedDog, hand_of, spread
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

PAYTABLES = {"base": "rd-base"}
LOST = ("lose", None, 0, 0)
PUSH = ("push", None, 0, 500)


@pytest.fixture
def terms() -> TableTerms:
    return table("red-dog", PAYTABLES, decks=6)


def dealt(community: str, **wagers: Any) -> dict[str, Any]:
    return message(seat(1, "", **({"wager": 500} | wagers)), community=community)


@pytest.mark.parametrize(
    ("first", "second", "between", "odds"),
    [
        ("4c", "6d", "5h", 5),
        ("4c", "7d", "5h", 4),
        ("9c", "Kd", "Qh", 2),
        ("2c", "7d", "3h", 1),
        ("2c", "8d", "3h", 1),
        ("2c", "9d", "3h", 1),
        ("2c", "Td", "3h", 1),
        ("2c", "Jd", "3h", 1),
        ("2c", "Qd", "Jh", 1),
        ("2c", "Kd", "Qh", 1),
        ("2c", "Ad", "Kh", 1),
    ],
)
def test_every_spread_pays_wager_and_raise(terms: TableTerms, first: str, second: str, between: str, odds: int) -> None:
    width = spread([first, second])
    for pair in (f"{first} {second}", f"{second} {first}"):
        entry = only_seat(terms, dealt(f"{pair} {between}", **{"raise": 300}))
        assert lines(entry) == {
            "wager": ("win", f"{odds} to 1", 500 * odds, 500 * odds + 500),
            "raise": ("win", f"{odds} to 1", 300 * odds, 300 * odds + 300),
        }
        assert (entry["hand"], entry["result"], entry["limit"]) == (f"spread_{width}", "win", None)
        for outside in (first, second):
            entry = only_seat(terms, dealt(f"{pair} {outside}", **{"raise": 300}))
            assert lines(entry) == {"wager": LOST, "raise": LOST}
            assert (entry["hand"], entry["result"]) == (f"spread_{width}", "lose")


def test_spreads_are_numbered_one_to_eleven() -> None:
    ranks = "23456789TJQKA"
    found = {spread([f"{a}c", f"{b}c"]) for a in ranks for b in ranks}
    assert found == set(range(-1, 12))


@pytest.mark.parametrize(
    ("community", "hand", "line"),
    [
        ("9c Td", "consecutive", PUSH),
        ("Td 9c", "consecutive", PUSH),
        ("Kc Ad", "consecutive", PUSH),
        ("9c 9d 8h", "pair", PUSH),
        ("9c 9c 9h", "three_of_a_kind", ("win", "11 to 1", 5500, 6000)),
        ("Ac 2d 7h", "spread_11", ("win", "1 to 1", 500, 1000)),  # the ace is high only
    ],
)
def test_hands_without_a_spread(terms: TableTerms, community: str, hand: str, line: tuple[Any, ...]) -> None:
    entry = only_seat(terms, dealt(community))
    assert (lines(entry), entry["hand"], entry["result"]) == ({"wager": line}, hand, line[0])


@pytest.mark.parametrize(
    ("community", "wagers", "expected"),
    [
        ("4c 7d 5h", {"raise": 500}, []),
        ("4c 7d 5h", {"raise": 1}, []),
        ("4c 7d 5h", {"raise": 501}, ["wager_not_allowed"]),
        ("4c 7d 5h", {"wager": 499}, ["wager_not_allowed"]),
        ("4c 7d 5h", {"wager": 100_001}, ["wager_not_allowed"]),
        ("4c 7d 5h", {"ante": 500}, ["wager_not_offered"]),
        ("9c Td", {"raise": 500}, ["wager_not_allowed"]),  # no spread, nothing to raise on
        ("9c 9d 8h", {"raise": 500}, ["wager_not_allowed"]),
        ("4c 7d", {}, ["wrong_card_count"]),
        ("9c 9d", {}, ["wrong_card_count"]),
        ("9c Td 3h", {}, ["wrong_card_count"]),
        ("9c", {}, ["wrong_card_count"]),
        ("", {}, ["wrong_card_count"]),
        ("4c 7d 5h 6h", {}, ["wrong_card_count"]),
    ],
)
def test_what_is_held(terms: TableTerms, community: str, wagers: dict[str, int], expected: list[str]) -> None:
    assert reasons(terms, dealt(community, **wagers)) == expected


def test_a_raise_supports_a_wager(terms: TableTerms) -> None:
    assert reasons(terms, message(seat(1, "", **{"raise": 500}), community="4c 7d 5h")) == ["wager_out_of_order"]
    assert reasons(terms, message(seat(1, "4c", wager=500), community="4c 7d 5h")) == ["wrong_card_count"]
    assert refused(terms, message(seat(1, "", wager=500, folded="raise"))) == ("invalid_value", "/seats/0/folded")


def test_a_card_comes_as_often_as_there_are_decks() -> None:
    for decks, expected in ((1, ["duplicate_card"]), (2, ["duplicate_card"]), (3, []), (8, [])):
        terms = table("red-dog", PAYTABLES, decks=decks)
        assert reasons(terms, dealt("9c 9c 9c")) == expected
    six = table("red-dog", PAYTABLES, decks=6)
    for count, expected in ((312, []), (311, ["deck_count_wrong"]), (52, ["deck_count_wrong"])):
        sent = dealt("4c 7d 5h") | {"dealing": {"method": "manual_shoe", "cards_in_deck": count}}
        assert reasons(six, sent) == expected


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    sent = dealt("4c 7d 5h", **{"raise": 300}) | {"irregularities": [report(code)]}
    settled = play(terms, sent).settlement
    # Any number of cards found face up are put aside and the round goes on (6.7(a)).
    standing = code in ("face_up_card", "face_up_cards", "shuffler_failed")
    assert (settled["outcome"], settled["reasons"]) == (("settled", []) if standing else ("void", [code]))
    assert settled["seats"][0]["paid_cents"] == (4000 if standing else 800)
    # A void round's cards are not looked at, its wagers are.
    if not standing:
        early = dealt("4c", **{"raise": 300}) | {"irregularities": [report(code)]}
        assert play(terms, early).outcome == "void"
        early = dealt("4c", **{"raise": 501}) | {"irregularities": [report(code)]}
        assert reasons(terms, early) == ["wager_not_allowed"]


def test_two_face_up_cards_are_put_aside_one_by_one(terms: TableTerms) -> None:
    reports = [report("face_up_card"), report("face_up_card")]
    assert play(terms, dealt("4c 7d 5h") | {"irregularities": reports}).outcome == "settled"


def test_every_seat_has_the_same_hand(terms: TableTerms) -> None:
    sent = message(*(seat(number, "", wager=500 * number) for number in range(1, 7)), community="4c 7d 5h")
    settled = play(terms, sent).settlement
    assert [entry["paid_cents"] for entry in settled["seats"]] == [500 * number * 5 for number in range(6, 0, -1)]
    assert settled["meters"] == []


def test_no_link_fits_and_any_number_of_decks_does() -> None:
    for link in (five_card_link("ms-mg-01"), five_card_link("ms-stud-01")):
        with pytest.raises(DefinitionRefused) as refusal:
            table("red-dog", PAYTABLES, link=link)
        assert refusal.value.path == "link"
    for decks in range(1, 9):
        assert table("red-dog", PAYTABLES, decks=decks).decks == decks


def test_the_edge_on_one_deck_is_the_published_one() -> None:
    """Every third card to every first two, raising from a spread of seven: 3.155 % of the wager."""
    game = game_of(table("red-dog", PAYTABLES))
    assert isinstance(game, RedDog)
    won = rounds = 0
    for cards in permutations(sorted(DECK), 3):
        hand, paid = hand_of(cards)
        stakes = 2 if hand.startswith("spread_") and spread(cards) >= 7 else 1
        pay = game.pays[hand] if paid else None
        won += (pay.multiple if pay else -1) * stakes
        rounds += 1
    assert rounds == 132_600
    assert abs(Fraction(-won, rounds) - Fraction(3155, 100_000)) < Fraction(1, 200_000)
