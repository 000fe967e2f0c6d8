"""Reading what is recorded of some events in a row of a stream, event by event."""

from collections import defaultdict
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import prefetch_related_objects

from accounting.event_queries import transfers_between
from accounting.statements import Row, execute
from jackpot.hits_on_record import hits_between
from tables.queries.record import payouts_between


class Recorded(NamedTuple):
    """An event with the round and the message or the documents that belong to it; what is not there is None."""

    sequence: int
    kind: str
    subject: str
    day: date
    original: date | None
    recorded_at: datetime
    rules: int
    message_digest: bytes
    result_digest: bytes
    previous: bytes
    hash: bytes
    message_id: int | None
    table_id: int | None
    terms_id: int | None
    reference: str | None
    outcome: str | None
    dealt_at: datetime | None
    counts_at: datetime | None
    shown_day: date | None
    shown_original: date | None
    settlement: bytes | None
    received_at: datetime | None
    raw: bytes | None
    digest: bytes | None
    message_table: int | None
    message_reference: str | None
    device_id: int | None
    cause: bytes | None
    result: bytes | None


EVENTS = """
    SELECT event.sequence, event.kind, event.subject, event.gaming_date, event.original_date, event.recorded_at,
        event.rules, event.message_digest, event.result_digest, event.previous, event.hash,
        round.message_id, round.table_id, round.terms_id, round.reference, round.outcome, round.dealt_at,
        round.counts_at, round.gaming_date, round.original_date, round.settlement,
        message.received_at, message.raw, message.digest, message.table_id, message.reference,
        message.device_id, document.cause, document.result
    FROM accounting_event event
    LEFT JOIN tables_round round ON round.stream_id = event.stream_id AND round.sequence = event.sequence
    LEFT JOIN devices_message message ON message.id = round.message_id
    LEFT JOIN accounting_document document ON event.kind <> 'round'
        AND document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.sequence BETWEEN %s AND %s ORDER BY event.sequence
"""


class InOrder:
    """Rows that begin with the sequence of their event, in its order, taken event by event."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._place = 0

    def of(self, sequence: int) -> list[Row]:
        """The rows of an event; events are asked for in their order."""
        rows, first = self._rows, self._place
        place, end = first, len(rows)
        while place < end and rows[place][0] <= sequence:
            place += 1
        self._place = place
        return rows[first:place]


class Chunk:
    """The recorded rows of some events in a row."""

    def __init__(self, stream_id: int, first: int, last: int) -> None:
        span = (stream_id, first, last)
        self.events = execute(EVENTS, span)
        self.transfers = InOrder(transfers_between(*span))
        self.payouts = InOrder(payouts_between(*span))


def hits_of(stream_id: int, first: int, last: int) -> dict[int, list[Any]]:
    """The hits of a range by their event: few, so all of them at once."""
    hits = hits_between(stream_id, first, last)
    prefetch_related_objects(hits, "steps")
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for hit in hits:
        found[hit.sequence].append(hit)
    return dict(found)
