"""The round message of CONTRACT §2, key for key.

`result`, of a round or of a seat, is posted only in games whose cards do not say how they ended (see README).
These are plain records: `door.read` fills them from a JSON value and vouches for what they hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Dealing:
    """How the cards were dealt, as far as the table reports it."""

    method: str
    device: str | None = None
    deck: str | None = None
    cards_in_deck: int | None = None
    players: int | None = None
    mode: str | None = None


@dataclass(slots=True)
class Seat:
    """One seat that was dealt in: its cards and its wagers in cents, by name."""

    seat: int
    cards: list[str]
    wagers: dict[str, int]
    folded: str | None = None
    withdrawn: list[str] = field(default_factory=list)
    result: str | None = None


@dataclass(slots=True)
class Irregularity:
    """Something that went wrong in the deal (SPEC §8)."""

    code: str
    seat: int | None = None
    position: str | None = None


@dataclass(slots=True)
class RoundMessage:
    """One complete deal as a table controller reports it."""

    round: str
    table: str
    dealt_at: str
    dealing: Dealing
    community: list[str]
    seats: list[Seat]
    dealer: list[str] = field(default_factory=list)
    irregularities: list[Irregularity] = field(default_factory=list)
    sequence: int | None = None
    result: str | None = None
