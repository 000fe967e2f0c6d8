"""Putting a closed gaming day on record: every stream's head, signed (SPEC §9, §10)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256

from accounting.models import ClosedDay, ClosedHead, GamingDay, Verified
from accounting.rules.heads import FIRST_PREVIOUS, Head, Signed, Statement, read
from accounting.services.copying import Copying
from accounting.services.signing import public_key, sign
from accounting.statements import execute

# The property's row, which whoever books holds, is moved on by the database.
CLOSE = """
    INSERT INTO accounting_gamingday AS day (date, closed_at) VALUES (%s, %s)
    ON CONFLICT (date) DO UPDATE SET closed_at = excluded.closed_at WHERE day.closed_at IS NULL
"""


STREAMS = "SELECT id, code, next_sequence, head, terms_version FROM accounting_stream ORDER BY id"
HOLD_STREAMS = (
    "SELECT id, code, next_sequence, head, terms_version FROM accounting_stream ORDER BY id FOR NO KEY UPDATE"
)
# By key, from where somebody had looked: a night's events at most.
SINCE = """
    SELECT stream.code, event.sequence FROM unnest(%s::bigint[], %s::bigint[]) AS looked (stream_id, sequence)
    JOIN accounting_stream stream ON stream.id = looked.stream_id
    CROSS JOIN LATERAL (
        SELECT sequence FROM accounting_event
        WHERE stream_id = looked.stream_id AND sequence > looked.sequence AND gaming_date <= %s ORDER BY sequence LIMIT 1
    ) AS event ORDER BY stream.code LIMIT 1
"""
MOVE_ON = """
    UPDATE accounting_stream stream SET next_sequence = moved.sequence + 1, head = moved.head
    FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[]) AS moved (stream_id, sequence, head)
    WHERE stream.id = moved.stream_id
"""


@dataclass(frozen=True, slots=True)
class StreamRow:
    """A stream as it stands."""

    id: int
    code: str
    next_sequence: int
    head: bytes
    terms_version: int


def streams_now() -> list[StreamRow]:
    """Every stream as it stands, for whoever looks."""
    return [StreamRow(*row) for row in execute(STREAMS)]


def hold_streams() -> list[StreamRow]:
    """Every stream, locked in the order of their ids until the transaction ends."""
    return [StreamRow(*row) for row in execute(HOLD_STREAMS)]


def booked_since(looked: Mapping[int, int], day: date) -> tuple[str, int] | None:
    """The first event after those that were looked at, by stream, that is booked on a day or an earlier one; None where none."""
    found = execute(SINCE, [list(looked), list(looked.values()), day])
    return (found[0][0], found[0][1]) if found else None


def close(day: date, *, at: datetime) -> date | None:
    """Close a gaming day and every earlier one until the transaction ends; through which day all was closed before.

    The caller holds every stream, so nobody is booking.
    """
    ((before,),) = execute("SELECT closed_through FROM accounting_property FOR UPDATE")
    found: date | None = before
    if found is None or found < day:
        execute(CLOSE, [day, at])
    return found


@dataclass(frozen=True, slots=True)
class StreamHead:
    """The event that closes a day on a stream."""

    stream_id: int
    head: Head


def move_on(heads: Sequence[StreamHead]) -> None:
    """Let every stream go on after the event that closed a day on it."""
    moved = [(each.stream_id, each.head.sequence, each.head.hash) for each in heads]
    execute(MOVE_ON, [list(column) for column in zip(*moved, strict=True)])


def keep(day: date, heads: Sequence[StreamHead], *, home: str, at: datetime, proposal: int | None) -> Statement:
    """Sign the heads of a closed day of a property and put them on record. The caller closed the day in the same transaction.

    Every stream is held meanwhile: rows go by COPY, and nothing is asked that could have been asked before.
    """
    last = ClosedDay.objects.order_by("-number").values_list("number", "statement").first()
    statement = Statement(
        property=home,
        number=1 if last is None else last[0] + 1,
        day=day,
        closed_at=at,
        previous=FIRST_PREVIOUS if last is None else sha256(bytes(last[1])).digest(),
        heads=tuple(sorted((each.head for each in heads), key=lambda head: head.stream)),
    )
    encoded = statement.encoded()
    row = (day, statement.number, at, proposal, encoded, public_key(), sign(encoded))
    rows = [
        (day, each.stream_id, each.head.sequence, each.head.hash, sign(statement.of_head(each.head))) for each in heads
    ]
    with Copying() as copying:
        copying.send("accounting_closedday", DAY_COLUMNS, [row])
        copying.send("accounting_closedhead", HEAD_COLUMNS, rows)
    return statement


DAY_COLUMNS = {
    "day": "date", "number": "int4", "closed_at": "timestamptz", "proposal": "int8", "statement": "bytea",
    "public_key": "bytea", "signature": "bytea",
}  # fmt: skip
HEAD_COLUMNS = {"day": "date", "stream_id": "int8", "sequence": "int8", "hash": "bytea", "signature": "bytea"}


def _statement(closed: ClosedDay) -> Statement:
    return read(json.loads(bytes(closed.statement)))


def is_closed(day: date) -> bool:
    """Whether a gaming day is closed, itself or with a later one."""
    return GamingDay.objects.filter(date__gte=day, closed_at__isnull=False).exists()


def closing_of(before: date) -> dict[int, int]:
    """The event of every stream that closed the last day before a gaming day, by stream; none where none was closed."""
    last = ClosedDay.objects.filter(day__lt=before).order_by("-day").first()
    return {} if last is None else dict(last.heads.values_list("stream_id", "sequence"))


def last_heads() -> dict[int, Head]:
    """The head that was signed last of every stream, by stream."""
    found = ClosedHead.objects.order_by("stream_id", "-sequence").distinct("stream_id").select_related("stream")
    return {row.stream_id: Head(row.stream.code, row.sequence, bytes(row.hash)) for row in found}


def signed_over(stream_id: int, sequence: int) -> tuple[date, int] | None:
    """The closed day whose signed head an event of a stream lies under, and the head's event; None while there is none."""
    found = ClosedHead.objects.filter(stream_id=stream_id, sequence__gte=sequence).order_by("sequence")
    row: tuple[date, int] | None = found.values_list("day_id", "sequence").first()
    return row


