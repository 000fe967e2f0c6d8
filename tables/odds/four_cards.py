"""What a fifth card adds to four: the last uncertainty of every game that pays five cards by a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final

from tables.odds.deck import BIT, CARDS, WEIGHT, classes, weight
from tables.rules.hands import FIVE_CARD_LEADS, five_card_strength

FIFTH_CARDS: Final = 48


@dataclass(frozen=True, slots=True)
class Fifth:
    """Over the 48 cards that may come: the sum of the net pays, of their squares, and how many win."""

    net: int | Fraction
    square: int | Fraction
    wins: int


@cache
def _fifth_classes() -> dict[int, dict[int, int]]:
    """For every class of four cards, how many fifth cards make each five-card class."""
    found: dict[int, dict[int, int]] = {}
    for cards in classes(4):
        held = weight(cards)
        made: dict[int, int] = {}
        for card in CARDS:
            if not cards & BIT[card]:
                rank = five_card_strength(held + WEIGHT[card]) // FIVE_CARD_LEADS
                made[rank] = made.get(rank, 0) + 1
        found[cards] = made
    return found


def fifths(nets: Sequence[int | Fraction]) -> dict[int, Fifth]:
    """For every class of four cards what the fifth brings, given the net pay of each five-card class."""
    found: dict[int, Fifth] = {}
    for cards, made in _fifth_classes().items():
        total: int | Fraction = 0
        square: int | Fraction = 0
        wins = 0
        for rank, count in made.items():
            pay = nets[rank]
            total += count * pay
            square += count * pay * pay
            wins += count if pay > 0 else 0
        found[cards] = Fifth(total, square, wins)
    return found
