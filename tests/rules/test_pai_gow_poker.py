"""Pai gow poker (SPEC §4, §7; seed 003, 19:47-11.3 to 11.8)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from tables.rules.cards import DECK
from tables.rules.joker_hands import JOKER, high_hand, low_hand, name
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

PAYTABLES = {"base": "pgp-base"}
DEALER = "Qs Qd 9h 7c 4d Kc Jd"  # a pair of queens high, king-jack low
LOST = ("lose", None, 0, 0)
WON = ("win", "19 to 20", 950, 1950)
BACK = ("push", None, 0, 1000)

# One hand of every rank, best first, with and without the joker (11.3(b) and (c)).
RANKED = [
    ("As Ad Ah Ac JK", "five_aces"),
    ("As Ks Qs Js Ts", "royal_flush"),
    ("As 2s 3s 4s 5s", "straight_flush"),
    ("Ks Qs Js Ts 9s", "straight_flush"),
    ("6s 5s 4s 3s 2s", "straight_flush"),
    ("As Ad Ah JK Ks", "four_of_a_kind"),
    ("2s 2d 2h 2c 3s", "four_of_a_kind"),
    ("As Ad JK Ks Kd", "full_house"),
    ("Ks Kd Kh JK As", "full_house"),
    ("2s 2d 2h 3c 3s", "full_house"),
    ("As Ks Qs Js 9s", "flush"),
    ("7s 5s 4s 3s 2s", "flush"),
    ("As Kd Qs Js Ts", "straight"),
    ("As 2d 3s 4s 5s", "straight"),
    ("Ks Qd Js Ts 9s", "straight"),
    ("6s 5d 4s 3s 2s", "straight"),
    ("As Ad JK Kc Qd", "three_of_a_kind"),
    ("Ks Kd Kh JK Qd", "three_of_a_kind"),
    ("2s 2d 2h 4s 3d", "three_of_a_kind"),
    ("JK As Ks Kd Qc", "two_pair"),
    ("3s 3d 2s 2d 4s", "two_pair"),
    ("JK As Kd Qs 9c", "pair"),
    ("2s 2d 5s 4s 3d", "pair"),
    ("JK Kd Qs 8d 7c", "high_card"),
    ("7s 5d 4s 3s 2d", "high_card"),
]


@pytest.fixture
def terms() -> TableTerms:
    return table("pai-gow-poker", PAYTABLES)


def against_dealer(cards: str, dealer: str = DEALER, wager: int = 1000) -> dict[str, Any]:
    return message(seat(1, cards, wager=wager), dealer=dealer)


def test_the_hands_in_their_order() -> None:
    found = [high_hand(cards.split(), wheel_is_second=True) for cards, _ in RANKED]
    assert [name(each) for each in found] == [name for _, name in RANKED]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("with_joker", "same_as"),
    [
        ("As Ks JK Js Ts", "As Ks Qs Js Ts"),
        ("9s Ks JK Js Ts", "9s Ks Qs Js Ts"),
        ("JK 2s 3s 4s 5s", "As 2s 3s 4s 5s"),  # the ace below is the better end
        ("JK Ks Qd Js Ts", "As Ks Qd Js Ts"),
        ("9s JK 8d 7s 6s", "Ts 9s 8d 7s 6s"),
        ("9s 8d JK 6s 5s", "9s 8d 7s 6s 5s"),
        ("As Ks JK 9s 4s", "As Ks Qs 9s 4s"),  # the highest rank that is missing
        ("Ks Qs JK 9s 4s", "As Ks Qs 9s 4s"),
        ("JK Kd Qs 8d 7c", "Ac Kd Qs 8d 7c"),  # else an ace
        ("JK 8s 8d 5c 2h", "As 8s 8d 5c 2h"),
        ("JK 2d 3s 5d 4h", "Ah 2d 3s 5d 4h"),
    ],
)
def test_what_the_joker_stands_for(with_joker: str, same_as: str) -> None:
    joker, plain = (high_hand(cards.split(), wheel_is_second=True) for cards in (with_joker, same_as))
    assert joker == plain


def test_the_house_may_make_ace_to_five_the_lowest_straight() -> None:
    wheel, six, king, ace = "As 2d 3s 4s 5s", "6s 5d 4s 3s 2s", "Ks Qd Js Ts 9s", "As Kd Qs Js Ts"
    for second, order in ((True, [six, king, wheel, ace]), (False, [wheel, six, king, ace])):
        found = [high_hand(cards.split(), wheel_is_second=second) for cards in order]
        assert found == sorted(found)
        suited = [high_hand([card[0] + "h" for card in cards.split()], wheel_is_second=second) for cards in order]
        assert suited == sorted(suited)
        # The joker looks for the best end: with the wheel lowest it makes a six of 2-3-4-5.
        joker = high_hand(["JK", "2d", "3s", "4s", "5s"], wheel_is_second=second)
        assert joker == high_hand((wheel if second else six).split(), wheel_is_second=second)


def test_low_hands() -> None:
    ordered = ["2s 3d", "2s Kd", "Ks Qd", "As 2d", "JK Kd", "2s 2d", "Ks Kd", "JK As"]
    found = [low_hand(cards.split()) for cards in ordered]
    assert found == sorted(found)
    assert low_hand(["JK", "Kd"]) == low_hand(["As", "Kd"])
    assert low_hand(["JK", "As"]) == low_hand(["Ad", "As"])


def test_every_hand_with_the_joker_is_counted() -> None:
    """270,725 hands of four cards and the joker, beside the 2,598,960 of one deck, are all hands of 53 cards.

    Four cards of one suit are 2,860 ways: 4 x 5 of them lack one card to a royal, 4 x 36 one to another straight.
    """
    one_deck = Counter(
        royal_flush=4, straight_flush=36, four_of_a_kind=624, full_house=3744, flush=5108, straight=10_200,
        three_of_a_kind=54_912, two_pair=123_552, pair=1_098_240, high_card=1_302_540,
    )  # fmt: skip
    hearts_first = sorted(DECK, key=lambda card: card[1] != "h")
    counted: Counter[str] = Counter()
    for four in combinations(hearts_first, 4):
        counted[name(high_hand((*four, JOKER), wheel_is_second=True))] += 1
    assert sum(counted.values()) == comb(52, 4)
    assert counted["flush"] == 2860 - 20 - 144
    assert counted + one_deck == Counter(
        five_aces=1, royal_flush=24, straight_flush=180, four_of_a_kind=828, full_house=4368, flush=7804,
        straight=20_532, three_of_a_kind=63_360, two_pair=138_600, pair=1_215_024, high_card=1_418_964,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cards", "hand", "line"),
    [
        ("Ks Kd 9s 7d 4c Ac 2d", "pair", WON),
        ("Ks Kd 9s 7d 4c Qc 2d", "pair", BACK),  # high wins, low loses
        ("Js Jc 9s 7d 4c Ac 2d", "pair", BACK),
        ("Js Jc 9s 7d 4c Qc 2d", "pair", LOST),
        ("Qh Qc 9s 7d 4c Ac 2d", "pair", BACK),  # the high hand is a copy, the dealer's
        ("Qh Qc 9s 7d 4c Kh Js", "pair", LOST),  # both are copies
        ("Ks Kd 9s 7d 4c Kh Js", "pair", BACK),  # the low hand is a copy
        ("Qh Qc 9s 8d 4c Kh Js", "pair", BACK),  # a better kicker, and a copy
        ("2h 3c 4s 5d JK Ac Kd", "straight", WON),
        ("Ks Kd 9s 7d 4c JK 2d", "pair", WON),
    ],
)
def test_both_hands_against_the_dealer(terms: TableTerms, cards: str, hand: str, line: tuple[Any, ...]) -> None:
    entry = only_seat(terms, against_dealer(cards))
    assert (lines(entry), entry["hand"], entry["result"], entry["limit"]) == ({"wager": line}, hand, line[0], None)


@pytest.mark.parametrize(
    ("cards", "fouled"),
    [
        ("Ks 3d 9s 7d 4c As 2d", True),  # ace low above king high
        ("Ks Td 9s 7d 4c Kd Th", False),  # alike as far as the low hand goes
        ("Ks 9d 8s 7d 4c Kd Th", True),
        ("5s 5d 9s 7d 4c As Ac", True),
        ("As Ad 9s 7d 4c 5s 5d", False),
        ("As Kd 9s 7d 4c 5s 5d", True),
        ("5s 5d 9s 7d 4c 5h 5c", False),
    ],
)
def test_a_low_hand_above_the_high_hand_loses(terms: TableTerms, cards: str, fouled: bool) -> None:
    # The dealer's two hands are the lowest there are, so that only the fouling can lose.
    entry = only_seat(terms, against_dealer(cards, dealer="8h 7h 4s 3h 2h 3c 2c"))
    assert (entry["result"] == "lose") is fouled


@pytest.mark.parametrize(("wager", "win"), [(1000, 950), (500, 475), (501, 475), (519, 493)])
def test_a_twentieth_is_kept_from_a_win_down_to_the_cent(terms: TableTerms, wager: int, win: int) -> None:
    entry = only_seat(terms, against_dealer("Ks Kd 9s 7d 4c Ac 2d", wager=wager))
    assert lines(entry) == {"wager": ("win", "19 to 20", win, win + wager)}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (against_dealer("Ks Kd 9s 7d 4c Ac"), ["wrong_card_count"]),
        (against_dealer("Ks Kd 9s 7d 4c Ac 2d", dealer="Qs Qd 9h 7c 4d Kc"), ["wrong_card_count"]),
        (against_dealer("Ks Kd 9s 7d 4c Ac 2d", dealer=""), ["wrong_card_count"]),
        (against_dealer("Ks Kd 9s 7d JK Ac 2d", dealer="Qs Qd 9h 7c JK Kc Jd"), ["duplicate_card"]),
        (against_dealer("Ks Kd 9s 7d 4c Ac 2d", dealer="Qs Qd 9h JK JK Kc Jd"), ["duplicate_card"]),
        (against_dealer("Ks Kd 9s 7d 4c Ac 2d", dealer="Qs Jd 9h 7c 4d Kc Qd"), ["result_impossible"]),
        (against_dealer("Ks Kd 9s 7d 4c Ac 2d", wager=499), ["wager_not_allowed"]),
        (message(seat(1, "Ks Kd 9s 7d 4c Ac 2d"), dealer=DEALER), ["wager_out_of_order"]),
        (message(seat(1, "Ks Kd 9s 7d 4c Ac 2d", wager=500, bonus=1), dealer=DEALER), ["wager_not_offered"]),
    ],
)
def test_what_is_held(terms: TableTerms, sent: dict[str, Any], expected: list[str]) -> None:
    assert reasons(terms, sent) == expected


def test_the_deck_has_fifty_three_cards(terms: TableTerms) -> None:
    for count, expected in ((53, []), (52, ["deck_count_wrong"])):
        sent = against_dealer("Ks Kd 9s 7d 4c Ac 2d") | {"dealing": {"method": "hand", "cards_in_deck": count}}
        assert reasons(terms, sent) == expected


def test_other_games_know_no_joker() -> None:
    sent = message(seat(1, "3s 3d JK", ante=500, play=500), dealer="Qc 7d 2h")
    other = table("three-card-poker", {"base": "tcp-base"})
    assert refused(other, sent) == ("invalid_value", "/seats/0/cards/2")


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    sent = against_dealer("Ks Kd 9s 7d 4c Ac 2d") | {"irregularities": [report(code)]}
    settled = play(terms, sent).settlement
    standing = code in ("face_up_card", "shuffler_failed")
    assert settled["outcome"] == ("settled" if standing else "void")
    assert settled["seats"][0]["paid_cents"] == (1950 if standing else 1000)


def test_a_misdealt_hand_voids_all(terms: TableTerms) -> None:
    sent = against_dealer("Ks Kd 9s 7d 4c Ac") | {"irregularities": [report("wrong_card_count", seat=1)]}
    assert play(terms, sent).outcome == "void"


def test_six_seats_one_deck_no_link() -> None:
    wrongs: list[tuple[dict[str, Any], str]] = [({"seats": 7}, "seats"), ({"decks": 2}, "decks")]
    for wrong, key in wrongs:
        with pytest.raises(DefinitionRefused) as refusal:
            table("pai-gow-poker", PAYTABLES, **wrong)
        assert refusal.value.path == key
    with pytest.raises(DefinitionRefused) as refusal:
        table("pai-gow-poker", PAYTABLES, link=five_card_link())
    assert refusal.value.path == "link"
