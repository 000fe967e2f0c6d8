"""Comparing closed gaming days with the streams whose heads they sign, and with heads that were signed before (SPEC §9, §10).

A stream's own chain says that nothing of it was changed by anybody who did not make the whole anew. Whoever owns the
database could: cut off its end, or write all of it again. The heads of closed days are signed with a key that is not in
the database, and files of them lie with auditors; whatever was made anew has other heads.
"""

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from accounting.day_queries import days_closed
from accounting.event_queries import booked_between, closing_events, event_at
from accounting.queries import stream_ids, stream_row
from accounting.rules.heads import FIRST_PREVIOUS, Head, Signed, Statement, Unreadable, read
from accounting.services.closed_days import OnRecord, on_record
from accounting.services.signing import is_signed
from devices.audit.findings import Difference, same
from devices.audit.rows import Recorded


def compare(where: str, cause: dict[str, Any], code: str, stream_id: int, event: Recorded) -> None:
    """What the cause of a closing says of this stream: which event closes it, and that nothing was booked since it was
    looked at."""
    day = date.fromisoformat(event.subject)
    same(where, "event of this stream that the cause names", cause["streams"].get(code), event.sequence)
    looked = cause["payload"]["sequences"].get(code, -1)
    between = booked_between(stream_id, looked, event.sequence, day)
    if between is not None:
        raise Difference(where, f"events of {day} after the {looked} that was looked at", "none", f"sequence {between}")
    if event.day <= day:
        raise Difference(where, "gaming day it is booked on", f"one after {day}, which it closes", event.day)


def compare_closed_days() -> None:
    """Compare closed days as they are on record with their own statements, signatures and events. Raises Difference."""
    events = {(stream_id, sequence): (subject, hash_) for stream_id, sequence, subject, hash_ in closing_events()}
    closed, through = days_closed()
    same("property", "closed through", max(closed, default=None), through)
    previous, number = FIRST_PREVIOUS, 0
    for record in on_record():
        where = f"closed gaming day {record.day}"
        try:
            statement = read(json.loads(record.statement))
        except (Unreadable, ValueError) as fault:
            raise Difference(where, "statement", "one that can be read", fault) from None
        number += 1
        shown = (number, statement.number, statement.day, statement.closed_at)
        same(where, "number, day and moment", shown, (record.number, number, record.day, record.closed_at))
        same(where, "digest of the statement before", previous, statement.previous)
        same(where, "when it was closed", record.closed_at, closed.get(record.day))
        _signed(where, statement, record.public_key, record.signature, record.signatures)
        _heads(where, statement, record, events)
        previous = statement.digest()
    for (stream_id, sequence), (subject, _) in events.items():
        raise Difference(
            f"stream {stream_row(stream_id)[1]}, sequence {sequence} ({subject})",
            "signed head of the event",
            "one",
            "none",
        )
    if number and (last := max(closed)) > record.day:
        raise Difference(f"gaming day {last}", "events that closed it", "one on every stream", "none")


def _heads(
    where: str, statement: Statement, record: OnRecord, events: dict[tuple[int, int], tuple[str, bytes]]
) -> None:
    """Every head of a statement is on record, and is the very event that closed the day on its stream."""
    rows = {head.stream: (stream_id, head) for stream_id, head in record.heads}
    same(where, "streams with a head", sorted(head.stream for head in statement.heads), sorted(rows))
    for head in statement.heads:
        stream_id, found = rows[head.stream]
        same(where, f"head of stream {head.stream}", head, found)
        event = events.pop((stream_id, head.sequence), None)
        expected = (statement.day.isoformat(), head.hash)
        same(where, f"event {head.sequence} of stream {head.stream} (day, hash)", expected, event)


def _signed(where: str, statement: Statement, key: bytes, signature: bytes, signatures: dict[str, bytes] | Any) -> None:
    if not is_signed(statement.encoded(), signature, key):
        raise Difference(where, "signature", f"one by key {key.hex()}", signature)
    for head in statement.heads:
        if not is_signed(statement.of_head(head), signatures.get(head.stream, b""), key):
            raise Difference(
                where, f"signature of stream {head.stream}", f"one by key {key.hex()}", signatures.get(head.stream)
            )


def compare_heads(days: Sequence[Signed], *, stream: str | None = None) -> int:
    """Compare the house with heads that were signed before and kept elsewhere: how many were compared. Raises Difference.

    The file is the witness: what it says must be signed, and must be what is on record here, event by event, with nothing
    cut off before it. `stream` compares the heads of one alone.
    """
    here = {record.day: record for record in on_record()}
    previous: Statement | None = None
    compared = 0
    for signed in days:
        statement = signed.statement
        where = f"signed head of gaming day {statement.day}"
        _signed(where, statement, signed.public_key, signed.signature, dict(signed.heads))
        if previous is not None and statement.number == previous.number + 1:
            same(where, "digest of the statement before", previous.digest(), statement.previous)
        previous = statement
        ids = stream_ids(head.stream for head in statement.heads)
        for head in statement.heads:
            if stream in (None, head.stream):
                _still_there(where, statement, head, ids.get(head.stream))
                compared += 1
        record = here.get(statement.day)
        if record is None:
            raise Difference(where, "closed day on record", "the one that was signed", "none")
        same(where, "statement on record", statement.encoded(), record.statement)
        same(where, "signature on record", signed.signature, record.signature)
    return compared


def _still_there(where: str, statement: Statement, head: Head, stream_id: int | None) -> None:
    named = f"event {head.sequence} of stream {head.stream}"
    if stream_id is None:
        raise Difference(where, f"stream {head.stream}", "a row", "none")
    following = stream_row(stream_id)[2]
    if following <= head.sequence:
        raise Difference(
            where, named, "an event", f"none: the stream ends with sequence {following - 1}, its end is cut off"
        )
    event = event_at(stream_id, head.sequence)
    if event is None:
        raise Difference(where, named, "an event", "none: a gap in the sequence")
    kind, subject, hash_ = event
    same(where, f"hash of {named}", head.hash, hash_)
    same(where, f"kind and day of {named}", ("day.close", statement.day.isoformat()), (kind, subject))
