"""Boston 5 stud played as well as it can be (SPEC §7, DECISIONS A33): on three cards a second wager, or a fold.

First and second wager are taken as twice the ante each, as the game is dealt where its whole rules are published (the
rule of the seed's payout limit, 1,004 antes, agrees); our tables do not check their size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations as choose
from math import comb
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.dealers_hand import DealersHand
from tables.odds.deck import BIT, CARDS, canonical, classes, strength
from tables.odds.edition import WagerOdds
from tables.odds.pays import five_card_combinations, five_card_rows, net, split_bonus
from tables.rules.hands import FIVE_CARD_LEADS

FIRST: Final = 2
SECOND: Final = 2
ANTE: Final = 1


def base(rows: Iterable[Row], deck: Sequence[int] = CARDS) -> WagerOdds:
    """Ante, first and second wager with the ante bonus under the best play, in antes; of equals the hand is played.

    A smaller deck may be given, to be counted by hand.
    """
    beating, bonus_rows = split_bonus(rows)
    paid = five_card_rows(bonus_rows)
    finished = _finished(beating, [net(row) if row is not None else 0 for row in paid], deck)
    boards = comb(len(deck) - 3, 2) * comb(len(deck) - 5, 5)
    threes = classes(3, deck)
    mean: int | Fraction = 0
    square: int | Fraction = 0
    won = played = 0
    for cards, count in threes.items():
        value: int | Fraction = 0
        squares: int | Fraction = 0
        wins = 0
        rest = [BIT[card] for card in deck if not cards & BIT[card]]
        for fourth, fifth in choose(rest, 2):
            more_value, more_squares, more_wins = finished[canonical(cards | fourth | fifth)]
            value += more_value
            squares += more_squares
            wins += more_wins
        if value >= -(ANTE + FIRST) * boards:
            mean += count * value
            square += count * squares
            won += count * wins
            played += count
        else:
            mean -= count * (ANTE + FIRST) * boards
            square += count * (ANTE + FIRST) ** 2 * boards
    hands = sum(threes.values())
    average = Fraction(mean, hands * boards)
    combinations = five_card_combinations(paid)
    return WagerOdds(
        combinations=combinations,
        total=sum(combinations.values()),
        edge=-average,
        hit_frequency=Fraction(won, hands * boards),
        variance=Fraction(square, hands * boards) - average**2,
        average_stake=ANTE + FIRST + SECOND * Fraction(played, hands),
        plays={"second_wager": Fraction(played, hands), "fold": 1 - Fraction(played, hands)},
    )


def _finished(
    beating: int | Fraction, bonuses: list[int | Fraction], deck: Sequence[int]
) -> dict[int, tuple[int | Fraction, int | Fraction, int]]:
    """For every class of five cards, over all the dealer's hands: the sums of the net result and of its square, and wins."""
    dealer = DealersHand(5, deck)
    found = {}
    for cards in classes(5, deck):
        bonus = bonuses[strength(cards) // FIVE_CARD_LEADS]
        wins, ties, losses = dealer.meet(cards)
        win = (FIRST + SECOND) * beating + bonus
        loss = bonus - ANTE - FIRST - SECOND
        found[cards] = (
            wins * win + ties * bonus + losses * loss,
            wins * win**2 + ties * bonus**2 + losses * loss**2,
            wins,
        )
    return found
