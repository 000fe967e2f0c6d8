"""Five cards of several decks: the seventeen hands of fast action hold 'em (SPEC §4; seed 003, 19:47-21.3).

With several decks a card can come again, so a flush may also be a pair or more, and five of a kind can be.  As with one
deck a *strength* is one number that orders hands, and a hand is found by the sum of its cards (see `cards`, `hands`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import Final

from tables.rules.cards import RANK_WEIGHT, RANKS_MASK, SUIT_SHIFT, WEIGHT
from tables.rules.hands import ONE_SUIT_FIVE, N

# Low to high.
SEVENTEEN_HANDS: Final = (
    "high_card",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "flush_with_one_pair",
    "flush_with_two_pairs",
    "flush_with_three_of_a_kind",
    "five_of_a_kind",
    "flush_with_full_house",
    "straight_flush",
    "flush_with_four_of_a_kind",
    "royal_flush",
    "flush_with_five_of_a_kind",
)
LEADS: Final = N**5  # strength // LEADS is the place of the hand among the seventeen

# How often the ranks of a hand come, and what that is in mixed suits and in one suit.
REPEATS: Final[dict[tuple[int, ...], tuple[str, str]]] = {
    (5,): ("five_of_a_kind", "flush_with_five_of_a_kind"),
    (4, 1): ("four_of_a_kind", "flush_with_four_of_a_kind"),
    (3, 2): ("full_house", "flush_with_full_house"),
    (3, 1, 1): ("three_of_a_kind", "flush_with_three_of_a_kind"),
    (2, 2, 1): ("two_pair", "flush_with_two_pairs"),
    (2, 1, 1, 1): ("pair", "flush_with_one_pair"),
    (1, 1, 1, 1, 1): ("high_card", "flush"),
}
WHEEL: Final = (12, 3, 2, 1, 0)  # A-5-4-3-2, high to low


def _strength(hand: str, ranks: Sequence[int]) -> int:
    value = SEVENTEEN_HANDS.index(hand)
    for place in range(5):
        value = value * N + (ranks[place] if place < len(ranks) else 0)
    return value


@cache  # built when the first hand of several decks is ranked: most houses have none
def _tables() -> tuple[dict[int, int], dict[int, int]]:
    """Strengths of five cards by the sum of their ranks: in mixed suits, and in one suit."""
    mixed: dict[int, int] = {}
    suited: dict[int, int] = {}
    for dealt in combinations_with_replacement(range(N), 5):
        total = sum(RANK_WEIGHT[rank] for rank in dealt)
        counts = Counter(dealt)
        # The rank that comes most decides first, among equals the higher.
        ranks = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
        names = REPEATS[tuple(counts[rank] for rank in ranks)]
        if len(ranks) == 5 and (ranks[0] - ranks[4] == 4 or tuple(ranks) == WHEEL):
            ranks = [3] if tuple(ranks) == WHEEL else ranks[:1]
            names = "straight", "royal_flush" if ranks[0] == N - 1 else "straight_flush"
        mixed[total], suited[total] = (_strength(name, ranks) for name in names)
    return mixed, suited


def strength(total: int) -> int:
    """The strength of five cards of any number of decks, given the sum of their weights."""
    mixed, suited = _tables()
    table = suited if total >> SUIT_SHIFT in ONE_SUIT_FIVE else mixed
    return table[total & RANKS_MASK]


def best(cards: Sequence[str]) -> int:
    """The strength of the best five of the cards, of which there are at least five."""
    return max(map(strength, map(sum, combinations([WEIGHT[card] for card in cards], 5))))


def name(found: int) -> str:
    """What a hand of this strength is called."""
    return SEVENTEEN_HANDS[found // LEADS]
