"""Hands: what five cards and what three cards are worth (SPEC §4, seed 002 section 5).

A *strength* is one whole number that orders hands: the category first, then the ranks in the order in which they
decide.  A *class* is the category with only the first of those ranks, its lead: the rank of the pair, of the
three, of the highest card (the five of A-2-3-4-5).  Paytables pay by class.

The tables below are built once, from rank counts: 6,175 ways of five ranks and 455 of three, plus the same ranks
in one suit.  A hand is found by the sum of its cards (see `cards`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from jackpot.rules.paytable import FIVE_CARD_HANDS, RANKS, Row
from tables.rules.cards import RANK_WEIGHT, RANKS_MASK, SUIT_SHIFT, SUIT_WEIGHT, WEIGHT

# The three-card hands, low to high; a mini royal is a straight flush where the paytable does not list it.
THREE_CARD_HANDS: Final = (
    "high_card",
    "pair",
    "flush",
    "straight",
    "three_of_a_kind",
    "straight_flush",
    "mini_royal",
)

N: Final = len(RANKS)
FIVE_CARD_LEADS: Final = N**4  # strength // FIVE_CARD_LEADS is the class
THREE_CARD_LEADS: Final = N**2

# The name of every class, so that a hand is named by one look-up.
FIVE_CARD_NAMES: Final = tuple(name for name in FIVE_CARD_HANDS for _ in RANKS)
THREE_CARD_NAMES: Final = tuple(name for name in THREE_CARD_HANDS for _ in RANKS)

_STRAIGHT, _FLUSH, _STRAIGHT_FLUSH, _ROYAL = (
    FIVE_CARD_HANDS.index(name) for name in ("straight", "flush", "straight_flush", "royal_flush")
)
_WHEEL_5: Final = (12, 3, 2, 1, 0)  # A-5-4-3-2, high to low
_WHEEL_3: Final = (12, 1, 0)
_TOP_3: Final = (12, 11, 10)


def _strength(category: int, ranks: Sequence[int], places: int) -> int:
    """Category and deciding ranks as the digits of one number; ranks that decide nothing are zero."""
    value = category
    for place in range(places):
        value = value * N + (ranks[place] if place < len(ranks) else 0)
    return value


def _five_cards() -> tuple[dict[int, int], dict[int, int]]:
    """Strengths of five cards by the sum of their ranks: in mixed suits, and in one suit."""
    mixed: dict[int, int] = {}
    suited: dict[int, int] = {}
    weight = RANK_WEIGHT
    everyone = range(N)

    def name(hand: str, total: int, *ranks: int) -> None:
        mixed[total] = _strength(FIVE_CARD_HANDS.index(hand), ranks, 5)

    for ranks in combinations(reversed(everyone), 5):
        total = sum(weight[rank] for rank in ranks)
        if ranks[0] - ranks[4] == 4 or ranks == _WHEEL_5:
            lead = 3 if ranks == _WHEEL_5 else ranks[0]
            mixed[total] = _strength(_STRAIGHT, (lead,), 5)
            suited[total] = _strength(_ROYAL if lead == N - 1 else _STRAIGHT_FLUSH, (lead,), 5)
        else:
            mixed[total] = _strength(0, ranks, 5)
            suited[total] = _strength(_FLUSH, ranks, 5)
    for rank in everyone:
        others = [other for other in reversed(everyone) if other != rank]
        for kickers in combinations(others, 3):
            name("pair", 2 * weight[rank] + sum(weight[k] for k in kickers), rank, *kickers)
        for high, low in combinations(others, 2):
            name("three_of_a_kind", 3 * weight[rank] + weight[high] + weight[low], rank, high, low)
            # Here `rank` is the kicker of the two pairs.
            name("two_pair", weight[rank] + 2 * weight[high] + 2 * weight[low], high, low, rank)
        for other in others:
            name("full_house", 3 * weight[rank] + 2 * weight[other], rank, other)
            name("four_of_a_kind", 4 * weight[rank] + weight[other], rank, other)
    return mixed, suited


def _three_cards() -> tuple[dict[int, int], dict[int, int]]:
    """Strengths of three cards by the sum of their ranks: in mixed suits, and in one suit."""
    mixed: dict[int, int] = {}
    suited: dict[int, int] = {}
    weight = RANK_WEIGHT
    category = {hand: place for place, hand in enumerate(THREE_CARD_HANDS)}
    for ranks in combinations(reversed(range(N)), 3):
        total = sum(weight[rank] for rank in ranks)
        if ranks[0] - ranks[2] == 2 or ranks == _WHEEL_3:
            lead = 1 if ranks == _WHEEL_3 else ranks[0]
            in_one_suit = "mini_royal" if ranks == _TOP_3 else "straight_flush"
            mixed[total] = _strength(category["straight"], (lead,), 3)
            suited[total] = _strength(category[in_one_suit], (lead,), 3)
        else:
            mixed[total] = _strength(category["high_card"], ranks, 3)
            suited[total] = _strength(category["flush"], ranks, 3)
    for rank in range(N):
        mixed[3 * weight[rank]] = _strength(category["three_of_a_kind"], (rank,), 3)
        for other in range(N):
            if other != rank:
                mixed[2 * weight[rank] + weight[other]] = _strength(category["pair"], (rank, other), 3)
    return mixed, suited


MIXED_FIVE, SUITED_FIVE = _five_cards()
MIXED_THREE, SUITED_THREE = _three_cards()
ONE_SUIT_FIVE: Final = frozenset(5 * weight >> SUIT_SHIFT for weight in SUIT_WEIGHT)
ONE_SUIT_THREE: Final = frozenset(3 * weight >> SUIT_SHIFT for weight in SUIT_WEIGHT)


def five_card_strength(total: int) -> int:
    """The strength of five cards of one deck, given the sum of their weights; KeyError if no deck has them."""
    if total >> SUIT_SHIFT in ONE_SUIT_FIVE:
        return SUITED_FIVE[total & RANKS_MASK]
    return MIXED_FIVE[total & RANKS_MASK]


def three_card_strength(total: int) -> int:
    """The strength of three cards of one deck, given the sum of their weights; KeyError if no deck has them."""
    if total >> SUIT_SHIFT in ONE_SUIT_THREE:
        return SUITED_THREE[total & RANKS_MASK]
    return MIXED_THREE[total & RANKS_MASK]


def three_card_name(rank: int) -> str:
    """The name of a three-card class where a mini royal is just the highest straight flush."""
    name = THREE_CARD_NAMES[rank]
    return "straight_flush" if name == "mini_royal" else name


def weigh(cards: Iterable[str]) -> int:
    """The sum of the cards' weights."""
    return sum(WEIGHT[card] for card in cards)


def by_five_card_class(rows: Iterable[Row]) -> list[Row | None]:
    """For every five-card class the row that pays it, or None."""
    return _by_class(rows, FIVE_CARD_HANDS)


def by_three_card_class(rows: Iterable[Row]) -> list[Row | None]:
    """For every three-card class the row that pays it; an unlisted mini royal is a straight flush."""
    table = _by_class(rows, THREE_CARD_HANDS)
    mini_royal = THREE_CARD_NAMES.index("mini_royal") + N - 1
    straight_flush = THREE_CARD_NAMES.index("straight_flush") + N - 1
    if table[mini_royal] is None:
        table[mini_royal] = table[straight_flush]
    return table


def _by_class(rows: Iterable[Row], hands: Sequence[str]) -> list[Row | None]:
    table: list[Row | None] = [None] * (len(hands) * N)
    for row in rows:
        category = hands.index(row.hand)
        low = RANKS.index(row.from_rank or RANKS[0])
        high = RANKS.index(row.to_rank or RANKS[-1])
        for lead in range(low, high + 1):
            table[category * N + lead] = row
    return table
