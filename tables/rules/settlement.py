"""The settlement of CONTRACT §3, key for key: plain JSON objects whose keys have their kinds."""

from __future__ import annotations

from typing import TypedDict

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
