"""Gaming days: which one it is, when they begin, which are closed."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from accounting.models import (
    GamingDay,
    Property,
)
from accounting.queries import the_property
from accounting.rules.gaming_day import began, gaming_date
from accounting.statements import execute


def gaming_day(at: datetime) -> tuple[date, datetime]:
    """The gaming day of an instant and when it began. Raises NoProperty before a floor was loaded."""
    home = the_property()
    zone, starts = ZoneInfo(home.time_zone), home.gaming_day_starts
    day = gaming_date(at, zone=zone, starts=starts)
    return day, began(day, zone=zone, starts=starts)


def began_on(day: date) -> datetime:
    """When a gaming day begins, or began."""
    home = the_property()
    return began(day, zone=ZoneInfo(home.time_zone), starts=home.gaming_day_starts)


def house_days(now: datetime) -> tuple[date, date]:
    """The first gaming day of the house, and the one that it is now. Raises NoProperty before a floor was loaded."""
    return gaming_day(the_property().opened_at)[0], gaming_day(now)[0]


# A day is on record once money was booked on it, or once it was closed.
AROUND = """
    SELECT greatest((SELECT max(gaming_date) FROM accounting_total WHERE gaming_date < %(day)s),
            (SELECT max(date) FROM accounting_gamingday WHERE date < %(day)s)),
        least((SELECT min(gaming_date) FROM accounting_total WHERE gaming_date > %(day)s),
            (SELECT min(date) FROM accounting_gamingday WHERE date > %(day)s))
"""


def days_around(day: date) -> tuple[date | None, date | None]:
    """The gaming days on record just before and just after this one."""
    ((earlier, later),) = execute(AROUND, {"day": day})
    return earlier, later


def closed_at(day: date) -> datetime | None:
    """When a gaming day was closed, itself or with a later one; None while it is open."""
    closed = GamingDay.objects.filter(date__gte=day, closed_at__isnull=False)
    return closed.order_by("date").values_list("closed_at", flat=True).first()


CLOSED_BEFORE = """
    SELECT subject FROM accounting_event WHERE stream_id = %s AND sequence < %s AND kind = 'day.close'
    ORDER BY sequence DESC LIMIT 1
"""


def closed_before(stream_id: int, sequence: int) -> date | None:
    """The latest gaming day that a stream's own events had closed before one of them; None where none had."""
    found = execute(CLOSED_BEFORE, [stream_id, sequence])
    return date.fromisoformat(found[0][0]) if found else None


def days_closed() -> tuple[dict[date, datetime], date | None]:
    """Every gaming day that was closed itself, with when; and through which day all is closed, as the property's row says."""
    days = GamingDay.objects.filter(closed_at__isnull=False).values_list("date", "closed_at")
    closed = {day: at for day, at in days if at is not None}
    home = Property.objects.first()
    return closed, None if home is None else home.closed_through
