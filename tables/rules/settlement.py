"""The settlement of CONTRACT §3, key for key: plain JSON objects whose keys have their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from jackpot.rules.progressive import Award, Envy, MeterRow
from tables.rules.limit import Limit
from tables.rules.lines import Line


class SeatEntry(TypedDict):
    """One seat that was dealt: everything it staked and everything it was handed back, stakes included."""

    seat: int
    hand: str | None
    result: str
    staked_cents: int
    paid_cents: int
    lines: list[Line]
    limit: Limit | None
    envy: list[Envy]


class Settlement(TypedDict):
    """What a round comes to: settled, void or held; a held one has reasons and neither seats, awards nor meters."""

    round: str
    table: str
    outcome: str
    reasons: list[str]
    players: int
    seats: list[SeatEntry]
    awards: list[Award]
    meters: list[MeterRow]


def printed(result: Mapping[str, Any]) -> dict[str, Any]:
    """A settlement, or the result of an act, with its keys in the order in which CONTRACT §3 prints them."""
    found = _in_order(Settlement, result) if "seats" in result else dict(result)
    if "seats" in found:
        found["seats"] = [
            _in_order(SeatEntry, seat) | {"lines": [_in_order(Line, line) for line in seat["lines"]]}
            for seat in found["seats"]
        ]
    if "meters" in found:
        found["meters"] = [_in_order(MeterRow, row) for row in found["meters"]]
    return found


def _in_order(kind: type, part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: part[key] for key in kind.__annotations__ if key in part}
