"""Gaming days: which one an instant belongs to (SPEC §2)."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def gaming_date(at: datetime, *, zone: ZoneInfo, starts: time) -> date:
    """Name the gaming day of an instant: before the boundary it is still the day that began the day before."""
    local = at.astimezone(zone)
    return local.date() if local.time() >= starts else local.date() - timedelta(days=1)


def began(day: date, *, zone: ZoneInfo, starts: time) -> datetime:
    """The instant at which a gaming day began."""
    return datetime.combine(day, starts, zone)
