"""Meters over time as drawings: lines in steps, marks of what happened, axes of time and money.

What is drawn is a picture of figures that stand beside it in words; coordinates are rounded, amounts on axes and in words are
whole cents. Drawn on the server as SVG, so it is printed and read aloud as it is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

WIDTH: Final = 1040
HEIGHT: Final = 260
LEFT: Final = 88
RIGHT: Final = 12
TOP: Final = 26
BOTTOM: Final = 28
HALF_A_LABEL: Final = 32
MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
STEPS: Final = (
    1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
    DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 91 * DAY, 365 * DAY,
)  # fmt: skip
"""Seconds between two ticks of time; the first that leaves few enough."""
MOST_TICKS: Final = 9
MARKS: Final = {"hit": "H", "reset": "R", "adjusted": "A", "suspended": "S", "resumed": "O", "terms": "T", "other": "•"}
"""The letter of each kind of mark, so that none is told by its colour alone."""


class Line(NamedTuple):
    """A line: its name, its look (`first`, `second`), and its points as seconds since 1970 and whole cents, in order.

    With a scale of its own its amounts stand at the right.
    """

    name: str
    look: str
    points: Sequence[tuple[float, int]]
    own_scale: bool = False


class Mark(NamedTuple):
    """Something that happened: when, what kind (`MARKS`), and what in words."""

    at: float
    kind: str
    words: str


class Tick(NamedTuple):
    """A place on an axis, and what stands there: `anchor` says which part of the label stands at the place (SVG)."""

    place: float
    label: str
    anchor: str = "middle"


class Placed(NamedTuple):
    """A mark on the drawing."""

    x: float
    kind: str
    letter: str
    words: str


class Drawn(NamedTuple):
    """A line on the drawing: the `d` of an SVG path."""

    name: str
    look: str
    path: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that a template draws; `words` says it for whoever cannot see it."""

    lines: tuple[Drawn, ...]
    marks: tuple[Placed, ...]
    times: tuple[Tick, ...]
    amounts: tuple[Tick, ...]
    own_amounts: tuple[Tick, ...]
    words: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    right_label: int = WIDTH - RIGHT + 6
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """The kinds of marks that there are, with their letters, for the legend."""
        found = {mark.kind for mark in self.marks}
        return tuple((kind, letter) for kind, letter in MARKS.items() if kind in found)


class _Scale:
    """Amounts between the least and the most of some points, with a twentieth of room at either end."""

    def __init__(self, points: Sequence[tuple[float, int]]) -> None:
        low, high = min(cents for _, cents in points), max(cents for _, cents in points)
        room = max((high - low) // 20, 50)
        self.low, self.high = max(low - room, 0), high + room

    def y(self, cents: int) -> float:
        return round(HEIGHT - BOTTOM - (cents - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM), 1)

    def ticks(self) -> tuple[Tick, ...]:
        return tuple(Tick(self.y(cents), label) for cents, label in amounts(self.low, self.high))


def draw(
    lines: Sequence[Line], marks: Iterable[Mark], zone: ZoneInfo, words: str, span: tuple[float, float] | None = None
) -> Drawing | None:
    """Draw lines over a span of time, or over their own; None where there is nothing to draw."""
    drawn = [line for line in lines if line.points]
    points = [point for line in drawn for point in line.points]
    if not points:
        return None
    first, last = span or (min(at for at, _ in points), max(at for at, _ in points))
    last = max(last, first + 1)
    apart = [line for line in drawn if line.own_scale]
    right = WIDTH - (LEFT if apart else RIGHT)
    common = [point for line in drawn if not line.own_scale for point in line.points]
    left_scale = _Scale(common or points)
    right_scale = _Scale([point for line in apart for point in line.points] or points)

    def x(at: float) -> float:
        return round(LEFT + (at - first) / (last - first) * (right - LEFT), 1)

    def path(line: Line) -> str:
        scale = right_scale if line.own_scale else left_scale
        return _steps([(x(at), scale.y(cents)) for at, cents in line.points])

    return Drawing(
        tuple(Drawn(line.name, line.look, path(line)) for line in drawn),
        tuple(
            Placed(x(mark.at), mark.kind, MARKS[mark.kind], mark.words) for mark in marks if first <= mark.at <= last
        ),
        tuple(_under(x(at), label) for at, label in times(first, last, zone)),
        left_scale.ticks() if common else (),
        right_scale.ticks() if apart else (),
        words,
        right=right,
        right_label=right + 6,
    )


def _under(place: float, label: str) -> Tick:
    """A label below its place, none of it beyond the drawing."""
    return Tick(place, label, "end" if place + HALF_A_LABEL > WIDTH else "middle")


def _steps(points: Sequence[tuple[float, float]]) -> str:
    """A path that goes along and then up or down: a meter stands still between two events."""
    (began_x, began_y), *rest = points
    path = [f"M{began_x} {began_y}"]
    for at, height in rest:
        path.append(f"H{at}V{height}")
    return "".join(path)


def times(first: float, last: float, zone: ZoneInfo) -> list[tuple[float, str]]:
    """Ticks of time on whole steps of the house's clock, each with its label."""
    step = next((each for each in STEPS if (last - first) / each <= MOST_TICKS), STEPS[-1])
    pattern = (
        "%b %-d, %Y"
        if step >= 30 * DAY
        else "%b %-d"
        if step >= DAY
        else "%b %-d %H:%M"
        if step >= MINUTE
        else "%H:%M:%S"
    )
    began = datetime.fromtimestamp(first, zone)
    midnight = began.replace(hour=0, minute=0, second=0, microsecond=0)
    found: list[tuple[float, str]] = []
    number = 0
    while True:
        # On the clock of the house: a day is a day when the clocks change.
        at = (midnight + timedelta(seconds=number * step)).timestamp()
        if at > last:
            return found
        if at >= first:
            found.append((at, datetime.fromtimestamp(at, zone).strftime(pattern)))
        number += 1


def amounts(low: int, high: int) -> list[tuple[int, str]]:
    """Ticks of money on round sums of whole cents, five or so."""
    step = 1
    while (high - low) / step > 6:
        step *= 5 if str(step)[0] == "1" and (high - low) / (step * 2) > 6 else 2
    cents = step < 100
    return [
        (value, f"${value // 100:,}.{value % 100:02d}" if cents else f"${value // 100:,}")
        for value in range(-(-low // step) * step, high + 1, step)
    ]
