"""Settling what waits: one worker a stream at a time, in the order taken under the stream's lock (ARCHITECTURE §3)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, Error, connection, transaction
from psycopg.sql import SQL

from accounting.services import ledger
from accounting.services.copying import refused_rows
from accounting.statements import execute
from devices import collector
from devices.intake import passed, self_check
from devices.intake.self_check import SelfCheckFailed
from devices.models import SignificantEvent
from devices.queries import ATTEMPTING
from tables.services import rounds, routing, terms
from tables.services.recording import Incoming
from tables.services.rounds import Batch, StreamHead

BATCH = 1_000
DEATHS_UNTIL_SUSPECT = 2

# Committed before the batch is tried, so that a batch that kills its worker is known by the next one. It may be lost
# with the database: then the batch is simply tried once more. A batch that succeeds moves the front, and with it this.
# One statement is one transaction and one way to the server: a floor's quiet hours are batches of one.
ATTEMPT = f"""
    WITH forgetful AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true) AS done),
    locked AS MATERIALIZED (
        SELECT stream.id FROM forgetful, accounting_stream stream
        WHERE stream.ctid = (SELECT ctid FROM accounting_stream WHERE id <= %(stream)s ORDER BY id DESC LIMIT 1)
            AND stream.id = %(stream)s AND forgetful.done IS NOT NULL
        FOR NO KEY UPDATE OF stream SKIP LOCKED
    ),
    front AS MATERIALIZED (
        SELECT locked.id AS stream_id, first.receipt, first.position FROM locked CROSS JOIN LATERAL (
            SELECT receipt, position FROM devices_queued WHERE stream_id = locked.id AND receipt >= {passed.FROM}
            ORDER BY receipt, position LIMIT 1
        ) AS first
    ),
    last AS MATERIALIZED (
        SELECT ctid, stream_id FROM devices_attempt WHERE stream_id <= %(stream)s ORDER BY stream_id DESC LIMIT 1
    ),
    again AS (
        UPDATE devices_attempt attempt SET receipt = front.receipt, position = front.position,
            attempts = CASE WHEN (attempt.receipt, attempt.position) = (front.receipt, front.position)
                THEN attempt.attempts + %(counted)s ELSE 1 END
        FROM front CROSS JOIN last WHERE attempt.ctid = last.ctid AND attempt.stream_id = front.stream_id
        RETURNING attempts
    ),
    first AS (
        INSERT INTO devices_attempt (stream_id, receipt, position, attempts)
        SELECT stream_id, receipt, position, 1 FROM front
        WHERE NOT EXISTS (SELECT FROM last WHERE last.stream_id = front.stream_id)
        RETURNING attempts
    )
    SELECT EXISTS (SELECT FROM locked), (SELECT attempts FROM again UNION ALL SELECT attempts FROM first)
"""
# Held by the session from the attempt until it is over, for between the two the stream's row is free. Another worker who
# counted an attempt then would make a message suspicious that has killed nobody. It ends with the session, however that
# ends; a session that falls silent here is ended by idle_session_timeout.
# Where nothing waits it is not even tried.
TRY_ALONE = f"""
    SELECT pg_try_advisory_lock(%(lock)s) FROM (
        SELECT FROM devices_queued WHERE stream_id = %(stream)s AND receipt >= {passed.FROM} ORDER BY receipt LIMIT 1
    ) AS waiting
"""
OVER = "SELECT pg_advisory_unlock(%s)"
# Locks cost a stream without them one look into an empty index: whether any waits is asked once a statement, of the newest first.
TAKE = f"""
    SELECT message.id, message.table_id, message.reference, message.received_at, message.raw, message.digest,
        message.device_id, message.kind,
        CASE WHEN message.kind = 'lock' THEN CASE WHEN EXISTS (
                SELECT FROM devices_reference reference WHERE reference.table_id = message.table_id
                    AND reference.reference = message.reference AND reference.kind = 'result'
                    AND (EXISTS (SELECT FROM tables_round round WHERE round.message_id = reference.message_id)
                        OR EXISTS (SELECT FROM tables_hold hold WHERE hold.message_id = reference.message_id))
            ) THEN 'late'::bytea ELSE ''::bytea END
        WHEN (
            SELECT waiting.stream_id FROM tables_lock waiting
            WHERE waiting.stream_id <= %(stream)s AND waiting.state = 'locked' ORDER BY waiting.stream_id DESC LIMIT 1
        ) = %(stream)s THEN (
            SELECT lock.put_in FROM tables_lock lock WHERE lock.table_id = message.table_id
                AND lock.reference = message.reference AND lock.stream_id = queued.stream_id AND lock.state = 'locked'
        ) END, queued.receipt, queued.position
    FROM devices_queued queued JOIN devices_message message ON message.id = queued.message_id
    WHERE queued.stream_id = %(stream)s AND queued.receipt >= {passed.FROM}
    ORDER BY queued.receipt, queued.position LIMIT %(limit)s
