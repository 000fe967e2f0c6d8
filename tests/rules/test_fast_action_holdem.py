"""Fast action hold 'em (SPEC §4, §7; seed 003, 19:47-21.1 to 21.8)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any

import pytest

from jackpot.rules.definition import DefinitionRefused
from tables.rules import several_decks
from tables.rules.cards import RANKS, WEIGHT
from tables.rules.fast_action_holdem import house_way, preference
from tables.rules.several_decks import SEVENTEEN_HANDS
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

PAYTABLES = {"base": "fah-base"}
BOARD = "Kd Jh 8s 5c 2d"
DEALER = "Ts 9d 4c 3h"  # keeps T-9 by the house way: king high against this board
LOST = ("lose", None, 0, 0)
WON = ("win", "1 to 1", 500, 1000)
BACK = ("push", None, 0, 500)

# One hand of each rank, best first, then the lowest of its rank where the seed names it (21.3(b)).
RANKED = [
    ("As As As As As", "flush_with_five_of_a_kind"),
    ("2s 2s 2s 2s 2s", "flush_with_five_of_a_kind"),
    ("As Ks Qs Js Ts", "royal_flush"),
    ("As As As As Ks", "flush_with_four_of_a_kind"),
    ("2s 2s 2s 2s 3s", "flush_with_four_of_a_kind"),
    ("Ks Qs Js Ts 9s", "straight_flush"),
    ("6s 5s 4s 3s 2s", "straight_flush"),
    ("5s 4s 3s 2s As", "straight_flush"),
    ("As As As Ks Ks", "flush_with_full_house"),
    ("2s 2s 2s 3s 3s", "flush_with_full_house"),
    ("As Ad As Ad Ah", "five_of_a_kind"),
    ("2s 2d 2s 2d 2h", "five_of_a_kind"),
    ("As As As Ks Qs", "flush_with_three_of_a_kind"),
    ("2s 2s 2s 4s 3s", "flush_with_three_of_a_kind"),
    ("As As Ks Ks Qs", "flush_with_two_pairs"),
    ("3s 3s 2s 2s 4s", "flush_with_two_pairs"),
    ("As As Ks Qs Js", "flush_with_one_pair"),
    ("2s 2s 3s 4s 5s", "flush_with_one_pair"),
    ("As As As Ad Ks", "four_of_a_kind"),
    ("2s 2s 2s 2d 3s", "four_of_a_kind"),
    ("As As Ad Ks Ks", "full_house"),
    ("2s 2s 2d 3s 3s", "full_house"),
    ("As Ks Qs Js 9s", "flush"),
    ("2s 3s 4s 5s 7s", "flush"),
    ("As Kd Qs Js Ts", "straight"),
    ("6s 5d 4s 3s 2s", "straight"),
    ("5s 4d 3s 2s As", "straight"),
    ("As As Ad Ks Qs", "three_of_a_kind"),
    ("2s 2s 2d 4s 3s", "three_of_a_kind"),
    ("As As Ks Kd Qs", "two_pair"),
    ("3s 3s 2s 2d 4s", "two_pair"),
    ("As As Ks Qs Jd", "pair"),
    ("2s 2s 3s 4s 5d", "pair"),
    ("As Ks Qs Js 9d", "high_card"),
    ("7s 5s 4s 3s 2d", "high_card"),
]


@pytest.fixture
def terms() -> TableTerms:
    return table("fast-action-holdem", PAYTABLES, decks=6)


def dealt(cards: str, community: str = BOARD, dealer: str = DEALER, **wagers: Any) -> dict[str, Any]:
    return message(seat(1, cards, **({"wager": 500} | wagers)), community=community, dealer=dealer)


def strength(cards: str) -> int:
    return several_decks.strength(sum(WEIGHT[card] for card in cards.split()))


def test_the_seventeen_hands_in_their_order() -> None:
    found = [strength(cards) for cards, _ in RANKED]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)
    assert [several_decks.name(each) for each in found] == [name for _, name in RANKED]
    assert {name for _, name in RANKED} == set(SEVENTEEN_HANDS)


@pytest.mark.parametrize("decks", [6, 8])
def test_every_hand_of_a_shoe_is_counted(decks: int) -> None:
    """By the ranks of a hand, the ways to suit it alike and all its ways; some of the counts by formula as well."""
    counted: Counter[str] = Counter()
    for ranks in combinations_with_replacement(range(13), 5):
        numbers = Counter(ranks)
        mixed = prod(comb(4 * decks, number) for number in numbers.values())
        alike = 4 * prod(comb(decks, number) for number in numbers.values())
        unlike = [RANKS[rank] + ("d" if place == 0 else "s") for place, rank in enumerate(ranks)]
        counted[several_decks.name(strength(" ".join(RANKS[rank] + "s" for rank in ranks)))] += alike
        counted[several_decks.name(strength(" ".join(unlike)))] += mixed - alike
    assert sum(counted.values()) == comb(52 * decks, 5)
    one_suit = 4 * decks**5
    assert counted["royal_flush"] == one_suit
    assert counted["straight_flush"] == 9 * one_suit
    assert counted["flush"] == (comb(13, 5) - 10) * one_suit
    assert counted["straight"] == 10 * ((4 * decks) ** 5 - one_suit)
    assert counted["flush_with_five_of_a_kind"] == 13 * 4 * comb(decks, 5)
    assert counted["five_of_a_kind"] == 13 * (comb(4 * decks, 5) - 4 * comb(decks, 5))
    assert counted["flush_with_full_house"] == 13 * 12 * 4 * comb(decks, 3) * comb(decks, 2)
    assert counted["full_house"] == 13 * 12 * comb(4 * decks, 3) * comb(4 * decks, 2) - counted["flush_with_full_house"]


@pytest.mark.parametrize(
    ("four", "kept"),
    [
        ("Ks Ks Ad Ac", "Ks Ks"),  # 1: a suited pair before a higher one
        ("2s 2s 3d 3d", "3d 3d"),
        ("Ks Kd Ah Qh", "Ks Kd"),  # 2
        ("3s 3d 2h 2c", "3s 3d"),
        ("As Ks Ad Qd", "As Ad"),
        ("As Ts Kd 2s", "As Ts"),  # 3: a suited ten before an unsuited king
        ("As Ts Js 2d", "As Js"),
        ("As Kd Qd 2c", "Kd Qd"),  # 4 before 5
        ("Ts Js Qd Kh", "Ts Js"),  # and before 6
        ("As Kd Qc 2s", "As Kd"),  # 5 before 6 and 7
        ("As 9s Td 2c", "As Td"),
        ("Ks Qd 9d 8d", "Ks Qd"),  # 6 before 11
        ("Js Qd Ks 2h", "Ks Qd"),  # higher running cards, although K-J are suited (8)
        ("As 9s 8s 2d", "As 9s"),  # 7
        ("As 2s 9d 8d", "As 2s"),
        ("Ks Ts 9d 8c", "Ks Ts"),  # 8
        ("Qs Ts Kd 2d", "Kd Qs"),  # 6 before 8
        ("Ks Jd Td 2c", "Td Jd"),  # 4 before 9
        ("Ks Jd 9c 2h", "Ks Jd"),  # 9
        ("As 9d 8d 2c", "As 9d"),  # 10 before 11
        ("9d 8d Kc 2h", "9d 8d"),  # 11
        ("9d 8d 4c 3c", "9d 8d"),
        ("9d 8d Kc 3c", "9d 8d"),  # 11 before 12
        ("Jd Tc 9s 8s", "9s 8s"),  # and before 13, where unsuited jack-ten is
        ("Kd Tc 9s 2s", "9s 2s"),  # 12 before 14, where unsuited king-ten is
        ("Kd 4d 9c 8h", "Kd 4d"),  # 12 before 13
        ("Kd 4d Qc 9c", "Kd Qc"),  # 6 before 12
        ("Kd 4d 9c 6c", "Kd 4d"),
        ("9d 8c Kh 2s", "9d 8c"),  # 13
        ("9d 8c 4h 3s", "9d 8c"),
        ("Kd 9c 6h 3s", "Kd 9c"),  # 14
        ("Td Jc 8h 2s", "Td Jc"),  # 13: jack-ten unsuited is not yet rank 6
    ],
)
def test_the_dealer_sets_by_the_house_way(four: str, kept: str) -> None:
    assert sorted(house_way(four.split())) == sorted(kept.split())
    assert sorted(house_way(four.split()[::-1])) == sorted(kept.split())


def test_the_fourteen_places_of_the_house_way_begin_and_end_where_the_rules_say() -> None:
    """The greatest and the least two cards of every place, in the order in which the house way prefers them."""
    places = [
        ("As As", "2s 2s"), ("As Ah", "2s 2h"), ("As Ks", "As Ts"), ("Ks Qs", "Js Ts"), ("As Kh", "As Th"), ("Ks Qh", "Qs Jh"),
        ("As 9s", "As 2s"), ("Ks Js", "Qs Ts"), ("Ks Jh", "Ks Jh"), ("As 9h", "As 2h"), ("Ts 9s", "3s 2s"), ("Ks 9s", "4s 2s"),
        ("Js Th", "3s 2h"), ("Ks Th", "4s 2h"),
    ]  # fmt: skip
    found = [[preference(*two.split()) for two in ends] for ends in places]
    assert [-place for ends in found for place, _, _ in ends] == [place for place in range(1, 15) for _ in range(2)]
    each = [one for ends in found for one in ends]
    assert each == sorted(each, reverse=True)


def test_of_two_choices_alike_the_one_reported_first_is_kept() -> None:
    assert house_way(["Ks", "Kd", "Kh", "2c"]) == ("Ks", "Kd")
    assert house_way(["Kh", "Kd", "Ks", "2c"]) == ("Kh", "Kd")


@pytest.mark.parametrize(
    ("own", "hand", "line"),
    [
        ("As Qc 3d 4d", "high_card", WON),
        ("7s 6c Ad Ah", "high_card", LOST),  # only the two cards kept count
        ("Ks 3c Ad Ah", "pair", WON),
        ("Tc 9c 3d 4d", "high_card", LOST),  # a copy is the dealer's
        ("Qc Ts 9s 4d", "high_card", WON),
        ("8d 8d 8c 2c", "three_of_a_kind", WON),
    ],
)
def test_one_hand_against_the_dealer(terms: TableTerms, own: str, hand: str, line: tuple[Any, ...]) -> None:
    entry = only_seat(terms, dealt(own))
    assert (lines(entry), entry["hand"], entry["result"], entry["limit"]) == ({"wager": line}, hand, line[0], None)


def test_a_copy_pushes_where_the_term_says_so() -> None:
    terms = table("fast-action-holdem", PAYTABLES, decks=8, terms={"copy_hand": "push"})
    assert lines(only_seat(terms, dealt("Tc 9c 3d 4d"))) == {"wager": BACK}
    # The board plays for both.
    assert lines(only_seat(terms, dealt("3c 4c 6d 7d", community="As Ks Qs Js Ts"))) == {"wager": BACK}


@pytest.mark.parametrize(
    ("own", "first", "second", "result"),
    [
        ("As Qc Ks 3d", WON, WON, "win"),
        ("As Qc 4d 3d", WON, LOST, "push"),
        ("4d 3d As Qc", LOST, WON, "push"),
        ("4d 3d 4c 3c", LOST, LOST, "lose"),
        ("8s 8d 8c 8h", WON, WON, "win"),  # a natural that was split is played, not paid at once
    ],
)
def test_a_split_plays_two_hands(
    terms: TableTerms, own: str, first: tuple[Any, ...], second: tuple[Any, ...], result: str
) -> None:
    entry = only_seat(terms, dealt(own, split=500))
    assert (lines(entry), entry["result"]) == ({"wager": first, "split": second}, result)


@pytest.mark.parametrize(("dealer", "community"), [(DEALER, BOARD), ("Ks Kd Kh Kc", ""), (DEALER, "")])
def test_a_natural_is_paid_at_once(terms: TableTerms, dealer: str, community: str) -> None:
    entry = only_seat(terms, dealt("8s 8d 8d 8h", community=community, dealer=dealer))
    assert lines(entry) == {"wager": ("win", "5 to 1", 2500, 3000)}
    assert (entry["hand"], entry["result"]) == ("natural", "win")


def test_the_dealers_natural_takes_the_original_wagers_only(terms: TableTerms) -> None:
    sent = message(
        seat(1, "As Ac Ks Kc", wager=500, split=500),
        seat(2, "As Ac Ks Kc", wager=500),
        seat(3, "2s 2c 2d 2h", wager=500),
        seat(4, "3s 4c 9d 2h", wager=500, folded="setting"),
        dealer="8s 8d 8d 8h",
    )
    settled = play(terms, sent).settlement
    four, three, two, one = settled["seats"]
    assert lines(one) == {"wager": LOST, "split": BACK}
    assert (lines(two), two["hand"], two["result"]) == ({"wager": LOST}, None, "lose")
    assert lines(three) == {"wager": ("win", "5 to 1", 2500, 3000)}
    assert lines(four) == {"wager": ("lose", None, 0, 250)}


@pytest.mark.parametrize(("wager", "back"), [(500, 250), (501, 251)])
def test_giving_up_costs_half(terms: TableTerms, wager: int, back: int) -> None:
    entry = only_seat(terms, dealt("3s 4c 9d 2h", wager=wager, folded="setting"))
    assert (lines(entry), entry["result"]) == ({"wager": ("lose", None, 0, back)}, "fold")
    # Without the community cards, if nobody was left.
    assert only_seat(terms, dealt("3s 4c 9d 2h", community="", wager=wager, folded="setting"))["paid_cents"] == back


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (dealt("As Qc 3d 4d", split=400), ["wager_not_allowed"]),
        (dealt("As Qc 3d 4d", wager=499), ["wager_not_allowed"]),
        (dealt("As Qc 3d 4d", wager=100_001), ["wager_not_allowed"]),
        (dealt("As Qc 3d 4d", split=500, folded="setting"), ["wager_after_fold"]),
        (message(seat(1, "As Qc 3d 4d", split=500), community=BOARD, dealer=DEALER), ["wager_out_of_order"]),
        (dealt("As Qc 3d 4d", ante=500), ["wager_not_offered"]),
        (dealt("As Qc 3d"), ["wrong_card_count"]),
        (dealt("As Qc 3d 4d", dealer="Ts 9d 4c"), ["wrong_card_count"]),
        (dealt("As Qc 3d 4d", community="Kd Jh 8s"), ["wrong_card_count"]),
        (dealt("As Qc 3d 4d", community=""), ["wrong_card_count"]),  # a hand plays on, and the dealer has no natural
        (dealt("As Qc 3d 4d", dealer="8s 8d 8d 8h"), ["wrong_card_count"]),  # a natural ends the round
        (dealt("8c 8c 8c 8c", community="8c 8c 2d 3d 4d", dealer="8c Ts 9d 3c"), ["duplicate_card"]),
        (dealt("8c 8c 8c 8c", community="8c 8c 2d 3d 4d"), []),
    ],
)
def test_what_is_held(terms: TableTerms, sent: dict[str, Any], expected: list[str]) -> None:
    assert reasons(terms, sent) == expected


def test_only_setting_is_a_place_to_give_up(terms: TableTerms) -> None:
    assert refused(terms, dealt("As Qc 3d 4d", folded="wager")) == ("invalid_value", "/seats/0/folded")


@pytest.mark.parametrize("code", REPORTS)
def test_what_irregularities_do(terms: TableTerms, code: str) -> None:
    settled = play(terms, dealt("As Qc 3d 4d", split=500) | {"irregularities": [report(code)]}).settlement
    standing = code in ("face_up_card", "shuffler_failed")
    assert (settled["outcome"], settled["seats"][0]["paid_cents"]) == ("settled" if standing else "void", 1000)


def test_a_misdealt_seat_is_void_alone(terms: TableTerms) -> None:
    sent = message(seat(1, "As Qc 3d", wager=500), seat(2, "8s 8d 8d 8h", wager=500), dealer=DEALER)
    settled = play(terms, sent | {"irregularities": [report("wrong_card_count", seat=1)]}).settlement
    assert [(entry["result"], entry["paid_cents"]) for entry in settled["seats"]] == [("win", 3000), ("void", 500)]


def test_six_or_eight_decks_and_no_link() -> None:
    for decks in (1, 2, 4, 5, 7):
        with pytest.raises(DefinitionRefused) as refusal:
            table("fast-action-holdem", PAYTABLES, decks=decks)
        assert refusal.value.path == "decks"
    with pytest.raises(DefinitionRefused) as refusal:
        table("fast-action-holdem", PAYTABLES, link=five_card_link(), decks=6)
    assert refusal.value.path == "decks"
