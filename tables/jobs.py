"""Long work on what players have won, and on weeks that are over, for the office's queue."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from accounting.office.work import JobKind, Progress
from accounting.rules.acts import ActRefused
from accounting.rules.roles import ACCOUNTING, CONTROLLER
from accounting.services import ledger
from jackpot.rules.decision import Act
from tables.queries import weeks
from tables.queries.unclaimed import owed
from tables.services import past
from tables.services import weeks as sheets

SERVICE = "the service"


def book_unclaimed(progress: Progress) -> dict[str, Any]:
    """Book as unclaimed what nobody came for in its term, each as an act of its own: how many, and what they come to.

    What somebody pays or rejects meanwhile is left alone. What is due to the state is for people to decide.
    """
    today = ledger.day_of(timezone.now())
    due = [each for each in owed() if not each.is_unclaimed and each.due(today)]
    progress.expect(len(due))
    count = cents = 0
    for each in due:
        at = timezone.now()
        act = Act(f"{each.what}.unclaimed", each.name, at.isoformat())
        try:
            with transaction.atomic():
                past.perform(act, at=at, by=SERVICE, reason="the term is over")
        except ActRefused as refusal:
            if refusal.code not in ("wrong_state", "already_paid", "already_rejected"):
                raise
        else:
            count, cents = count + 1, cents + each.cents
        progress.advance()
    return {"ok": True, "summary": f"{count} booked as unclaimed, {cents // 100:,}.{cents % 100:02d} dollars"}


def make_sheets(progress: Progress) -> dict[str, Any]:
    """Make the sheet of every week that is over and closed and has none, for its review."""
    wanted = [week for week in weeks.weeks(timezone.now()) if week.is_closed and week.sheet is None][::-1]
    progress.expect(len(wanted))
    for week in wanted:
        sheets.make(week.first, at=timezone.now(), by=SERVICE)
        progress.advance()
    names = ", ".join(week.name for week in wanted)
    return {
        "ok": True,
        "summary": f"sheets made: {names}" if names else "no week waits for a sheet",
    }


JOBS = (
    JobKind(name="weeks", title="Make the sheets of weeks", roles=frozenset({ACCOUNTING, CONTROLLER}), run=make_sheets),
    JobKind(
        name="unclaimed", title="Book what is unclaimed", roles=frozenset({ACCOUNTING, CONTROLLER}), run=book_unclaimed
    ),
)
