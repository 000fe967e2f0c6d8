"""Pictures for whoever looks rather than reads: what the house owes its links, what tables hold against what they should, hits on
a calendar, exceptions by kind. Every picture has its table.

A picture and the table beside it are drawn from the same figures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounting.book_queries import balances_by_day, first_of, last_of
from accounting.day_queries import house_days
from accounting.queries import streams, the_property
from accounting.rules.gaming_day import began
from accounting.rules.parameters import BadParameter, Parameters, read
from accounting.shell.pages import page
from accounting.shell.templatetags.pages import day as day_said
from accounting.shell.templatetags.pages import money
from devices import exceptions
from jackpot.drawing import Drawing, Line, draw
from jackpot.pictures import Bands, Bars, Calendar, Measured, bands, bars, calendar, look_of, percent
from jackpot.queries import levels_by_id, links_of_levels
from tables.odds.theory import Theory, deviations, standard_deviation
from tables.queries import statistics
from tables.queries.payouts import won_by_day
from tables.queries.weeks import weeks

USUAL_DAYS = 28
MOST_DAYS = 366
MOST_EVENTS = 100_000
"""Events whose rounds are read for one picture, at most: a few seconds of somebody's patience."""
DEVIATIONS = 2
"""How many standard deviations a band reaches to either side."""
TABLES_DRAWN = 40
LOOKS = ("first", "second", "third", "fourth", "fifth", "sixth")


@page("accounting")
def dashboard(request: HttpRequest) -> HttpResponse:
    """The pictures of some gaming days, the last four weeks unless others are asked for."""
    given = read(request.GET.lists(), ("from", "to"))
    first, last = _days(given)
    context = {
        "first": first,
        "last": last,
        "given": given.given,
        "liability": _liability(first, last),
        "holds": _holds(first, last),
        "hits": _hits(first, last),
        "exceptions": _exceptions(first, last),
        "unsigned": [week for week in weeks(timezone.now()) if not week.reviews],
    }
    return render(request, "devices/dashboard.html", context)


def _days(given: Parameters) -> tuple[date, date]:
    """The gaming days that are asked for, no earlier than the house and no later than today."""
    begins, today = house_days(timezone.now())
    last = min(given.day("to") or today, today)
    first = given.day("from") or max(begins, last - timedelta(days=USUAL_DAYS - 1))
    if last < first:
        raise BadParameter("to", "a gaming day that is not before from is expected")
    if (last - first).days >= MOST_DAYS:
        raise BadParameter("from", f"at most {MOST_DAYS} gaming days are drawn at a time")
    return first, last


@dataclass(frozen=True, slots=True)
class Liability:
    """What the displayed meters of every link came to at the end of each gaming day, in whole cents."""

    links: list[str]
    rows: list[tuple[date, list[int], int]]
    drawing: Drawing | None


def _liability(first: date, last: date) -> Liability:
    """By link, which is the sum of its levels; drawn oldest first, listed newest first."""
    link_of = links_of_levels()
    by_link: dict[str, dict[date, int]] = {}
    for owner, days in balances_by_day("liability", first, last).items():
        of_link = by_link.setdefault(link_of[owner], dict.fromkeys((day for day, _ in days), 0))
        for day, cents in days:
            of_link[day] += cents
    links = sorted(by_link)
    days_shown = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    columns = [(day, [by_link[link][day] for link in links]) for day in days_shown]
    rows = [(day, cents, sum(cents)) for day, cents in columns]
    home = the_property()
    zone, now = ZoneInfo(home.time_zone), timezone.now()

    def ends(day: date) -> float:
        """When a gaming day is over; today's figure is of now."""
        end = began(day + timedelta(days=1), zone=zone, starts=home.gaming_day_starts)
        return min(end, now).timestamp()

    lines = [
        Line(link, LOOKS[place % len(LOOKS)], [(ends(day), cents) for day, cents in sorted(by_link[link].items())])
        for place, link in enumerate(links)
    ]
    words = "Nothing is owed to any link yet."
    if links and rows:
        total, before = rows[-1][2], sum(by_link[link][first - timedelta(days=1)] for link in links)
        words = (
            f"What the meters of {len(links):,} link{'s' if len(links) > 1 else ''} show, at the end of each gaming day:"
            f" together {money(before)} before {day_said(first)} and {money(total)} at the end of {day_said(last)}."
        )
    return Liability(links, rows[::-1], draw(lines, (), zone, words))


@dataclass(frozen=True, slots=True)
class Hits:
    """The hits of each level on each gaming day that had any, and their calendar."""

    rows: list[tuple[date, str, str, int, int]]
    number: int
    cents: int
    picture: Calendar


