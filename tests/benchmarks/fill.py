"""Years of history without years of play: rounds that were really settled, copied by SQL under new keys.

What a copy keeps is everything that costs: its message, settlement, transfers and payouts, their sizes and their
indexes. What it does not keep is the truth of the hash chain and of the totals, so a filled database cannot be
verified; and awards are not copied, so a copied `level` payout has no hit.
"""

from typing import Any

import psycopg

COPIES = (
    """
    INSERT INTO devices_message
        (id, stream_id, table_id, reference, kind, device_id, device_sequence, received_at, raw, digest)
    SELECT id + %(messages)s, stream_id, table_id, reference || '~' || %(copy)s, kind, device_id, device_sequence,
        received_at - %(back)s, raw, digest FROM devices_message WHERE id <= %(last_message)s ORDER BY id
    """,
    """
    INSERT INTO devices_reference (table_id, reference, kind, digest, message_id, received_at, device_id)
    SELECT table_id, reference || '~' || %(copy)s, kind, digest, message_id + %(messages)s,
        received_at - %(back)s, device_id
    FROM devices_reference WHERE message_id <= %(last_message)s ORDER BY message_id
    """,
    """
    INSERT INTO accounting_event (stream_id, sequence, kind, subject, gaming_date, original_date, recorded_at,
        rules, message_digest, result_digest, previous, hash)
    SELECT stream_id, sequence + %(sequences)s, kind, subject || '~' || %(copy)s, (gaming_date - %(back)s)::date,
        original_date, recorded_at - %(back)s, rules, message_digest, result_digest, previous, hash
    FROM accounting_event WHERE stream_id = %(stream)s AND sequence BETWEEN 1 AND %(last)s ORDER BY sequence
    """,
    """
    INSERT INTO accounting_transfer (stream_id, sequence, line, debit_id, credit_id, amount_cents, reason)
    SELECT stream_id, sequence + %(sequences)s, line, debit_id, credit_id, amount_cents, reason
    FROM accounting_transfer WHERE stream_id = %(stream)s AND sequence BETWEEN 1 AND %(last)s ORDER BY sequence, line
    """,
    """
    INSERT INTO tables_round (stream_id, sequence, message_id, table_id, terms_id, reference, outcome, dealt_at,
        counts_at, gaming_date, original_date, settlement)
    SELECT stream_id, sequence + %(sequences)s, message_id + %(messages)s, table_id, terms_id,
        reference || '~' || %(copy)s, outcome, %(start)s + sequence * %(step)s, %(start)s + sequence * %(step)s,
        (gaming_date - %(back)s)::date, original_date, settlement
    FROM tables_round WHERE stream_id = %(stream)s AND sequence <= %(last)s ORDER BY sequence
    """,
    """
    INSERT INTO tables_payout
        (stream_id, sequence, line, table_id, seat, kind, wager, hand, level_id, cents, dealt_at, counts_at, gaming_date)
    SELECT stream_id, sequence + %(sequences)s, line, table_id, seat, kind, wager, hand, level_id, cents,
        %(start)s + sequence * %(step)s, %(start)s + sequence * %(step)s, (gaming_date - %(back)s)::date
    FROM tables_payout WHERE stream_id = %(stream)s AND sequence <= %(last)s ORDER BY sequence, line
    """,
)


def fill(connection: psycopg.Connection[Any], *, rounds: int) -> int:
    """Copy what is settled until the stream has about `rounds` rounds; how many it has then.

    A copy of all that was really settled stands for one hour of the floor, the oldest copy first. Queues must be empty.
    """
    source = _row(connection, """
        SELECT (SELECT id FROM accounting_stream ORDER BY next_sequence DESC LIMIT 1),
            (SELECT max(sequence) FROM tables_round), (SELECT max(id) FROM devices_message)
    """)  # fmt: skip
    stream, last, last_message = source
    copies = max(0, -(-(rounds - last) // last))
    connection.execute("SET session_replication_role = replica")  # neither triggers nor constraints of triggers
    connection.execute("SET synchronous_commit = off")
    for copy in range(1, copies + 1):
        hours = copies + 1 - copy
        values = {
            "copy": copy, "stream": stream, "last": last, "last_message": last_message,
            "sequences": copy * last, "messages": copy * last_message,
        }  # fmt: skip
        times = _row(
            connection,
            "SELECT now() - make_interval(hours => %s), make_interval(secs => %s), make_interval(hours => %s)",
            [hours, 3600.0 / last, hours],
        )
        values |= dict(zip(("start", "step", "back"), times, strict=True))
        with connection.transaction():
            for statement in COPIES:
                connection.execute(statement, values)
    sequence, message = (copies + 1) * last, (copies + 1) * last_message
    connection.execute("UPDATE accounting_stream SET next_sequence = %s WHERE id = %s", [sequence + 1, stream])
    connection.execute("SELECT setval('devices_message_id_seq', %s)", [message])
    connection.execute("RESET session_replication_role")
    connection.execute("VACUUM ANALYZE")
    return int(sequence)


def _row(connection: psycopg.Connection[Any], statement: str, values: Any = None) -> tuple[Any, ...]:
    row = connection.execute(statement.encode(), values).fetchone()
    assert row is not None
    return row
