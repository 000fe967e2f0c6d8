"""A week of the master games report beside the weeks before it, and its sheet as it was made and signed (REQUIREMENTS R93)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

import msgspec

from accounting.day_queries import house_days
from accounting.queries import audit_of, the_property
from accounting.rules.weeks import DAYS, first_day, last_day, week_name
from tables.models import WeekReview, WeekSheet
from tables.odds.theory import deviations
from tables.odds.thresholds import Thresholds, counted_since, thresholds_in
from tables.queries import statistics
from tables.queries.days import tables_on
from tables.queries.statistics import TableHold

MADE, SIGNED = "make the sheet of a week", "sign off a week"
"""What the audit trail calls it."""


@dataclass(slots=True)
class _Played:
    """What a table's gaming days came to by the master games report, in whole cents."""

    game: str = ""
    rounds: int = 0
    handle_cents: int = 0
    win_cents: int = 0

    @property
    def share(self) -> Fraction | None:
        """The win of the handle."""
        return Fraction(self.win_cents, self.handle_cents) if self.handle_cents else None


class Line(NamedTuple):
    """A table in a week: the master games report of it and of the week before, and how far its hold is off.

    `off_theory` is hold less theory in cents; `off_usual` is what was held more, in cents of this handle, than the weeks before
    held against their theory. Either stands in standard deviations beside, None where that is not known. `unusual` is what is
    marked.
    """

    table: str
    game: str
    rounds: int
    handle_cents: int
    win_cents: int
    win_share: Fraction | None
    before_cents: int
    before_share: Fraction | None
    hold_cents: int | None
    theory_cents: int | None
    off_theory: int | None
    theory_deviations: Fraction | None
    off_usual: int | None
    usual_deviations: Fraction | None
    unusual: str | None


FRACTIONS = ("win_share", "before_share", "theory_deviations", "usual_deviations")


def lines(first: date) -> Iterator[Line]:
    """The week that begins on a Monday, table by table; what neither it nor the week before played is left out."""
    last, opened = last_day(first), house_days(the_property().opened_at)[0]
    thresholds = thresholds_in(the_property().jurisdiction, last)
    earliest = max(first - timedelta(days=DAYS * thresholds.weeks_before), opened)
    now, before = _played(first), _played(first - timedelta(days=DAYS))
    held = _holds(first, last)
    usual = _holds(earliest, first - timedelta(days=1)) if earliest < first else {}
    for table in sorted({*now, *before}):
        played, earlier = now.get(table, _Played(before[table].game if table in before else "")), before.get(table)
        earlier = earlier or _Played()
        yield _line(table, played, earlier, held.get(table), usual.get(table), thresholds)


def _line(
    table: str, now: _Played, before: _Played, held: TableHold | None, usual: TableHold | None, thresholds: Thresholds
) -> Line:
    figures = (now.rounds, now.handle_cents, now.win_cents, now.share, before.win_cents, before.share)
    if held is None:
        gone = usual is not None and usual.wagers >= thresholds.least_wagers
        said = "did not play, and did in the weeks before" if gone else None
        return Line(table, now.game, *figures, None, None, None, None, None, None, said)
    marks, off, off_said, usual_off, usual_said = [], None, None, None, None
    if held.theory.win is not None:
        off = held.hold_cents - held.theory.win
        off_said = deviations(off, held.theory.variance) if held.theory.variance else None
        if thresholds.are_passed(held.wagers, held.handle_cents, held.hold_cents, held.theory):
            marks.append(f"{'above' if off > 0 else 'below'} theory")
    found = None if usual is None else _beside(held, usual)
    if found is not None:
        usual_off, variance = found
        usual_said = deviations(usual_off, variance) if variance else None
        assert usual is not None, "it was compared with"
        enough = min(held.wagers, usual.wagers) >= thresholds.least_wagers
        if enough and thresholds.is_far(usual_off, held.handle_cents, variance):
            marks.append(f"{'above' if usual_off > 0 else 'below'} the weeks before")
    return Line(
        table, now.game, *figures, held.hold_cents, None if held.theory.win is None else round(held.theory.win),
        None if held.theory.win is None else held.hold_cents - round(held.theory.win), off_said,
        None if usual_off is None else round(usual_off), usual_said, ", ".join(marks) or None,
    )  # fmt: skip


