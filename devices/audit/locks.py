"""Replaying locks: each is decided again from its message, and what it left is compared until an event ends it (A50-A52).

A range of events reads the locks that began in it and those that ended in it. One that ended here and began in an earlier
range is taken over as its row keeps it; whoever replays that range compares the row with what the rules make of the message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from typing import NamedTuple

from accounting.statements import execute
from devices.audit.findings import Difference
from devices.audit.rows import Recorded
from devices.bodies import strict
from tables.rules.door import InvalidJson, Refusal
from tables.rules.house import DECIDED, LOCKED, VOID, House
from tables.rules.lock import LockMessage
from tables.rules.lock import read as read_lock
from tables.rules.locking import Lock, LockDecision, decide_lock
from tables.services import lock_rows, locks
from tables.services.recording import encode
from tables.services.rounds import dated_by
from tables.services.terms import StreamTerms

Same = Callable[[str, object, object], None]
"""Raises Difference unless the event in hand has what was expected."""


class LockRow(NamedTuple):
    """A lock with its message; what is not there of the message is None.

    `result_sequence` is the number on this stream of its round's result, where that has one.
    """

    sequence: int
    message_id: int
    table_id: int
    reference: str
    locked_at: datetime
    counts_at: datetime
    day: date
    original: date | None
    result: bytes
    put_in: bytes
    state: str
    ended: int | None
    received_at: datetime | None
    raw: bytes | None
    digest: bytes | None
    message_table: int | None
    message_reference: str | None
    message_kind: str | None
    device_id: int | None
    result_sequence: int | None


LOCKS = """
    SELECT lock.sequence, lock.message_id, lock.table_id, lock.reference, lock.locked_at, lock.counts_at, lock.gaming_date,
        lock.original_date, lock.result, lock.put_in, lock.state, lock.ended, message.received_at, message.raw,
        message.digest, message.table_id, message.reference, message.kind, message.device_id,
        (SELECT round.sequence FROM devices_reference reference
            JOIN tables_round round ON round.message_id = reference.message_id AND round.stream_id = lock.stream_id
            WHERE reference.table_id = lock.table_id AND reference.reference = lock.reference
                AND reference.kind = 'result')
    FROM tables_lock lock LEFT JOIN devices_message message ON message.id = lock.message_id
    WHERE lock.stream_id = %s AND (lock.sequence BETWEEN %s AND %s OR lock.ended BETWEEN %s AND %s)
"""


@dataclass(slots=True)
class Locks:
    """The locks of a range: by the event that each began with, and by the one that ended it."""

    in_force: StreamTerms
    began: dict[int, LockRow]
    ended: dict[int, LockRow]
    waiting: int = 0
    """How many more wait at the end of the range than at its beginning."""

    def bring(self, sequence: int, house: House) -> None:
        """Let the house have the lock that the event of this number ended."""
        row = self.ended.get(sequence)
        if row is not None:
            house.locks[self._key(row)] = lock_rows.state_of(row.put_in)

    def end(self, sequence: int, kind: str, house: House, before: int, same: Same) -> None:
        """Compare what the event of this number ended with its rows; `before` locks were known to the house before it."""
        row = self.ended.get(sequence)
        began = int(sequence in self.began)
        same("locks that it ended", int(row is not None), before + began - len(house.locks))
        if row is not None:
            same("lock that it ended", False, self._key(row) in house.locks)
            same("state of the lock that it ended", VOID if kind == locks.VOID else DECIDED, row.state)
        self.waiting += began - int(row is not None)

    def _key(self, row: LockRow) -> tuple[str, str]:
        return self.in_force.tables.get(row.table_id, ""), row.reference

    def message(self, row: LockRow, same: Same, where: str) -> LockMessage:
        """The message of a lock, once its bytes, digest, kind and reference are what is on record."""
        try:
            value, canonical = strict(row.raw or b"")
        except InvalidJson:
            raise Difference(where, "message", "JSON", row.raw) from None
        same("digest of the message", sha256(canonical).digest(), row.digest)
        recorded = (row.message_table, row.message_reference, row.message_kind)
        same("table, reference and kind of the message", (row.table_id, row.reference, "lock"), recorded)
        message = (
            read_lock(value, self.in_force.tables.values()) if isinstance(value, dict) and "kind" in value else None
        )
        if message is None or isinstance(message, Refusal):
            raise Difference(where, "message", "a lock", message)
        same("table on this stream", message.table, self.in_force.tables.get(row.table_id))
        same("reference in the message", message.round, row.reference)
        return message

    def decide(self, event: Recorded, row: LockRow, house: House, same: Same, where: str) -> LockDecision:
        """Decide a lock again and compare its rows with that; the day it was booked on is the caller's to compare."""
        message = self.message(row, same, where)
        key = (message.table, message.round)
        same("digest of the message in the event", row.digest, event.message_digest)
        same("subject", f"{message.table}/{message.round}", event.subject)
        assert row.received_at is not None, "its message is there"
        when = dated_by(message.locked_at, row.received_at, house.tables[message.table])
        if row.result_sequence is not None and row.result_sequence < event.sequence:
            house.rounds[key] = locks.RESULT_CAME
        try:
            decision = decide_lock(Lock(message, when.moment), house)
        finally:
            house.rounds.pop(key, None)
        same("outcome", LOCKED, decision.outcome)
        assert decision.lock is not None, "it is locked"
        same("time of the lock", when.dealt_at, row.locked_at)
        same("moment it counts from", when.counts_at, row.counts_at)
        same("days of the lock", (event.day, event.original), (row.day, row.original))
        result = encode(decision.result)
        if result != row.result:
            raise Difference(where, "result", result.decode(), row.result.decode(errors="replace"))
        same("digest of the result in the event", sha256(result).digest(), event.result_digest)
        put_in = lock_rows.put_in(decision.lock)
        if put_in != row.put_in:
            raise Difference(where, "what the lock put in", put_in.decode(), row.put_in.decode(errors="replace"))
        return decision


def of_range(stream_id: int, first: int, last: int, in_force: StreamTerms) -> Locks:
    """The locks of a range of events."""
    found = [LockRow._make(row) for row in execute(LOCKS, [stream_id, first, last, first, last])]
    began = {row.sequence: row for row in found if first <= row.sequence <= last}
    ended = {row.ended: row for row in found if row.ended is not None and first <= row.ended <= last}
    return Locks(in_force, began, ended)
