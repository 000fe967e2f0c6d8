"""The replay as long work: what is asked for, and what is kept of it."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from accounting.office.work import JobKind, Progress
from accounting.rules.roles import FORESIGHT
from devices.audit.side_by_side import processes_for
from devices.foresight import report
from devices.foresight.proposed import ProposedRefused, Standing, changed_levels, period, standing
from devices.foresight.replay import NotReplayable, replay
from jackpot.rules.link import LinkTerms, level_definition


def asked_of(link: Standing, terms: LinkTerms, since: datetime | None, until: datetime | None) -> dict[str, Any] | None:
    """What a replay of a period is asked to do; None where nothing of the link is on record in it."""
    first, last = period(link, since, until)
    if first > last:
        return None
    return {
        "link": link.code,
        "first": first,
        "last": last,
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "levels": [level_definition(level) for level in terms.levels],
    }


def replay_under_terms(progress: Progress) -> dict[str, Any]:
    """Replay a link's recorded rounds under proposed terms, as `manage.py foresee` does: both sides, or why it cannot be."""
    asked = progress.asked
    first, last = asked["first"], asked["last"]
    link = standing(asked["link"], timezone.now())
    if link is None:
        return {"ok": False, "summary": f"there is no link {asked['link']}"}
    progress.expect(last - first + 1)
    try:
        terms = changed_levels(link, asked["levels"])
        sides = replay(link, terms, first, last, processes=processes_for(last - first + 1), advance=progress.advance)
    except (NotReplayable, ProposedRefused) as refusal:
        return {"ok": False, "summary": str(refusal)}
    return {"ok": True, "summary": report.told(sides)} | report.of_sides(sides)


FORESEE = JobKind(
    name="foresee",
    title="Replay under proposed terms",
    roles=FORESIGHT,
    run=replay_under_terms,
    address="foreseen",
)
