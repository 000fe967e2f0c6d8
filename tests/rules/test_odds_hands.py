"""The counts of hands: by their form, by the tables of the rules, and against an enumeration where that is short."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import comb

import pytest

from jackpot.rules.paytable import FIVE_CARD_HANDS, RANKS, Row
from jackpot.rules.probability import NoProbability
from jackpot.rules.probability import combinations as by_form
from tables.odds import hands, joker, several_decks
from tables.odds.deck import BIT, CARDS, WEIGHT, canonical, classes, members, pair_key, strength
from tables.odds.pays import (
    five_card_combinations,
    five_card_rows,
    net,
    three_card_combinations,
    three_card_rows,
)
from tables.rules import several_decks as rules_of_several_decks
from tables.rules.cards import RANK_WEIGHT, SUIT_WEIGHT
from tables.rules.hands import (
    FIVE_CARD_LEADS,
    FIVE_CARD_NAMES,
    THREE_CARD_NAMES,
    five_card_strength,
    three_card_strength,
)
from tables.rules.paytables import builtin

ACE = len(RANKS) - 1


def test_every_five_card_hand_is_counted_once() -> None:
    counts = hands.five_card_classes()
    size = len(RANKS)
    by_category = [sum(counts[place * size : (place + 1) * size]) for place in range(len(FIVE_CARD_HANDS))]
    assert dict(zip(FIVE_CARD_HANDS, by_category, strict=True)) == {
        "royal_flush": 4,
        "straight_flush": 36,
        "four_of_a_kind": 624,
        "full_house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three_of_a_kind": 54_912,
        "two_pair": 123_552,
        "pair": 1_098_240,
        "high_card": 1_302_540,
    }


def test_the_counts_by_form_are_those_of_the_tables() -> None:
    counts = hands.five_card_classes()
    for category, hand in enumerate(FIVE_CARD_HANDS):
        for lead in range(len(RANKS)):
            assert by_form(hand, lead) == counts[category * len(RANKS) + lead], (hand, RANKS[lead])
    with pytest.raises(NoProbability):
        by_form("five_of_a_kind", 0)


def test_three_card_counts_are_those_of_an_enumeration() -> None:
    dealt = Counter(three_card_strength(sum(weights)) for weights in combinations(WEIGHT, 3))
    assert hands.three_card_counts() == dealt


def test_classes_of_cards_stand_for_every_set() -> None:
    assert [len(classes(size)) for size in range(5)] == [1, 13, 169, 1_755, 16_432]
    assert [sum(classes(size).values()) for size in range(5)] == [comb(52, size) for size in range(5)]
    dealt = Counter(canonical(BIT[a] | BIT[b] | BIT[c]) for a, b, c in combinations(CARDS, 3))
    assert classes(3) == dealt


def test_renaming_suits_changes_neither_a_class_nor_a_strength() -> None:
    board = [0, 14, 40, 12, 51]
    renamed = [card % 13 + (card // 13 + 1) % 4 * 13 for card in board]
    one, other = sum(BIT[card] for card in board), sum(BIT[card] for card in renamed)
    assert one != other
    assert canonical(one) == canonical(other)
    assert strength(one) == strength(other)
    assert members(one) == sorted(board)
    # Two sets keep what joins them: the same suit on both sides is not two suits.
    assert pair_key(BIT[0], BIT[1]) == pair_key(BIT[13], BIT[14]) != pair_key(BIT[0], BIT[14])


def test_rows_of_a_part_of_a_hand_leave_the_rest_named() -> None:
    found = five_card_combinations(five_card_rows(builtin()["ms-base"].rows))
    assert found["pair J-A"] == 4 * 84_480
    assert found["pair 6-T"] == 5 * 84_480
    assert found["pair 2-5"] == 4 * 84_480
    assert found["high_card"] == 1_302_540
    assert sum(found.values()) == 2_598_960


def test_an_unlisted_mini_royal_is_a_straight_flush() -> None:
    without = three_card_combinations(three_card_rows(builtin()["3cs-01"].rows))
    listed = three_card_combinations(three_card_rows(builtin()["3cs-04"].rows))
    assert "mini_royal" not in without
    assert without["straight_flush"] == 48
    assert (listed["mini_royal"], listed["straight_flush"]) == (4, 44)
    assert THREE_CARD_NAMES[-1] == "mini_royal"


def test_what_rows_pay_in_wagers() -> None:
    assert net(None) == -1
    assert net(Row("pair", "to", odds=3)) == 3
    assert net(Row("pair", "for", odds=3)) == 2
    assert net(Row("pair", "push")) == 0
    assert net(Row("pair", "to", odds=3, per=2)) == Fraction(3, 2)
    assert net(Row("pair", "sum", cents=500), 100) == 4
    assert net(Row("pair", "sum", cents=150), 100) == Fraction(1, 2)
    for row in (Row("pair", "share", level="major", share_ppm=1), Row("pair", "sum", cents=500)):
        with pytest.raises(ValueError, match="no fixed pay"):
            net(row)


def test_one_deck_of_several_is_the_ordinary_deck() -> None:
    one = several_decks.five_card_counts(1)
    size = len(RANKS)
    for category, hand in enumerate(FIVE_CARD_HANDS):
        assert one[hand] == sum(hands.five_card_classes()[category * size : (category + 1) * size])
    assert sum(one.values()) == comb(52, 5)


@pytest.mark.parametrize("decks", [6, 8])
def test_the_seventeen_hands_are_those_the_rules_rank(decks: int) -> None:
    found: Counter[str] = Counter()
    one_suit = 5 * SUIT_WEIGHT[0]
    two_suits = 4 * SUIT_WEIGHT[0] + SUIT_WEIGHT[1]
    for dealt in combinations_with_replacement(range(len(RANKS)), 5):
        ranks = sum(RANK_WEIGHT[rank] for rank in dealt)
        any_suits, same_suit = 1, 4
        for copies in Counter(dealt).values():
            any_suits *= comb(4 * decks, copies)
            same_suit *= comb(decks, copies)
        found[rules_of_several_decks.name(rules_of_several_decks.strength(ranks + two_suits))] += any_suits - same_suit
        found[rules_of_several_decks.name(rules_of_several_decks.strength(ranks + one_suit))] += same_suit
    counts = several_decks.five_card_counts(decks)
    assert counts == found
    assert sum(counts.values()) == comb(52 * decks, 5)
    # Best first, as the rules rank them.
    assert tuple(counts) == rules_of_several_decks.SEVENTEEN_HANDS[::-1]


def test_naturals_of_six_decks() -> None:
    counts = several_decks.natural_counts(6)
    assert counts == {"natural": 13 * comb(24, 4), "other": comb(312, 4) - 13 * comb(24, 4)}


def test_joker_counts_are_the_best_of_what_the_joker_may_be() -> None:
    """Every card is tried in the joker's place; only an ace may make anything but a straight or a flush."""
    completed = {"straight", "flush", "straight_flush", "royal_flush"}
    found: Counter[str] = Counter()
    for cards, count in classes(4).items():
        held = sum(WEIGHT[card] for card in members(cards))
        made = set()
        for card in CARDS:
            if not cards & BIT[card]:
                hand = FIVE_CARD_NAMES[five_card_strength(held + WEIGHT[card]) // FIVE_CARD_LEADS]
                if hand in completed or card % len(RANKS) == ACE:
                    made.add(hand)
        if all(card % len(RANKS) == ACE for card in members(cards)):
            found["five_aces"] += count
        else:
            found[max(made, key=FIVE_CARD_HANDS.index)] += count
    plain = hands.five_card_classes()
    size = len(RANKS)
    for category, hand in enumerate(FIVE_CARD_HANDS):
        found[hand] += sum(plain[category * size : (category + 1) * size])
    assert joker.five_card_counts() == found
    assert sum(found.values()) == comb(53, 5)
    assert found["royal_flush"] == 4 + 4 * 5
    assert joker.two_card_counts() == {"pair": 10 + 12 * 6, "high_card": 1_378 - 82}


def test_probabilities_add_up_to_one() -> None:
    assert sum(
        Fraction(by_form(hand, lead), comb(52, 5)) for hand in FIVE_CARD_HANDS for lead in range(len(RANKS))
    ) == Fraction(1)
