"""Figures as pictures for whoever looks rather than reads: a calendar, bars, and values against the band they should lie in.

Like `drawing`, made on the server as SVG: coordinates are rounded, every figure is a whole number, and what is drawn stands in a
table beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from statistics import median_low
from typing import Final, NamedTuple

WIDTH: Final = 1040
NAMES: Final = 150
"""Room at the left for what a row is called."""
FIGURES: Final = 110
"""Room at the right for its figure."""
ROW: Final = 24
SHADES: Final = 4
"""How dark a day of the calendar may be; 0 is a day without any."""
CELL: Final = 34
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Cell(NamedTuple):
    """A day of a calendar: where it stands, how many, how dark, and what it says in words."""

    x: int
    y: int
    number: int
    shade: int
    words: str


class Named(NamedTuple):
    """A word of a picture and where it stands."""

    x: float
    y: float
    name: str


@dataclass(frozen=True, slots=True)
class Calendar:
    """Days in weeks, one week a column."""

    cells: tuple[Cell, ...]
    weekdays: tuple[Named, ...]
    months: tuple[Named, ...]
    width: int
    height: int
    words: str
    cell: int = CELL - 4


def calendar(first: date, last: date, numbers: Mapping[date, int], said: Mapping[date, str], words: str) -> Calendar:
    """Every day from one to another with how many there were of something on it."""
    left, top = 40, 18
    monday = first - timedelta(days=first.weekday())
    most = max(numbers.values(), default=0)
    cells, months = [], []
    day = first
    while day <= last:
        week, weekday = divmod((day - monday).days, 7)
        number = numbers.get(day, 0)
        shade = -(-number * SHADES // most) if number else 0
        cells.append(
            Cell(
                left + week * CELL,
                top + weekday * CELL,
                number,
                shade,
                f"{day:%a} {day.day} {day:%b %Y}: {said.get(day, 'none')}",
            )
        )
        if day.day == 1 or day == first:
            months.append(Named(left + week * CELL, top - 6, f"{day:%b}"))
        day += timedelta(days=1)
    weeks = (last - monday).days // 7 + 1
    return Calendar(
        tuple(cells),
        tuple(Named(left - 8, top + place * CELL + CELL / 2 + 2, name) for place, name in enumerate(WEEKDAYS)),
        # Two months that begin in one column: the one that goes on is named.
        tuple({month.x: month for month in months}.values()),
        left + max(weeks, 6) * CELL,
        top + 7 * CELL,
        words,
    )


class Bar(NamedTuple):
    """A row of bars: its name, how long it is, its figure."""

    name: str
    y: int
    length: float
    figure: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Numbers as bars, one below the other."""

    bars: tuple[Bar, ...]
    height: int
    words: str
    left: int
    width: int = WIDTH


def bars(rows: Sequence[tuple[str, int]], words: str) -> Bars:
    """Names with how many there are of each, as bars of the same scale."""
    left = NAMES + 50
    most = max((number for _, number in rows), default=0)
    room = WIDTH - left - FIGURES
    return Bars(
        tuple(
            Bar(name, place * ROW, round(number * room / most, 1) if most else 0, f"{number:,}")
            for place, (name, number) in enumerate(rows)
        ),
        len(rows) * ROW,
        words,
        left,
    )


class Measured(NamedTuple):
    """A value with the band that it should lie in, in parts per million; `None` where nobody knows the band."""

    name: str
    value_ppm: int
    low_ppm: int | None
    expected_ppm: int | None
    high_ppm: int | None


class Placed(NamedTuple):
    """A measured value on a picture. `look` is `inside`, `below`, `above`, or `unknown` where there is no band."""

    name: str
    y: int
    x: float
    band_x: float | None
    band_width: float | None
    expected_x: float | None
    look: str
    figure: str


@dataclass(frozen=True, slots=True)
class Bands:
    """Values in their bands, one below the other, on one scale of percent."""

    rows: tuple[Placed, ...]
    ticks: tuple[Named, ...]
    height: int
    words: str
    width: int = WIDTH
    left: int = NAMES
    right: int = WIDTH - FIGURES


def look_of(each: Measured) -> str:
    """Where a value lies against its band."""
    if each.low_ppm is None or each.high_ppm is None:
        return "unknown"
    return "below" if each.value_ppm < each.low_ppm else "above" if each.value_ppm > each.high_ppm else "inside"


def bands(rows: Sequence[Measured], words: str) -> Bands:
    """Values with their bands on one scale, which is as wide as bands usually are; what lies beyond stands at its edge."""
    expected = [each.expected_ppm for each in rows if each.expected_ppm is not None]
    centre = expected or [each.value_ppm for each in rows] or [0]
    widths = [each.high_ppm - each.low_ppm for each in rows if each.low_ppm is not None and each.high_ppm is not None]
    reach = max(median_low(widths) * 5 // 4 if widths else 0, 50_000)
    low, high = min(centre) - reach, max(centre) + reach
    left, right = NAMES, WIDTH - FIGURES

    def x(ppm: int) -> float:
        return round(left + (min(max(ppm, low), high) - low) * (right - left) / (high - low), 1)

    placed = []
    for place, each in enumerate(rows):
        begin = x(each.low_ppm) if each.low_ppm is not None else None
        end = x(each.high_ppm) if each.high_ppm is not None else None
        placed.append(
            Placed(
                each.name,
                place * ROW + 20,
                x(each.value_ppm),
                begin,
                round(end - begin, 1) if begin is not None and end is not None else None,
                x(each.expected_ppm) if each.expected_ppm is not None else None,
                look_of(each),
                percent(each.value_ppm),
            )
        )
    ticks = tuple(Named(x(ppm), 12, f"{ppm // 10_000}%".replace("-", "−")) for ppm in _round(low, high))
    return Bands(tuple(placed), ticks, len(rows) * ROW + 24, words)


def percent(ppm: int) -> str:
    """Parts per million as a percentage to the hundredth, halves away from zero: 170049 is `17.00%`."""
    hundredths = (abs(ppm) + 50) // 100
    return f"{'−' if ppm < 0 and hundredths else ''}{hundredths // 100:,}.{hundredths % 100:02d}%"


def _round(low: int, high: int) -> list[int]:
    """Whole percents to mark a scale by, at most nine."""
    step = next(
        step for base in range(4, 30) for step in (10**base, 2 * 10**base, 5 * 10**base) if (high - low) <= 8 * step
    )
    return list(range(-(-low // step) * step, high + 1, step))
