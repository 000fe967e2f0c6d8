"""What is on record of rounds and streams, for whoever waits for a settlement or compares the record with what it should be."""

from collections.abc import Collection
from datetime import date

from django.db import connection

from accounting.statements import Row, execute

SETTLEMENTS = """
    SELECT message_id, settlement FROM tables_round WHERE message_id = ANY(%(ids)s)
    UNION ALL SELECT message_id, settlement FROM tables_hold WHERE message_id = ANY(%(ids)s)
    UNION ALL SELECT message_id, result FROM tables_lock WHERE message_id = ANY(%(ids)s)
    UNION ALL SELECT message_id, result FROM tables_locksetaside WHERE message_id = ANY(%(ids)s)
"""
CORRECTED = """
    SELECT round.message_id, document.cause FROM tables_round round
    JOIN accounting_event event ON event.stream_id = round.stream_id AND event.sequence = round.sequence
    JOIN accounting_document document ON document.stream_id = round.stream_id AND document.sequence = round.sequence
    WHERE round.message_id = ANY(%s) AND event.kind = 'round.correct'
"""
BEFORE = """
    SELECT event.hash, coalesce(round.settlement, lock.result, document.result) FROM accounting_event event
    LEFT JOIN tables_round round ON round.stream_id = event.stream_id AND round.sequence = event.sequence
    LEFT JOIN tables_lock lock ON lock.stream_id = event.stream_id AND lock.sequence = event.sequence
    LEFT JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.sequence = %s
"""
AT = """
    SELECT event.sequence, event.recorded_at, coalesce(round.settlement, lock.result, document.result)
    FROM accounting_event event
    LEFT JOIN tables_round round ON round.stream_id = event.stream_id AND round.sequence = event.sequence
    LEFT JOIN tables_lock lock ON lock.stream_id = event.stream_id AND lock.sequence = event.sequence
    LEFT JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.sequence = ANY(%s) ORDER BY event.sequence
"""
PAYOUTS = """
    SELECT sequence, line, seat, kind, wager, hand, level_id, cents, table_id, dealt_at, counts_at, gaming_date FROM tables_payout
    WHERE stream_id = %s AND sequence BETWEEN %s AND %s ORDER BY sequence, line
"""
SETTLED = "SELECT stream_id, sequence FROM tables_round WHERE message_id = %s"
SETTLEMENT = """
    SELECT round.settlement, event.result_digest, coalesce(event.original_date, event.gaming_date) FROM tables_round round
    JOIN accounting_event event ON event.stream_id = round.stream_id AND event.sequence = round.sequence
    WHERE round.stream_id = %s AND round.sequence = %s
"""
HELD_FOR = "SELECT reasons FROM tables_hold WHERE message_id = %s"
# Compared with the stream as it stands in the same statement: a service that goes on settling is not in the way.
# Two searches, before the first event and after the last: with OR it would be a walk through all between.
BEYOND = """
    SELECT least((SELECT min(sequence) FROM tables_round WHERE stream_id = stream.id AND sequence < 0),
            (SELECT min(sequence) FROM tables_round WHERE stream_id = stream.id AND sequence >= next_sequence)),
        least((SELECT min(sequence) FROM tables_payout WHERE stream_id = stream.id AND sequence < 0),
            (SELECT min(sequence) FROM tables_payout WHERE stream_id = stream.id AND sequence >= next_sequence)),
        least((SELECT min(sequence) FROM accounting_transfer WHERE stream_id = stream.id AND sequence < 0),
            (SELECT min(sequence) FROM accounting_transfer WHERE stream_id = stream.id AND sequence >= next_sequence)),
        (SELECT min(sequence) FROM jackpot_hit hit JOIN jackpot_link link ON link.id = hit.link_id
            WHERE link.stream_id = stream.id AND (sequence < 0 OR sequence >= next_sequence)),
        least((SELECT min(sequence) FROM tables_lock WHERE stream_id = stream.id
                AND (sequence < 0 OR sequence >= next_sequence)),
            (SELECT min(ended) FROM tables_lock WHERE stream_id = stream.id AND ended >= next_sequence)),
        (SELECT min(sequence) FROM accounting_event WHERE stream_id = stream.id AND sequence >= next_sequence),
        (SELECT min(sequence) FROM accounting_document WHERE stream_id = stream.id AND sequence >= next_sequence)
    FROM accounting_stream stream WHERE stream.id = %s
"""
# Rows whose stream is not there at all: no replay would ever come by.
NOWHERE = """
    SELECT what, stream_id, sequence FROM (
        (SELECT 'event' AS what, stream_id, sequence FROM accounting_event)
        UNION ALL (SELECT 'document', stream_id, sequence FROM accounting_document)
        UNION ALL (SELECT 'transfer', stream_id, sequence FROM accounting_transfer)
        UNION ALL (SELECT 'round', stream_id, sequence FROM tables_round)
        UNION ALL (SELECT 'payout', stream_id, sequence FROM tables_payout)
        UNION ALL (SELECT 'lock', stream_id, sequence FROM tables_lock)
    ) AS found WHERE NOT EXISTS (SELECT FROM accounting_stream stream WHERE stream.id = found.stream_id) LIMIT 1
"""


