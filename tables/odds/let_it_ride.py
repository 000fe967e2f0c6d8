"""Let It Ride played as well as it can be (SPEC §7): a bet rides if what is known makes it pay, else it comes back.

The three bets are alike and each decision concerns one bet, so each is taken by its own average alone.  All figures are
in units of one of the three bets.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.deck import BIT, canonical, classes
from tables.odds.edition import WagerOdds
from tables.odds.four_cards import FIFTH_CARDS, fifths
from tables.odds.pays import five_card_combinations, five_card_rows, net

FOURTH_CARDS: Final = 49


def base(rows: Iterable[Row]) -> WagerOdds:
    """The three base bets under the best play; of equals the bet comes back."""
    paid = five_card_rows(rows)
    known = fifths([net(row) for row in paid])
    mean: int | Fraction = 0
    square: int | Fraction = 0
    staked = wins = first_rides = second_rides = 0
    for cards, count in classes(3).items():
        following: dict[int, int] = {}
        for bit in BIT:
            if not cards & bit:
                larger = canonical(cards | bit)
                following[larger] = following.get(larger, 0) + 1
        first = sum(known[larger].net * ways for larger, ways in following.items()) > 0
        first_rides += count * first * FOURTH_CARDS * FIFTH_CARDS
        for larger, ways in following.items():
            fifth = known[larger]
            second = fifth.net > 0
            second_rides += count * ways * second * FIFTH_CARDS
            bets = 1 + first + second
            mean += count * ways * bets * fifth.net
            square += count * ways * bets**2 * fifth.square
            staked += count * ways * bets * FIFTH_CARDS
            wins += count * ways * fifth.wins
    deals = sum(classes(3).values()) * FOURTH_CARDS * FIFTH_CARDS
    average = Fraction(mean, deals)
    combinations = five_card_combinations(paid)
    return WagerOdds(
        combinations=combinations,
        total=sum(combinations.values()),
        edge=-average,
        hit_frequency=Fraction(wins, deals),
        variance=Fraction(square, deals) - average**2,
        average_stake=Fraction(staked, deals),
        plays={
            "bet_one_rides": Fraction(first_rides, deals),
            "bet_two_rides": Fraction(second_rides, deals),
        },
    )
