"""The access log: who signed in, when and from where, kept for its term."""

from datetime import UTC, datetime, time

from axes.models import AccessLog

from accounting.rules.retention import kinds


def remove_old(at: datetime) -> int:
    """Remove sign-ins that have passed their term; the database refuses younger ones."""
    before = datetime.combine(kinds()["sign_ins"].passed_before(at.astimezone(UTC).date()), time.min, UTC)
    removed, _ = AccessLog.objects.filter(attempt_time__lt=before).delete()
    return removed
