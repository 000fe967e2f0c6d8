"""Pocket poker in Mini-Tex: the 1,326 pairs of cards (SPEC §4, §7)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations as choose

from jackpot.rules.paytable import Row
from tables.odds.edition import WagerOdds
from tables.odds.pays import LOST, net, one_draw
from tables.rules.cards import WEIGHT
from tables.rules.mini_tex import pocket_hand

NO_HAND = "no_hand"


def wager(rows: Iterable[Row], *, ace_two: bool) -> WagerOdds:
    """The wager, by the term whether an ace and a two are consecutive."""
    pays = {row.hand: net(row) for row in rows}
    counts = dict.fromkeys(pays, 0) | {NO_HAND: 0}
    for cards in choose(WEIGHT, 2):
        counts[pocket_hand(cards, ace_two=ace_two) or NO_HAND] += 1
    return one_draw(
        counts,
        [(count, pays.get(hand, LOST)) for hand, count in counts.items()],
        {"ace_two_consecutive": ace_two},
    )
