"""Which stream a message of a table counts on that joined or left a link: the one that its moment belongs to (CONTRACT §7).

A result counts from its lock (DECISIONS A51), so it goes where its lock is, whenever it was dealt.
"""

from collections.abc import Iterable

from accounting.queries import stream_ids
from accounting.services import ledger
from tables.services import lock_rows, locks, terms
from tables.services.recording import RESULT, Incoming, decode
from tables.services.rounds import dated_by
from tables.services.terms import StreamTerms


def elsewhere(in_force: StreamTerms, messages: Iterable[Incoming]) -> dict[int, int]:
    """The messages among these that belong to another stream than the one in hand, with that stream's id."""
    moved = [message for message in messages if message.table_id in in_force.moved]
    if not moved:
        return {}
    locked = lock_rows.streams_of((message.table_id, message.reference) for message in moved)
    coming: dict[tuple[int, str], str] = {}  # where the locks go that are among these
    found: dict[int, str | int] = {}
    for message in moved:
        key = (message.table_id, message.reference)
        if message.kind == RESULT and key in locked:
            found[message.message_id] = locked[key]
            continue
        where = coming.get(key) if message.kind == RESULT else None
        where = where or _where(message, in_force)
        if where is None:
            continue
        if message.kind != RESULT:
            coming[key] = where
        found[message.message_id] = where
    ids = stream_ids({in_force.stream, *(where for where in found.values() if isinstance(where, str))})
    by_id = {message_id: where if isinstance(where, int) else ids[where] for message_id, where in found.items()}
    return {message_id: stream for message_id, stream in by_id.items() if stream != ids[in_force.stream]}


def stream_of(message: Incoming, stream_id: int, raw: bytes | None = None) -> int:
    """The stream that a round counts on whose table is on this one now; `raw` is the message as people correct it."""
    in_force = terms.of_stream(stream_id, ledger.stream(stream_id).terms_version)
    if message.table_id not in in_force.moved:
        return stream_id
    key = (message.table_id, message.reference)
    if key in (locked := lock_rows.streams_of([key])):
        return locked[key]
    where = _where(message if raw is None else message._replace(raw=raw), in_force)
    return stream_id if where is None else stream_ids([where])[where]


def _where(message: Incoming, in_force: StreamTerms) -> str | None:
    """The code of the stream that a message's moment belongs to; None where it cannot be read: it is held where it is."""
    table = in_force.house.tables[in_force.tables[message.table_id]]
    try:
        if message.kind == RESULT:
            reported = decode(message.raw).dealt_at
        else:
            reported = locks.read(message.raw, in_force.house.tables).locked_at
        when = dated_by(reported, message.received_at, table)
    except MemoryError:  # says nothing against the message
        raise
    except Exception:
        return None
    return table.stream_at(when.moment)
