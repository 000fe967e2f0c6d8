"""Comparing sheets of weeks and signatures under them with the audit trail, which is chained (REQUIREMENTS R93)."""

from hashlib import sha256

from devices.audit.findings import same
from tables.queries import weeks


def compare_weeks() -> None:
    """Compare every sheet, and every signature under one, with what the audit trail has of it. Raises Difference."""
    left = weeks.on_trail()
    for week, sheet in weeks.all_sheets():
        digest = sha256(bytes(sheet.content)).hexdigest()
        key = (weeks.MADE, week, sheet.by, sheet.made_at, digest, "")
        same(f"sheet of week {week}", "as the audit trail has it", True, left[key] > 0)
        left[key] -= 1
        for review in sheet.reviews.all():
            key = (weeks.SIGNED, week, review.by, review.at, digest, review.note)
            same(f"signature of {review.by} under week {week}", "as the audit trail has it", True, left[key] > 0)
            left[key] -= 1
    gone = next((f"{action} {week}, {who}" for (action, week, who, *_), number in left.items() if number > 0), None)
    same("weeks", "row on the audit trail that is gone", None, gone)
