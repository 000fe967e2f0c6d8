"""Events of streams: what each booked, the documents it is kept with, and the acts about something."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

import msgspec
from django.db import connection

from accounting.models import (
    Document,
    Event,
    Stream,
    Transfer,
)
from accounting.rules.events import ROUND
from accounting.statements import Row, execute


def recorded_from(stream_id: int, at: datetime) -> int:
    """The first sequence of a stream that was recorded at an instant or later; its next one where none was."""
    return _recorded_from(Stream.objects.get(pk=stream_id), at)


def _recorded_from(stream: Stream, at: datetime) -> int:
    """The first sequence of a stream that was recorded at an instant or later: sequences have no gaps, so it is halved."""
    low, high = 0, stream.next_sequence
    events = Event.objects.filter(stream=stream)
    while low < high:
        middle = (low + high) // 2
        recorded = events.filter(sequence=middle).values_list("recorded_at", flat=True).first()
        if recorded is not None and recorded < at:
            low = middle + 1
        else:
            high = middle
    return low


BOOKED_BETWEEN = """
    SELECT sequence FROM accounting_event
    WHERE stream_id = %s AND sequence > %s AND sequence < %s AND gaming_date <= %s ORDER BY sequence LIMIT 1
"""


def booked_between(stream_id: int, after: int, before: int, day: date) -> int | None:
    """The first event between two of a stream that is booked on a gaming day or an earlier one; None where none is."""
    found = execute(BOOKED_BETWEEN, [stream_id, after, before, day])
    return int(found[0][0]) if found else None


def closing_events() -> list[tuple[int, int, str, bytes]]:
    """The events that closed gaming days: stream, sequence, the day as it is written, hash."""
    found = Event.objects.filter(kind="day.close").order_by("stream_id", "sequence")
    return [
        (stream_id, sequence, subject, bytes(hash_))
        for stream_id, sequence, subject, hash_ in found.values_list("stream_id", "sequence", "subject", "hash")
    ]


def event_at(stream_id: int, sequence: int) -> tuple[str, str, bytes] | None:
    """Kind, subject and hash of an event; None where there is none."""
    found = Event.objects.filter(stream_id=stream_id, sequence=sequence).values_list("kind", "subject", "hash").first()
    return None if found is None else (found[0], found[1], bytes(found[2]))


def recorded_of(stream_id: int, sequence: int) -> tuple[str, str]:
    """Kind and subject of an event that is there."""
    return Event.objects.values_list("kind", "subject").get(stream_id=stream_id, sequence=sequence)


def transfers_of(stream_id: int, sequence: int) -> list[dict[str, Any]]:
    """The transfers of one journal entry, in their order."""
    rows = Transfer.objects.filter(stream_id=stream_id, sequence=sequence).order_by("line")
    return [
        {"line": line, "debit": debit, "credit": credit, "amount_cents": cents, "reason": reason}
        for line, debit, credit, cents, reason in rows.values_list(
            "line", "debit__code", "credit__code", "amount_cents", "reason"
        )
    ]


def event_shown(stream_id: int, sequence: int) -> dict[str, Any]:
    """One event with the digests it is chained by, in hexadecimal."""
    return event_row(Event.objects.select_related("stream").get(stream_id=stream_id, sequence=sequence))


def event_row(event: Event) -> dict[str, Any]:
    """An event as auditors read it: what its hash is computed from (`accounting.rules.chain`), but for what its message says."""
    return {
        "stream": event.stream.code,
        "sequence": event.sequence,
        "kind": event.kind,
        "subject": event.subject,
        "gaming_date": event.gaming_date.isoformat(),
        "original_date": event.original_date.isoformat() if event.original_date else None,
        "recorded_at": event.recorded_at.isoformat(),
        "rules": event.rules,
        "message_digest": bytes(event.message_digest).hex(),
        "result_digest": bytes(event.result_digest).hex(),
        "previous": bytes(event.previous).hex(),
        "hash": bytes(event.hash).hex(),
    }


def events_page(stream: str, *, after_sequence: int, limit: int, with_rounds: bool) -> list[dict[str, Any]]:
    """Events of a stream after a sequence, in their order, with its rounds among them or without."""
    rows = Event.objects.filter(stream__code=stream, sequence__gt=after_sequence).select_related("stream")
    if not with_rounds:
        rows = rows.exclude(kind=ROUND)
    found = list(rows.order_by("sequence")[:limit])
    documents = Document.objects.filter(stream__code=stream, sequence__in=[row.sequence for row in found])
    decided = {document.sequence: said(bytes(document.cause), bytes(document.result)) for document in documents}
    return [event_row(row) | decided.get(row.sequence, NOT_SAID) for row in found]


NOT_SAID: dict[str, Any] = {"act": None, "by": None, "result": None}
"""What an event says whose cause is a message."""


def said(cause: bytes, result: bytes) -> dict[str, Any]:
    """What an event's documents say: which act, by whom, and what came of it. An opening was asked for by nobody."""
    asked = msgspec.json.decode(cause)
    return {"act": asked.get("act"), "by": asked.get("by"), "result": msgspec.json.decode(result)}


