"""Cards: two characters, rank then suit (SPEC §4).

A card weighs one whole number in which every rank and every suit has an octal digit of its own.  The sum of a
hand therefore counts its ranks and its suits at once, and no sum is ever two hands.
"""

from __future__ import annotations

from typing import Final

from jackpot.rules.paytable import RANKS as RANKS  # low to high

SUITS: Final = "cdhs"

RANK_BITS: Final = 3
SUIT_SHIFT: Final = RANK_BITS * len(RANKS)
RANKS_MASK: Final = (1 << SUIT_SHIFT) - 1

RANK_WEIGHT: Final = tuple(1 << RANK_BITS * rank for rank in range(len(RANKS)))
SUIT_WEIGHT: Final = tuple(1 << SUIT_SHIFT + RANK_BITS * suit for suit in range(len(SUITS)))

# Every card of one deck, with its weight.
WEIGHT: Final[dict[str, int]] = {
    rank + suit: RANK_WEIGHT[i] + SUIT_WEIGHT[j] for i, rank in enumerate(RANKS) for j, suit in enumerate(SUITS)
}
DECK: Final = frozenset(WEIGHT)
