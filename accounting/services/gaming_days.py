"""Which gaming day a movement is booked on, held open while it is being booked (SPEC §9, ARCHITECTURE §4.10).

What is closed is everything up to a date, quiet days and days without a row included. The date stands on the property's row,
kept there by the database whenever a day is closed: so the one row is what settling holds FOR SHARE and closing changes, and
each waits for the other whether the days in question have rows or not. Whoever waited reads the row as it has become.
"""

from collections.abc import Collection
from datetime import date, timedelta

from accounting.models import GamingDay
from accounting.statements import execute

# Django offers no FOR SHARE: settling streams must not wait for each other, only for a close (FOR UPDATE). The days come
# first, as they do for whoever closes one.
HOLD_OPEN = """
    WITH held AS MATERIALIZED (
        SELECT date FROM accounting_gamingday WHERE date = ANY(%s::date[]) ORDER BY date FOR SHARE
    )
    SELECT closed_through, ARRAY(SELECT date FROM held) FROM accounting_property FOR SHARE
"""


def hold_open(dates: Collection[date]) -> dict[date, date]:
    """For each gaming day, the day to book on: itself while open, else the first after all that are closed.

    They stay open until the caller's transaction ends: a close waits for it.
    """
    if not dates:
        return {}
    known: dict[date, date] = {}
    while True:
        ((closed_through, held),) = execute(HOLD_OPEN, [sorted({*dates, *known.values()})])
        first_open = closed_through + timedelta(days=1) if closed_through else date.min
        known = {day: max(day, first_open) for day in dates}
        missing = set(known.values()).difference(held)
        if not missing:
            return known
        GamingDay.objects.bulk_create([GamingDay(date=day) for day in sorted(missing)], ignore_conflicts=True)
