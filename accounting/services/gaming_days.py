"""Which gaming day a movement is booked on, held open while it is being booked (SPEC §9, ARCHITECTURE §4.10)."""

from collections.abc import Collection
from datetime import date, timedelta

from accounting.models import GamingDay
from accounting.services.statements import execute

# Django offers no FOR SHARE: settling streams must not wait for each other, only for a close (FOR UPDATE).
HOLD_OPEN = "SELECT date, closed_at IS NOT NULL FROM accounting_gamingday WHERE date >= %s ORDER BY date FOR SHARE"


def hold_open(dates: Collection[date]) -> dict[date, date]:
    """For each gaming day, the day to book on: itself while open, else the next open one.

    The rows stay share-locked until the caller's transaction ends, so a close waits for it.
    """
    if not dates:
        return {}
    closed = _share_locked(min(dates))
    while missing := {day for day in (_next_open(wanted, closed) for wanted in dates) if day not in closed}:
        GamingDay.objects.bulk_create([GamingDay(date=day) for day in sorted(missing)], ignore_conflicts=True)
        closed = _share_locked(min(dates))
    return {wanted: _next_open(wanted, closed) for wanted in dates}


def _share_locked(first: date) -> dict[date, bool]:
    return dict(execute(HOLD_OPEN, [first]))


def _next_open(wanted: date, closed: dict[date, bool]) -> date:
    day = wanted
    while closed.get(day, False):
        day += timedelta(days=1)
    return day
