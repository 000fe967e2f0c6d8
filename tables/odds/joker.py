"""Five and two cards of a deck with one joker, in the hands of pai gow poker (seed 003, 19:47-11.3)."""

from __future__ import annotations

from math import comb
from typing import Final

from jackpot.rules.paytable import FIVE_CARD_HANDS, RANKS
from tables.odds.deck import RANKS_IN_SUIT, classes, members
from tables.odds.edition import WagerOdds
from tables.odds.hands import five_card_classes
from tables.rules.cards import SUITS
from tables.rules.joker_hands import JOKER, JOKER_HANDS, high_hand, name

OUT_OF_REACH: Final = (
    "seven cards are set into two hands by the player and by the house, against seven more: out of reach of full"
    " enumeration, so only the hands are counted"
)
ACES: Final = 5  # the joker is one


def five_card_counts() -> dict[str, int]:
    """The 2,869,685 hands of five cards of the 53, best first.

    Where A-2-3-4-5 stands among the straights makes no difference to the count.
    """
    counts = dict.fromkeys(reversed(JOKER_HANDS), 0)
    size = len(RANKS)
    plain = five_card_classes()
    for category, hand in enumerate(FIVE_CARD_HANDS):
        counts[hand] += sum(plain[category * size : (category + 1) * size])
    for four, count in classes(4).items():
        cards = [RANKS[card % RANKS_IN_SUIT] + SUITS[card // RANKS_IN_SUIT] for card in members(four)]
        counts[name(high_hand([*cards, JOKER], wheel_is_second=True))] += count
    return counts


def two_card_counts() -> dict[str, int]:
    """The 1,378 low hands of two cards of the 53."""
    pairs = comb(ACES, 2) + (len(RANKS) - 1) * comb(4, 2)
    return {"pair": pairs, "high_card": comb(53, 2) - pairs}


def base() -> tuple[WagerOdds, ...]:
    """The high hands of five cards and the low hands of two; no edge."""
    return tuple(
        WagerOdds(counts, sum(counts.values()), None, None, None, {"cards": cards}, reason=OUT_OF_REACH)
        for cards, counts in ((5, five_card_counts()), (2, two_card_counts()))
    )
