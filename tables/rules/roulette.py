"""Roulette (SPEC §7; seed 003, 19:47-5.1 to 5.4).

`result` is where the ball came to rest: 0, 00 or 1 to 36.  A wager names the numbers it is on: `straight_17`,
`split_17_18`, `three_16_17_18`, `four_16_17_19_20`, `six_16_17_18_19_20_21`; or its box: `first_five`, `seven_numbers`,
`column_1`, `dozen_3`, `red`, `black`, `odd`, `even`, `low` (1 to 18), `high` (19 to 36).  Five adjacent numbers are moved
to the number that came (5.3(d)) and reported there.

The edition says what the house offers: a kind of wager without a row is not offered, and a wheel has a double zero where
`first_five` is paid.  A row `even_money_at_zero` says what the six even-money wagers come to at zero.  The seed ends
before the layout is described: which numbers touch is the usual one.
"""

from __future__ import annotations

from typing import ClassVar, Final

from tables.rules.lines import Line, paid_or_lost, pay_of
from tables.rules.posted import PostedGame
from tables.rules.table import TableTerms

ZERO: Final = "0"
DOUBLE_ZERO: Final = "00"
FIRST_FIVE: Final = "first_five"
AT_ZERO: Final = "even_money_at_zero"
RED: Final = frozenset({1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36})
EVEN_MONEY: Final = ("red", "black", "odd", "even", "low", "high")

Numbers = tuple[str, ...]


def _texts(numbers: set[int] | frozenset[int] | range) -> Numbers:
    return tuple(str(number) for number in sorted(numbers))


def _boxes() -> dict[str, Numbers]:
    """The wagers that have a box of their own on the layout."""
    every = range(1, 37)
    boxes = {
        FIRST_FIVE: (ZERO, DOUBLE_ZERO, "1", "2", "3"),
        "seven_numbers": ("10", "11", "12", "13", "14", "15", "33"),
        "red": _texts(RED),
        "black": _texts(set(every) - RED),
        "odd": _texts(range(1, 37, 2)),
        "even": _texts(range(2, 37, 2)),
        "low": _texts(range(1, 19)),
        "high": _texts(range(19, 37)),
    }
    for third in (1, 2, 3):
        boxes[f"column_{third}"] = _texts(range(third, 37, 3))
        boxes[f"dozen_{third}"] = _texts(range(12 * third - 11, 12 * third + 1))
    return boxes


def _inside() -> list[tuple[str, Numbers]]:
    """Kind and numbers of the wagers on numbers that touch on a layout of twelve rows of three."""
    found: list[tuple[str, Numbers]] = [
        ("straight", (number,)) for number in (ZERO, DOUBLE_ZERO, *_texts(range(1, 37)))
    ]
    for number in range(1, 37):
        if number % 3:
            found.append(("split", _texts({number, number + 1})))
        if number <= 33:
            found.append(("split", _texts({number, number + 3})))
    for first in range(1, 37, 3):
        found.append(("three", _texts(range(first, first + 3))))
        if first <= 31:
            found.append(("six", _texts(range(first, first + 6))))
            found += [("four", _texts({n, n + 1, n + 3, n + 4})) for n in (first, first + 1)]
    return found


# What touches the zeros differs with the wheel.
AT_DOUBLE_ZERO: Final[tuple[tuple[str, Numbers], ...]] = (
    ("split", (ZERO, DOUBLE_ZERO)),
    ("split", (ZERO, "1")),
    ("split", (ZERO, "2")),
    ("split", (DOUBLE_ZERO, "2")),
    ("split", (DOUBLE_ZERO, "3")),
    ("three", (ZERO, "1", "2")),
    ("three", (ZERO, DOUBLE_ZERO, "2")),
    ("three", (DOUBLE_ZERO, "2", "3")),
)
AT_SINGLE_ZERO: Final[tuple[tuple[str, Numbers], ...]] = (
    ("split", (ZERO, "1")),
    ("split", (ZERO, "2")),
    ("split", (ZERO, "3")),
    ("three", (ZERO, "1", "2")),
    ("three", (ZERO, "2", "3")),
    ("four", (ZERO, "1", "2", "3")),
)


def _named(wagers: list[tuple[str, Numbers]] | tuple[tuple[str, Numbers], ...]) -> dict[str, Numbers]:
    return {"_".join((kind, *numbers)): numbers for kind, numbers in wagers}


BOXES: Final = _boxes()
# The numbers of every wager, on the one wheel and on the other.
ON_DOUBLE_ZERO: Final = _named(_inside()) | _named(AT_DOUBLE_ZERO) | BOXES
ON_SINGLE_ZERO: Final = {
    wager: numbers
    for wager, numbers in (_named(_inside()) | _named(AT_SINGLE_ZERO) | BOXES).items()
    if DOUBLE_ZERO not in numbers
}


class Roulette(PostedGame):
    """Roulette as one table offers it."""

    title: ClassVar[str] = "roulette"
    base_wagers: ClassVar[tuple[str, ...]] = tuple(ON_DOUBLE_ZERO | ON_SINGLE_ZERO)
    results: ClassVar[frozenset[str]] = frozenset({ZERO, DOUBLE_ZERO, *_texts(range(1, 37))})

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.pays = {row.hand: pay_of(row) for row in table.paytables["base"].rows}
        self.double_zero = FIRST_FIVE in self.pays
        wheel = ON_DOUBLE_ZERO if self.double_zero else ON_SINGLE_ZERO
        self.numbers = {wager: frozenset(numbers) for wager, numbers in wheel.items() if self._kind(wager) in self.pays}
        self.offered = frozenset(self.numbers)

    @staticmethod
    def _kind(wager: str) -> str:
        """The row that pays a wager."""
        return wager if wager in (FIRST_FIVE, "seven_numbers") else wager.partition("_")[0]

    def line(self, wager: str, stake_cents: int, result: str) -> Line:
        """Paid if the ball rests on one of the wager's numbers; at zero even money may keep half (5.2(b))."""
        if result in self.numbers[wager]:
            return self.pays[self._kind(wager)].line(wager, stake_cents)
        at_zero = wager in EVEN_MONEY and result in (ZERO, DOUBLE_ZERO)
        return paid_or_lost(self.pays.get(AT_ZERO) if at_zero else None, wager, stake_cents)