"""
# From each stream's first place straight to the next stream's: what a sweep costs does not grow with what waits. It starts at the
# beginning, whatever a stream has passed, and takes that back where something waits below: a post of a version that did not yet
# have its number before its receipt may have been overtaken, and waits for this look at most.
STREAMS_WAITING = """
    WITH RECURSIVE front (stream_id, receipt) AS (
        (SELECT stream_id, receipt FROM devices_queued ORDER BY stream_id, receipt LIMIT 1)
        UNION ALL
        SELECT next.stream_id, next.receipt FROM front CROSS JOIN LATERAL (
            SELECT stream_id, receipt FROM devices_queued WHERE stream_id > front.stream_id
            ORDER BY stream_id, receipt LIMIT 1
        ) AS next
    ),
    taken_back AS (
        UPDATE devices_passed passed SET receipt = front.receipt
        FROM front WHERE passed.stream_id = front.stream_id AND passed.receipt > front.receipt
    )
    SELECT stream_id FROM front ORDER BY receipt
"""
WAITING = f"""
    SELECT count(*) FROM (
        SELECT FROM devices_queued WHERE stream_id = %(stream)s AND receipt >= {passed.FROM} LIMIT %(most)s
    ) AS waiting
"""
# Exactly what was taken: a post with a lower receipt may have committed since, and it is not settled yet. The range is
# for the index. A stream that commits a batch does not stand still.
DONE = SQL(
    "WITH going_on AS (DELETE FROM devices_stoppage WHERE stream_id = {stream})"
    " DELETE FROM devices_queued WHERE stream_id = {stream} AND receipt >= {first}"
    " AND (receipt, position) <= ({receipt}, {position}) AND message_id = ANY({messages})"
)
# A message accepted while its table changed streams lies in the old one's queue; its place, a receipt and an index, is the
# same in any. What the new one has passed may be more than that: it is taken back.
MOVED = """
    , taken_back AS (
        UPDATE devices_passed passed SET receipt = least(passed.receipt, lowest.receipt),
            put_forward = least(passed.put_forward, lowest.receipt)
        FROM (SELECT stream_id, min(receipt) AS receipt FROM moved GROUP BY stream_id) AS lowest
        WHERE passed.stream_id = lowest.stream_id
    )
    SELECT stream_id FROM moved
"""
REROUTE = f"""
    WITH moved AS (
        UPDATE devices_queued queued SET stream_id = tabl.stream_id
        FROM devices_message message JOIN tables_table tabl ON tabl.id = message.table_id
        WHERE queued.stream_id = %s AND queued.message_id = ANY(%s) AND message.id = queued.message_id
            AND tabl.stream_id <> queued.stream_id
        RETURNING queued.stream_id, queued.receipt
    ) {MOVED}
"""
# A message of a table that joined or left a link belongs where its moment does, wherever the table is now.
HAND_OVER = f"""
    WITH moved AS (
        UPDATE devices_queued queued SET stream_id = belongs.stream_id
        FROM unnest(%s::bigint[], %s::bigint[]) AS belongs (message_id, stream_id)
        WHERE queued.stream_id = %s AND queued.message_id = belongs.message_id
        RETURNING queued.stream_id, queued.receipt
    ) {MOVED}
"""
# Who took the stream's row between an attempt and its batch is no evidence against a message, and an error of ours is none:
# the attempt that either ended is not counted.
EXCUSE = "UPDATE devices_attempt SET attempts = greatest(0, attempts - %s) WHERE stream_id = %s"
STOPPED = f"""
    WITH excused AS ({EXCUSE})
    INSERT INTO devices_stoppage AS stoppage (stream_id, since, reason) VALUES (%s, %s, %s)
    ON CONFLICT (stream_id) DO UPDATE SET reason = excluded.reason
