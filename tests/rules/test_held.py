"""Held rounds: every reason by itself, all of them together in the printed order, and what is not judged."""

from __future__ import annotations

from typing import Any

import pytest

from jackpot.rules.meter import Meter
from tables.rules import held
from tables.rules.settlement import printed

BOARD = "4d 9h 3s"


def reasons(house: Any, message: dict[str, Any], **extra: Any) -> list[str]:
    settled = house.settle(message, **extra)
    found: list[str] = settled.settlement["reasons"]
    return found


@pytest.mark.parametrize(
    ("board", "cards", "dealer", "reason"),
    [
        ("Jc 9h 3s", "Jc Jh", "", "duplicate_card"),
        (BOARD, "Jc Jc", "", "duplicate_card"),
        (BOARD, "Jc Jh", "2c 9h", "duplicate_card"),
        (BOARD, "Jc Jh 2c", "", "wrong_card_count"),
        (BOARD, "Jc", "", "wrong_card_count"),
        (BOARD, "", "", "wrong_card_count"),
        ("4d 9h", "Jc Jh", "", "wrong_card_count"),
        ("4d 9h 3s 2s", "Jc Jh", "", "wrong_card_count"),
        ("", "Jc Jh", "", "wrong_card_count"),
        (BOARD, "Jc Jh", "2c", "wrong_card_count"),
        (BOARD, "Jc Jh", "2c 2d 2h", "wrong_card_count"),
    ],
)
def test_cards(harbor: Any, board: str, cards: str, dealer: str, reason: str) -> None:
    assert reasons(harbor, harbor.message("MS-101", board, harbor.seat(1, cards), dealer=dealer)) == [reason]


def test_two_seats_with_the_same_card(harbor: Any) -> None:
    message = harbor.message("MS-101", BOARD, harbor.seat(1, "Jc Jh"), harbor.seat(2, "Kc Jh"))
    assert reasons(harbor, message) == ["duplicate_card"]


@pytest.mark.parametrize("folded", ["third_street", None])
def test_a_folded_seat_reports_its_two_cards(harbor: Any, folded: str | None) -> None:
    message = harbor.message("MS-101", BOARD, harbor.seat(1, "Jc", folded=folded))
    assert reasons(harbor, message) == ["wrong_card_count"]


WAGERS: list[tuple[str, dict[str, int], str | None, list[str]]] = [
    # table, wagers, folded, reasons
    ("MS-110", {"ante": 1000, "progressive": 100}, "third_street", ["wager_not_offered"]),
    ("MS-110", {"ante": 1000, "three_card_bonus": 100}, "third_street", ["wager_not_offered"]),
    ("MS-102", {"ante": 1000, "cover_all": 100}, "third_street", ["wager_not_offered"]),
    ("MS-101", {"ante": 1000, "insurance": 1}, "third_street", ["wager_not_offered"]),
    ("MS-101", {"ante": 1000, "": 1}, "third_street", ["wager_not_offered"]),
    ("MS-101", {"ante": 999}, "third_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 50_001}, "third_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 10**12}, "third_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 1000, "progressive": 99}, "third_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 1000, "progressive": 200}, "third_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 1000, "third_street": 1001}, "fourth_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 1000, "third_street": 4000}, "fourth_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 1000, "third_street": 500}, "fourth_street", ["wager_not_allowed"]),
    ("MS-101", {"ante": 1000, "third_street": 1000}, "third_street", ["wager_after_fold"]),
    (
        "MS-101",
        {"ante": 1000, "third_street": 1000, "fourth_street": 1000, "fifth_street": 1000},
        "fourth_street",
        ["wager_after_fold"],
    ),
    (
        "MS-101",
        {"ante": 1000, "fourth_street": 1000},
        "third_street",
        ["wager_after_fold", "wager_out_of_order"],
    ),
    ("MS-101", {"third_street": 1000}, "fourth_street", ["wager_out_of_order"]),
    ("MS-101", {"three_card_bonus": 1000}, "third_street", ["wager_out_of_order"]),
    ("MS-101", {"progressive": 100}, "third_street", ["wager_out_of_order"]),
    ("MS-101", {}, "third_street", ["wager_out_of_order"]),
    ("MS-101", {"ante": 1000}, None, ["wager_out_of_order"]),
    ("MS-101", {"ante": 1000, "third_street": 1000, "fourth_street": 1000}, None, ["wager_out_of_order"]),
    ("MS-101", {"ante": 1000, "third_street": 1000, "fifth_street": 1000}, None, ["wager_out_of_order"]),
    ("MS-101", {"ante": 1000}, "fourth_street", ["wager_out_of_order"]),
    ("MS-101", {"ante": 1000, "third_street": 1000}, "fifth_street", ["wager_out_of_order"]),
    # Side wagers have neither minimum nor maximum; streets have no order in the message.
    ("MS-101", {"cover_all": 1, "three_card_bonus": 10**9, "ante": 1000}, "third_street", []),
    ("MS-101", {"fifth_street": 1000, "fourth_street": 3000, "ante": 1000, "third_street": 2000}, None, []),
]


