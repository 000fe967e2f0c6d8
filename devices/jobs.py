"""Long work on the record, for the office's queue."""

from dataclasses import fields
from typing import Any

from accounting.office.work import JobKind, Progress
from accounting.rules.roles import AUDITOR, CONTROLLER
from devices.audit.verification import Difference, streams, verify
from devices.closing.work import VERIFY_DAY
from devices.foresight.work import FORESEE
from devices.packing.work import PACK


def verify_all(progress: Progress) -> dict[str, Any]:
    """Recompute everything from the stored messages, as `manage.py verify` does: what was looked at, or what differs."""
    wanted = streams()
    progress.expect(sum(events for _, _, events in wanted) + 1)  # and the inbox
    try:
        counts = verify([stream_id for stream_id, _, _ in wanted], advance=lambda what, done: progress.advance(done))
    except Difference as difference:
        return {"ok": False, "summary": f"different: {difference}", "difference": str(difference)}
    looked_at = {item.name: getattr(counts, item.name) for item in fields(counts)}
    return {"ok": True, "summary": f"no difference in {counts.events:,} events", "counts": looked_at}


JOBS = (
    JobKind(
        name="verify",
        title="Verify everything",
        roles=frozenset({AUDITOR, CONTROLLER}),
        run=verify_all,
        reads_elsewhere=True,
    ),
    VERIFY_DAY,
    FORESEE,
    PACK,
)
