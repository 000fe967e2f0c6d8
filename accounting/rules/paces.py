"""How much happens in a month, from how much happened in some time."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

MONTH: Final = timedelta(days=365.2425) / 12
"""The mean month of the calendar."""


def a_month(count: int, lasted: timedelta, *, least: timedelta) -> int | None:
    """How many a month, rounded down, where so many came in this time; None for too short a time, or for nothing."""
    if lasted < least or not count:
        return None
    return count * (MONTH // timedelta(microseconds=1)) // (lasted // timedelta(microseconds=1)) or None
