"""Cards as bits, and sets of cards that differ only in the names of their suits.

A set is a 52-bit number: thirteen bits a suit, lowest rank first.  Renaming the suits changes no hand's worth, so
sets that become equal by renaming are one *class*; its canonical set has the four suits' ranks in rising order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from tables.rules.cards import RANK_WEIGHT, SUIT_WEIGHT
from tables.rules.hands import five_card_strength, three_card_strength

RANKS_IN_SUIT: Final = 13
SUIT_BITS: Final = (1 << RANKS_IN_SUIT) - 1
CARDS: Final = tuple(range(52))
BIT: Final = tuple(1 << card for card in CARDS)
# The weight of each card as `tables.rules.hands` adds them up.
WEIGHT: Final = tuple(RANK_WEIGHT[card % RANKS_IN_SUIT] + SUIT_WEIGHT[card // RANKS_IN_SUIT] for card in CARDS)


def canonical(cards: int) -> int:
    """The set that stands for all sets which differ from this one only in the names of the suits."""
    low, second, third, high = sorted(
        (cards & SUIT_BITS, cards >> 13 & SUIT_BITS, cards >> 26 & SUIT_BITS, cards >> 39)
    )
    return low | second << 13 | third << 26 | high << 39


def pair_key(first: int, second: int) -> tuple[int, int, int, int]:
    """What is left of two disjoint sets, each with its own meaning, once the names of the suits are forgotten."""
    suits = sorted(
        (
            (first & SUIT_BITS) << 13 | second & SUIT_BITS,
            (first >> 13 & SUIT_BITS) << 13 | second >> 13 & SUIT_BITS,
            (first >> 26 & SUIT_BITS) << 13 | second >> 26 & SUIT_BITS,
            first >> 39 << 13 | second >> 39,
        )
    )
    return suits[0], suits[1], suits[2], suits[3]


def members(cards: int) -> list[int]:
    """The cards of a set, as numbers from 0."""
    found = []
    while cards:
        lowest = cards & -cards
        found.append(lowest.bit_length() - 1)
        cards ^= lowest
    return found


def weight(cards: int) -> int:
    """The sum of the weights of a set's cards."""
    return sum(WEIGHT[card] for card in members(cards))


def classes(size: int, deck: Sequence[int] = CARDS) -> dict[int, int]:
    """For every class of sets of so many cards, by its canonical set, how many sets it has.

    A smaller deck has all four suits of each of its ranks.
    """
    return _classes(size, tuple(deck))


@cache
def _classes(size: int, deck: tuple[int, ...]) -> dict[int, int]:
    """Each class is reached from the smaller ones by one more card; a set of n cards is reached n times."""
    if size == 0:
        return {0: 1}
    reached: dict[int, int] = {}
    for cards, count in _classes(size - 1, deck).items():
        for card in deck:
            if not cards & BIT[card]:
                larger = canonical(cards | BIT[card])
                reached[larger] = reached.get(larger, 0) + count
    return {cards: count // size for cards, count in reached.items()}


def strength(cards: int) -> int:
    """The strength of a set of five or of three cards."""
    total = weight(cards)
    return five_card_strength(total) if cards.bit_count() == 5 else three_card_strength(total)
