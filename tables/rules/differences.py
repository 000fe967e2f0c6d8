"""A message beside another of the same round, key by key and seat by seat: what a correction changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Beside:
    """One part of a message in both, as compact JSON; empty where one has none."""

    part: str
    posted: str
    corrected: str

    @property
    def differs(self) -> bool:
        """Whether the correction changed it."""
        return self.posted != self.corrected


def side_by_side(posted: Mapping[str, Any], corrected: Mapping[str, Any]) -> list[Beside]:
    """Every part of two messages, seats last and by their number; the order of keys does not count."""
    corrected = _in_order_of(posted, corrected)
    keys = [key for key in dict.fromkeys([*posted, *corrected]) if key != "seats"]
    rows = [Beside(key, _text(posted, key), _text(corrected, key)) for key in keys]
    before, after = _seats(posted), _seats(corrected)
    rows += [Beside(f"seat {seat}", _text(before, seat), _text(after, seat)) for seat in sorted({*before, *after})]
    return rows


def changed(posted: Mapping[str, Any], corrected: Mapping[str, Any]) -> list[Beside]:
    """What differs, as finely as it can be named: `seat 3 ante`, not the whole seat where both have it."""
    corrected = _in_order_of(posted, corrected)
    return [row for row in side_by_side(_flat(posted), _flat(corrected)) if row.differs]


def _flat(message: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a message by their names in words: dealing and seats key by key, wagers by their own names."""
    found = {key: value for key, value in message.items() if key not in ("dealing", "seats")}
    found |= {f"dealing {key}": value for key, value in message["dealing"].items()}
    for number, seat in _seats(message).items():
        found |= {f"seat {number} {key}": value for key, value in seat.items() if key not in ("seat", "wagers")}
        found |= {f"seat {number} {wager}": cents for wager, cents in seat["wagers"].items()}
    return found


def _seats(message: Mapping[str, Any]) -> dict[int, Any]:
    return {seat["seat"]: seat for seat in message.get("seats", ())}


def _text(of: Mapping[Any, Any], key: Any) -> str:
    return json.dumps(of[key], ensure_ascii=False) if key in of else ""


def _in_order_of(like: Any, value: Any) -> Any:
    """A value with its keys in the order of another's, seat by seat, so that the same reads the same."""
    if isinstance(value, Mapping):
        before = like if isinstance(like, Mapping) else {}
        keys = [key for key in before if key in value] + [key for key in value if key not in before]
        return {key: _in_order_of(before.get(key), value[key]) for key in keys}
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        before = {item.get("seat"): item for item in like or () if isinstance(item, Mapping)}
        return [_in_order_of(before.get(item.get("seat")), item) for item in value]
    return value
