"""Hands of a deck with one joker: pai gow poker's five-card and two-card hands (SPEC §4; seed 003, 19:47-11.3).

The joker completes a straight, a flush, a straight flush or a royal flush; otherwise it is an ace.  A-2-3-4-5 is the
second highest straight and the highest straight flush below a royal, unless the house makes it the lowest (11.3(d)).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from tables.rules.cards import DECK, RANKS

JOKER: Final = "JK"
DECK_WITH_JOKER: Final = DECK | {JOKER}

# Low to high.
JOKER_HANDS: Final = (
    "high_card",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
    "five_aces",
)
PLACE: Final = {name: place for place, name in enumerate(JOKER_HANDS)}
BY_REPEATS: Final = {
    (5,): "five_aces",
    (4, 1): "four_of_a_kind",
    (3, 2): "full_house",
    (3, 1, 1): "three_of_a_kind",
    (2, 2, 1): "two_pair",
    (2, 1, 1, 1): "pair",
    (1, 1, 1, 1, 1): "high_card",
    (2,): "pair",
    (1, 1): "high_card",
}
ACE: Final = RANKS.index("A")
WHEEL: Final = frozenset({ACE, 0, 1, 2, 3})
# Every straight by its ranks, and its lead: the rank of its highest card, the five of A-2-3-4-5.
STRAIGHTS: Final = {frozenset(range(low, low + 5)): low + 4 for low in range(len(RANKS) - 4)} | {WHEEL: 3}

# A hand's name and the ranks that decide between two of that name: one tuple that orders hands.
Strength = tuple[int, tuple[int, ...]]


def name(strength: Strength) -> str:
    """What a hand of this strength is called."""
    return JOKER_HANDS[strength[0]]


def high_hand(cards: Sequence[str], *, wheel_is_second: bool) -> Strength:
    """The strength of five cards, the joker used as best it may be."""
    plain = [card for card in cards if card != JOKER]
    ranks = [RANKS.index(card[0]) for card in plain]
    with_joker = len(plain) < len(cards)
    found = [_by_repeats([*ranks, ACE] if with_joker else ranks)]
    if len(set(ranks)) == len(ranks):
        one_suit = len({card[1] for card in plain}) == 1
        # The joker stands for whatever rank is missing.
        fillings = [rank for rank in range(len(RANKS)) if rank not in ranks] if with_joker else [None]
        for filling in fillings:
            five = frozenset(ranks if filling is None else [*ranks, filling])
            lead = STRAIGHTS.get(five)
            if lead is not None:
                found.append(_straight(five, lead, one_suit=one_suit, wheel_is_second=wheel_is_second))
            elif one_suit:
                found.append((PLACE["flush"], tuple(sorted(five, reverse=True))))
    return max(found)


def low_hand(cards: Sequence[str]) -> Strength:
    """The strength of two cards: a pair or not, the joker an ace."""
    return _by_repeats([ACE if card == JOKER else RANKS.index(card[0]) for card in cards])


def _by_repeats(ranks: Sequence[int]) -> Strength:
    counts = Counter(ranks)
    # The rank that comes most decides first, among equals the higher.
    deciding = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    return PLACE[BY_REPEATS[tuple(counts[rank] for rank in deciding)]], tuple(deciding)


def _straight(ranks: frozenset[int], lead: int, *, one_suit: bool, wheel_is_second: bool) -> Strength:
    if one_suit and lead == ACE:
        return PLACE["royal_flush"], ()
    # Twice the lead, so that A-2-3-4-5 has a place between king high and ace high.
    order = 2 * ACE - 1 if ranks == WHEEL and wheel_is_second else 2 * lead
    return PLACE["straight_flush" if one_suit else "straight"], (order,)