@dataclass(frozen=True, slots=True)
class Decided:
    """An event that people decided, with its documents as the text that was hashed.

    `counts_from` is the moment that what it changed counts from, in RFC 3339; None where it is its own.
    """

    stream: str
    sequence: int
    kind: str
    subject: str
    recorded_at: datetime
    cause: str
    result: str

    @property
    def asked(self) -> dict[str, Any]:
        """Its cause: who asked, who agreed, why, by which proposal."""
        found: dict[str, Any] = msgspec.json.decode(self.cause)
        return found

    @property
    def came(self) -> dict[str, Any]:
        """Its result."""
        found: dict[str, Any] = msgspec.json.decode(self.result)
        return found

    @property
    def counts_from(self) -> str | None:
        """The moment that what it changed counts from."""
        return next((change["counts_from"] for change in self.came.get("changes", ()) if "counts_from" in change), None)


DECIDED = """
    SELECT stream.code, event.sequence, event.kind, event.subject, event.recorded_at, document.cause, document.result
    FROM accounting_document document
    JOIN accounting_event event ON event.stream_id = document.stream_id AND event.sequence = document.sequence
    JOIN accounting_stream stream ON stream.id = document.stream_id
    WHERE (stream.code = %(stream)s AND %(subject)s IS NULL OR event.subject = %(subject)s
            OR stream.code = %(stream)s AND event.kind IN ('opened', 'table.install'))
        AND (event.kind NOT LIKE 'round%%'
            OR event.kind = 'round.void' AND position('"steps":'::bytea IN document.result) > 0)
    ORDER BY event.recorded_at DESC, document.stream_id, document.sequence DESC LIMIT %(limit)s
"""


def decided_on(stream: str, *, subject: str | None = None, limit: int = 50) -> list[Decided]:
    """The events of a stream that are neither rounds nor about a held one, newest first.

    With a subject, those about it on whatever stream, and what opened this one.
    """
    with connection.cursor() as cursor:
        cursor.execute(DECIDED, {"stream": stream, "subject": subject, "limit": limit})
        return [
            Decided(code, sequence, kind, about, recorded_at, bytes(cause).decode(), bytes(result).decode())
            for code, sequence, kind, about, recorded_at, cause, result in cursor.fetchall()
        ]


def documents_of(stream_id: int, sequence: int) -> dict[str, str] | None:
    """The cause and the result of an event as the text that was hashed; None where a message is its cause."""
    found = Document.objects.filter(stream_id=stream_id, sequence=sequence).first()
    return None if found is None else {"cause": bytes(found.cause).decode(), "result": bytes(found.result).decode()}


def event_digests(stream_id: int, sequence: int) -> tuple[bytes, bytes] | None:
    """The digests that an event is chained by, of its cause and of its result; None where there is no such event."""
    found = (
        Event.objects.filter(stream_id=stream_id, sequence=sequence)
        .values_list("message_digest", "result_digest")
        .first()
    )
    return None if found is None else (bytes(found[0]), bytes(found[1]))


class Documented(NamedTuple):
    """An event that is no message's, with the bytes of its cause and its result."""

    sequence: int
    kind: str
    rules: int
    recorded_at: datetime
    cause: bytes
    result: bytes


DOCUMENTED = """
    SELECT event.sequence, event.kind, event.rules, event.recorded_at, document.cause, document.result
    FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.kind = ANY(%s) ORDER BY event.sequence
"""


def documented(stream_id: int, kinds: Sequence[str]) -> list[Documented]:
    """The events of these kinds on a stream, in its order, with their documents; none of them rounds."""
    with connection.cursor() as cursor:
        cursor.execute(DOCUMENTED, [stream_id, list(kinds)])
        return [
            Documented(sequence, kind, rules, at, bytes(cause), bytes(result))
            for sequence, kind, rules, at, cause, result in cursor.fetchall()
        ]


LAST = """
    SELECT DISTINCT ON (event.stream_id) event.stream_id, event.recorded_at, document.cause
    FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.kind <> 'round' AND event.kind = %s AND event.stream_id = ANY(%s)
    ORDER BY event.stream_id, event.sequence DESC
"""


def last_documented(kind: str, stream_ids: Sequence[int]) -> dict[int, tuple[datetime, bytes]]:
    """The last event of a kind, none of them rounds, on each of these streams that has one: when it was recorded, its cause."""
    return {stream_id: (at, bytes(cause)) for stream_id, at, cause in execute(LAST, [kind, list(stream_ids)])}


DOCUMENTED_BETWEEN = """
    SELECT event.recorded_at, event.subject, document.cause, document.result
    FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.kind = ANY(%s) AND event.sequence BETWEEN %s AND %s
        AND event.gaming_date BETWEEN %s AND %s
    ORDER BY event.sequence
"""


