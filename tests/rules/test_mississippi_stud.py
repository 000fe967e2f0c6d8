"""Mississippi Stud: base wagers, 3 Card Bonus and Cover All, hand by hand (SPEC §5)."""

from __future__ import annotations

from typing import Any

import pytest

from tables.rules.paytables import builtin
from tables.rules.settlement import printed

BASE: list[tuple[str, str, str, str, str | None, int]] = [
    # board, cards, hand, result, odds, multiple
    ("Ts Js Qs", "As Ks", "royal_flush", "win", "500 to 1", 500),
    ("Ts Js Qs", "9s Ks", "straight_flush", "win", "100 to 1", 100),
    ("2s 3s 4s", "As 5s", "straight_flush", "win", "100 to 1", 100),
    ("9c 9d Qs", "9h 9s", "four_of_a_kind", "win", "40 to 1", 40),
    ("9c 9d Qs", "9h Qh", "full_house", "win", "10 to 1", 10),
    ("9c 7c Qc", "3c 2c", "flush", "win", "6 to 1", 6),
    ("2s 3c 4d", "Ah 5s", "straight", "win", "4 to 1", 4),
    ("9c 9d Qs", "9h 2h", "three_of_a_kind", "win", "3 to 1", 3),
    ("9c 9d Qs", "2s 2h", "two_pair", "win", "2 to 1", 2),
    ("Ac 9d Qs", "As 2h", "pair", "win", "1 to 1", 1),
    ("Jc 9d Qs", "Js 2h", "pair", "win", "1 to 1", 1),
    ("Tc 9d Qs", "Ts 2h", "pair", "push", None, 0),
    ("6c 9d Qs", "6s 2h", "pair", "push", None, 0),
    ("5c 9d Qs", "5s 2h", "pair", "lose", None, 0),
    ("2c 9d Qs", "2s 3h", "pair", "lose", None, 0),
    ("Qc Kd As", "2s 3h", "high_card", "lose", None, 0),
]


@pytest.mark.parametrize(("board", "cards", "hand", "result", "odds", "multiple"), BASE)
def test_all_four_wagers_are_paid_alike(
    harbor: Any, board: str, cards: str, hand: str, result: str, odds: str | None, multiple: int
) -> None:
    entry = harbor.entries(harbor.message("MS-110", board, harbor.seat(1, cards, 1, 2, 3)))[1]
    assert (entry["hand"], entry["result"]) == (hand, result)
    assert [line["stake_cents"] for line in entry["lines"]] == [1000, 1000, 2000, 3000]
    for line in entry["lines"]:
        win = line["stake_cents"] * multiple
        back = 0 if result == "lose" else line["stake_cents"]
        assert (line["result"], line["odds"], line["win_cents"], line["paid_cents"]) == (result, odds, win, win + back)
    assert entry["staked_cents"] == 7000
    assert entry["paid_cents"] == (0 if result == "lose" else 7000 * (multiple + 1))


@pytest.mark.parametrize(
    ("street", "streets"), [("third_street", ()), ("fourth_street", (2,)), ("fifth_street", (2, 3))]
)
def test_a_fold_loses_what_was_staked_and_the_hand_is_named(harbor: Any, street: str, streets: tuple[int, ...]) -> None:
    entry = harbor.entries(harbor.message("MS-110", "Kc Kd 2h", harbor.seat(3, "Ks Kh", *streets, folded=street)))[3]
    assert (entry["hand"], entry["result"], entry["paid_cents"]) == ("four_of_a_kind", "fold", 0)
    assert [line["result"] for line in entry["lines"]] == ["lose"] * (1 + len(streets))


def test_seats_and_keys_come_in_the_printed_order(harbor: Any) -> None:
    message = harbor.message(
        "MS-101",
        "4d 9h 3s",
        *(harbor.seat(number, cards) for number, cards in [(2, "Jc Jh"), (6, "Kc 7h"), (1, "2c 8d")]),
    )
    settlement = printed(harbor.settle(message).settlement)
    assert [entry["seat"] for entry in settlement["seats"]] == [6, 2, 1]
    assert list(settlement["seats"][0]) == [
        "seat",
        "hand",
        "result",
        "staked_cents",
        "paid_cents",
        "lines",
        "limit",
        "envy",
    ]
    assert list(settlement["seats"][0]["lines"][0]) == [
        "wager",
        "stake_cents",
        "result",
        "odds",
        "win_cents",
        "paid_cents",
    ]


