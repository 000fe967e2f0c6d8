"""Which gaming day a movement is booked on, held open while it is being booked (SPEC §9, ARCHITECTURE §4.10).

What is closed is everything up to a date, quiet days included. The date stands on the property's row, kept there by the
database whenever a day is closed: so the one row is what settling holds FOR SHARE and closing changes, and each waits for the
other. Whoever waited reads the row as it has become. A day gets a row of its own when it is closed and not before: one that the
first batch of a day inserted would keep every other stream waiting for that batch.
"""

from collections.abc import Collection
from datetime import date, timedelta

from accounting.statements import execute

# Django offers no FOR SHARE: settling streams must not wait for each other, only for a close.
HOLD_OPEN = "SELECT closed_through FROM accounting_property FOR SHARE"


def hold_open(dates: Collection[date]) -> dict[date, date]:
    """For each gaming day, the day to book on: itself while open, else the first after all that are closed.

    They stay open until the caller's transaction ends: a close waits for it.
    """
    if not dates:
        return {}
    ((closed_through,),) = execute(HOLD_OPEN, kept=True)
    first_open = closed_through + timedelta(days=1) if closed_through else date.min
    return {day: max(day, first_open) for day in dates}
