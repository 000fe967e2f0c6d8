"""How a player's hand fares against every hand the dealer may hold, without dealing them one by one.

The dealer's hands that avoid the player's cards are counted by inclusion and exclusion: from all hands of the deck take
those with one of the player's cards, add those with two, and so on.  The hands that contain a set of cards are counted
once for each class of sets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, combinations
from math import comb

from tables.odds.deck import BIT, CARDS, WEIGHT, canonical, classes, members, weight
from tables.rules.hands import five_card_strength, three_card_strength


class DealersHand:
    """The dealer's hands of three or of five cards, by strength.  A smaller deck may be given, to be counted by hand."""

    def __init__(self, size: int, deck: Sequence[int] = CARDS) -> None:
        self.size, self.deck = size, deck
        self.worth = five_card_strength if size == 5 else three_card_strength
        counts: Counter[int] = Counter()
        for cards, count in classes(size, deck).items():
            counts[self.worth(weight(cards))] += count
        self.strengths = sorted(counts)
        # At each place, how many hands of the whole deck are weaker than the strength at this place.
        self.weaker = [0, *accumulate(counts[strength] for strength in self.strengths)]
        # For each class of sets of cards, the strengths of the hands that contain the set, weakest first.
        self.containing = {
            cards: self._containing(cards) for held in range(1, size + 1) for cards in classes(held, deck)
        }

    def _containing(self, cards: int) -> list[int]:
        held = weight(cards)
        rest = [WEIGHT[card] for card in self.deck if not cards & BIT[card]]
        return sorted(self.worth(held + sum(others)) for others in combinations(rest, self.size - cards.bit_count()))

    def weaker_than(self, strength: int, cards: int) -> int:
        """How many hands that avoid these cards are weaker than this strength."""
        total = self.weaker[bisect_left(self.strengths, strength)]
        held = [BIT[card] for card in members(cards)]
        for size in range(1, min(len(held), self.size) + 1):
            sign = -1 if size % 2 else 1
            for chosen in combinations(held, size):
                total += sign * bisect_left(self.containing[canonical(sum(chosen))], strength)
        return total

    def meet(self, cards: int) -> tuple[int, int, int]:
        """Of the hands that avoid these cards, how many the hand they make beats, ties and loses to."""
        strength = self.worth(weight(cards))
        wins = self.weaker_than(strength, cards)
        ties = self.weaker_than(strength + 1, cards) - wins
        return wins, ties, comb(len(self.deck) - cards.bit_count(), self.size) - wins - ties