@pytest.mark.parametrize(("table", "wagers", "folded", "expected"), WAGERS)
def test_wagers(harbor: Any, table: str, wagers: dict[str, int], folded: str | None, expected: list[str]) -> None:
    seat = {"seat": 1, "cards": ["Jc", "Jh"], "wagers": wagers}
    if folded is not None:
        seat["folded"] = folded
    assert reasons(harbor, harbor.message(table, BOARD, seat)) == expected


def test_seats_players_and_decks(harbor: Any) -> None:
    seat = harbor.seat(1, "Jc Jh")
    assert reasons(harbor, harbor.message("MS-101", BOARD, harbor.seat(7, "Jc Jh"))) == ["seat_not_at_table"]
    assert harbor.settle(harbor.message("MS-102", BOARD, harbor.seat(7, "Jc Jh"))).outcome == "settled"
    assert reasons(harbor, harbor.message("MS-101", BOARD, seat, players=2)) == ["players_mismatch"]
    assert reasons(harbor, harbor.message("MS-101", BOARD, seat, players=0)) == ["players_mismatch"]
    assert reasons(harbor, harbor.message("MS-101", BOARD, seat, cards_in_deck=51)) == ["deck_count_wrong"]
    assert harbor.settle(harbor.message("MS-101", BOARD, seat, cards_in_deck=52, players=1)).outcome == "settled"


def test_cover_all_needs_the_shuffler_in_its_mode(harbor: Any) -> None:
    covered = harbor.seat(1, "Jc Jh", cover_all=500)
    assert reasons(harbor, harbor.message("MS-101", BOARD, covered, mode="standard")) == ["cover_all_mode_off"]
    no_mode = harbor.message("MS-101", BOARD, covered)
    del no_mode["dealing"]["mode"]
    assert reasons(harbor, no_mode) == ["cover_all_mode_off"]
    by_hand = harbor.message("MS-101", BOARD, covered, method="hand")
    assert harbor.settle(by_hand).outcome == "settled", "the mode decides, whatever the method"
    assert harbor.settle(harbor.message("MS-101", BOARD, harbor.seat(1, "Jc Jh"), mode="standard")).outcome == "settled"


def test_too_many_hits_never_come_without_a_card_twice(harbor: Any) -> None:
    royals = [harbor.seat(number, "As Ks", progressive=100) for number in (1, 2)]
    message = harbor.message("MS-101", "Ts Js Qs", *royals)
    assert reasons(harbor, message) == ["duplicate_card", "too_many_hits"]
    flushes = [harbor.seat(number, cards, progressive=100) for number, cards in ((1, "9s 8s"), (2, "9s Ks"))]
    assert reasons(harbor, harbor.message("MS-101", "Ts Js Qs", *flushes)) == ["duplicate_card"]
    flushes.append(harbor.seat(3, "As Ks", progressive=100))
    assert reasons(harbor, harbor.message("MS-101", "Ts Js Qs", *flushes)) == ["duplicate_card", "too_many_hits"]
    dead = [harbor.seat(1, "As Ks", progressive=100), harbor.seat(2, "As Ks")]
    assert reasons(harbor, harbor.message("MS-101", "Ts Js Qs", *dead)) == ["duplicate_card"]
    for code in ("forfeit", "wrong_card_count"):
        out = harbor.message("MS-101", "Ts Js Qs", *royals, irregularities=[{"code": code, "seat": 2}])
        assert reasons(harbor, out) == ["duplicate_card"], f"one of them is out: {code}"
    folded = [harbor.seat(number, "As Ks", folded="third_street", progressive=100) for number in (1, 2)]
    assert reasons(harbor, harbor.message("MS-107", "Ts Js Qs", *folded)) == ["duplicate_card"]
    assert reasons(harbor, harbor.message("MS-101", "Ts Js Qs", *folded)) == ["duplicate_card", "too_many_hits"]
    five_aces = harbor.message("MS-101", "As Ad Ac", harbor.seat(1, "Ah As", progressive=100))
    assert reasons(harbor, five_aces) == ["duplicate_card"]


