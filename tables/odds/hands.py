"""How many hands of one deck there are of every kind: five cards, three cards and two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import comb
from typing import Final

from jackpot.rules.paytable import FIVE_CARD_HANDS, RANKS, Row
from tables.rules import hands
from tables.rules.cards import RANK_BITS
from tables.rules.hands import FIVE_CARD_LEADS, THREE_CARD_HANDS, THREE_CARD_LEADS

SUITS: Final = 4


def _counts(mixed: Mapping[int, int], suited: Mapping[int, int]) -> dict[int, int]:
    """Hands of each strength: for every sum of ranks, the ways to give its cards suits."""
    found: dict[int, int] = {}
    for ranks, strength in mixed.items():
        ways = 1
        rest = ranks
        while rest:
            ways *= comb(SUITS, rest & (1 << RANK_BITS) - 1)
            rest >>= RANK_BITS
        if ranks in suited:
            ways -= SUITS
            found[suited[ranks]] = found.get(suited[ranks], 0) + SUITS
        found[strength] = found.get(strength, 0) + ways
    return found


@cache
def five_card_counts() -> dict[int, int]:
    """The 2,598,960 hands of five cards, by strength."""
    return _counts(hands.MIXED_FIVE, hands.SUITED_FIVE)


@cache
def three_card_counts() -> dict[int, int]:
    """The 22,100 hands of three cards, by strength."""
    return _counts(hands.MIXED_THREE, hands.SUITED_THREE)


@cache
def five_card_classes() -> tuple[int, ...]:
    """The hands of five cards, by class (category, then lead)."""
    return _by_class(five_card_counts(), FIVE_CARD_LEADS, len(FIVE_CARD_HANDS))


@cache
def three_card_classes() -> tuple[int, ...]:
    """The hands of three cards, by class."""
    return _by_class(three_card_counts(), THREE_CARD_LEADS, len(THREE_CARD_HANDS))


def _by_class(counts: Mapping[int, int], leads: int, categories: int) -> tuple[int, ...]:
    found = [0] * (categories * len(RANKS))
    for strength, count in counts.items():
        found[strength // leads] += count
    return tuple(found)


def label(row: Row) -> str:
    """What a row is called in a table of combinations: its hand, and its ranks if it names them."""
    if row.from_rank is None and row.to_rank is None:
        return row.hand
    return _ranked(row.hand, RANKS.index(row.from_rank or RANKS[0]), RANKS.index(row.to_rank or RANKS[-1]))


def _ranked(hand: str, low: int, high: int) -> str:
    return f"{hand} {RANKS[low]}" if low == high else f"{hand} {RANKS[low]}-{RANKS[high]}"


def class_labels(paid: Sequence[Row | None], counts: Sequence[int], names: Sequence[str]) -> list[str]:
    """For every class what it is called in a table of combinations: its row, or its hand where no row pays it.

    Where a row pays some ranks of a hand, the others are called by their ranks too.
    """
    labels = [label(row) if row is not None else "" for row in paid]
    size = len(RANKS)
    for category in range(len(paid) // size):
        leads = [lead for lead in range(size) if counts[category * size + lead]]
        unpaid = [lead for lead in leads if paid[category * size + lead] is None]
        for lead in unpaid:
            low = high = lead
            while low - 1 in unpaid:
                low -= 1
            while high + 1 in unpaid:
                high += 1
            whole = len(unpaid) == len(leads)
            place = category * size + lead
            labels[place] = names[place] if whole else _ranked(names[place], low, high)
    return labels