def _hits(first: date, last: date) -> Hits:
    names = levels_by_id()
    rows = [(won.day, *names[won.level_id], won.hits, won.cents) for won in won_by_day(first, last)]
    numbers: defaultdict[date, int] = defaultdict(int)
    cents_of: defaultdict[date, int] = defaultdict(int)
    for day, _, _, hits, cents in rows:
        numbers[day] += hits
        cents_of[day] += cents
    said = {
        day: f"{number:,} hit{'s' if number > 1 else ''}, {money(cents_of[day])}" for day, number in numbers.items()
    }
    number, cents = sum(numbers.values()), sum(cents_of.values())
    on = f"on {len(numbers):,} of {(last - first).days + 1:,} gaming days"
    number_said = f"{number:,} hit{'' if number == 1 else 's'}"
    words = f"{number_said} {on}, {money(cents)} in all; the stronger the colour of a day, the more of them."
    return Hits(rows[::-1], number, cents, calendar(first, last, numbers, said, words))


@dataclass(frozen=True, slots=True)
class Hold:
    """What a table held of its handle, envy aside, and what its odds say that it should have; whole cents."""

    table: str
    handle_cents: int
    hold_cents: int
    theory: Theory

    @property
    def theory_cents(self) -> int | None:
        """What it should have held, to the nearest cent."""
        return None if self.theory.win is None else round(self.theory.win)

    @property
    def deviation_cents(self) -> int | None:
        """One standard deviation of it."""
        return None if self.theory.variance is None else standard_deviation(self.theory.variance)

    @property
    def off(self) -> Fraction | None:
        """How far it is off, in standard deviations."""
        if self.theory.win is None or self.theory.variance is None:
            return None
        return deviations(self.hold_cents - self.theory.win, self.theory.variance)

    def measured(self) -> Measured:
        """As parts per million of the handle, with the band."""
        expected, deviation = self.theory_cents, self.deviation_cents

        def of_handle(cents: int) -> int:
            return cents * 1_000_000 // self.handle_cents

        known = expected is not None and deviation is not None
        low = of_handle(expected - DEVIATIONS * deviation) if known else None  # type: ignore[operator]
        high = of_handle(expected + DEVIATIONS * deviation) if known else None  # type: ignore[operator]
        return Measured(
            self.table, of_handle(self.hold_cents), low, None if expected is None else of_handle(expected), high
        )

    @property
    def held(self) -> str:
        """What it held of its handle, in percent."""
        return percent(self.measured().value_ppm)

    @property
    def expected(self) -> str | None:
        """What it should have."""
        ppm = self.measured().expected_ppm
        return None if ppm is None else percent(ppm)

    @property
    def look(self) -> str:
        """How it lies against its band."""
        return look_of(self.measured())

    @property
    def off_said(self) -> str | None:
        """How far it is off, to the hundredth of a standard deviation."""
        off = self.off
        if off is None:
            return None
        hundredths = round(abs(off) * 100)
        return f"{'−' if off < 0 else '+'}{hundredths // 100}.{hundredths % 100:02d}"


@dataclass(frozen=True, slots=True)
class Holds:
    """Every table that took wagers, who is farthest off first; `picture` is None where too much would have to be read."""

    rows: list[Hold]
    picture: Bands | None
    events: int


def _holds(first: date, last: date) -> Holds:
    events = sum(max(last_of(last, one) - first_of(first, one) + 1, 0) for one, _, _ in streams())
    if events > MOST_EVENTS:
        return Holds([], None, events)
    held = statistics.by_table(statistics.over(first, last))
    rows = sorted(
        (Hold(hold.table, hold.handle_cents, hold.hold_cents, hold.theory) for hold in held),
        key=lambda hold: (hold.off is None, -abs(hold.off or 0), hold.table),
    )
    drawn = [hold.measured() for hold in rows[:TABLES_DRAWN]]
    looks = Counter(look_of(one) for one in drawn)
    outside = looks["above"] + looks["below"]
    words = (
        f"What {len(drawn):,} table{'' if len(drawn) == 1 else 's'} held of the handle, envy aside, in a band of {DEVIATIONS}"
        f" standard deviations around theory: {looks['inside']:,} inside, {outside:,} outside,"
        f" {looks['unknown']:,} without a theory. Of twenty tables one lies outside by chance."
    )
    return Holds(rows, bands(drawn, words), events)


@dataclass(frozen=True, slots=True)
class Exceptions:
    """How many exceptions of each kind, and the last of each."""

    rows: list[tuple[str, int, exceptions.Exceptional]]
    number: int
    picture: Bars


def _exceptions(first: date, last: date) -> Exceptions:
    counted: Counter[str] = Counter()
    latest: dict[str, exceptions.Exceptional] = {}
    for one in exceptions.between(first, last, but=(exceptions.OFF_THEORY,)):  # the picture above has them
        counted[one.kind] += 1
        if one.kind not in latest or latest[one.kind].at <= one.at:
            latest[one.kind] = one
    rows = [(kind, number, latest[kind]) for kind, number in counted.most_common()]
    words = f"{sum(counted.values()):,} exceptions of {len(counted):,} kinds."
    return Exceptions(rows, sum(counted.values()), bars([(kind, number) for kind, number, _ in rows], words))
