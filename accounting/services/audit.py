"""Writing the audit trail."""

from datetime import datetime
from typing import Any

from accounting.models import AuditRecord


def record(*, at: datetime, actor: str, action: str, subject: str, detail: dict[str, Any] | None = None) -> AuditRecord:
    """Put an act on record. It cannot be changed afterwards."""
    return AuditRecord.objects.create(recorded_at=at, actor=actor, action=action, subject=subject, detail=detail or {})
