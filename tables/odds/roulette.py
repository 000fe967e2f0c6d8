"""Roulette: every kind of wager that an edition pays, on its wheel (seed 003, 19:47-5.1 and 5.2)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.edition import WagerOdds
from tables.odds.pays import LOST, net, one_draw
from tables.rules.roulette import AT_ZERO, EVEN_MONEY, FIRST_FIVE, ON_DOUBLE_ZERO, ON_SINGLE_ZERO

NUMBERS: Final = 36


def base(rows: Iterable[Row]) -> tuple[WagerOdds, ...]:
    """One entry for the kinds of wager that come to the same; a wheel has a double zero where first five is paid."""
    pays = {row.hand: net(row) for row in rows}
    at_zero = pays.pop(AT_ZERO, LOST)
    double = FIRST_FIVE in pays
    zeros = 2 if double else 1
    wagers = ON_DOUBLE_ZERO if double else ON_SINGLE_ZERO
    alike: dict[tuple[tuple[str, int, int | Fraction], ...], list[str]] = {}
    for kind, odds in pays.items():
        wins = next(len(numbers) for wager, numbers in wagers.items() if wager == kind or wager.startswith(f"{kind}_"))
        results: tuple[tuple[str, int, int | Fraction], ...]
        if kind in EVEN_MONEY:
            results = (("win", wins, odds), ("zero", zeros, at_zero), ("lose", NUMBERS - wins, LOST))
        else:
            results = (("win", wins, odds), ("lose", NUMBERS + zeros - wins, LOST))
        alike.setdefault(results, []).append(kind)
    return tuple(
        one_draw(
            {name: count for name, count, _ in results},
            [(count, won) for _, count, won in results],
            {"bet": ", ".join(kinds)},
        )
        for results, kinds in alike.items()
    )
