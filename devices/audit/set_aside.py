"""Checking locks that were set aside: as if they had never come, but never lost, and for the reason that is told (A50)."""

from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from accounting.statements import execute
from devices.audit.findings import Difference, same
from devices.bodies import strict
from tables.rules.door import InvalidJson
from tables.rules.locking import Lock, decide_lock
from tables.services import locks, terms
from tables.services.recording import encode
from tables.services.rounds import dated_by
from tables.services.seals import seal

SET_ASIDE = """
    SELECT message.id, message.reference, message.raw, message.digest, message.received_at, message.table_id,
        stream.id, stream.terms_version,
        aside.table_id, aside.reference, aside.outcome, aside.result, aside.error, aside.locked_at,
        aside.decided_at, aside.rules, aside.seal, aside.stream_id, aside.before_sequence,
        EXISTS (SELECT FROM devices_reference reference WHERE reference.table_id = aside.table_id
            AND reference.reference = aside.reference AND reference.kind = 'result'
            AND (EXISTS (SELECT FROM tables_round round WHERE round.message_id = reference.message_id)
                OR EXISTS (SELECT FROM tables_hold hold WHERE hold.message_id = reference.message_id)))
    FROM tables_locksetaside aside JOIN devices_message message ON message.id = aside.message_id
    LEFT JOIN tables_table tabl ON tabl.id = message.table_id
    LEFT JOIN accounting_stream stream ON stream.id = tabl.stream_id
    WHERE message.id > %s ORDER BY message.id LIMIT %s
"""
AT_ONCE = 1_000


class SetAside(NamedTuple):
    """A lock that was set aside, with its message; `result_came`: its round's result is on record."""

    message_id: int
    reference: str
    raw: bytes
    digest: bytes
    received_at: Any
    table_id: int
    stream_id: int | None
    terms_version: int
    kept_table: int
    kept_reference: str
    outcome: str
    result: bytes
    error: str
    locked_at: Any
    decided_at: Any
    rules: int
    seal: bytes
    known_stream: int | None
    before_sequence: int | None
    result_came: bool


def verify_set_aside() -> int:
    """Compare every lock that was set aside with its message and what the rules say of it; how many there are."""
    count = last = 0
    while found := execute(SET_ASIDE, [last, AT_ONCE]):
        for row in found:
            _check(SetAside._make(row))
        count += len(found)
        last = found[-1][0]
    return count


def _check(row: SetAside) -> None:
    where = f"lock set aside, message {row.message_id} ({row.reference})"
    try:
        content = sha256(strict(row.raw)[1]).digest()
    except InvalidJson:
        raise Difference(where, "message", "JSON", row.raw) from None
    same(where, "digest of the message", content, row.digest)
    same(where, "table and reference", (row.table_id, row.reference), (row.kept_table, row.kept_reference))
    sealed = seal(
        row.message_id, row.result, row.error, row.locked_at, row.decided_at, row.rules,
        (row.known_stream, row.before_sequence),
    )  # fmt: skip
    same(where, "seal of its times, error and result", sealed, row.seal)
    said = msgspec.json.decode(row.result)
    same(where, "round and outcome", (said["round"], said["outcome"]), (row.reference, row.outcome))
    if said["reasons"] == ["processing_error"]:
        return  # what only a crash can know is not judged again
    if row.outcome == "duplicate":
        same(where, "its round's result", True, row.result_came)
    if row.stream_id is None:
        raise Difference(where, "table", "one that is on a stream", f"table {row.table_id}")
    in_force = terms.of_stream(row.stream_id, row.terms_version)
    message = locks.read(row.raw, in_force.house.tables)
    if row.known_stream is not None and row.before_sequence is not None:
        house = terms.house_before(row.known_stream, row.before_sequence)
    else:  # of a first version: its table may be on another stream by now than the one that its moment belonged to
        house = terms.house_where_it_counted(
            row.stream_id, in_force, message.table,
            lambda table: dated_by(message.locked_at, row.received_at, table).moment, row.decided_at,
        )  # fmt: skip
    if message.table not in house.tables:
        raise Difference(where, "table on its stream", message.table, f"stream {row.known_stream}")
    when = dated_by(message.locked_at, row.received_at, house.tables[message.table])
    key = (message.table, message.round)
    if row.outcome == "duplicate":
        house.rounds[key] = locks.RESULT_CAME
    try:
        again = encode(decide_lock(Lock(message, when.moment), house).result)
    finally:
        house.rounds.pop(key, None)
    if again != row.result:
        raise Difference(where, "why it was set aside", again.decode(), row.result.decode(errors="replace"))
