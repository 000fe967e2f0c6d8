"""The lock message: progressive wagers that are taken before the cards (CONTRACT §2, DECISIONS A50)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accounting.rules.acts import escaped
from accounting.rules.moments import is_moment
from tables.rules.door import LONGEST_REFERENCE, MOST_CENTS, MOST_NUMBER, Fault, Refusal
from tables.rules.game import PROGRESSIVE

LOCK_KEYS: Final = ("kind", "round", "table", "locked_at", "seats", "sequence")
SEAT_KEYS: Final = ("seat", "wagers")


@dataclass(slots=True)
class LockMessage:
    """The progressive wagers of a round that is about to be dealt, in cents by seat."""

    round: str
    table: str
    locked_at: str
    stakes: dict[int, int]
    sequence: int | None = None


def read(value: Mapping[str, Any], tables: Collection[str]) -> LockMessage | Refusal:
    """The lock that a JSON object is, or the refusal of its first fault; `tables` are the codes of this house."""
    try:
        return _lock(value, tables)
    except Fault as fault:
        reference = value.get("round")
        return Refusal(fault.code, fault.pointer, reference if isinstance(reference, str) else None)


def _lock(value: Mapping[str, Any], tables: Collection[str]) -> LockMessage:
    if value["kind"] != "lock":
        raise Fault("invalid_value", "/kind")
    _only(value, LOCK_KEYS, "")
    reference = _required(value, "round", "")
    if type(reference) is not str or not 0 < len(reference) <= LONGEST_REFERENCE or "\0" in reference:
        raise Fault("invalid_value", "/round")
    table = _required(value, "table", "")
    if type(table) is not str:
        raise Fault("invalid_value", "/table")
    if table not in tables:
        raise Fault("unknown_table", "/table")
    locked_at = _required(value, "locked_at", "")
    if not is_moment(locked_at):
        raise Fault("invalid_value", "/locked_at")
    seats = _required(value, "seats", "")
    if type(seats) is not list or not seats:
        raise Fault("invalid_value", "/seats")
    stakes: dict[int, int] = {}
    for index, seat in enumerate(seats):
        number, cents = _seat(seat, f"/seats/{index}", stakes)
        stakes[number] = cents
    sequence = value.get("sequence")
    if "sequence" in value and not _is_count(sequence, MOST_NUMBER):
        raise Fault("invalid_value", "/sequence")
    return LockMessage(reference, table, locked_at, stakes, sequence)


def _seat(value: object, at: str, stakes: Mapping[int, int]) -> tuple[int, int]:
    if type(value) is not dict:
        raise Fault("invalid_value", at)
    _only(value, SEAT_KEYS, at)
    number = _required(value, "seat", at)
    if not _is_count(number, MOST_NUMBER):
        raise Fault("invalid_value", f"{at}/seat")
    if number in stakes:
        raise Fault("duplicate_seat", f"{at}/seat")
    wagers = _required(value, "wagers", at)
    if type(wagers) is not dict:
        raise Fault("invalid_value", f"{at}/wagers")
    _only(wagers, (PROGRESSIVE,), f"{at}/wagers")
    cents = _required(wagers, PROGRESSIVE, f"{at}/wagers")
    if not _is_count(cents, MOST_CENTS):
        raise Fault("invalid_value", f"{at}/wagers/{PROGRESSIVE}")
    return number, cents


def _is_count(value: object, most: int) -> bool:
    return type(value) is int and 1 <= value <= most


def _only(value: Mapping[str, Any], known: Collection[str], at: str) -> None:
    for key in value:
        if key not in known:
            raise Fault("unknown_field", f"{at}/{escaped(key)}")


def _required(value: Mapping[str, Any], key: str, at: str) -> Any:
    if key not in value:
        raise Fault("missing_field", f"{at}/{key}")
    return value[key]
