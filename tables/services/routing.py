"""Which stream a round of a table counts on that joined or left a link: the one that its moment belongs to (CONTRACT §7)."""

from collections.abc import Iterable

from accounting.queries import stream_ids
from accounting.services import ledger
from tables.services import terms
from tables.services.recording import Incoming, decode
from tables.services.rounds import dated
from tables.services.terms import StreamTerms


def elsewhere(in_force: StreamTerms, messages: Iterable[Incoming]) -> dict[int, int]:
    """The messages among these whose moment belongs to another stream than the one in hand, with that stream's id."""
    found = {}
    for message in messages:
        if message.table_id in in_force.moved:
            where = _where(message, in_force)
            if where is not None and where != in_force.stream:
                found[message.message_id] = where
    ids = stream_ids(set(found.values())) if found else {}
    return {message_id: ids[where] for message_id, where in found.items()}


def stream_of(message: Incoming, stream_id: int, raw: bytes | None = None) -> int:
    """The stream that a round counts on whose table is on this one now; `raw` is the message as people correct it."""
    in_force = terms.of_stream(stream_id, ledger.stream(stream_id).terms_version)
    if message.table_id not in in_force.moved:
        return stream_id
    where = _where(message if raw is None else message._replace(raw=raw), in_force)
    return stream_id if where is None else stream_ids([where])[where]


def _where(message: Incoming, in_force: StreamTerms) -> str | None:
    """The code of the stream that a message's moment belongs to; None where it cannot be read: it is held where it is."""
    table = in_force.house.tables[in_force.tables[message.table_id]]
    try:
        when = dated(decode(message.raw), message.received_at, table)
    except MemoryError:  # says nothing against the message
        raise
    except Exception:
        return None
    return table.stream_at(when.moment)
