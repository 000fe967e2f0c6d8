"""Checking the inbox: every accepted message is where it must be, once (ARCHITECTURE §4.1, §4.3)."""

from hashlib import sha256
from typing import Any

import msgspec
from django.db import connection

from accounting.rules.moments import instant_nanoseconds, nanoseconds
from devices.audit.findings import Counts, Difference
from devices.audit.set_aside import verify_set_aside
from devices.bodies import strict
from tables.rules.deciding import Result, decide_result
from tables.rules.door import InvalidJson
from tables.rules.house import TableState
from tables.services import lock_rows, terms
from tables.services.recording import decode, encode
from tables.services.rounds import dated
from tables.services.seals import seal

# What only a crash can know is not judged again.
NOT_REPLAYED = {"processing_error"}

# A hold that people decided has its round as well. Only in the queue can a message stand twice (pk and UNIQUE of the others).
ASTRAY = """
    SELECT message.id, message.reference, count(DISTINCT round.message_id),
        count(DISTINCT hold.message_id), count(queued.message_id),
        count(DISTINCT lock.message_id) + count(DISTINCT aside.message_id)
    FROM devices_message message
    LEFT JOIN tables_round round ON round.message_id = message.id
    LEFT JOIN tables_hold hold ON hold.message_id = message.id
    LEFT JOIN tables_lock lock ON lock.message_id = message.id
    LEFT JOIN tables_locksetaside aside ON aside.message_id = message.id
    LEFT JOIN devices_queued queued ON queued.message_id = message.id
    GROUP BY message.id
    HAVING (count(round.message_id) + count(hold.message_id)) * (message.kind = 'lock')::int
            + (count(lock.message_id) + count(aside.message_id)) * (message.kind <> 'lock')::int > 0
        OR count(round.message_id) + count(hold.message_id) + count(queued.message_id) + count(lock.message_id)
            + count(aside.message_id) <> 1
        AND NOT (count(round.message_id) = 1 AND count(hold.message_id) = 1 AND count(queued.message_id) = 0
            AND bool_and(EXISTS (SELECT FROM accounting_event event WHERE event.stream_id = round.stream_id
                AND event.sequence = round.sequence AND event.kind LIKE 'round.%%')))
    ORDER BY message.id LIMIT 1
"""
UNREFERENCED = """
    SELECT coalesce(message.id, reference.message_id), coalesce(message.reference, reference.reference)
    FROM devices_message message
    FULL JOIN devices_reference reference ON reference.message_id = message.id
        AND reference.table_id = message.table_id AND reference.reference = message.reference
        AND reference.kind = message.kind AND reference.digest = message.digest
        AND reference.received_at = message.received_at
        AND reference.device_id IS NOT DISTINCT FROM message.device_id
    WHERE message.id IS NULL OR reference.message_id IS NULL LIMIT 1
"""
# A row whose message is gone shows that there was one.
WITHOUT_MESSAGE = """
    SELECT astray.message_id, astray.reference, astray.what FROM (
        SELECT message_id, reference, 'hold' AS what FROM tables_hold
        UNION ALL SELECT message_id, reference, 'lock set aside' FROM tables_locksetaside
        UNION ALL SELECT message_id, '', 'place in the queue' FROM devices_queued
    ) AS astray WHERE NOT EXISTS (SELECT FROM devices_message message WHERE message.id = astray.message_id) LIMIT 1
"""
HELD = """
    SELECT message.id, message.reference, message.raw, message.digest, message.received_at, message.table_id,
        stream.id, hold.reasons, hold.settlement, stream.terms_version, hold.table_id, hold.reference, hold.error,
        hold.dealt_at, hold.held_at, hold.rules, hold.seal, hold.stream_id, hold.before_sequence
    FROM tables_hold hold JOIN devices_message message ON message.id = hold.message_id
    LEFT JOIN tables_table tabl ON tabl.id = message.table_id
    LEFT JOIN accounting_stream stream ON stream.id = tabl.stream_id
    WHERE message.id > %s ORDER BY message.id LIMIT %s
"""
AT_ONCE = 1_000


