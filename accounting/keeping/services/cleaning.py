"""Removing what has passed its term; nothing else of the house is ever removed."""

from __future__ import annotations

from datetime import datetime

from accounting.office.services import jobs
from accounting.people.services import sessions, sign_ins
from accounting.slips.services import letting_go


def clean(at: datetime) -> dict[str, int]:
    """Remove or empty what has passed its term, and sessions that ended by themselves; how many of each kind."""
    return {
        "job_results": jobs.remove_results(at),
        "sign_ins": sign_ins.remove_old(at),
        "sessions": sessions.remove_over(at),
        "winners": letting_go.let_go(at),
    }