def documented_between(
    stream_id: int, kinds: Sequence[str], begins: int, ends: int, first: date, last: date
) -> list[tuple[datetime, str, bytes, bytes]]:
    """The events of these kinds on a stretch of a stream that are booked from one gaming day to another.

    When each was recorded, what it is about, its cause and its result.
    """
    return [
        (at, subject, bytes(cause), bytes(result))
        for at, subject, cause, result in execute(
            DOCUMENTED_BETWEEN, [stream_id, list(kinds), begins, ends, first, last]
        )
    ]


ABOUT = """
    SELECT event.sequence, event.kind, event.rules, event.recorded_at, document.cause, document.result
    FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.subject = ANY(%s) AND event.kind = ANY(%s)
        AND event.sequence < %s
    ORDER BY event.sequence
"""


def acts_about(stream_id: int, subjects: Sequence[str], kinds: Sequence[str], *, before: int) -> list[Documented]:
    """The events of these kinds about these subjects before a sequence of their stream, in its order, with documents.

    Each subject is one look-up by key.
    """
    return [
        Documented(sequence, kind, rules, at, bytes(cause), bytes(result))
        for sequence, kind, rules, at, cause, result in execute(ABOUT, [stream_id, list(subjects), list(kinds), before])
    ]


BOOKED_AS = """
    SELECT event.stream_id, event.sequence, event.kind, event.subject, debit.code, credit.code, transfer.amount_cents
    FROM accounting_event event
    JOIN accounting_transfer transfer ON transfer.stream_id = event.stream_id AND transfer.sequence = event.sequence
    JOIN accounting_account debit ON debit.id = transfer.debit_id
    JOIN accounting_account credit ON credit.id = transfer.credit_id
    WHERE event.kind <> 'round' AND event.kind = ANY(%s)
    ORDER BY event.stream_id, event.sequence, transfer.line
"""


def booked_as(kinds: Sequence[str]) -> list[tuple[int, int, str, str, str, str, int]]:
    """What events of these kinds booked: stream, sequence, kind, subject, both accounts by code, whole cents."""
    return execute(BOOKED_AS, [list(kinds)])


STRAY_DOCUMENTS = """
    SELECT event.sequence FROM accounting_event event
    LEFT JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.kind = ANY(%s)
        AND (sha256(document.cause), sha256(document.result)) IS DISTINCT FROM (event.message_digest, event.result_digest)
    ORDER BY event.sequence LIMIT 1
"""


def stray_documents(stream_id: int, kinds: Sequence[str]) -> list[int]:
    """The first event of these kinds on a stream whose documents are not those that its digests are of; [] where all are."""
    return [sequence for (sequence,) in execute(STRAY_DOCUMENTS, [stream_id, list(kinds)])]


DOCUMENTS_AT = """
    SELECT event.kind, event.subject, coalesce(event.original_date, event.gaming_date), event.gaming_date,
        event.recorded_at, event.rules, document.cause, document.result
    FROM accounting_stream stream JOIN accounting_event event ON event.stream_id = stream.id
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE stream.code = %s AND event.sequence = %s
"""


def documents_at(stream: str, sequence: int) -> tuple[Any, ...] | None:
    """Kind, subject, own day, day booked on, moment, rules edition, cause and result of an event that is no message's."""
    found = execute(DOCUMENTS_AT, [stream, sequence])
    return None if not found else (*found[0][:6], bytes(found[0][6]), bytes(found[0][7]))


TRANSFERS = """
    SELECT sequence, line, debit_id, credit_id, amount_cents, reason FROM accounting_transfer
    WHERE stream_id = %s AND sequence BETWEEN %s AND %s ORDER BY sequence, line
"""


NEXT_EVENT = """
    SELECT min(sequence) FROM accounting_event WHERE stream_id = %s AND sequence >= %s AND sequence < %s
"""


LAST_ACT = """
    SELECT coalesce(max(sequence), 0) FROM accounting_event WHERE stream_id = %s AND kind <> 'round'
        AND (kind LIKE %s OR kind IN ('level.transfer', 'link.close') OR subject = %s)
"""


def transfers_between(stream_id: int, first: int, last: int) -> list[Row]:
    """The transfers of a range of events: sequence, line, ids of debit and credit account, whole cents, reason."""
    return execute(TRANSFERS, [stream_id, first, last])


def next_event(stream_id: int, sequence: int, before: int) -> int | None:
    """The first event on record from a sequence on and before another."""
    ((found,),) = execute(NEXT_EVENT, [stream_id, sequence, before])
    return None if found is None else int(found)


def last_act(stream_id: int, *, kinds: str, subject: str) -> int:
    """The last event of a stream that is no round and whose kind begins so or that is about this subject; 0 if none.

    A transfer is about both its levels, and names one.
    """
    ((found,),) = execute(LAST_ACT, [stream_id, f"{kinds}%", subject])
    return int(found)
