"""Reading messages, their rounds wherever they stand, and whether the service is well."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.db import connection

from accounting.rules.events import LOCK, ROUND
from accounting.statements import execute
from devices.models import Message, Queued, SignificantEvent
from tables.queries import payouts
from tables.queries.explanations import explanation
from tables.queries.record import corrections
from tables.services.messages import Received

ATTEMPTING_CLASS = 0x6A61636B
ATTEMPTING = ATTEMPTING_CLASS << 32
"""With a stream's id the name of the advisory lock that whoever settles it holds."""

Ask = Callable[..., list[tuple[Any, ...]]]
"""How a statement is asked: on Django's connection, or on a session of somebody's own."""


def boards(message_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """The community cards of each message, in the order they were dealt."""
    found = Message.objects.filter(id__in=message_ids).values_list("id", "raw")
    dealt = {message_id: tuple(msgspec.json.decode(bytes(raw))["community"]) for message_id, raw in found}
    for message_id, cause in corrections(message_ids).items():
        dealt[message_id] = tuple(msgspec.json.decode(cause)["payload"]["message"]["community"])
    return dealt


def received(message_id: int) -> Received:
    """A kept message as it was taken in."""
    kept = Message.objects.values_list("received_at", "raw", "digest", "device_id").get(pk=message_id)
    return Received(kept[0], bytes(kept[1]), bytes(kept[2]), kept[3])


RESULT = """
    SELECT reference.message_id FROM devices_reference reference JOIN tables_table tabl ON tabl.id = reference.table_id
    WHERE tabl.code = %s AND reference.reference = %s AND reference.kind = 'result'
"""


def result_of(table: str, reference: str) -> int | None:
    """The message of a round's result by its table and reference; None where none was accepted."""
    found = execute(RESULT, [table, reference])
    return found[0][0] if found else None


SHOW = """
    SELECT message.reference, tabl.code, message.received_at, message.raw, stream.code,
        round.sequence, CASE WHEN voided.sequence IS NULL THEN round.outcome ELSE 'void' END, round.settlement,
        hold.settlement, message.id, round.stream_id, round.counts_at,
        document.cause
    FROM devices_reference reference
    JOIN devices_message message ON message.id = reference.message_id
    JOIN tables_table tabl ON tabl.id = reference.table_id
    LEFT JOIN tables_round round ON round.message_id = message.id
    LEFT JOIN tables_hold hold ON hold.message_id = message.id
    LEFT JOIN tables_voidedround voided ON voided.stream_id = round.stream_id AND voided.sequence = round.sequence
    LEFT JOIN accounting_document document
        ON document.stream_id = round.stream_id AND document.sequence = round.sequence
    JOIN accounting_stream stream ON stream.id = coalesce(round.stream_id, message.stream_id)
"""


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round wherever it stands: queued, held, settled or void; one that people voided after it was settled is void too.

    `decided` is what people decided of a held one: the act, who asked and who agreed, why, and the corrected message.
    `sequence` and `counts_at`, the moment that it counts from, are None while it is queued or held.
    """

    message_id: int
    stream_id: int | None
    round: str
    table: str
    state: str
    received_at: datetime
    stream: str
    sequence: int | None
    raw: bytes
    settlement: bytes | None
    counts_at: datetime | None
    decided: dict[str, Any] | None = None

    @property
    def message(self) -> Any:
        """The message as it was posted, as its JSON value."""
        return msgspec.json.decode(self.raw)

    @property
    def as_decided(self) -> Any:
        """The message that the round was decided by: as corrected, where people corrected it, else as posted."""
        corrected = self.decided["message"] if self.decided else None
        return self.message if corrected is None else corrected

    def shown(self) -> dict[str, Any]:
        """The round in the form of CONTRACT §5."""
        return {
            "round": self.round,
            "table": self.table,
            "state": self.state,
            "received_at": self.received_at.isoformat(),
            "stream": self.stream,
            "sequence": self.sequence,
            "message": self.message,
            "settlement": None if self.settlement is None else msgspec.json.decode(self.settlement),
            "decided": self.decided,
        }


def _shown(row: tuple[Any, ...]) -> RoundShown:
    reference, table, received_at, raw, stream, sequence, outcome, settled, held, message_id, stream_id, at, cause = row
    settlement = settled if settled is not None else held
    return RoundShown(
        message_id=message_id,
        stream_id=stream_id,
        round=reference,
        table=table,
        state=outcome or ("held" if held is not None else "queued"),
        received_at=received_at,
        stream=stream,
        sequence=sequence,
        raw=bytes(raw),
        settlement=None if settlement is None else bytes(settlement),
        counts_at=at,
        decided=None if cause is None else _decided(msgspec.json.decode(bytes(cause))),
    )


def _decided(cause: dict[str, Any]) -> dict[str, Any]:
    """What people decided of a held round, from the cause that its event is kept with."""
    return {
        "act": cause["act"],
        "by": cause.get("by"),
        "approved_by": cause.get("approved_by", []),
        "reason": cause.get("reason"),
        "at": cause["at"],
        "proposal": cause.get("proposal"),
        "override": cause["payload"].get("override", []),
        "message": cause["payload"].get("message"),
    }


def round_of(table: str, reference: str) -> RoundShown | None:
    """A round by its table and the controller's own reference."""
    with connection.cursor() as cursor:
        cursor.execute(
            SHOW + " WHERE tabl.code = %s AND reference.reference = %s AND reference.kind = 'result'",
            [table, reference],
        )
        row = cursor.fetchone()
    return _shown(row) if row else None


def round_at(path: str) -> RoundShown | None:
    """A round by `TABLE/REFERENCE`, where either may itself hold a slash that was percent-encoded."""
    parts = path.split("/")
    for cut in range(1, len(parts)):
        found = round_of("/".join(parts[:cut]), "/".join(parts[cut:]))
        if found is not None:
            return found
    return None


def rounds_named(reference: str, *, limit: int = 20) -> list[tuple[str, str]]:
    """Rounds that carry a reference, as table and reference, whatever the table and wherever they stand."""
    with connection.cursor() as cursor:
        cursor.execute(NAMED, [reference, limit])
        return cursor.fetchall()


# The reference is unique per table, so this is one look-up by key for each table, however many rounds there are.
NAMED = """
    SELECT tabl.code, named.reference FROM tables_table tabl
    JOIN devices_reference named ON named.table_id = tabl.id AND named.reference = %s AND named.kind = 'result'
    ORDER BY tabl.code LIMIT %s
"""


def rounds_on(stream: str, *, after_sequence: int, limit: int) -> list[RoundShown]:
    """Settled and void rounds of a stream in its order, after a sequence."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT message.reference, tabl.code, message.received_at, message.raw, stream.code,
                round.sequence, CASE WHEN voided.sequence IS NULL THEN round.outcome ELSE 'void' END,
                round.settlement, NULL, message.id, round.stream_id, round.counts_at,
                document.cause
            FROM tables_round round
            LEFT JOIN tables_voidedround voided
                ON voided.stream_id = round.stream_id AND voided.sequence = round.sequence
            LEFT JOIN accounting_document document
                ON document.stream_id = round.stream_id AND document.sequence = round.sequence
            JOIN accounting_stream stream ON stream.id = round.stream_id
            JOIN devices_message message ON message.id = round.message_id
            JOIN tables_table tabl ON tabl.id = round.table_id
            WHERE stream.code = %s AND round.sequence > %s ORDER BY round.sequence LIMIT %s
            """,
            [stream, after_sequence, limit],
        )
        return [_shown(row) for row in cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class Health:
    """What the database says of the service."""

    queued: int
    oldest_received_at: datetime | None
    swept_at: datetime | None
    has_floor: bool


HEALTH = """
    SELECT count(*), min(received_at), (SELECT seen_at FROM devices_heartbeat WHERE name = 'sweep'),
        EXISTS (SELECT FROM accounting_property)
    FROM devices_queued
"""


def health(ask: Ask = execute) -> Health:
    """The queue, the last sign of life of whoever settles, and whether a floor is there."""
    (found,) = ask(HEALTH)
    return Health(*found)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A stream that stands still for a fault of ours: nothing of it is settled or held until it is mended."""

    stream: str
    since: datetime
    reason: str


STOPPED = """
    SELECT stream.code, stoppage.since, stoppage.reason FROM devices_stoppage stoppage
    JOIN accounting_stream stream ON stream.id = stoppage.stream_id ORDER BY stoppage.since, stream.code
"""


def stopped(ask: Ask = execute) -> list[Stopped]:
    """Streams that stand still, the longest first."""
    return [Stopped(*row) for row in ask(STOPPED)]


@dataclass(frozen=True, slots=True)
class Late:
    """A stream whose oldest message waits too long: how many wait, since when, and why as far as it is known."""

    stream: str
    queued: int
    oldest_received_at: datetime
    reason: str


# Whoever is at a stream holds its lock of attempts (intake.settling).
LATE = """
    SELECT stream.code, waiting.queued, waiting.oldest, coalesce(stoppage.reason, (
        SELECT format('a worker is at it, session %%s (%%s), and does not get on', holder.pid, activity.application_name)
        FROM pg_locks holder LEFT JOIN pg_stat_activity activity ON activity.pid = holder.pid
        WHERE holder.locktype = 'advisory' AND holder.granted AND holder.objsubid = 1
            AND holder.database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND ((holder.classid::bigint << 32) | holder.objid::bigint) = %s + waiting.stream_id LIMIT 1
    ), 'no worker is at it')
    FROM (
        SELECT stream_id, count(*) AS queued, min(received_at) AS oldest FROM devices_queued GROUP BY stream_id
        HAVING min(received_at) < clock_timestamp() - make_interval(secs => %s)
    ) waiting JOIN accounting_stream stream ON stream.id = waiting.stream_id
    LEFT JOIN devices_stoppage stoppage ON stoppage.stream_id = waiting.stream_id
    ORDER BY waiting.oldest, stream.code LIMIT 100
"""


def late(seconds: float, ask: Ask = execute) -> list[Late]:
    """Streams whose oldest message has waited longer than so many seconds, the longest first; a hundred at most."""
    return [Late(*row) for row in ask(LATE, [ATTEMPTING, seconds])]


def swept_at() -> datetime | None:
    """When settling was last seen at work."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(seen_at) FROM devices_heartbeat WHERE name = 'sweep'")
        found: datetime | None = cursor.fetchone()[0]
        return found


