"""Gaming days: which one an instant belongs to (SPEC §2).

A day lasts from the instant at which it begins to the instant at which the next one does. Clocks on the wall cannot say which
that is where they are put forward or back: they skip an hour or show one twice, and a day may begin inside that hour.
"""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from accounting.rules.edition import CURRENT, FIRST
from accounting.rules.moments import at_nanoseconds, instant_nanoseconds

DAY = timedelta(days=1)
LOOK = timedelta(hours=6)


def gaming_date(at: datetime, *, zone: ZoneInfo, starts: time) -> date:
    """Name the gaming day of an instant: before the boundary it is still the day that began the day before."""
    local = at.astimezone(zone)
    day = local.date()
    before = _before_on_an_even_day(day, zone)
    if before is not None:
        return day if local.time() >= starts else before
    while at < began(day, zone=zone, starts=starts):
        day -= DAY
    while at >= began(day + DAY, zone=zone, starts=starts):
        day += DAY
    return day


def began(day: date, *, zone: ZoneInfo, starts: time) -> datetime:
    """The instant at which a gaming day began, in UTC.

    Inside a skipped hour the day begins as long after midnight as ever, inside a repeated one at the first of the two.
    """
    return datetime.combine(day, starts, zone).astimezone(UTC)


class GamingDays:
    """The gaming days of one property; rounds come by the thousand on each, so the last one asked for is remembered."""

    def __init__(self, zone: ZoneInfo, starts: time) -> None:
        self.zone = zone
        self.starts = starts
        self._day = date.min
        self._begins = self._ends = 0  # no moment is in it

    def of(self, moment: int, rules: int = CURRENT) -> date:
        """The gaming day of a moment in nanoseconds since 1970 UTC, as an event of a rules edition was dated.

        The first edition went by the clock on the wall, which differs where a day begins in an hour that is skipped or
        repeated.
        """
        if rules == FIRST:
            local = at_nanoseconds(moment).astimezone(self.zone)
            return local.date() if local.time() >= self.starts else local.date() - DAY
        if not self._begins <= moment < self._ends:
            day = gaming_date(at_nanoseconds(moment), zone=self.zone, starts=self.starts)
            self._begins = instant_nanoseconds(began(day, zone=self.zone, starts=self.starts))
            self._ends = instant_nanoseconds(began(day + DAY, zone=self.zone, starts=self.starts))
            self._day = day
        return self._day


@lru_cache(maxsize=4096)
def _before_on_an_even_day(day: date, zone: ZoneInfo) -> date | None:
    """The day before, or None where clocks are put forward or back near this one.

    Rounds come by the thousand on each day; whether its clocks may be believed is worked out once.
    """
    noon = datetime.combine(day, time(12), UTC)
    offsets = {(noon + LOOK * number).astimezone(zone).utcoffset() for number in range(-12, 13)}
    return day - DAY if len(offsets) == 1 else None
