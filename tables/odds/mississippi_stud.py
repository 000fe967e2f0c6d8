"""Mississippi Stud played as well as it can be (SPEC §5): raise one to three times the ante on each street, or fold.

All four wagers are paid alike and the hand is exactly the five cards seen, so what a street is worth depends only on
the set of cards seen and on what has been staked.  Everything is summed, never divided, until the end: a sum over two
cards stands for 50 × 49 × 48 boards in the order in which they fall.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.deck import BIT, canonical, classes
from tables.odds.edition import WagerOdds
from tables.odds.four_cards import FIFTH_CARDS, fifths
from tables.odds.pays import five_card_combinations, five_card_rows, net

RAISES: Final = (1, 2, 3)
STREETS: Final = ("third_street", "fourth_street", "fifth_street")


@dataclass(frozen=True, slots=True)
class Play:
    """Sums over all boards to come: net result, its square, everything staked, boards won, and boards folded by street."""

    net: int | Fraction
    square: int | Fraction
    staked: int
    wins: int
    folds: tuple[int, int, int]

    def __add__(self, other: Play) -> Play:
        mine, theirs = self.folds, other.folds
        return Play(
            self.net + other.net,
            self.square + other.square,
            self.staked + other.staked,
            self.wins + other.wins,
            (mine[0] + theirs[0], mine[1] + theirs[1], mine[2] + theirs[2]),
        )

    def times(self, count: int) -> Play:
        """The sums of so many alike."""
        third, fourth, fifth = self.folds
        return Play(
            self.net * count,
            self.square * count,
            self.staked * count,
            self.wins * count,
            (third * count, fourth * count, fifth * count),
        )


NOTHING: Final = Play(0, 0, 0, 0, (0, 0, 0))


def _fold(stake: int, boards: int, street: int) -> Play:
    """Lose what is staked, on a street (0, 1 or 2) with so many boards to come."""
    third, fourth, fifth = (boards if place == street else 0 for place in range(len(STREETS)))
    return Play(-stake * boards, stake * stake * boards, stake * boards, 0, (third, fourth, fifth))


def _best(fold: Play, raises: Iterable[Play]) -> Play:
    """The play with the greatest sum; of equals the smallest raise, and a fold only if every raise is worse."""
    best: Play | None = None
    for play in raises:
        if best is None or play.net > best.net:
            best = play
    return best if best is not None and best.net >= fold.net else fold


class Strategy:
    """The best play for given net pays of the five-card classes."""

    def __init__(self, nets: list[int | Fraction]) -> None:
        self.fifths = fifths(nets)
        self.known: dict[tuple[int, int], Play] = {}

    def fifth_street(self, cards: int, stake: int) -> Play:
        """Four cards seen, so much staked before the decision."""
        fifth = self.fifths[cards]
        raises = []
        for multiple in RAISES:
            all_in = stake + multiple
            raises.append(
                Play(all_in * fifth.net, all_in**2 * fifth.square, all_in * FIFTH_CARDS, fifth.wins, (0, 0, 0))
            )
        return _best(_fold(stake, FIFTH_CARDS, 2), raises)

    def value(self, cards: int, stake: int) -> Play:
        """The best play from two, three or four cards on."""
        seen = cards.bit_count()
        known = self.known.get((cards, stake))
        if known is not None:
            return known
        if seen == 4:
            best = self.fifth_street(cards, stake)
        else:
            following: dict[int, int] = {}
            for bit in BIT:
                if not cards & bit:
                    larger = canonical(cards | bit)
                    following[larger] = following.get(larger, 0) + 1
            boards = 49 * FIFTH_CARDS if seen == 3 else 50 * 49 * FIFTH_CARDS
            raises = []
            for multiple in RAISES:
                play = NOTHING
                for larger, count in following.items():
                    play += self.value(larger, stake + multiple).times(count)
                raises.append(play)
            best = _best(_fold(stake, boards, seen - 2), raises)
        self.known[cards, stake] = best
        return best


def base(rows: Iterable[Row]) -> WagerOdds:
    """The base wagers under the best play, in antes."""
    paid = five_card_rows(rows)
    strategy = Strategy([net(row) for row in paid])
    play = NOTHING
    for cards, count in classes(2).items():
        play += strategy.value(cards, 1).times(count)
    deals = sum(classes(2).values()) * 50 * 49 * FIFTH_CARDS
    combinations = five_card_combinations(paid)
    mean = Fraction(play.net, deals)
    plays = {f"fold_on_{street}": Fraction(folds, deals) for street, folds in zip(STREETS, play.folds, strict=True)}
    return WagerOdds(
        combinations=combinations,
        total=sum(combinations.values()),
        edge=-mean,
        hit_frequency=Fraction(play.wins, deals),
        variance=Fraction(play.square, deals) - mean**2,
        average_stake=Fraction(play.staked, deals),
        plays=plays | {"play_to_the_end": 1 - Fraction(sum(play.folds), deals)},
    )
