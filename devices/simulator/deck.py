"""A deck of 52 real cards and the shuffler that mixes it.

Inside the simulator a card is a number, `rank * 4 + suit`: rank 0 is the deuce and 12 the ace, suits
in the order clubs, diamonds, hearts, spades. `NAMES` gives the two characters a message carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NAMES: tuple[str, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)

ACE = 12
KING = 11
TEN = 8


def card(name: str) -> int:
    """The number of a card written with two characters ("As"); ValueError for anything else."""
    return NAMES.index(name)


class Deck:
    """Fifty-two cards with one colour of back; every shuffle starts from how the last round left them."""

    __slots__ = ("cards", "colour")

    def __init__(self, colour: str) -> None:
        self.colour = colour
        self.cards = list(range(52))

    def shuffle(self, rng: Random) -> None:
        """Mix all 52 cards so that every order is equally likely (the Fisher-Yates shuffle)."""
        cards = self.cards
        below = rng.random
        # Float to index: each step is off from uniform by less than 52 / 2**53, and this is three times as
        # fast as drawing exact integers, which matters when benchmarks want tens of thousands of rounds.
        for last in range(51, 0, -1):
            other = int(below() * (last + 1))
            cards[last], cards[other] = cards[other], cards[last]

    def bring(self, wanted: Sequence[int], places: Sequence[int]) -> None:
        """Swap the wanted cards into the given places; the deck stays a permutation of 52 cards."""
        cards = self.cards
        for number, place in zip(wanted, places, strict=True):
            now = cards.index(number)
            cards[now], cards[place] = cards[place], cards[now]
