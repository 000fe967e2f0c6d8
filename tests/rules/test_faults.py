"""Faults: what exactly holds a round is named with its seat and its wager, in every game, never more and never less."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tables.rules import door, floor, held, irregularities
from tables.rules.faults import Fault
from tables.rules.games import Games
from tables.rules.held import HELD_REASONS
from tables.rules.message import RoundMessage
from tables.rules.settle import settle
from tests.services.test_every_game import floor_text, messages

BOARD = "4d 9h 3s"
CALLERS = ("link_not_open", "table_closed", "lock_mismatch", "processing_error")


def faults(house: Any, message: dict[str, Any], *extra: str, **more: Any) -> list[Fault]:
    """The faults of a message that the door lets in, held for what its settlement says."""
    read = house.read(json.loads(json.dumps(message)))
    assert isinstance(read, RoundMessage), read
    reasons = house.settle(message, extra_reasons=extra).settlement["reasons"]
    return held.faults(read, house.games[read.table], reasons, **more)


def said(found: list[Fault]) -> list[tuple[Any, ...]]:
    """Reason, seat, wager and words of each."""
    return [(fault.reason, fault.seat, fault.wager, fault.words) for fault in found]


WAGERS: list[tuple[dict[str, int], str | None, list[tuple[str, str | None, str]]]] = [
    ({"ante": 999}, "third_street", [("wager_not_allowed", "ante", "$9.99: the table takes $10 to $500")]),
    (
        {"ante": 1000, "progressive": 200},
        "third_street",
        [("wager_not_allowed", "progressive", "$2: $1 is its one amount")],
    ),
    (
        {"ante": 1000, "third_street": 4000},
        "fourth_street",
        [("wager_not_allowed", "third_street", "$40: $10, $20 or $30 would be right, with $10 on ante")],
    ),
    (
        {"ante": 1000, "insurance": 1},
        "third_street",
        [("wager_not_offered", "insurance", "it is not offered at this table")],
    ),
    (
        {"ante": 1000, "third_street": 1000},
        "third_street",
        [("wager_after_fold", "third_street", "$10 after the fold at third street")],
    ),
    ({"progressive": 100}, "third_street", [("wager_out_of_order", "ante", "ante is missing")]),
    (
        {"ante": 1000, "third_street": 1000},
        None,
        [("wager_out_of_order", "fourth_street", "fourth street is missing, and the hand is not folded")],
    ),
    (
        {"ante": 1000, "third_street": 1000, "fifth_street": 1000},
        None,
        [
            ("wager_out_of_order", "fifth_street", "$10, but fourth street before it is missing"),
            ("wager_out_of_order", "fourth_street", "fourth street is missing, and the hand is not folded"),
        ],
    ),
    (
        {"ante": 1000},
        "fourth_street",
        [("wager_out_of_order", "third_street", "folded at fourth street, but third street before it is missing")],
    ),
]


@pytest.mark.parametrize(("wagers", "folded", "expected"), WAGERS)
def test_the_wager_at_fault_is_named_with_what_would_be_right(
    harbor: Any, wagers: dict[str, int], folded: str | None, expected: list[tuple[str, str | None, str]]
) -> None:
    seat = {"seat": 4, "cards": ["Jc", "Jh"], "wagers": wagers} | ({"folded": folded} if folded else {})
    fine = harbor.seat(2, "2c 2d")
    found = faults(harbor, harbor.message("MS-101", BOARD, fine, seat))
    assert said(found) == [(reason, 4, wager, words) for reason, wager, words in expected]


def test_cards_seats_and_counts_are_named(harbor: Any) -> None:
    message = harbor.message(
        "MS-101",
        "Jc 9h 3s",
        harbor.seat(7, "Jc Jh 2c", cover_all=500),
        harbor.seat(2, "Jd Jh"),
        players=3,
        cards_in_deck=51,
        mode="standard",
    )
    assert [(fault.reason, fault.seat, fault.card, fault.words) for fault in faults(harbor, message)] == [
        ("duplicate_card", 7, "Jc", "Jc lies at seat 7 and among the community cards: there is one"),
        ("duplicate_card", 7, "Jh", "Jh lies at seat 7 and at seat 2: there is one"),
        ("duplicate_card", 2, "Jh", "Jh lies at seat 7 and at seat 2: there is one"),
        ("wrong_card_count", 7, None, "3 cards: 2 are dealt to a seat"),
        ("seat_not_at_table", 7, None, "the table has 6 seats"),
        ("players_mismatch", None, None, "3 players were counted: 2 seats are in the message"),
        ("deck_count_wrong", None, None, "51 cards were counted: 52 are right"),
        ("cover_all_mode_off", 7, None, "the shuffler did not report that its Cover All mode is on"),
    ]
    board = harbor.message("MS-101", "4d 4d", harbor.seat(1, "Jc Jh"), dealer="2c")
    assert [(fault.reason, fault.card, fault.words) for fault in faults(harbor, board)] == [
        ("duplicate_card", "4d", "4d lies there more than once: there is one"),
        ("wrong_card_count", None, "2 community cards: 3 are dealt"),
        ("wrong_card_count", None, "1 card in the dealer's hand: 0 or 2 are dealt"),
    ]


def test_two_royals_are_named_at_their_seats(harbor: Any) -> None:
    royals = [harbor.seat(number, "As Ks", progressive=100) for number in (1, 5)]
    found = faults(harbor, harbor.message("MS-101", "Ts Js Qs", *royals))
    assert [(fault.seat, fault.wager) for fault in found if fault.reason == "too_many_hits"] == [
        (1, "progressive"),
        (5, "progressive"),
    ]


def test_what_the_caller_knew_is_named_where_it_lies(harbor: Any) -> None:
    message = harbor.message(
        "MS-101", BOARD, harbor.seat(3, "Jc Jh", progressive=100), harbor.seat(2, "2c 2d"), harbor.seat(1, "5c 5d")
    )
    assert said(faults(harbor, message, *CALLERS, locked={2: 100, 3: 100}, error="Traceback\nKeyError: 'x'\n")) == [
        ("link_not_open", 3, "progressive", "the link was not open when it counts"),
        ("table_closed", None, None, "the table was closed when it counts"),
        ("lock_mismatch", 2, "progressive", "no wager in the result, $1 when it was locked"),
        ("processing_error", None, None, "KeyError: 'x'"),
    ]


def test_a_reason_that_the_rules_no_longer_find_is_named_all_the_same(harbor: Any) -> None:
    read = harbor.read(harbor.message("MS-101", BOARD, harbor.seat(3, "Jc Jh")))
    assert said(held.faults(read, harbor.games["MS-101"], ["players_mismatch"])) == [
        ("players_mismatch", None, None, "held for it when it came")
    ]


GAMES = Games(floor.read_floor(floor_text()).tables)
PLAYED = messages()
AMOUNTS = (1, 250, 499, 500, 501, 1000, 1500, 99_999, 100_001)


def changed(draw: st.DrawFn, message: dict[str, Any]) -> None:
    """Get something of a message wrong, as a dealer or a device may."""
    game = GAMES[message["table"]]
    seat = draw(st.sampled_from(message["seats"]))
    cards = [card for each in message["seats"] for card in each["cards"]] + message["community"] + ["As", "As"]
    match draw(
        st.sampled_from(["amount", "drop", "add", "fold", "card", "card less", "board", "players", "deck", "seat"])
    ):
        case "amount" if seat["wagers"]:
            seat["wagers"][draw(st.sampled_from(sorted(seat["wagers"])))] = draw(st.sampled_from(AMOUNTS))
        case "drop" if seat["wagers"]:
            del seat["wagers"][draw(st.sampled_from(sorted(seat["wagers"])))]
        case "add":
            wager = draw(st.sampled_from([*sorted(game.offered), "moonshot"]))
            seat["wagers"][wager] = draw(st.sampled_from(AMOUNTS))
        case "fold" if game.streets:
            seat["folded"] = draw(st.sampled_from(game.streets))
        case "card":
            seat["cards"] = [*seat["cards"][1:], draw(st.sampled_from(cards))]
        case "card less":
            seat["cards"] = seat["cards"][1:]
        case "board":
            message["community"] = message["community"][1:]
        case "players":
            message["dealing"]["players"] = draw(st.integers(0, 8))
        case "deck":
            message["dealing"]["cards_in_deck"] = draw(st.sampled_from([51, game.full_count]))
        case "seat":
            message["seats"].append(copy.deepcopy(seat) | {"seat": draw(st.integers(1, 8))})
        case _:
            message.pop("result", None)


@st.composite
def spoiled(draw: st.DrawFn) -> dict[str, Any]:
    """A round of any game in which up to four things are wrong."""
    message = copy.deepcopy(draw(st.sampled_from(PLAYED)))
    for _ in range(draw(st.integers(0, 4))):
        changed(draw, message)
    if draw(st.integers(0, 5)) == 0:
        message["irregularities"] = [{"code": "shoe_failed"}]
    return message


@given(spoiled(), st.sets(st.sampled_from(CALLERS)))
@settings(max_examples=600)
def test_a_reason_holds_a_round_if_and_only_if_a_fault_of_it_is_named(message: dict[str, Any], extra: set[str]) -> None:
    read = door.read(message, GAMES)
    if not isinstance(read, RoundMessage):
        return
    game = GAMES[read.table]
    meters = {} if game.link is None else {level.code: None for level in game.link.levels}
    ruling = irregularities.judge(read.irregularities, game.misdeal_voids, game.void_the_round)
    why = held.ordered(held.reasons(read, game, ruling) | extra)
    if why:
        assert settle(read, game, meters, extra).settlement["reasons"] == why  # type: ignore[arg-type]
    found = held.faults(read, game, why)
    assert [reason for reason in HELD_REASONS if any(fault.reason == reason for fault in found)] == why
    seats = {seat["seat"]: seat["wagers"] for seat in message["seats"]}
    for fault in found:
        assert fault.words
        assert fault.seat is None or fault.seat in seats
        if fault.wager is not None and fault.seat is not None:
            # What was not wagered is at fault only where it is missing.
            assert fault.wager in seats[fault.seat] or "missing" in fault.words or "there is no ante" in fault.words
