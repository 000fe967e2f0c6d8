"""The settlement of CONTRACT §3, key for key: plain JSON objects whose keys have their kinds."""

from __future__ import annotations

from typing import TypedDict

from jackpot.rules.progressive import Award, Envy, MeterRow
from tables.rules.limit import Limit
from tables.rules.lines import Line


class SeatEntry(TypedDict):
    """One seat that was dealt: everything it staked and everything it was handed back, stakes included."""

    envy: list[Envy]
    hand: str | None
    limit: Limit | None
    lines: list[Line]
    paid_cents: int
    result: str
    seat: int
    staked_cents: int


class Settlement(TypedDict):
    """What a round comes to: settled, void or held; a held one has reasons and neither seats, awards nor meters."""

    awards: list[Award]
    meters: list[MeterRow]
    outcome: str
    players: int
    reasons: list[str]
    round: str
    seats: list[SeatEntry]
    table: str
