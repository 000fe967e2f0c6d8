"""Query parameters, read strictly and alike by the API, its exports and the pages (CONTRACT §5).

An empty value is as if not given.  An unknown or repeated parameter, or a value that is not in its printed form, is
refused by the parameter's name: dates are YYYY-MM-DD, moments RFC 3339, numbers ASCII digits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from accounting.rules.acts import escaped
from accounting.rules.moments import FIRST_YEAR, LAST_YEAR, instant, is_moment
from accounting.rules.weeks import week_named

LONGEST_TEXT: Final = 4_000  # more than any name of ours has, percent-encoded or not
MOST: Final = 2**62

WHOLE: Final = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
DAY: Final = re.compile(r"(\d{4})-\d\d-\d\d", re.ASCII)
DOLLARS: Final = re.compile(r"(\d{1,12}|\d{1,3}(?:,\d{3}){1,3})(?:\.(\d\d))?", re.ASCII)


class BadParameter(ValueError):
    """A parameter that cannot be followed: its name, and the rule in words."""

    def __init__(self, name: str, detail: str) -> None:
        self.name = name
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}"

    @property
    def pointer(self) -> str:
        """The parameter's name as a pointer."""
        return f"/{escaped(self.name)}"


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one request that were given, each once and not empty."""

    given: dict[str, str]

    def __contains__(self, name: str) -> bool:
        return name in self.given

    def text(self, name: str, longest: int = LONGEST_TEXT) -> str | None:
        """Any text that can be stored, as it came; None where it was not given."""
        value = self.given.get(name)
        if value is not None and (len(value) > longest or "\0" in value or not _is_unicode(value)):
            raise BadParameter(name, f"{longest} characters at most, and no NUL among them")
        return value

    def choice(self, name: str, allowed: Sequence[str]) -> str | None:
        """One of the allowed words; None where it was not given."""
        value = self.given.get(name)
        if value is not None and value not in allowed:
            raise BadParameter(name, f"one of {', '.join(allowed)} is expected")
        return value

    def whole(self, name: str, *, least: int = 0, most: int = MOST) -> int | None:
        """A whole number from `least` to `most`, without leading noughts; None where it was not given."""
        value = self.given.get(name)
        if value is None:
            return None
        if WHOLE.fullmatch(value) is None or not least <= int(value) <= most:
            raise BadParameter(name, f"a whole number from {least:,} to {most:,} is expected, in plain digits")
        return int(value)

    def day(self, name: str) -> date | None:
        """A day as YYYY-MM-DD; None where it was not given."""
        value = self.given.get(name)
        if value is None:
            return None
        found = _day(value)
        if found is None:
            raise BadParameter(name, f"a day like 2026-11-27 is expected, from {FIRST_YEAR} to {LAST_YEAR}")
        return found

    def week(self, name: str) -> date | None:
        """The Monday of a week as 2026-W48; None where it was not given."""
        value = self.given.get(name)
        if value is None:
            return None
        found = week_named(value)
        if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
            raise BadParameter(name, f"a week like 2026-W48 is expected, from {FIRST_YEAR} to {LAST_YEAR}")
        return found

    def day_or_moment(self, name: str) -> date | datetime | None:
        """A day as YYYY-MM-DD, or a moment as RFC 3339 with its offset; None where it was not given."""
        value = self.given.get(name)
        if value is None:
            return None
        if is_moment(value):
            return instant(value)
        found = _day(value)
        if found is None:
            raise BadParameter(
                name,
                "a gaming day like 2026-11-27 or a moment like 2026-11-27T21:14:05-05:00 is expected,"
                f" from {FIRST_YEAR} to {LAST_YEAR}",
            )
        return found

    def moment(self, name: str) -> datetime | None:
        """A moment as RFC 3339 with its offset; None where it was not given."""
        value = self.given.get(name)
        if value is None:
            return None
        if not is_moment(value):
            raise BadParameter(name, "a moment like 2026-11-27T21:14:05-05:00 is expected")
        return instant(value)

    def dollars(self, name: str) -> int | None:
        """The whole cents of an amount that people type as 1250, 1,250 or 1,250.00; None where it was not given."""
        value = self.given.get(name)
        if value is None:
            return None
        found = DOLLARS.fullmatch(value)
        if found is None:
            raise BadParameter(name, "an amount in dollars like 1250 or 1,250.00 is expected")
        return int(found[1].replace(",", "")) * 100 + int(found[2] or 0)


def read(query: Iterable[tuple[str, Sequence[str]]], known: Collection[str]) -> Parameters:
    """The parameters of a request, every name with all its values; BadParameter for the first unknown or repeated one."""
    given: dict[str, str] = {}
    for name, values in query:
        if name not in known:
            allowed = f"known are {', '.join(known)}" if known else "this address takes none"
            raise BadParameter(name, f"no such parameter; {allowed}")
        filled = [value for value in values if value]
        if len(filled) > 1:
            raise BadParameter(name, "given more than once")
        if filled:
            given[name] = filled[0]
    return Parameters(given)


def _day(value: str) -> date | None:
    found = DAY.fullmatch(value)
    if found is None or not FIRST_YEAR <= int(found[1]) <= LAST_YEAR:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
