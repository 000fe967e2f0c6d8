"""Hash chains: every event of a stream, and every record of the audit trail, carries the hash of the one before it.

ARCHITECTURE §4.7.
"""

import json
from datetime import date, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

from accounting.rules.edition import FIRST

GENESIS = bytes(32)


def event_hash(
    previous: bytes,
    *,
    stream: str,
    sequence: int,
    kind: str,
    subject: str,
    gaming_date: date,
    recorded_at: datetime,
    message_digest: bytes,
    result_digest: bytes,
    rules: int,
    received_at: datetime | None = None,
    device_id: int | None = None,
) -> bytes:
    """SHA-256 over the previous hash, the digests of cause and result, and the event's own heading.

    The heading is one line a field, so that an auditor can build it with any tool:
    stream, sequence, kind, subject, gaming date, recording time in microseconds since 1970 UTC; from the second rules
    edition on also that edition, and of a message when it was received (likewise) and the number of the device that sent
    it, each a dash where there is none.
    """
    heading = f"{stream}\n{sequence}\n{kind}\n{subject}\n{gaming_date.isoformat()}\n{microseconds(recorded_at)}"
    if rules > FIRST:
        received = "-" if received_at is None else microseconds(received_at)
        heading = f"{heading}\n{rules}\n{received}\n{'-' if device_id is None else device_id}"
    return sha256(previous + message_digest + result_digest + heading.encode()).digest()


def record_hash(
    previous: bytes, *, recorded_at: datetime, actor: str, action: str, subject: str, origin: str, detail: Any
) -> bytes:
    """SHA-256 over the previous record's hash and the record itself as one line of canonical JSON.

    The line is a list, so that no value can pass for another: recording time in microseconds since 1970 UTC, who, did
    what, to what, from where, and the detail.
    """
    heading = [microseconds(recorded_at), actor, action, subject, origin, detail]
    return sha256(previous + canonical(heading)).digest()


def canonical(value: Any) -> bytes:
    """A JSON value in the one way it is hashed: keys sorted, nothing between, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@lru_cache(maxsize=1024)  # a batch is recorded at one moment, and an array of messages received at one
def microseconds(at: datetime) -> int:
    """Microseconds since 1970 UTC, exactly."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
