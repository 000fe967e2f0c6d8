"""Double Down Stud played as well as it can be (SPEC §7): four cards seen, the wager is doubled if the fifth pays."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from jackpot.rules.paytable import Row
from tables.odds.deck import classes
from tables.odds.edition import WagerOdds
from tables.odds.four_cards import FIFTH_CARDS, fifths
from tables.odds.pays import five_card_combinations, five_card_rows, net


def base(rows: Iterable[Row]) -> WagerOdds:
    """The wager and its double under the best play, in wagers; of equals the wager is not doubled."""
    paid = five_card_rows(rows)
    known = fifths([net(row) for row in paid])
    mean: int | Fraction = 0
    square: int | Fraction = 0
    staked = wins = doubled = 0
    for cards, count in classes(4).items():
        fifth = known[cards]
        wagers = 2 if fifth.net > 0 else 1
        mean += count * wagers * fifth.net
        square += count * wagers**2 * fifth.square
        staked += count * wagers * FIFTH_CARDS
        wins += count * fifth.wins
        doubled += count * (wagers - 1)
    deals = sum(classes(4).values()) * FIFTH_CARDS
    average = Fraction(mean, deals)
    combinations = five_card_combinations(paid)
    return WagerOdds(
        combinations=combinations,
        total=sum(combinations.values()),
        edge=-average,
        hit_frequency=Fraction(wins, deals),
        variance=Fraction(square, deals) - average**2,
        average_stake=Fraction(staked, deals),
        plays={"double_down": Fraction(doubled * FIFTH_CARDS, deals)},
    )