def verify_inbox() -> Counts:
    """Compare messages, references, queue, rounds and holds. Difference names the first message astray."""
    counts = Counts()
    with connection.cursor() as cursor:
        cursor.execute(ASTRAY)
        if row := cursor.fetchone():
            message_id, reference, rounds, holds, queued, locks_ = row
            raise Difference(
                f"message {message_id} ({reference})",
                "where it is",
                "settled, held, locked or queued, once",
                f"{rounds} rounds, {holds} holds, {locks_} locks, {queued} in the queue",
            )
        cursor.execute(UNREFERENCED)
        if row := cursor.fetchone():
            raise Difference(
                f"message {row[0]} ({row[1]})", "reference and message", "the same", "one without the other"
            )
        cursor.execute(WITHOUT_MESSAGE)
        if row := cursor.fetchone():
            raise Difference(f"message {row[0]} ({row[1]})", "its message", "a row", f"none, and a {row[2]}")
        cursor.execute("SELECT count(*) FROM devices_message")
        counts.messages = cursor.fetchone()[0]
    counts.locks = verify_set_aside()
    last = 0
    while held := _held(last):
        for row in held:
            _check_hold(row)
        counts.holds += len(held)
        last = held[-1][0]
    return counts


def _held(after: int) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(HELD, [after, AT_ONCE])
        return cursor.fetchall()


def _content_digest(where: str, raw: bytes) -> bytes:
    """SHA-256 of a stored message's canonical JSON; Difference where it is no JSON any more."""
    try:
        return sha256(strict(raw)[1]).digest()
    except InvalidJson:
        raise Difference(where, "message", "JSON", raw) from None


def _check_hold(row: tuple[Any, ...]) -> None:
    (
        message_id, reference, raw, digest, received_at, table_id, stream_id, reasons, settlement, version,
        held_table, held_reference, error, dealt_at, held_at, rules, sealed,
        known_stream, before_sequence,
    ) = row  # fmt: skip
    where = f"held message {message_id} ({reference})"
    content = _content_digest(where, bytes(raw))
    if content != bytes(digest):
        raise Difference(where, "digest of the message", content, bytes(digest))
    if (table_id, reference) != (held_table, held_reference):
        raise Difference(where, "table and reference", (table_id, reference), (held_table, held_reference))
    if seal(message_id, bytes(settlement), error, dealt_at, held_at, rules, (known_stream, before_sequence)) != bytes(
        sealed
    ):
        raise Difference(where, "seal of its times, error and settlement", "what they come to", bytes(sealed))
    said = msgspec.json.decode(bytes(settlement))
    if (said["round"], said["reasons"]) != (reference, reasons):
        raise Difference(where, "round and reasons", (said["round"], said["reasons"]), (reference, reasons))
    if NOT_REPLAYED & set(reasons):
        return
    if stream_id is None:
        raise Difference(where, "table", "one that is on a stream", f"table {table_id}")
    message = decode(bytes(raw))
    received, dealt = instant_nanoseconds(received_at), nanoseconds(message.dealt_at)
    in_force = terms.of_stream(stream_id, version)
    lock = lock_rows.of_hold(table_id, reference)

    def moment(table: TableState) -> int:
        return table.counts_at(dealt, received) if lock is None else lock.counts_at

    if known_stream is not None:
        house = terms.house_before(known_stream, before_sequence)
    else:  # of a first version
        house = terms.house_where_it_counted(stream_id, in_force, message.table, moment, held_at)
    table = house.tables.get(message.table)
    if table is None or in_force.tables.get(table_id) != message.table:
        raise Difference(where, "table on its stream", message.table, f"table {table_id}")
    when = dated(message, received_at, table)
    if lock is not None:
        house.locks[message.table, message.round] = lock
    try:
        again = decide_result(Result(message, when.moment), house, rules).result
    finally:
        house.locks.clear()
    if encode(again) != bytes(settlement):
        raise Difference(where, "why it is held", encode(again).decode(), bytes(settlement).decode(errors="replace"))
