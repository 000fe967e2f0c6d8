"""Craps: each wager followed to its decision, by the rolls that decide it (seed 001, 19:47-1.2).

What a roll does to a wager is asked of the rules of the game; a roll that does nothing is rolled again, so only the ways
that decide count.  A pass or come bet that makes a point is divided in the ratio of the ways that decide the point.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.edition import WagerOdds
from tables.odds.pays import LOST, net, one_draw
from tables.rules.craps import COME_OUT, DICE, ON_A_LINE, POINTS, decided

ROLLS: Final = tuple((first, second) for first in DICE for second in DICE)
OUTCOMES: Final = ("win", "push", "lose")


def _ways(wager: str, before: str | int) -> dict[str, Fraction]:
    """Of the 36 rolls, those that decide a wager one way or another."""
    found = dict.fromkeys(OUTCOMES, Fraction(0))
    for first, second in ROLLS:
        outcome = decided(wager, f"{before}:{first}-{second}")
        if outcome is not None:
            found[outcome] += 1
    return found


def _followed(wager: str) -> dict[str, Fraction]:
    """The weights with which a wager is decided one way or another, its point made and decided too."""
    if wager not in ON_A_LINE:
        return _ways(wager, COME_OUT)
    comes = wager.endswith("come")
    # A come bet is placed while there is a point; which one makes no difference to it.
    found = _ways(wager, POINTS[0] if comes else COME_OUT)
    for point in POINTS:
        made = sum(first + second == point for first, second in ROLLS)
        then = _ways(f"{wager}_{point}", POINTS[0]) if comes else _ways(wager, point)
        decisive = sum(then.values())
        for outcome in OUTCOMES:
            found[outcome] += made * then[outcome] / decisive
    return found


def base(rows: Iterable[Row]) -> tuple[WagerOdds, ...]:
    """One entry for the wagers that come to the same, in whole numbers of equally likely courses."""
    alike: dict[tuple[tuple[str, int, int | Fraction], ...], list[str]] = {}
    for row in rows:
        weights = _followed(row.hand)
        scale = Fraction(lcm(*(weight.denominator for weight in weights.values())))
        pays = {"win": net(row), "push": 0, "lose": LOST}
        results = tuple((outcome, int(weight * scale), pays[outcome]) for outcome, weight in weights.items() if weight)
        alike.setdefault(results, []).append(row.hand)
    return tuple(
        one_draw(
            {outcome: count for outcome, count, _ in results},
            [(count, won) for _, count, won in results],
            {"bet": ", ".join(wagers)},
        )
        for results, wagers in alike.items()
    )
