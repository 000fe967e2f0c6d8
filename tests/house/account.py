"""What gateways saw of a fault: how long a round took at most, and what they were told is there that is gone, or there twice."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from tests.faults.traffic import Traffic
from tests.house.place import Place

DECIDED = """
    SELECT message.reference, message.received_at, coalesce(event.recorded_at, hold.held_at),
        count(*) OVER (PARTITION BY message.reference)
    FROM devices_message message
    LEFT JOIN tables_round round ON round.message_id = message.id
    LEFT JOIN accounting_event event ON event.stream_id = round.stream_id AND event.sequence = round.sequence
    LEFT JOIN tables_hold hold ON hold.message_id = message.id
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """Of the rounds that were first sent from one moment to another."""

    rounds: int
    stall: float
    """Seconds from a round's receipt until it was settled or held: the longest."""
    told: float
    """Seconds from its first post until its gateway had been told, and it was settled or held: the longest."""
    gone: int
    """Answered, and not there."""
    doubled: int


def look(place: Place, traffic: Traffic, since: float, until: float) -> Seen:
    """What is known now; what is not answered or not settled yet has lasted until now."""
    with place.server.connect("jackpot") as database:
        rows = database.execute(DECIDED.encode()).fetchall()
    now = time.time()
    stored: dict[str, tuple[datetime, datetime | None]] = {row[0]: (row[1], row[2]) for row in rows}
    doubled = {reference for reference, _, _, ends in rows if ends > 1}
    stall, told, gone, rounds = 0.0, 0.0, 0, 0
    for (_, _, reference), sent in list(traffic.kept.sent.items()):
        if not since <= sent.left_at < until:
            continue
        rounds += 1
        if sent.answered_at is not None and reference not in stored:
            gone += 1
            continue
        answered = sent.answered_at or now
        settled = now
        if reference in stored:
            received_at, decided_at = stored[reference]
            settled = decided_at.timestamp() if decided_at else now
            stall = max(stall, settled - received_at.timestamp())
        told = max(told, (answered if sent.settled else max(answered, settled)) - sent.left_at)
    return Seen(rounds, stall, told, gone, len(doubled))
