"""Slips on the audit trail: each row of theirs is digested there when it is written, so that none is changed or lost unseen."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from django.db.models import Model

from accounting.models import AuditRecord
from accounting.rules.chain import canonical
from accounting.services import audit
from accounting.slips.models import Particulars, Payer, Slip, SlipPayment, SlipPrint, SlipVoid, TaxForm

ACTIONS = {
    "issue slip": Slip,
    "pay slip": SlipPayment,
    "void slip": SlipVoid,
    "print slip": SlipPrint,
    "work out tax forms": TaxForm,
    "take down particulars": Particulars,
    "state the payer": Payer,
}
"""What the trail says of a row when it is written, and what the row is."""

LET_GO = "let go of who won"
"""What the trail says when sealed particulars are emptied after their term: of each row its digest now, and as it was."""

LARGE = ("facts", "content")
"""Columns whose SHA-256 is a column of its own."""


def digest_of(row: Model) -> str:
    """The SHA-256 over what a row says, in hexadecimal: the values of its columns in their order, as canonical JSON."""
    columns = [field for field in row._meta.concrete_fields if field.attname not in (*LARGE, "id")]
    return sha256(
        canonical([row._meta.model_name, *(_said(getattr(row, field.attname)) for field in columns)])
    ).hexdigest()


def _said(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return value


def note(
    action: str, subject: str, rows: Iterable[Model], *, at: datetime, by: str, origin: str = "", **said: Any
) -> None:
    """Put rows that were written on the trail. Comes last in a transaction, as every audit record does."""
    assert action in ACTIONS, f"{action} is nothing that slips do"
    detail = {"digests": [digest_of(row) for row in rows], **said}
    audit.record(at=at, actor=by, action=action, subject=subject, detail=detail, origin=origin)


def digests(action: str) -> Iterator[tuple[str, str]]:
    """What the trail has of the rows of an action, in its order: the subject and the digest of each."""
    found = AuditRecord.objects.filter(action=action).order_by("id")
    for subject, detail in found.values_list("subject", "detail").iterator():
        for digest in detail.get("digests", ()):
            yield subject, digest


def let_go() -> Iterator[tuple[str, str, datetime]]:
    """The rows that were emptied after their term: the digest of each now, its digest as it was, and when that was."""
    found = AuditRecord.objects.filter(action=LET_GO)
    for detail, at in found.values_list("detail", "recorded_at").iterator():
        for now, was in detail["digests"].items():
            yield now, was, at


def rows(action: str) -> Iterator[Model]:
    """The rows of an action as they are kept."""
    yield from ACTIONS[action]._default_manager.order_by("pk").iterator()