def everything_wrong(harbor: Any) -> dict[str, Any]:
    wrong: dict[str, Any] = harbor.message(
        "MS-101",
        "Jc 9h 3s",
        harbor.seat(7, "Jc Jh 2c", folded="third_street", insurance=5, cover_all=5, third_street=5),
        harbor.seat(2, "Jd 2d", 1, ante=5),
        players=3,
        cards_in_deck=51,
        mode="standard",
    )
    return wrong


def test_every_reason_is_given_in_the_printed_order(harbor: Any) -> None:
    message = everything_wrong(harbor)
    found = reasons(harbor, message, extra_reasons=("processing_error", "table_closed", "link_not_open"))
    assert found == [
        "duplicate_card",
        "wrong_card_count",
        "wager_not_offered",
        "wager_not_allowed",
        "wager_after_fold",
        "wager_out_of_order",
        "seat_not_at_table",
        "players_mismatch",
        "deck_count_wrong",
        "cover_all_mode_off",
        "link_not_open",
        "table_closed",
        "processing_error",
    ]


def test_a_held_round_moves_nothing(harbor: Any) -> None:
    meters = {"major": Meter(5_000_000, 1, 2, 3, 4, 5)}
    settled = harbor.settle(everything_wrong(harbor), meters)
    assert (settled.outcome, settled.meters, settled.movements) == ("held", meters, ())
    assert list(printed(settled.settlement)) == [
        "round",
        "table",
        "outcome",
        "reasons",
        "players",
        "seats",
        "awards",
        "meters",
    ]
    assert settled.settlement["players"] == 2
    assert [settled.settlement[key] for key in ("seats", "awards", "meters")] == [[], [], []]


def test_the_callers_reasons_hold_a_round_that_is_otherwise_good(harbor: Any) -> None:
    good = harbor.message("MS-101", BOARD, harbor.seat(1, "Jc Jh"))
    assert harbor.settle(good, extra_reasons=()).outcome == "settled"
    assert reasons(harbor, good, extra_reasons=["lock_mismatch", "link_not_open"]) == ["link_not_open", "lock_mismatch"]
    with pytest.raises(ValueError, match="no_such_reason"):
        held.ordered(["no_such_reason"])


def test_a_void_round_is_held_for_wagers_seats_and_players_never_for_cards(harbor: Any) -> None:
    void = [{"code": "card_exposed_early"}]
    cards_only = harbor.message(
        "MS-101", "Jc Jc", harbor.seat(1, "Jc", 1), dealer="2c", cards_in_deck=51, irregularities=void
    )
    assert harbor.settle(cards_only).outcome == "void"
    assert reasons(harbor, everything_wrong(harbor) | {"irregularities": void}) == [
        "wager_not_offered",
        "wager_not_allowed",
        "wager_after_fold",
        "seat_not_at_table",
        "players_mismatch",
        "cover_all_mode_off",
    ]
    no_ante = {"seat": 1, "cards": [], "wagers": {"progressive": 100}}
    assert reasons(harbor, harbor.message("MS-101", "", no_ante, irregularities=void)) == ["wager_out_of_order"]


def test_a_void_seat_is_held_for_its_wagers_and_its_cards_still_count_for_duplicates(harbor: Any) -> None:
    def misdealt(*seats: Any) -> list[str]:
        report = [{"code": "wrong_card_count", "seat": 2}]
        return reasons(harbor, harbor.message("MS-101", BOARD, *seats, irregularities=report))

    fine = harbor.seat(1, "Jc Jh")
    assert misdealt(fine, {"seat": 2, "cards": [], "wagers": {"ante": 1000}}) == []
    assert misdealt(fine, {"seat": 2, "cards": ["9h"], "wagers": {"ante": 1000}}) == ["duplicate_card"]
    assert misdealt(fine, {"seat": 2, "cards": [], "wagers": {"ante": 5}}) == ["wager_not_allowed"]
    assert misdealt(fine, {"seat": 2, "cards": [], "wagers": {}}) == ["wager_out_of_order"]
    assert misdealt(harbor.seat(1, "Jc"), harbor.seat(2, "Kc")) == ["wrong_card_count"]


def test_a_wrong_deck_count_is_held_unless_something_voids_the_round(harbor: Any) -> None:
    def counted(*codes: str) -> Any:
        reports = [{"code": code} for code in codes]
        message = harbor.message("MS-101", BOARD, harbor.seat(1, "Jc Jh"), cards_in_deck=51, irregularities=reports)
        return harbor.settle(message)

    assert counted("face_up_card").settlement["reasons"] == ["deck_count_wrong"]
    assert counted("face_up_card").outcome == "held"
    assert counted("deck_count_wrong").outcome == "void"
    assert counted("shoe_failed").outcome == "void"
