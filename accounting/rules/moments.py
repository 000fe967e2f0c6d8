"""Moments as others write them: RFC 3339 with an offset, from 1900 to 2199 (CONTRACT §2, DECISIONS A49).

A moment is compared as an instant, to the nanosecond; Python's own datetimes end at the microsecond.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

# A date, a time and an offset, nothing left out.  Whether the day exists is asked of the calendar.
RFC_3339: Final = re.compile(
    r"(\d{4})-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.(\d+))?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII
)
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2199
LONGEST_WITHOUT: Final = len("2026-11-27T22:00:00.123456Z")
"""A text that is no longer than this has no nanoseconds."""
EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def is_moment(text: object) -> bool:
    """Whether this is a moment as CONTRACT §2 wants it; the year is the one written, whatever the offset."""
    if type(text) is not str:
        return False
    found = RFC_3339.fullmatch(text)
    if found is None or not FIRST_YEAR <= int(found[1]) <= LAST_YEAR:
        return False
    try:
        instant(text)
    except ValueError:
        return False
    return True


def instant(text: str) -> datetime:
    """The instant that a moment names, with its offset, to the microsecond below."""
    return datetime.fromisoformat(text.upper())


def nanoseconds(text: str) -> int:
    """The instant that a moment names, in nanoseconds since 1970 UTC; what is finer is left out."""
    return read(text)[1]


def read(text: str) -> tuple[datetime, int]:
    """A moment in both forms: as an instant to the microsecond below, and in nanoseconds since 1970 UTC."""
    at = instant(text)
    since = instant_nanoseconds(at)
    if len(text) > LONGEST_WITHOUT:
        _, dot, rest = text.partition(".")
        digits = rest.rstrip("Zz").partition("+")[0].partition("-")[0] if dot else ""
        since += int(digits[6:9].ljust(3, "0"))
    return at, since


def instant_nanoseconds(at: datetime) -> int:
    """An instant in nanoseconds since 1970 UTC, exactly."""
    since = at - EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


def at_nanoseconds(since: int) -> datetime:
    """The instant so many nanoseconds after 1970 UTC, to the microsecond below."""
    return EPOCH + timedelta(microseconds=since // 1_000)


def moment_of(text: str, zone: ZoneInfo) -> str:
    """A moment as it was typed, with an offset or on the property's clock, as RFC 3339. Raises ValueError."""
    if is_moment(text):
        return text
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("a date and time like 2026-11-27 22:00 is expected") from None
    if at.tzinfo is None:
        local = at.replace(tzinfo=zone)
        if local.utcoffset() != at.replace(tzinfo=zone, fold=1).utcoffset():
            raise ValueError("the clock is changed then: write the offset too, like 2026-11-01T01:30:00-04:00")
        at = local
    return at.isoformat()
