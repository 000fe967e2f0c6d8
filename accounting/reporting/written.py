"""How a value of a report is written: for people, and for programs that read on."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from accounting.reporting.shape import DECIMAL, MOMENT, MONEY, PERCENT, WHOLE, Column

MINUS = "\N{MINUS SIGN}"
PLACES = 2


def rounded(value: Fraction, places: int = PLACES) -> Decimal:
    """A fraction with so many decimals, half to even; never through a float."""
    return Decimal(round(value * 10**places)).scaleb(-places)


def dollars(cents: int) -> Decimal:
    """Whole cents in dollars, exactly."""
    return Decimal(cents).scaleb(-2)


def plain(kind: str, value: Any, zone: ZoneInfo) -> Any:
    """A value as a program reads it: numbers as numbers (money in dollars, shares in percent), days and times as text."""
    if value is None:
        return None
    if kind == MONEY:
        return dollars(value)
    if kind == PERCENT:
        return rounded(value * 100)
    if kind == DECIMAL:
        return rounded(value)
    if kind == WHOLE:
        return value
    if isinstance(value, datetime):
        return value.astimezone(zone).isoformat(sep=" ", timespec="seconds")
    return value.isoformat() if isinstance(value, date) else str(value)


def said(kind: str, value: Any, zone: ZoneInfo) -> str:
    """A value as people read it; nothing for none."""
    if value is None:
        return ""
    if kind == MONEY:
        whole, rest = divmod(abs(value), 100)
        return f"{MINUS if value < 0 else ''}${whole:,}.{rest:02d}"
    if kind == PERCENT:
        return f"{_signed(rounded(value * 100))}%"
    if kind == DECIMAL:
        return _signed(rounded(value))
    if kind == WHOLE:
        return _signed(value)
    if kind == MOMENT:
        return moment(value, zone)
    return value.isoformat() if isinstance(value, date) else str(value)


def shown(column: Column, value: Any, zone: ZoneInfo) -> str:
    """A value of a column as people read it: a code in its words."""
    return column.words(value) if column.words is not None and value is not None else said(column.kind, value, zone)


def moment(at: datetime, zone: ZoneInfo) -> str:
    """An instant on the property's clock; the zone's name where the hour comes twice."""
    local = at.astimezone(zone)
    twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return local.strftime("%Y-%m-%d %H:%M:%S %Z" if twice else "%Y-%m-%d %H:%M:%S")


def _signed(number: Decimal | int) -> str:
    return f"{number:,}".replace("-", MINUS)