def test_lines_come_in_the_order_of_play_whatever_the_message_says(harbor: Any) -> None:
    seat = harbor.seat(1, "Jc Jh", progressive=100, cover_all=500, three_card_bonus=500)
    seat["wagers"] = dict(reversed(seat["wagers"].items()))
    entry = harbor.entries(harbor.message("MS-101", "4d 9h 3s", seat))[1]
    assert list(entry["line"]) == [
        "ante",
        "third_street",
        "fourth_street",
        "fifth_street",
        "three_card_bonus",
        "cover_all",
        "progressive",
    ]


BOARDS = {
    "mini_royal": "As Ks Qs",
    "straight_flush": "Ah 2h 3h",
    "three_of_a_kind": "7c 7d 7h",
    "straight": "9c Td Jh",
    "flush": "2d 9d Jd",
    "pair": "4c 4d Jh",
    "high_card": "Ks As 2h",
}
BONUS = {
    # straight flush, three of a kind, straight, flush, pair; mini royal
    "3cs-01": (40, 30, 6, 4, 1, 40),
    "3cs-02": (40, 30, 5, 4, 1, 40),
    "3cs-03": (40, 30, 6, 3, 1, 40),
    "3cs-04": (40, 30, 6, 4, 1, 50),
    "3cs-05": (40, 30, 5, 4, 1, 50),
    "3cs-06": (40, 30, 6, 3, 1, 50),
}
BONUS_TABLE = {"3cs-01": "MS-101", "3cs-02": "MS-103", "3cs-03": "MS-104", "3cs-04": "MS-102"} | {
    "3cs-05": "MS-105",
    "3cs-06": "MS-106",
}


@pytest.mark.parametrize("edition", BONUS)
@pytest.mark.parametrize("hand", BOARDS)
def test_the_bonus_is_on_the_community_cards_and_survives_a_fold(harbor: Any, edition: str, hand: str) -> None:
    names = ("straight_flush", "three_of_a_kind", "straight", "flush", "pair", "mini_royal")
    odds = dict(zip(names, BONUS[edition], strict=True)).get(hand, 0)
    table = BONUS_TABLE[edition]
    ante = harbor.floor.tables[table].minimum_cents
    cards = {"3c", "8d", "Tc", "5h"}.difference(BOARDS[hand].split())
    seat = harbor.seat(1, " ".join(sorted(cards)[:2]), ante=ante, folded="third_street", three_card_bonus=500)
    line = harbor.entries(harbor.message(table, BOARDS[hand], seat))[1]["line"]["three_card_bonus"]
    assert line == {
        "wager": "three_card_bonus",
        "stake_cents": 500,
        "result": "win" if odds else "lose",
        "odds": f"{odds} to 1" if odds else None,
        "win_cents": 500 * odds,
        "paid_cents": 500 * odds + 500 if odds else 0,
    } | ({"row": "straight_flush" if hand == "mini_royal" and odds == 40 else hand} if odds else {})


# Two cards for the best hand on the board, and hands beside it that stay lower.
COVER_ALL_HANDS = {
    "royal_flush": ("Ts Js Qs", "As Ks"),
    "straight_flush": ("Ts Js Qs", "9s Ks"),
    "four_of_a_kind": ("9c 9d Qs", "9h 9s"),
    "full_house": ("9c 9d Qs", "9h Qh"),
    "flush": ("9c 7c Qc", "Kc 2c"),
    "straight": ("9c 8d Jh", "Ts 7s"),
    "three_of_a_kind": ("9c 9d Qs", "9h 2h"),
    "two_pair": ("9c 9d Qs", "Qd 2h"),
}
LOW_CARDS = ["3d 4h", "3h 4s", "3s 5d", "4d 5h", "5s 6h"]


