"""Weeks of gaming days, Monday to Sunday, under the names of ISO 8601: `2026-W48`."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

DAYS: Final = 7
NAME: Final = re.compile(r"([0-9]{4})-W([0-9]{2})", re.ASCII)


def first_day(day: date) -> date:
    """The Monday of the week that a gaming day is in."""
    return day - timedelta(days=day.weekday())


def last_day(first: date) -> date:
    """The Sunday of the week that begins on a Monday."""
    return first + timedelta(days=DAYS - 1)


def week_name(day: date) -> str:
    """The name of the week that a gaming day is in."""
    year, week, _ = day.isocalendar()
    return f"{year:04d}-W{week:02d}"


def week_named(name: str) -> date | None:
    """The Monday of the week that a name is of; None where there is no such week."""
    found = NAME.fullmatch(name)
    if found is None:
        return None
    try:
        return date.fromisocalendar(int(found[1]), int(found[2]), 1)
    except ValueError:
        return None
