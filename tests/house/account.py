"""What gateways saw of a fault: how long a round took at most, and what they were told is there that is gone, or there twice."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from tests.faults.traffic import Traffic
from tests.house.place import Place

DECIDED = """
    SELECT message.reference, coalesce(event.recorded_at, hold.held_at), count(*) OVER (PARTITION BY message.reference)
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
    """Seconds from the first try until the gateway had been told, and the round was settled or held: the longest."""
    gone: int
    """Answered, and not there."""
    doubled: int


def look(place: Place, traffic: Traffic, since: float, until: float) -> Seen:
    """What is known now; what is not answered or not settled yet has lasted until now."""
    with place.server.connect("jackpot") as database:
        rows = database.execute(DECIDED.encode()).fetchall()
    now = time.time()
    decided: dict[str, datetime | None] = {reference: at for reference, at, _ in rows}
    doubled = {reference for reference, _, ends in rows if ends > 1}
    longest, gone, rounds = 0.0, 0, 0
    for (_, _, reference), sent in list(traffic.kept.sent.items()):
        if not since <= sent.left_at < until:
            continue
        rounds += 1
        if sent.answered_at is not None and reference not in decided:
            gone += 1
            continue
        settled = decided.get(reference)
        over = settled.timestamp() if settled is not None else now
        if sent.answered_at is None or settled is None:
            over = now
        elif sent.settled or sent.answered_at > over:
            over = sent.answered_at
        longest = max(longest, over - sent.left_at)
    return Seen(rounds, longest, gone, len(doubled))