"""
REASON_AT_MOST = 300
# Values and rows that only the settling code itself could have got wrong: the form of a COPY, a key that is handed out here.
OURS = {"22P03", "22P04", "23503", "23505"}

# Streams whose last attempt by this process an error of ours ended, which could not be put on record: the next attempt is
# not counted.
_excused: set[int] = set()


@dataclass(frozen=True, slots=True)
class Taken:
    """What one visit to a stream did; `busy` when another worker is at it, `more` when its queue was not emptied.

    `rerouted` are the streams that messages were handed to because their tables are there now, once for each message.
    """

    batch: Batch
    busy: bool = False
    more: bool = False
    rerouted: tuple[int, ...] = ()


def settle_next(stream_id: int, *, clock: Callable[[], datetime], limit: int = BATCH) -> Taken:
    """Settle up to `limit` waiting messages of a stream in one transaction.

    A batch with a value that the database refuses, or that its worker did not survive more than once, is halved until the
    message at fault stands alone and fails alone; that one is held `processing_error`, the rest flows. Any other error is
    ours: nothing is held, the stream stands still and says so until it can go on, and the error is raised.
    """
    with _alone_at(stream_id) as alone:
        if alone is None:
            return Taken(Batch())
        counted = int(stream_id not in _excused)
        try:
            attempts = _attempt(stream_id) if alone else None
            if attempts is None:
                return Taken(Batch(), busy=True)
            if attempts == 0:
                return Taken(Batch())
            taken = _settle_suspiciously(stream_id, limit, clock=clock, attempts=attempts)
            if taken.busy:
                execute(EXCUSE, [counted, stream_id])
            return taken
        except Exception as error:
            terms.forget()
            if isinstance(error, SelfCheckFailed):
                self_check.put_on_record(stream_id, error, clock())
            if not _is_silent(error):
                _stand_still(stream_id, error, since=clock(), counted=counted)
            raise


def _settle_suspiciously(stream_id: int, limit: int, *, clock: Callable[[], datetime], attempts: int) -> Taken:
    size, hold_for = limit, ""
    halvings = attempts - DEATHS_UNTIL_SUSPECT
    if halvings > 0:
        waiting = _waiting(stream_id, limit)
        size = max(1, waiting >> halvings)
        if waiting >> (halvings - 1) <= 1:  # it stood alone the last time
            hold_for = f"tried {attempts - 1} times and never finished, at last alone"
    while True:
        try:
            return _settle(stream_id, size, clock=clock, hold_for=hold_for)
        except DatabaseError as error:
            if hold_for or not _is_evidence(error):
                raise
            terms.forget()
            size = min(size, _waiting(stream_id, size))
            if size <= 1:
                hold_for = str(error)
            size = max(1, size // 2)


def _stand_still(stream_id: int, error: Exception, *, since: datetime, counted: int) -> None:
    """Put on record that a stream cannot go on and why; it is tried again as ever."""
    reason = (str(error).strip() or repr(error)).splitlines()[0]
    if not isinstance(error, Error):
        reason = f"{type(error).__name__}: {reason}"
    try:
        execute(STOPPED, [counted, stream_id, stream_id, since, reason[:REASON_AT_MOST]])
    except Error:  # the very trouble that is to be put on record
        _excused.add(stream_id)


@contextmanager
def _alone_at(stream_id: int) -> Iterator[bool | None]:
    """Whether no other worker that lives is at this stream; it is kept from all others while this lasts.

    None where nothing waits.
    """
    found = execute(TRY_ALONE, {"lock": ATTEMPTING + stream_id, "stream": stream_id}, kept=True)
    alone = found[0][0] if found else None
    try:
        yield alone
    finally:
        if alone and not _over(stream_id):
            # A session that may still have the lock keeps the stream from everybody: it ends, and the lock with it.
            connection.close()


def _over(stream_id: int) -> bool:
    """Give the session's lock back; whether it was there to be given back."""
    try:
        return bool(execute(OVER, [ATTEMPTING + stream_id], kept=True)[0][0])
    except Error:
        return False


def _waiting(stream_id: int, most: int) -> int:
    """How many messages of a stream wait; `most` when there are more."""
    return int(execute(WAITING, {"stream": stream_id, "most": most})[0][0])


def _is_evidence(error: DatabaseError) -> bool:
    """Whether the database refused a value among the rows that messages became (ARCHITECTURE §4.11)."""
    code = getattr(error.__cause__, "sqlstate", None) or ""
    return code[:2] in {"22", "23"} and code not in OURS and refused_rows(error.__cause__)


def _is_silent(error: Exception) -> bool:
    """Whether the connection broke without a word: a message may have brought the server down."""
    without_a_word = isinstance(error, Error) and getattr(error.__cause__, "sqlstate", None) is None
    return without_a_word and not connection.is_usable()


def _attempt(stream_id: int) -> int | None:
    """Commit that the front of the queue is being tried: its number of tries; 0 when nothing waits, None when busy."""
    ((free, tries),) = execute(ATTEMPT, {"stream": stream_id, "counted": 0 if stream_id in _excused else 1}, kept=True)
    if not free:
        return None
    _excused.discard(stream_id)
    return tries or 0


