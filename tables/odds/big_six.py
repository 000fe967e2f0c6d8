"""Big six: each symbol on the usual wheel of 54 (the odds are seed 003, 19:47-5.5; it does not describe the wheel)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.edition import WagerOdds
from tables.odds.pays import LOST, net, one_draw

# How often each symbol is on the wheel.
WHEEL: Final = {
    "dollar_1": 24,
    "dollar_2": 15,
    "dollar_5": 7,
    "dollar_10": 4,
    "dollar_20": 2,
    "joker": 1,
    "flag": 1,
}


def base(rows: Iterable[Row]) -> tuple[WagerOdds, ...]:
    """One entry for each symbol, by where the wheel stops."""
    return tuple(
        one_draw(
            WHEEL,
            [(count, net(row) if symbol == row.hand else LOST) for symbol, count in WHEEL.items()],
            {"bet": row.hand},
        )
        for row in rows
    )