def note_verified(stream_id: int, first: int, head: Head, *, at: datetime) -> None:
    """Put on record that a stream was verified from an event to this one."""
    Verified.objects.bulk_create(
        [Verified(stream_id=stream_id, first=first, through=head.sequence, hash=head.hash, at=at)]
    )


def verified_through() -> dict[int, int]:
    """The last event through which every stream was verified, by stream."""
    found = Verified.objects.order_by("stream_id", "-through").distinct("stream_id")
    return dict(found.values_list("stream_id", "through"))


def signed_days(*, since: date | None = None, until: date | None = None) -> list[Signed]:
    """The closed days on record with their signatures, oldest first."""
    found = ClosedDay.objects.prefetch_related("heads__stream").order_by("number")
    if since is not None:
        found = found.filter(day__gte=since)
    if until is not None:
        found = found.filter(day__lte=until)
    return [
        Signed(
            _statement(closed),
            bytes(closed.public_key),
            bytes(closed.signature),
            {head.stream.code: bytes(head.signature) for head in closed.heads.all()},
        )
        for closed in found
    ]


@dataclass(frozen=True, slots=True)
class OnRecord:
    """A closed day as its rows are, whatever its statement says."""

    day: date
    number: int
    closed_at: datetime
    statement: bytes
    public_key: bytes
    signature: bytes
    heads: tuple[tuple[int, Head], ...]
    signatures: dict[str, bytes]


def on_record() -> list[OnRecord]:
    """The rows of every closed day, in the order of their closings."""
    return [
        OnRecord(
            closed.day, closed.number, closed.closed_at, bytes(closed.statement), bytes(closed.public_key),
            bytes(closed.signature),
            tuple(
                (head.stream_id, Head(head.stream.code, head.sequence, bytes(head.hash))) for head in closed.heads.all()
            ),
            {head.stream.code: bytes(head.signature) for head in closed.heads.all()},
        )
        for closed in ClosedDay.objects.prefetch_related("heads__stream").order_by("number")
    ]  # fmt: skip
