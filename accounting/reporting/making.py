"""A report as it is asked for: what its parameters say, what stands above its rows, and its rows with their totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from accounting import day_queries, elsewhere, queries
from accounting.reporting.footing import Totals
from accounting.reporting.shape import AS_IT_STANDS, DAYS, ONE_DAY, ONE_WEEK, Asked, Report, Row
from accounting.rules import parameters, weeks
from accounting.rules.parameters import BadParameter
from accounting.rules.version import VERSION

DIGITS_OF_A_BUILD = 12
TOLD_OF = 500


def names(report: Report) -> tuple[str, ...]:
    """What a report may be asked with."""
    period = {DAYS: ("from", "to"), ONE_DAY: ("day",), ONE_WEEK: ("week",), AS_IT_STANDS: ()}[report.period]
    return (*period, *(parameter.name for parameter in report.parameters))


def asked(
    report: Report, query: Iterable[tuple[str, Sequence[str]]], *, at: datetime, also: Sequence[str] = ()
) -> Asked:
    """What a request asks of a report; `also` are parameters that are somebody else's. BadParameter names the one at fault."""
    given = parameters.read(query, (*names(report), *also))
    today = local_date(at) if report.by_calendar else day_queries.gaming_day(at)[0]
    first = last = today
    if report.period == DAYS:
        last = given.day("to") or today
        first = given.day("from") or min(last, today)
        if last < first:
            raise BadParameter("to", f"a {report.day} that is not before from is expected")
    elif report.period == ONE_DAY:
        first = last = given.day("day") or today
    elif report.period == ONE_WEEK:
        first = given.week("week") or weeks.first_day(today) - timedelta(days=weeks.DAYS)
        last = weeks.last_day(first)
    found = {}
    for parameter in report.parameters:
        options = parameter.options
        value = given.text(parameter.name, 160) if options is None else given.choice(parameter.name, options())
        if value or parameter.default:
            found[parameter.name] = value or parameter.default
    return Asked(first, last, at, found)


def local_date(at: datetime) -> date:
    """The date by the calendar on the property's clock."""
    return at.astimezone(ZoneInfo(queries.the_property().time_zone)).date()


class Heading(NamedTuple):
    """What stands above the rows of every form of a report (REQUIREMENTS R95)."""

    house: str
    title: str
    version: str
    period: str
    generated: str
    filters: str

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The lines with their names."""
        return [
            ("Property", self.house), ("Report", self.title), ("Software version", self.version), ("Period", self.period),
            ("Generated", self.generated), ("Filters", self.filters),
        ]  # fmt: skip


@dataclass(slots=True)
class Made:
    """A report on its way out. Its totals are those of the rows that were taken from it so far."""

    report: Report
    asked: Asked
    heading: Heading
    zone: ZoneInfo
    remarks: list[str]
    passed: Callable[[int], None] | None = None
    totals: Totals = field(init=False)

    def __post_init__(self) -> None:
        self.totals = Totals(self.report)

    def rows(self) -> Iterator[Row]:
        """Its rows, once. `passed` is told of every run of them, for whoever watches."""
        for row in self.totals.passing(self.report.rows(self.asked)):
            if self.passed is not None and self.totals.count % TOLD_OF == 0:
                self.passed(TOLD_OF)
            yield row

    @property
    def file_name(self) -> str:
        """What a file of it is called, without what its form adds."""
        first, last = self.asked.first, self.asked.last
        days = {DAYS: f"{first}-{last}", ONE_DAY: f"{first}", ONE_WEEK: weeks.week_name(first)}
        return f"{self.report.code}-{days.get(self.report.period) or f'{self.asked.at:%Y-%m-%d}'}"


def made(report: Report, asked: Asked, *, by: str) -> Made:
    """A report for somebody, before its first row is read."""
    home = queries.the_property()
    zone = ZoneInfo(home.time_zone)
    when = f"{asked.at.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}"
    build = queries.software()
    heading = Heading(
        house=f"{home.name} ({home.code})",
        title=report.title,
        version=f"{VERSION}, build {build[:DIGITS_OF_A_BUILD]}" if build else VERSION,
        period=period(report, asked, when),
        generated=f"{when} by {by}",
        filters=filters(report, asked),
    )
    return Made(report, asked, heading, zone, [*report.remarks(asked), *_of_a_copy(zone)])


def _of_a_copy(zone: ZoneInfo) -> list[str]:
    """What a report from a copy of the database says of itself: it lacks what was recorded since."""
    place = elsewhere.current()
    if not place.is_copy or place.as_of is None:
        return []
    return [f"Read from a copy of the database as of {place.as_of.astimezone(zone):%Y-%m-%d %H:%M:%S %Z}."]


def period(report: Report, asked: Asked, when: str) -> str:
    """What a report is over, in words."""
    if report.period == AS_IT_STANDS:
        return f"as it stands at {when}"
    if asked.first == asked.last:
        return f"{report.day} {asked.first}"
    if report.period == ONE_WEEK:
        return f"week {weeks.week_name(asked.first)}, {report.day}s {asked.first} to {asked.last}"
    return f"{report.day}s {asked.first} to {asked.last}"


def filters(report: Report, asked: Asked) -> str:
    """What a report is narrowed to, in words."""
    said = [
        f"{each.title}: {each.words(asked.given[each.name])}" for each in report.parameters if each.name in asked.given
    ]
    return "; ".join(said) or "none"
