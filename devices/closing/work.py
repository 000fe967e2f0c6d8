"""Verifying since the last closed day as long work."""

from typing import Any

from django.utils import timezone

from accounting.office.work import JobKind, Progress
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER
from devices.audit.findings import Difference
from devices.closing import verifying


def verify_the_day(progress: Progress) -> dict[str, Any]:
    """Recompute every stream from its last signed head on, as a day's closing asks for it, and note how far."""
    progress.expect(verifying.events_to_verify())
    try:
        found = verifying.verify_all(at=timezone.now(), advance=progress.advance)
    except Difference as difference:
        return {"ok": False, "summary": f"different: {difference}", "difference": str(difference)}
    return {"ok": True, "summary": f"no difference in {found.events:,} events of {found.streams:,} streams"}


VERIFY_DAY = JobKind(
    name="verify-day",
    title="Verify since the last closed day",
    roles=frozenset({ACCOUNTING, CONTROLLER, AUDITOR}),
    run=verify_the_day,
)
