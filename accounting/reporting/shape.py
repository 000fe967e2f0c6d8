"""What a report is, whoever declares it: title, period, parameters, columns, rows, and how its totals foot (REQUIREMENTS R95).

Rows come one by one and are never held: whoever hands them out adds up what passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple

TEXT: Final = "text"
WHOLE: Final = "whole"
MONEY: Final = "money"
PERCENT: Final = "percent"
DECIMAL: Final = "decimal"
DAY: Final = "day"
MOMENT: Final = "moment"
KINDS: Final = (TEXT, WHOLE, MONEY, PERCENT, DECIMAL, DAY, MOMENT)
"""What a column holds: words; a count; whole cents; a share and a figure, both as fractions; a gaming day; an instant."""
FIGURES: Final = (WHOLE, MONEY, PERCENT, DECIMAL)

ONE_DAY: Final = "day"
ONE_WEEK: Final = "week"
DAYS: Final = "days"
AS_IT_STANDS: Final = "now"
"""What a report is over: one gaming day, a week of them, gaming days from one to another, or what stands when it is made."""

METERS: Final = "Meters and liability"
HAND_PAYS: Final = "Hand pays"
PLAY: Final = "Play"
BOOKS: Final = "Books"
CONTROL: Final = "Control"
GROUPS: Final = (METERS, HAND_PAYS, PLAY, BOOKS, CONTROL)

Row = tuple[Any, ...]


class Page(NamedTuple):
    """The page that a value is the name of, for whoever uses the section that it is in."""

    name: str
    section: str


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column. What `sums` has a total; a `ratio` of two others has the ratio of their totals.

    What is `only_in_files` a page leaves out: it has no room for everything. `words` are what people call a code, on screen
    and on paper; files that are read by programs have the code. What is `as_written` is a code for people, too, and looks so.
    """

    name: str
    title: str
    kind: str = TEXT
    sums: bool = False
    ratio: tuple[str, str] | None = None
    page: Page | None = None
    only_in_files: bool = False
    words: Callable[[str], str] | None = None
    as_written: bool = False

    @property
    def is_figure(self) -> bool:
        """Whether it is written to the right."""
        return self.kind in FIGURES


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What a report may be narrowed to. One of its `options`, or any text where it has none; `default` where none is given.

    `words` is what people call an option where that is not the option itself.
    """

    name: str
    title: str
    options: Callable[[], Sequence[str]] | None = None
    default: str = ""
    words: Callable[[str], str] = str


@dataclass(frozen=True, kw_only=True)
class Foot:
    """What must come out even: the columns on the left come to those on the right, in `each` row and in the totals.

    A row in which one of them is empty has nothing to come out even.
    """

    said: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    each: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report is asked for: its gaming days, when, and what it is narrowed to."""

    first: date
    last: date
    at: datetime
    given: Mapping[str, str]

    def get(self, name: str) -> str | None:
        """A parameter's value; None where it was left open."""
        return self.given.get(name)


def no_remarks(asked: Asked) -> list[str]:
    """What most reports have to say beside their rows."""
    return []


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report: what it is called and for, who sees it, what it is over, and the function that gives its rows.

    `remarks` are what it says beside its rows, such as numbers that are missing. Its days are gaming days, or `by_calendar` those
    of the calendar: what is paid at one in the morning is of a new one.
    """

    code: str
    title: str
    purpose: str
    group: str
    roles: frozenset[str]
    columns: tuple[Column, ...]
    rows: Callable[[Asked], Iterable[Row]]
    period: str = DAYS
    by_calendar: bool = False
    parameters: tuple[Parameter, ...] = ()
    feet: tuple[Foot, ...] = ()
    remarks: Callable[[Asked], list[str]] = no_remarks

    @property
    def day(self) -> str:
        """What its days are called."""
        return "day" if self.by_calendar else "gaming day"

    def place(self, name: str) -> int:
        """Where a column stands."""
        return next(place for place, column in enumerate(self.columns) if column.name == name)