LAST_HEARD = """
    SELECT served.table_id, max(contact.heard_at) FROM devices_contact contact
    JOIN devices_device_tables served ON served.device_id = contact.device_id GROUP BY served.table_id
"""


def last_heard() -> dict[int, datetime]:
    """When a device of each table last gave a sign of life, by the table's id; tables whose devices never did are missing."""
    return dict(execute(LAST_HEARD))


RECEIPTS = """
    SELECT came.sequence, message.received_at, message.device_id FROM accounting_stream stream
    CROSS JOIN LATERAL (
        SELECT sequence, message_id FROM tables_round WHERE stream_id = stream.id AND sequence = ANY(%(sequences)s)
        UNION ALL SELECT sequence, message_id FROM tables_lock WHERE stream_id = stream.id AND sequence = ANY(%(sequences)s)
    ) came JOIN devices_message message ON message.id = came.message_id WHERE stream.code = %(stream)s
"""


def with_receipts(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events of one stream, each with what its hash says of its message: when it was received, and the device's number."""
    sequences = [event["sequence"] for event in events if event["kind"] in (ROUND, LOCK)]
    found = {}
    if sequences:
        for sequence, received_at, device_id in execute(
            RECEIPTS, {"stream": events[0]["stream"], "sequences": sequences}
        ):
            found[sequence] = {"received_at": received_at.isoformat(), "device_id": device_id}
    none = {"received_at": None, "device_id": None}
    return [event | found.get(event["sequence"], none) for event in events]


def explanation_of(payout_id: str) -> dict[str, Any] | None:
    """How a payout was reached, with the message it came from; None where there is no such payout."""
    shown = payouts.by_id(payout_id)
    if shown is None:
        return None
    found = round_of(shown["table"], shown["round"])
    assert found is not None, "a payout's round has a message"
    message = found.as_decided
    explained = explanation(shown, message)
    (proof,) = with_receipts([explained["proof"]])
    return explained | {"proof": proof, "message": message, "received_at": found.received_at.isoformat()}


@dataclass(frozen=True, slots=True)
class Gateway:
    """A device with the tables it posts for, and the last message that came from it."""

    id: int
    code: str
    tables: str | None
    enrolled_at: datetime
    key: str | None
    last_at: datetime | None
    last_round: str | None
    last_table: str | None


# The last message of each of a device's tables by its reference's key would need an order by time; the newest message
# of a stream is found by its settled round instead, and what is still queued by the queue.
GATEWAYS = """
    SELECT device.id, device.code, string_agg(tabl.code, ', ' ORDER BY tabl.code), device.enrolled_at,
        CASE WHEN device.key_digest IS NOT NULL THEN 'key' WHEN device.demo_key_digest IS NOT NULL THEN 'demo key' END,
        max(last.received_at),
        (array_agg(last.reference ORDER BY last.received_at DESC NULLS LAST))[1],
        (array_agg(tabl.code ORDER BY last.received_at DESC NULLS LAST))[1]
    FROM devices_device device
    LEFT JOIN devices_device_tables held ON held.device_id = device.id
    LEFT JOIN tables_table tabl ON tabl.id = held.table_id
    LEFT JOIN LATERAL (
        SELECT message.received_at, message.reference FROM tables_round round
        JOIN devices_message message ON message.id = round.message_id
        WHERE round.table_id = tabl.id ORDER BY round.counts_at DESC LIMIT 1
    ) last ON true
    GROUP BY device.id ORDER BY device.code
"""


def gateways() -> list[Gateway]:
    """Every device by code, with its last settled message."""
    with connection.cursor() as cursor:
        cursor.execute(GATEWAYS)
        return [Gateway(*row) for row in cursor.fetchall()]


def queues() -> list[tuple[str, int, datetime]]:
    """Streams with messages that wait: code, how many, and when the oldest came."""
    with connection.cursor() as cursor:
        cursor.execute("""
            SELECT stream.code, count(*), min(queued.received_at) FROM devices_queued queued
            JOIN accounting_stream stream ON stream.id = queued.stream_id GROUP BY stream.code ORDER BY 3, 1
        """)
        return cursor.fetchall()


def significant_events(*, before: int | None = None, limit: int = 50) -> list[SignificantEvent]:
    """Significant events, newest first, by key below `before`."""
    events = SignificantEvent.objects.order_by("-id")
    return list((events.filter(id__lt=before) if before is not None else events)[:limit])


def recent_events(code: str, *, since: datetime, limit: int) -> list[SignificantEvent]:
    """The newest significant events of a kind that were recorded since a moment."""
    newest = SignificantEvent.objects.filter(code=code).order_by("-id")[:limit]
    return [event for event in newest if event.recorded_at >= since]


def rounds_wait(table: str) -> bool:
    """Whether a message of a table waits in any queue."""
    return Queued.objects.filter(message__table__code=table).exists()


QUEUED_UNTIL = """
    SELECT stream.code, count(*) FROM devices_queued queued
    JOIN devices_message message ON message.id = queued.message_id JOIN accounting_stream stream ON stream.id = queued.stream_id
    WHERE message.received_at < %s GROUP BY stream.code ORDER BY stream.code
"""


def queued_until(until: datetime) -> list[tuple[str, int]]:
    """How many messages that came before a moment wait to be settled, by stream; streams without any are left out."""
    return [(code, count) for code, count in execute(QUEUED_UNTIL, [until])]
