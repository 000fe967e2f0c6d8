"""Totals of a report, added up while its rows pass, and whether they foot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from accounting.reporting.shape import Report, Row


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether what must come out even does: of the totals, and how many rows do not."""

    said: str
    difference: int
    rows: int

    @property
    def is_even(self) -> bool:
        """Whether nothing differs."""
        return not self.difference and not self.rows

    @property
    def words(self) -> str:
        """The verdict in a line; what is added up is money."""
        if self.is_even:
            return f"Foots: {self.said}"
        parts = [f"the totals differ by {self.difference} cents"] if self.difference else []
        parts += [f"{self.rows} row{'s' if self.rows > 1 else ''} differ"] if self.rows else []
        return f"DOES NOT FOOT: {self.said}; {' and '.join(parts)}"


@dataclass(slots=True)
class Totals:
    """What has passed so far: how many rows, the sums of columns, the rows that do not foot."""

    report: Report
    count: int = 0
    sums: list[int] = field(init=False)
    _summed: list[int] = field(init=False)
    _feet: list[tuple[list[int], list[int]]] = field(init=False)
    _differ: list[int] = field(init=False)
    _over: list[int] = field(init=False)

    def __post_init__(self) -> None:
        columns, place = self.report.columns, self.report.place
        self.sums = [0] * len(columns)
        self._summed = [number for number, column in enumerate(columns) if column.sums]
        self._feet = [
            ([place(name) for name in foot.left], [place(name) for name in foot.right]) for foot in self.report.feet
        ]
        self._differ, self._over = [0] * len(self._feet), [0] * len(self._feet)

    def passing(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows, added up as they pass."""
        for row in rows:
            self.count += 1
            for place in self._summed:
                self.sums[place] += row[place] or 0
            for number, (left, right) in enumerate(self._feet):
                values = [row[place] for place in (*left, *right)]
                if None not in values:
                    over = sum(values[: len(left)]) - sum(values[len(left) :])
                    self._over[number] += over
                    self._differ[number] += over != 0
            yield row

    def row(self) -> Row:
        """The row of totals: None under what has none."""
        found: list[Any] = [
            self.sums[place] if column.sums else None for place, column in enumerate(self.report.columns)
        ]
        for place, column in enumerate(self.report.columns):
            if column.ratio is not None:
                part, whole = (self.sums[self.report.place(name)] for name in column.ratio)
                found[place] = Fraction(part, whole) if whole else None
        return tuple(found)

    def verdicts(self) -> list[Verdict]:
        """What must come out even, one by one."""
        return [
            Verdict(foot.said, over, differ if foot.each else 0)
            for foot, over, differ in zip(self.report.feet, self._over, self._differ, strict=True)
        ]
