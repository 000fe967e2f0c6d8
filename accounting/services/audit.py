"""Writing the audit trail, and finding where it is not as it was written."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction

from accounting.models import AuditHead, AuditRecord
from accounting.rules.chain import GENESIS, record_hash

AT_ONCE = 2_000
"""Records read in one go when the trail is checked."""


@transaction.atomic
def record(
    *, at: datetime, actor: str, action: str, subject: str, detail: dict[str, Any] | None = None, origin: str = ""
) -> AuditRecord:
    """Put an act on record, chained to the one before. It cannot be changed afterwards.

    The trail has one order: whoever writes keeps the others waiting until its transaction ends, so this comes last in
    it, after every other lock. `origin` is where it came from, the client's address. The detail holds no fractions and
    no NUL, which the database would not give back as they were hashed: TypeError.
    """
    detail = detail or {}
    _hashable(detail)
    while (head := AuditHead.objects.select_for_update().first()) is None:
        # An empty trail begins here. Beside records whose head is gone, this beginning is what the check finds.
        AuditHead.objects.bulk_create([AuditHead(records=0, hash=GENESIS)], ignore_conflicts=True)
    previous = bytes(head.hash)
    return AuditRecord.objects.create(
        recorded_at=at, actor=actor, action=action, subject=subject, origin=origin, detail=detail, previous=previous,
        hash=record_hash(
            previous, recorded_at=at, actor=actor, action=action, subject=subject, origin=origin, detail=detail
        ),
    )  # fmt: skip


def _hashable(value: Any) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            _hashable(key)
            _hashable(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _hashable(inner)
    elif isinstance(value, float) or (isinstance(value, str) and "\0" in value):
        raise TypeError(f"{value!r} in the detail of an audit record")


def check_audit_trail() -> list[str]:
    """What is not as it was written, in words, the first difference of the chain and what its head says; [] when all is.

    A changed record breaks its own hash, a removed or inserted one the link after it, a cut tail the head. Others may go on
    writing meanwhile.
    """
    known = AuditHead.objects.first()
    reached, count = GENESIS, 0
    for row in _in_order():
        where = f"audit record {row.pk} ({row.action} {row.subject})"
        if bytes(row.previous) != reached:
            return [
                f"{where}: follows {bytes(row.previous).hex()}, but the record before it is {reached.hex()}:"
                " something between them was removed, added or changed"
            ]
        reached = record_hash(
            reached, recorded_at=row.recorded_at, actor=row.actor, action=row.action, subject=row.subject,
            origin=row.origin, detail=row.detail,
        )  # fmt: skip
        if bytes(row.hash) != reached:
            return [
                f"{where}: its hash is {bytes(row.hash).hex()}, but what it says gives {reached.hex()}: it was changed"
            ]
        count += 1
        if known is not None and count == known.records and bytes(known.hash) != reached:
            return [f"{where}: the head of the audit trail says {bytes(known.hash).hex()}, the record {reached.hex()}"]
    if known is not None and count < known.records:
        return [f"the audit trail ends after {count:,} records, its head says {known.records:,}: its end was cut off"]
    head = AuditHead.objects.first()
    if count and (head is None or head.records < count):
        said = "has no head" if head is None else f"has a head that says {head.records:,}"
        return [f"the audit trail of {count:,} records {said}: the head was removed or changed"]
    return []


def _in_order() -> Iterator[AuditRecord]:
    last = 0
    while page := list(AuditRecord.objects.filter(pk__gt=last).order_by("pk")[:AT_ONCE]):
        yield from page
        last = page[-1].pk
