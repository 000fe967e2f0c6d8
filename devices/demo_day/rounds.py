"""The rounds that are dealt on the day, as messages of CONTRACT §2."""

from __future__ import annotations

from datetime import datetime
from typing import Any

BAY, TIDE, LONE, LATE = "DD-1", "DD-2", "DD-3", "DD-4"
"""The tables; the last is installed while the day is played."""
WAGERS: dict[str, dict[str, int]] = {
    BAY: {"progressive": 100},
    TIDE: {"progressive": 500},
    LONE: {},
    LATE: {"progressive": 100},
}
STREETS = ("third_street", "fourth_street", "fifth_street")
ANTE = 1_000

Message = dict[str, Any]


def seat(number: int, cards: str, **wagers: int) -> Message:
    """A seat that plays to the end, one ante on each street."""
    placed = dict.fromkeys(("ante", *STREETS), ANTE)
    return {"seat": number, "cards": cards.split(), "wagers": placed | wagers}


def dealt(round: str, *seats: Message, table: str, at: datetime, community: str = "2c 9h Kd", **more: Any) -> Message:
    """A round; one losing seat unless others are given."""
    return {
        "round": round,
        "table": table,
        "dealt_at": at.isoformat(),
        "dealing": {"method": "shuffler", "mode": "cover_all"},
        "community": community.split(),
        "seats": list(seats) or [seat(1, "3s 7d", **WAGERS[table])],
    } | more


def locked(round: str, *, table: str, at: datetime) -> Message:
    """The lock of a round: the progressive wager of seat 1."""
    seats = [{"seat": 1, "wagers": WAGERS[table]}]
    return {"kind": "lock", "round": round, "table": table, "locked_at": at.isoformat(), "seats": seats}


def royal(round: str, *, table: str, at: datetime) -> Message:
    """Seat 3 holds a royal flush, seat 1 earns its envy."""
    wager = WAGERS[table]
    seats = (seat(1, "2s 7d", **wager), seat(3, "Ah Kh", **wager))
    return dealt(round, *seats, table=table, at=at, community="Qh Jh Th")


def two_hits(round: str, *, table: str, at: datetime) -> Message:
    """Seat 6 holds a straight flush and seat 2 the royal: paid in that order, each with envy for the other."""
    wager = WAGERS[table]
    seats = (seat(2, "As Ks", **wager), seat(6, "9s 8s", **wager))
    return dealt(round, *seats, table=table, at=at, community="Qs Js Ts")


def quads(round: str, *, table: str, at: datetime) -> Message:
    """Seat 1 holds four of a kind."""
    return dealt(round, seat(1, "9c 9d", **WAGERS[table]), table=table, at=at, community="9h 9s Kd")


def miscounted(round: str, *, table: str, at: datetime) -> Message:
    """A round whose shuffler counted other players than there are: held, and may be released."""
    return dealt(round, table=table, at=at, dealing={"method": "shuffler", "mode": "cover_all", "players": 3})


def twice(round: str, *, table: str, at: datetime) -> Message:
    """A round in which a card is reported twice: held, and must be corrected or called off."""
    return dealt(round, seat(1, "As As", **WAGERS[table]), table=table, at=at)
