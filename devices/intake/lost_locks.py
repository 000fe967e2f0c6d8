"""Locks whose result does not come: an exception after a term, until the result comes or people void them (SPEC §6.7).

The wagers were taken and have contributed; whether the cards were dealt is for people to find out.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction

from accounting.statements import execute
from devices.models import SignificantEvent

LOCK_WITHOUT_RESULT = "lock_without_result"
LOOK_ALONE = 0x6C6F636B  # the name of the lock that keeps two looks apart
MOST = 100
"""So many are told of in one look and shown; the next look goes on."""

# A result that is held or still queued has come.
LOST = """
    SELECT lock.message_id, tabl.code, lock.reference, lock.locked_at, event.recorded_at, device.code
    FROM tables_lock lock
    JOIN accounting_event event ON event.stream_id = lock.stream_id AND event.sequence = lock.sequence
    JOIN tables_table tabl ON tabl.id = lock.table_id
    JOIN devices_message message ON message.id = lock.message_id
    LEFT JOIN devices_device device ON device.id = message.device_id
    WHERE lock.state = 'locked' AND event.recorded_at < %s
        AND NOT EXISTS (SELECT FROM devices_reference reference WHERE reference.table_id = lock.table_id
            AND reference.reference = lock.reference AND reference.kind = 'result')
"""
UNTOLD = """
        AND NOT EXISTS (SELECT FROM devices_significantevent told WHERE told.code = %s
            AND told.detail -> 'message' = to_jsonb(lock.message_id))
"""
OLDEST = " ORDER BY event.recorded_at, lock.message_id LIMIT %s"


class LostLock(NamedTuple):
    """A lock whose result is overdue: its message, table and round, when it was pressed and recorded, and its device."""

    message_id: int
    table: str
    round: str
    locked_at: datetime
    recorded_at: datetime
    device: str | None


def _before(now: datetime) -> datetime:
    return now - timedelta(seconds=settings.LOCK_SECONDS)


def lost(now: datetime) -> list[LostLock]:
    """The locks whose results are overdue, the oldest first, at most 100."""
    return [LostLock._make(row) for row in execute(LOST + OLDEST, [_before(now), MOST])]


def look(*, at: datetime) -> int:
    """Put on record which results are overdue that were not before; how many."""
    with transaction.atomic():
        ((alone,),) = execute("SELECT pg_try_advisory_xact_lock(%s)", [LOOK_ALONE])
        if not alone:
            return 0
        found = [
            LostLock._make(row) for row in execute(LOST + UNTOLD + OLDEST, [_before(at), LOCK_WITHOUT_RESULT, MOST])
        ]
        SignificantEvent.objects.bulk_create(
            SignificantEvent(
                recorded_at=at,
                code=LOCK_WITHOUT_RESULT,
                table=lock.table,
                device=lock.device or "",
                detail={"round": lock.round, "locked_at": lock.locked_at.isoformat(), "message": lock.message_id},
            )
            for lock in found
        )
    return len(found)
