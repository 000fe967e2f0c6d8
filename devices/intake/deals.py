"""The same deal under a second reference: settled as posted, and put on record for supervisors.

Settling does not wait for this. A job looks at what was decided since its last look, keeps a digest of each deal, and
raises an event for one whose table, moment and cards were there before under another reference.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

import msgspec
from django.db import transaction
from msgspec import Struct

from accounting.rules.moments import nanoseconds
from accounting.statements import execute
from devices import collector
from devices.models import SignificantEvent

SAME_DEAL_TWICE = "same_deal_twice"
AT_ONCE = 1_000
MOST_AT_ONCE = 20  # looks of so many in one run; the next run goes on
LATE = timedelta(minutes=2)  # so much later than its own clock says may a hold be seen here
LOOK_ALONE = 0x6465616C  # the name of the lock that keeps two looks apart


class _Seat(Struct):
    seat: int
    cards: list[str]
    result: str | None = None


class _Deal(Struct):
    """What of a message makes the deal."""

    dealt_at: str
    community: list[str]
    seats: list[_Seat]
    dealer: list[str] = []
    result: str | None = None


_decode = msgspec.json.Decoder(_Deal).decode
_encode = msgspec.json.Encoder().encode


def digest(raw: bytes) -> bytes:
    """The digest of a deal: its moment and its cards, whoever bet what; of wheels and dice, what they showed."""
    deal = _decode(raw)
    seats = sorted((seat.seat, seat.cards, seat.result) for seat in deal.seats)
    same = (nanoseconds(deal.dealt_at), deal.community, deal.dealer, seats, deal.result)
    return blake2b(_encode(same), digest_size=16).digest()


STREAMS = """
    SELECT stream.id, coalesce(looked.sequence, 0), stream.next_sequence - 1 FROM accounting_stream stream
    LEFT JOIN devices_looked looked ON looked.stream_id = stream.id
    WHERE stream.next_sequence - 1 > coalesce(looked.sequence, 0) ORDER BY stream.id
"""
SETTLED = """
    SELECT message.id, message.table_id, message.raw, round.sequence
    FROM tables_round round JOIN devices_message message ON message.id = round.message_id
    WHERE round.stream_id = %s AND round.sequence > %s AND round.sequence <= %s ORDER BY round.sequence LIMIT %s
"""
HELD = """
    SELECT message.id, message.table_id, message.raw, 0
    FROM tables_hold hold JOIN devices_message message ON message.id = hold.message_id
    WHERE message.kind = 'result' AND hold.held_at > %s::interval + coalesce(
        (SELECT seen_at FROM devices_heartbeat WHERE name = 'deals'), '-infinity')
"""
KEEP = """
    INSERT INTO devices_deal (table_id, digest, message_id)
    SELECT * FROM unnest(%s::bigint[], %s::bytea[], %s::bigint[]) ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING
    RETURNING message_id
"""
# Of each deal that is new here the earliest that was there before it.
TWINS = """
    SELECT fresh.message_id, message.reference, tabl.code, twin.message_id, twin.reference, device.code
    FROM unnest(%s::bigint[], %s::bytea[], %s::bigint[]) AS fresh (table_id, digest, message_id)
    CROSS JOIN LATERAL (
        SELECT deal.message_id, other.reference
        FROM devices_deal deal JOIN devices_message other ON other.id = deal.message_id
        WHERE deal.table_id = fresh.table_id AND deal.digest = fresh.digest AND deal.message_id <> fresh.message_id
            AND (deal.message_id < fresh.message_id OR deal.message_id <> ALL(%s::bigint[]))
        ORDER BY deal.message_id LIMIT 1
    ) AS twin
    JOIN devices_message message ON message.id = fresh.message_id
    JOIN tables_table tabl ON tabl.id = fresh.table_id
    LEFT JOIN devices_device device ON device.id = message.device_id
    ORDER BY fresh.message_id
"""
LOOKED = """
    INSERT INTO devices_looked (stream_id, sequence) VALUES (%s, %s)
    ON CONFLICT (stream_id) DO UPDATE SET sequence = excluded.sequence
"""
SEEN = """
    INSERT INTO devices_heartbeat (name, seen_at) VALUES ('deals', %s)
    ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
"""

Row = tuple[int, int, bytes, int]


def look(*, at: datetime) -> int:
    """Look at what was decided since the last look, up to 20,000 rounds; how many events were raised."""
    raised = 0
    for _ in range(MOST_AT_ONCE):
        with transaction.atomic():
            ((alone,),) = execute("SELECT pg_try_advisory_xact_lock(%s)", [LOOK_ALONE])
            if not alone:
                return raised
            streams = execute(STREAMS, [])
            if not streams:
                break
            stream_id, after, head = streams[0]
            rows = execute(SETTLED, [stream_id, after, head, AT_ONCE])
            raised += _compare(rows, at)
            execute(LOOKED, [stream_id, rows[-1][3] if len(rows) == AT_ONCE else head])
    with transaction.atomic():
        raised += _compare(execute(HELD, [-LATE]), at)
        execute(SEEN, [at])
    return raised


def _compare(rows: Sequence[Row], at: datetime) -> int:
    """Keep the deals of these messages and raise an event for each that was there before; how many."""
    with collector.paused():
        deals = [(table_id, digest(bytes(raw)), message_id) for message_id, table_id, raw, _ in rows]
    if not deals:
        return 0
    kept = {message_id for (message_id,) in execute(KEEP, _columns(deals))}
    fresh = [deal for deal in deals if deal[2] in kept]
    if not fresh:
        return 0
    twins = execute(TWINS, [*_columns(fresh), list(kept)])
    SignificantEvent.objects.bulk_create(
        SignificantEvent(
            recorded_at=at,
            code=SAME_DEAL_TWICE,
            table=table,
            device=device or "",
            detail={"round": reference, "same_as": other, "message": message_id, "other_message": other_id},
        )
        for message_id, reference, table, other_id, other, device in twins
    )
    return len(twins)


def _columns(deals: Sequence[tuple[int, bytes, int]]) -> list[Any]:
    return [list(column) for column in zip(*deals, strict=True)]