def _settle(stream_id: int, size: int, *, clock: Callable[[], datetime], hold_for: str) -> Taken:
    with transaction.atomic():
        locked = ledger.lock_where_free(stream_id)
        if locked is None:
            return Taken(Batch(), busy=True)
        at = clock()  # by whoever holds the lock: a moment from before it was free may be earlier than the last event's
        rows = execute(TAKE, {"stream": stream_id, "limit": size}, kept=True)
        if not rows:
            return Taken(Batch())
        stream = StreamHead(*locked)
        self_check.check(stream)
        in_force = terms.of_stream(stream.id, stream.terms_version)
        here = in_force.tables
        rerouted = _reroute(stream_id, [row[0] for row in rows if row[1] not in here])
        with collector.paused():
            incoming = [Incoming._make(row[:9]) for row in rows if row[1] in here]
            if in_force.moved and (elsewhere := routing.elsewhere(in_force, incoming)):
                incoming = [message for message in incoming if message.message_id not in elsewhere]
                rerouted += _hand_over(stream_id, elsewhere)
            receipt, position = rows[-1][9:11]
            done = DONE.format(
                stream=stream_id,
                first=rows[0][9],
                receipt=receipt,
                position=position,
                messages=[message.message_id for message in incoming],
            )
            batch = rounds.settle_batch(stream, incoming, at=at, hold_for=hold_for, besides=done)
            if not rerouted:  # else it holds another stream's row, whose batch may hold this one's
                passed.took(stream_id, receipt)
        _report(batch, at)
    return Taken(batch, more=len(rows) == size, rerouted=rerouted)


class TableAstray(LookupError):
    """A message waits on a stream whose terms do not know its table, though the table is on it, or is nowhere."""


def _reroute(stream_id: int, message_ids: list[int]) -> tuple[int, ...]:
    """Move messages of tables that are on other streams to the queues of those; the streams. TableAstray if one cannot."""
    if not message_ids:
        return ()
    moved = tuple(stream for (stream,) in execute(REROUTE, [stream_id, message_ids]))
    if len(moved) != len(message_ids):
        raise TableAstray(f"{len(message_ids)} messages of tables that are not on this stream, {len(moved)} on another")
    return moved


def _hand_over(stream_id: int, elsewhere: dict[int, int]) -> tuple[int, ...]:
    """Move messages to the queues of the streams that their moments belong to; those streams."""
    moved = execute(HAND_OVER, [list(elsewhere), list(elsewhere.values()), stream_id])
    return tuple(stream for (stream,) in moved)


def _report(batch: Batch, at: datetime) -> None:
    """Put what is worth knowing on record: clocks that are off, messages that crashed the settling code."""
    events = [
        SignificantEvent(
            recorded_at=at,
            code="dated_by_receipt",
            detail={"message": message.message_id, "round": message.reference},
        )
        for message in batch.misdated
    ]
    events += [
        SignificantEvent(
            recorded_at=at,
            code="processing_error",
            detail={"message": message.message_id, "round": message.reference, "error": error[-2000:]},
        )
        for message, error in batch.crashed
    ]
    events += [
        SignificantEvent(
            recorded_at=at,
            code="lock_held" if outcome == "held" else "lock_after_result",
            detail={"message": message.message_id, "round": message.reference, "reasons": reasons},
        )
        for message, outcome, reasons in batch.set_aside
    ]
    if events:
        SignificantEvent.objects.bulk_create(events)


def streams_waiting() -> list[int]:
    """Streams with messages in the queue, the one that waits longest first."""
    return [stream_id for (stream_id,) in execute(STREAMS_WAITING)]


def drain(*, clock: Callable[[], datetime]) -> int:
    """Settle until nothing waits on any stream that no other worker is at; the number of messages dealt with."""
    dealt_with = 0
    while streams := streams_waiting():
        progress = 0
        for stream_id in streams:
            taken = settle_next(stream_id, clock=clock)
            done = taken.batch.dealt_with
            dealt_with += done
            progress += done + len(taken.rerouted)
        if not progress:
            return dealt_with
    return dealt_with


def beat(name: str, at: datetime) -> None:
    """Leave a sign of life that health can be told by, and one for who watches this process; it may be lost with the database."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")
        cursor.execute(
            "INSERT INTO devices_heartbeat (name, seen_at) VALUES (%s, %s)"
            " ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at",
            [name, at],
        )
    if settings.ALIVE_FILE is not None:
        with suppress(OSError):
            settings.ALIVE_FILE.touch()
