"""Blackjack: how often two cards are a blackjack, and insurance (seed 003, 19:47-2.9).

The seed has neither the drawing rules nor the values of the cards; the edge of the wager itself depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import comb
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.edition import WagerOdds
from tables.odds.pays import LOST, net, one_draw
from tables.rules.blackjack import BLACKJACK, INSURANCE

DECKS: Final = (1, 2, 4, 6, 8)
NO_DRAWING_RULES: Final = (
    "settled from posted results: the drawing rules on which the edge depends are the house's; only the first two cards"
    " are counted"
)


def base(rows: Iterable[Row]) -> tuple[WagerOdds, ...]:
    """The first two cards for each number of decks, and insurance against a dealer's ace where the edition has it."""
    pays = {row.hand: net(row) for row in rows}
    found = []
    for decks in DECKS:
        blackjacks = 4 * decks * 16 * decks
        total = comb(52 * decks, 2)
        counts = {BLACKJACK: blackjacks, "other": total - blackjacks}
        found.append(
            WagerOdds(counts, total, None, None, None, {"decks": decks, "bet": "wager"}, reason=NO_DRAWING_RULES)
        )
    if INSURANCE in pays:
        for decks in DECKS:
            tens, others = 16 * decks, 36 * decks - 1
            found.append(
                one_draw(
                    {"ten": tens, "other": others},
                    [(tens, pays[INSURANCE]), (others, LOST)],
                    {"decks": decks, "bet": INSURANCE},
                )
            )
    return tuple(found)
