"""Accepting messages: stored durably and in the queue before anybody is answered (ARCHITECTURE §4.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import psycopg
from django.db.utils import OperationalError

from accounting.statements import execute

TRIES = 5


@dataclass(frozen=True, slots=True)
class Arrival:
    """A well-formed message from somebody who may send it, not yet stored."""

    stream_id: int
    table_id: int
    reference: str
    device_id: int | None
    device_sequence: int | None
    received_at: datetime
    raw: bytes
    digest: bytes
    kind: str = "result"


ACCEPTED, DUPLICATE, REUSED = "accepted", "duplicate", "reused"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an arrival, and the message that its reference stands for."""

    status: str
    message_id: int


# A receipt is handed out when something was stored, and its transaction has a number by which it can be seen to be at work while
# the receipt is on its way (`passed`).
# References go in sorted, so that two batches that share some never wait for each other in a circle.
STORE = """
    WITH incoming AS MATERIALIZED (
        SELECT nextval('devices_message_id_seq') AS message_id, arrival.*
        FROM unnest(
            %(stream)s::bigint[], %(table)s::bigint[], %(reference)s::text[], %(kind)s::text[], %(device)s::bigint[],
            %(device_sequence)s::bigint[], %(received_at)s::timestamptz[], %(raw)b::bytea[], %(digest)b::bytea[],
            %(position)s::int[]
        ) AS arrival (stream_id, table_id, reference, kind, device_id, device_sequence, received_at, raw, digest, position)
    ),
    fresh AS (
        INSERT INTO devices_reference (table_id, reference, kind, digest, message_id, received_at, device_id)
        SELECT table_id, reference, kind, digest, message_id, received_at, device_id FROM incoming
        ORDER BY table_id, reference COLLATE "C", kind, position
        ON CONFLICT DO NOTHING RETURNING message_id
    ),
    receipt AS MATERIALIZED (SELECT nextval('devices_receipt') AS number FROM (SELECT FROM fresh LIMIT 1) AS stored),
    stored AS (
        INSERT INTO devices_message
            (id, stream_id, table_id, reference, kind, device_id, device_sequence, received_at, raw, digest)
        SELECT message_id, stream_id, table_id, reference, kind, device_id, device_sequence, received_at, raw, digest
        FROM incoming JOIN fresh USING (message_id)
    ),
    queued AS (
        INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)
        SELECT stream_id, receipt.number, position, message_id, received_at
        FROM incoming JOIN fresh USING (message_id) CROSS JOIN receipt
    )
    SELECT position, message_id FROM incoming JOIN fresh USING (message_id)
"""
COMPARE = """
    SELECT wanted.position, reference.digest, reference.message_id
    FROM unnest(%s::int[], %s::bigint[], %s::text[], %s::text[]) AS wanted (position, table_id, reference, kind)
    JOIN devices_reference reference USING (table_id, reference, kind)
"""


def accept(arrivals: Sequence[Arrival]) -> list[Verdict]:
    """Store messages in one transaction and say of each whether it is accepted, a duplicate or a reused reference.

    When this returns, every accepted message is durable and queued in this order. On any error nothing is stored.
    """
    if not arrivals:
        return []
    return _retrying(_accept_once, arrivals)


def _accept_once(arrivals: Sequence[Arrival]) -> list[Verdict]:
    # One statement, so one transaction and one way to the server and back.
    stored = execute(STORE, {
        "stream": [arrival.stream_id for arrival in arrivals],
        "table": [arrival.table_id for arrival in arrivals],
        "reference": [arrival.reference for arrival in arrivals],
        "kind": [arrival.kind for arrival in arrivals],
        "device": [arrival.device_id for arrival in arrivals],
        "device_sequence": [arrival.device_sequence for arrival in arrivals],
        "received_at": [arrival.received_at for arrival in arrivals],
        "raw": [arrival.raw for arrival in arrivals],
        "digest": [arrival.digest for arrival in arrivals],
        "position": list(range(len(arrivals))),
    }, kept=True)  # fmt: skip
    verdicts = {position: Verdict(ACCEPTED, message_id) for position, message_id in stored}
    known = {position: arrival for position, arrival in enumerate(arrivals) if position not in verdicts}
    if known:
        # Read after the conflict was seen: whoever used the reference has committed, and references never change.
        found = execute(COMPARE, [
            list(known),
            [arrival.table_id for arrival in known.values()],
            [arrival.reference for arrival in known.values()],
            [arrival.kind for arrival in known.values()],
        ])  # fmt: skip
        for position, digest, message_id in found:
            same = bytes(digest) == arrivals[position].digest
            verdicts[position] = Verdict(DUPLICATE if same else REUSED, message_id)
    return [verdicts[position] for position in range(len(arrivals))]


def _retrying(act: Callable[[Sequence[Arrival]], list[Verdict]], arrivals: Sequence[Arrival]) -> list[Verdict]:
    """Deadlocks and serialization failures say that nothing happened: try again."""
    for attempt in range(TRIES):
        try:
            return act(arrivals)
        except OperationalError as error:
            again = isinstance(error.__cause__, psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure)
            if not again or attempt == TRIES - 1:
                raise
    raise AssertionError("unreachable")
