"""What wagers should have come to by their odds, and how far from it they came: whole numbers and fractions throughout.

A wager's theoretical win is its edge times its first stake; the variance of several is the sum of theirs. Where the player
decides, both are under the play that is best on average, so a table at which people play otherwise keeps more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, NamedTuple

from tables.odds.edition import EditionOdds, WagerOdds
from tables.odds.progressive import ProgressiveOdds

HUNDREDTHS = 100


class Theory(NamedTuple):
    """What some wagers should come to, in cents: what the house wins of them, and the variance of it; None where nobody knows."""

    win: Fraction | None
    variance: Fraction | None

    def plus(self, other: Theory) -> Theory:
        """Of these wagers and those; not known where either is not."""
        return Theory(_sum(self.win, other.win), _sum(self.variance, other.variance))


NOTHING = Theory(Fraction(0), Fraction(0))
UNKNOWN = Theory(None, None)


@dataclass(slots=True)
class Staked:
    """Wagers under the same odds: how many, their first stakes added up, and the squares of these."""

    wagers: int = 0
    stakes_cents: int = 0
    squares: int = 0

    def add(self, stake_cents: int) -> None:
        """One more wager."""
        self.wagers += 1
        self.stakes_cents += stake_cents
        self.squares += stake_cents * stake_cents

    def theory(self, odds: WagerOdds | None) -> Theory:
        """What they should come to under these odds."""
        if odds is None or odds.edge is None:
            return UNKNOWN
        variance = None if odds.variance is None else odds.variance * self.squares
        return Theory(odds.edge * self.stakes_cents, variance)


class Metered:
    """Progressive wagers of one paytable: what they should come to goes with the meters at which each was made.

    Sums are kept as whole numbers over common denominators, so that a wager costs a few multiplications.
    """

    def __init__(self, odds: ProgressiveOdds) -> None:
        wager = odds.wager_cents
        self.wager_cents, self.envy = wager, odds.envy * wager
        self.fixed, self.fixed_square = odds.fixed_return * wager, odds.fixed_square * wager**2
        self.shares = {level.level: (level.mean_share, level.square_share) for level in odds.levels}
        self.wagers = self.others = 0
        self._returned = self._variance = Fraction(0)
        self._kept: tuple[tuple[tuple[str, int], ...], Fraction, Fraction] | None = None

    def add(self, wagers: int, meters_cents: Mapping[str, int]) -> None:
        """The wagers of one round, at the meters that its awards would be paid from."""
        self.wagers += wagers
        self.others += wagers * (wagers - 1)
        key = tuple(meters_cents.items())
        if self._kept is None or self._kept[0] != key:
            returned, square = self.fixed, self.fixed_square
            for level, (mean, mean_square) in self.shares.items():
                meter = meters_cents[level]
                returned += mean * meter
                square += mean_square * meter**2
            self._kept = key, returned, square - returned**2
        self._returned += self._kept[1] * wagers
        self._variance += self._kept[2] * wagers

    @property
    def theory(self) -> Theory:
        """What they should come to, envy aside."""
        return Theory(self.wager_cents * self.wagers - self._returned, self._variance)

    @property
    def envy_theory(self) -> Theory:
        """What envy for them should cost the house: a loss. Its variance is not known."""
        return Theory(-self.envy * self.others, None)


def odds_of(edition: EditionOdds, facts: Mapping[str, Any]) -> WagerOdds | None:
    """The odds of an edition in the case that the facts are (decks, players, bet, …); None where it was not counted."""
    return next(
        (each for each in edition.wagers if all(_is(key, wanted, facts) for key, wanted in each.case.items())), None
    )


def bet_of(edition: EditionOdds, wager: str) -> str | None:
    """The bet that a wager is, in games whose wagers have odds of their own: `straight_17` is `straight`; None in others."""
    bets = {str(each.case["bet"]) for each in edition.wagers if "bet" in each.case}
    return next((bet for bet in sorted(bets) if _is_bet(bet, wager)), None)


def _is(key: str, wanted: object, facts: Mapping[str, Any]) -> bool:
    if key == "bet":
        return _is_bet(str(wanted), facts.get("wager", ""))
    return key in facts and facts[key] == wanted


def _is_bet(bets: str, wager: str) -> bool:
    return any(
        wager == bet or (wager.startswith(f"{bet}_") and wager[len(bet) + 1].isdigit()) for bet in bets.split(", ")
    )


def deviations(difference: Fraction, variance: Fraction) -> Fraction | None:
    """A difference in standard deviations, to the hundredth, halves away from zero; None where nothing varies."""
    if not variance:
        return None
    square = difference**2 * HUNDREDTHS**2 * 4 / variance
    found = (isqrt(square.numerator // square.denominator) + 1) // 2
    return Fraction(found if difference >= 0 else -found, HUNDREDTHS)


def standard_deviation(variance: Fraction) -> int:
    """The square root of a variance in cents squared, in whole cents."""
    return (isqrt(variance.numerator * 4 // variance.denominator) + 1) // 2


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other