@pytest.mark.parametrize("hand", COVER_ALL_HANDS)
@pytest.mark.parametrize("players", [1, 2, 3, 4, 5, 6])
def test_cover_all_pays_by_the_highest_hand_and_the_players_dealt_in(harbor: Any, hand: str, players: int) -> None:
    board, best = COVER_ALL_HANDS[hand]
    seats = [harbor.seat(1, best, cover_all=500)]
    seats += [
        harbor.seat(number, LOW_CARDS[number - 2], folded="third_street", cover_all=300)
        for number in range(2, players + 1)
    ]
    odds = builtin()["ms-cover-all"].odds_by_players.get(hand)
    for entry in harbor.entries(harbor.message("MS-101", board, *seats)).values():
        line = entry["line"]["cover_all"]
        if odds is None:
            assert (line["result"], line["odds"], line["paid_cents"]) == ("lose", None, 0)
        else:
            times = odds[players - 1]
            assert (line["odds"], line["win_cents"]) == (f"{times} to 1", line["stake_cents"] * times)
            assert line["paid_cents"] == line["stake_cents"] * (times + 1)


def cover_all(harbor: Any, table: str, *seats: Any, **message: Any) -> dict[int, str | None]:
    entries = harbor.entries(harbor.message(table, "9c 9d Qs", *seats, **message))
    return {number: entry["line"]["cover_all"]["odds"] for number, entry in entries.items()}


def test_folded_hands_count_only_where_the_table_says_so(harbor: Any) -> None:
    seats = [
        harbor.seat(1, "Ks 3d", cover_all=500),
        harbor.seat(2, "9h 9s", 1, 1, folded="fifth_street", cover_all=500),
    ]
    assert cover_all(harbor, "MS-101", *seats) == {2: None, 1: None}
    assert cover_all(harbor, "MS-108", *seats) == {2: "80 to 1", 1: "80 to 1"}


def test_a_dealers_hand_counts_and_the_dealer_is_no_player(harbor: Any) -> None:
    seats = [harbor.seat(1, "Ks 3d", cover_all=500), harbor.seat(2, "4s 6d", folded="third_street", cover_all=500)]
    assert cover_all(harbor, "MS-101", *seats, dealer="9h 9s") == {2: "80 to 1", 1: "80 to 1"}
    assert cover_all(harbor, "MS-101", seats[1], dealer="9h 9s") == {2: "150 to 1"}, "though nobody plays on"


def test_three_of_a_kind_on_the_board_pays_if_a_hand_counts(harbor: Any) -> None:
    trips = "9c 9d 9h"
    folded = harbor.seat(2, "4s 6d", folded="third_street", cover_all=500)
    alone = harbor.entries(harbor.message("MS-101", trips, folded))
    assert alone[2]["line"]["cover_all"]["result"] == "lose"
    entries = harbor.entries(harbor.message("MS-101", trips, folded, harbor.seat(1, "Ks 3d", cover_all=500)))
    assert [entries[number]["line"]["cover_all"]["odds"] for number in (2, 1)] == ["10 to 1", "10 to 1"]


def test_players_are_the_seats_of_the_message_when_nobody_counted(harbor: Any) -> None:
    message = harbor.message("MS-101", "9c 9d Qs", harbor.seat(1, "9h 9s", cover_all=500))
    assert "players" not in message["dealing"]
    settlement = harbor.settle(message).settlement
    assert settlement["players"] == 1
    assert settlement["seats"][0]["lines"][-1]["odds"] == "150 to 1"


def test_what_a_seat_is_paid_is_its_lines_and_its_envy(harbor: Any) -> None:
    message = harbor.message(
        "MS-101",
        "Ts Js Qs",
        harbor.seat(6, "As Ks", progressive=100, three_card_bonus=500, cover_all=500),
        harbor.seat(2, "9s 8s", progressive=100),
    )
    for entry in harbor.settle(message).settlement["seats"]:
        lines = sum(line["paid_cents"] for line in entry["lines"])
        assert entry["paid_cents"] == lines + sum(each["paid_cents"] for each in entry["envy"])
        assert entry["staked_cents"] == sum(line["stake_cents"] for line in entry["lines"])