def _beside(now: TableHold, usual: TableHold) -> tuple[Fraction, Fraction | None] | None:
    """How many cents of this week's handle were held more than the weeks before held, each against its theory; the variance.

    Both sides vary: that of the weeks before is brought to this week's handle. None where one has no theory.
    """
    if now.theory.win is None or usual.theory.win is None:
        return None
    times = Fraction(now.handle_cents, usual.handle_cents)
    off = (now.hold_cents - now.theory.win) - (usual.hold_cents - usual.theory.win) * times
    if now.theory.variance is None or usual.theory.variance is None:
        return off, None
    return off, now.theory.variance + usual.theory.variance * times**2


def _played(first: date) -> dict[str, _Played]:
    """What every table that played or moved money did in the week from a Monday on, as the master games report adds it up."""
    found: dict[str, _Played] = {}
    for number in range(DAYS):
        for each in tables_on(first + timedelta(days=number)):
            if each.rounds or each.handle_cents or each.win_cents:
                sums = found.setdefault(each.table, _Played(each.game))
                sums.rounds += each.rounds
                sums.handle_cents += each.handle_cents
                sums.win_cents += each.win_cents
    return found


def _holds(first: date, last: date) -> dict[str, TableHold]:
    return {hold.table: hold for hold in statistics.by_table(statistics.over(first, last))}


# ── sheets ──────────────────────────────────────────────────────────────────────────────────────────────────────
class Week(NamedTuple):
    """A week that is over: its Monday, whether its days are closed, when its review is overdue, its sheet, who signed."""

    first: date
    is_closed: bool
    overdue_from: date
    sheet: WeekSheet | None
    reviews: list[WeekReview]

    @property
    def name(self) -> str:
        """As acts and reports call it."""
        return week_name(self.first)

    @property
    def last(self) -> date:
        """Its Sunday."""
        return last_day(self.first)

    def is_overdue(self, today: date) -> bool:
        """Whether nobody signed it in its days."""
        return not self.reviews and today >= self.overdue_from


def weeks(at: datetime) -> list[Week]:
    """Every week of the house that is over and stands under thresholds, newest first."""
    home, (opened, today) = the_property(), house_days(at)
    first = first_day(max(opened, counted_since(home.jurisdiction)))
    sheets = {sheet.first: sheet for sheet in WeekSheet.objects.prefetch_related("reviews").defer("content")}
    found = []
    while last_day(first) < today:
        last, sheet = last_day(first), sheets.get(first)
        within = thresholds_in(home.jurisdiction, last).review_within_days
        closed = home.closed_through is not None and home.closed_through >= last
        reviews = list(sheet.reviews.all()) if sheet else []
        found.append(Week(first, closed, last + timedelta(days=1 + within), sheet, reviews))
        first += timedelta(days=DAYS)
    return found[::-1]


def sheet_of(first: date) -> WeekSheet | None:
    """The sheet of the week that begins on a Monday; None while it was not made."""
    return WeekSheet.objects.filter(first=first).first()


def reviews_of(first: date) -> list[WeekReview]:
    """Who signed off the week that begins on a Monday, in their order."""
    return list(WeekReview.objects.filter(sheet=first))


def kept_values(line: Line) -> list[Any]:
    """A line as a sheet keeps it: fractions as text."""
    return [str(value) if isinstance(value, Fraction) else value for value in line]


def kept_lines(sheet: WeekSheet) -> Iterator[Line]:
    """The lines of a sheet as they were made."""
    said = msgspec.json.decode(bytes(sheet.content))
    for row in said["lines"]:
        named: dict[str, Any] = dict(zip(said["columns"], row, strict=True))
        named |= {name: Fraction(named[name]) for name in FRACTIONS if named[name] is not None}
        yield Line(**named)


def all_sheets() -> Iterator[tuple[str, WeekSheet]]:
    """Every sheet with the name of its week, oldest first."""
    for sheet in WeekSheet.objects.order_by("first").prefetch_related("reviews"):
        yield week_name(sheet.first), sheet


def on_trail() -> Counter[tuple[Any, ...]]:
    """What the audit trail has of sheets and of signatures under them."""
    return Counter(
        (
            record.action,
            record.subject,
            record.actor,
            record.recorded_at,
            record.detail["sha256"],
            record.detail.get("note", ""),
        )
        for record in audit_of((MADE, SIGNED))
    )
