"""Gaming days in every zone there is, where clocks are put forward and back, whatever quarter of an hour the day begins at."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from accounting.rules.gaming_day import DAY, GamingDays, began, gaming_date
from accounting.rules.moments import instant_nanoseconds

QUARTERS = [time(hour, minute) for hour in range(24) for minute in (0, 15, 30, 45)]
# Apia had no 30 December in 2011; until 2011 St. John's put its clocks at one minute past midnight; the rest is today.
YEARS = [(2010, 2012), (2026, 2028)]
INSTANT = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


def changes(zone: ZoneInfo, first: int, last: int) -> Iterator[datetime]:
    """The instants at which a zone's clocks were put forward or back, to the second."""
    at, end = datetime(first, 1, 1, tzinfo=UTC), datetime(last, 1, 1, tzinfo=UTC)
    while at < end:
        before, after = at, at + 7 * DAY
        if before.astimezone(zone).utcoffset() != after.astimezone(zone).utcoffset():
            offset = before.astimezone(zone).utcoffset()
            while after - before > timedelta(seconds=1):
                middle = before + (after - before) // 2
                middle -= timedelta(microseconds=middle.microsecond)
                if middle.astimezone(zone).utcoffset() == offset:
                    before = middle
                else:
                    after = middle
            yield after
        at += 7 * DAY


def different_zones() -> list[tuple[str, tuple[datetime, ...]]]:
    """Every zone with the changes of its clocks, of those that always show the same only one."""
    found: dict[object, tuple[str, tuple[datetime, ...]]] = {}
    for name in sorted(zoneinfo.available_timezones()):
        zone = ZoneInfo(name)
        changed = tuple(at for first, last in YEARS for at in changes(zone, first, last))
        shown = tuple(at.astimezone(zone).utcoffset() for at in changed)
        found.setdefault((changed, shown), (name, changed))
    return [each for each in found.values() if each[1]]


def check(zone: ZoneInfo, starts: time, changed: datetime) -> None:
    """Around a change every instant is in exactly one day, and days never run backwards."""
    first = changed.astimezone(zone).date() - 4 * DAY
    days = [first + number * DAY for number in range(9)]
    beginnings = [began(day, zone=zone, starts=starts) for day in days]
    assert beginnings == sorted(beginnings)
    instants = {changed + hours * HOUR for hours in (-30, -12, -1, 0, 1, 12, 30)} | {changed - INSTANT}
    instants |= {at + step for at in beginnings[1:-1] for step in (-INSTANT, timedelta(0))}
    before, asked = first, GamingDays(zone, starts)
    for at in sorted(instants):
        day = gaming_date(at, zone=zone, starts=starts)
        assert asked.of(instant_nanoseconds(at)) == day
        number = (day - first).days
        assert 0 <= number < 8, (at, day)
        assert beginnings[number] <= at < beginnings[number + 1], (zone.key, starts, at, day)
        assert day >= before
        before = day


def test_every_zone_s_changes_with_days_that_begin_at_every_quarter_of_an_hour() -> None:
    zones = different_zones()
    assert len(zones) > 60
    assert sum(len(changed) for _, changed in zones) > 300
    for name, changed in zones:
        zone = ZoneInfo(name)
        for at in changed:
            for starts in QUARTERS:
                check(zone, starts, at)


@pytest.mark.parametrize("name", ["America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia"])
def test_a_day_begins_when_the_clock_first_shows_its_start(name: str) -> None:
    """Or, where the clock skips it, as long after the last midnight as ever."""
    zone = ZoneInfo(name)
    for day in (date(2026, 1, 1) + number * DAY for number in range(365)):
        midnight = datetime.combine(day, time(0), zone).astimezone(UTC)
        for starts in QUARTERS[::3]:
            at = began(day, zone=zone, starts=starts)
            shown = at.astimezone(zone)
            if shown.time() == starts:
                assert (shown.date(), shown.fold) == (day, 0)
            else:
                assert at - midnight == timedelta(hours=starts.hour, minutes=starts.minute)
                assert datetime.combine(day, starts, zone).utcoffset() != shown.utcoffset(), "skipped by the clock"