def settlements(message_ids: Collection[int]) -> dict[int, bytes]:
    """The settlement of each message that has one, or the result of a lock, as its JSON bytes; a released round's stands before
    its hold's."""
    with connection.cursor() as cursor:
        cursor.execute(SETTLEMENTS, {"ids": list(message_ids)})
        found: dict[int, bytes] = {}
        for message_id, settlement in cursor.fetchall():
            found.setdefault(message_id, bytes(settlement))
        return found


def corrections(message_ids: Collection[int]) -> dict[int, bytes]:
    """The cause of each message's correction, for those that people corrected: the act with the message as corrected."""
    return dict(execute(CORRECTED, [list(message_ids)]))


def head_and_result(stream_id: int, sequence: int) -> tuple[bytes, bytes | None]:
    """The hash of an event and its result, a round's settlement or an act's document; nothing where there is no event."""
    found = execute(BEFORE, [stream_id, sequence])
    return found[0] if found else (b"", None)


def round_settled(message_id: int) -> tuple[int, int] | None:
    """The stream and the sequence that a message's round was settled or voided at; None where it was not."""
    found = execute(SETTLED, [message_id])
    return (found[0][0], found[0][1]) if found else None


def settlement_at(stream_id: int, sequence: int) -> tuple[bytes, bytes, date]:
    """The settlement of a round's event as it is kept, its digest and the round's own gaming day as the event has them.

    LookupError where none is.
    """
    found = execute(SETTLEMENT, [stream_id, sequence])
    if not found:
        raise LookupError(f"there is no round at sequence {sequence}")
    settlement, digest, day = found[0]
    return bytes(settlement), bytes(digest), day


def results_at(stream_id: int, sequences: Collection[int]) -> list[Row]:
    """Some events of a stream in its order: sequence, when it was recorded, and its result as JSON bytes where it has one."""
    return execute(AT, [stream_id, list(sequences)])


def payouts_between(stream_id: int, first: int, last: int) -> list[Row]:
    """The payouts of a range of events, in the order of `Payout`'s fields from sequence on."""
    return execute(PAYOUTS, [stream_id, first, last])


def held_for(message_id: int) -> list[str] | None:
    """The reasons that a message was held for; None where it never was."""
    found = execute(HELD_FOR, [message_id])
    return list(found[0][0]) if found else None


def rows_beyond(stream_id: int) -> dict[str, int | None]:
    """The first sequence before a stream's opening or after its last event that rows of each kind name; None where none."""
    (found,) = execute(BEYOND, [stream_id])
    return dict(zip(("rounds", "payouts", "transfers", "hits", "locks", "events", "documents"), found, strict=True))


def row_of_no_stream() -> tuple[str, int, int] | None:
    """A row whose stream is not there: what it is, the stream's id and the sequence it names; None where none is."""
    found = execute(NOWHERE)
    return found[0] if found else None