NIGHTS = [
    ("America/New_York", time(1, 30), datetime(2026, 11, 1, 5, 30, tzinfo=UTC)),
    ("America/New_York", time(2, 30), datetime(2026, 3, 8, 7, 30, tzinfo=UTC)),
    ("America/Havana", time(0, 30), datetime(2026, 11, 1, 4, 30, tzinfo=UTC)),
    ("Australia/Lord_Howe", time(2, 15), datetime(2026, 10, 3, 15, 45, tzinfo=UTC)),
    ("Europe/London", time(1, 15), datetime(2026, 10, 25, 0, 15, tzinfo=UTC)),
    ("Europe/Berlin", time(2, 15), datetime(2026, 10, 25, 0, 15, tzinfo=UTC)),
]


@pytest.mark.parametrize(("name", "starts", "begins"), NIGHTS, ids=[each[0] + str(each[1]) for each in NIGHTS])
def test_a_day_that_begins_in_the_hour_that_is_skipped_or_repeated(name: str, starts: time, begins: datetime) -> None:
    """The shift goes on after the change: no minute of it falls back into the day before."""
    zone = ZoneInfo(name)
    day = begins.astimezone(zone).date()
    assert began(day, zone=zone, starts=starts) == begins
    instants = [begins + number * timedelta(minutes=5) for number in range(-20 * 12, 20 * 12)]
    days = [gaming_date(at, zone=zone, starts=starts) for at in instants]
    assert days == [day - DAY] * (20 * 12) + [day] * (20 * 12)


def test_days_may_be_longer_and_shorter_but_leave_nothing_out() -> None:
    """Over a year of New York they join without a gap: 23, 24 or 25 hours."""
    zone, starts = ZoneInfo("America/New_York"), time(6)
    lengths = {
        began(day + DAY, zone=zone, starts=starts) - began(day, zone=zone, starts=starts)
        for day in (date(2026, 1, 1) + number * DAY for number in range(365))
    }
    assert lengths == {23 * HOUR, 24 * HOUR, 25 * HOUR}
    for one, next_one in pairwise(datetime(2026, 1, 1, tzinfo=UTC) + number * HOUR for number in range(365 * 24)):
        step = gaming_date(next_one, zone=zone, starts=starts) - gaming_date(one, zone=zone, starts=starts)
        assert step in (timedelta(0), DAY)


def test_what_the_first_version_dated_stays_dated_so() -> None:
    """It went by the clock on the wall: inside the repeated hour of autumn a day ran backwards, and its events stay."""
    zone, starts = ZoneInfo("America/New_York"), time(1, 30)
    second_time = datetime(2026, 11, 1, 6, 10, tzinfo=UTC)  # 01:10 EST, after 01:50 EDT
    days, moment = GamingDays(zone, starts), instant_nanoseconds(second_time)
    assert days.of(moment, rules=1) == date(2026, 10, 31)
    assert days.of(moment, rules=2) == date(2026, 11, 1)
    assert gaming_date(second_time, zone=zone, starts=starts) == date(2026, 11, 1)
    start = instant_nanoseconds(datetime(2026, 11, 2, 6, 30, tzinfo=UTC))
    assert [days.of(at, rules=1) for at in (start - 1_000, start)] == [date(2026, 11, 1), date(2026, 11, 2)]


def test_a_remembered_day_is_never_said_of_a_moment_outside_it() -> None:
    """Whatever was asked before, forwards or back, to the nanosecond."""
    zone, starts = ZoneInfo("America/New_York"), time(1, 30)
    days = GamingDays(zone, starts)
    begins = [
        instant_nanoseconds(began(date(2026, 10, 29) + number * DAY, zone=zone, starts=starts)) for number in range(8)
    ]
    asked = [(at + step, number) for number, at in enumerate(begins) for step in (-1, 0, 1)]
    for moment, number in asked + asked[::-1] + asked[::5] + asked[::-7]:
        expected = date(2026, 10, 29) + (number - (moment < begins[number])) * DAY
        assert days.of(moment) == expected
