"""What people decide about tables that only the inbox can know enough for (CONTRACT §7), declared to the office.

A table is moved with an empty queue: whether rounds of it wait is known here. So is whether any of a day do that is closed.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.acts import ActRefused
from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, CONTROLLER, MANAGER
from accounting.services.closed_days import is_closed, streams_now
from devices.closing import checklist
from devices.intake.wakes import wake
from devices.queries import rounds_wait
from jackpot.acts.asked import act_asked, performing
from jackpot.rules import decision as rules
from tables.queries.set_up import link_of
from tables.rules import acts as shapes
from tables.rules.days import CLOSE_DAY, day_named
from tables.services import days, moving
from tables.services.acts import version


def _version(subject: str) -> str | None:
    return version(subject, of_table=True)


def perform(act: rules.Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Move a table none of whose rounds waits: the link's stream and the sequence there. Raises ActRefused."""
    if rounds_wait(act.subject):
        raise ActRefused(
            "wrong_state", detail=f"rounds of table {act.subject} wait to be settled: try again when none does"
        )
    return moving.perform(act, at=at, **more)


def _foresee(asked: Asked) -> Foreseen:
    """The link of the table before and after."""
    (change,) = moving.foresee(act_asked(asked), at=asked.at).changes
    return Foreseen(
        (Change("Link", link_of(asked.subject) or "none", change["link"] or "none"),),
        "Rounds that count from then on; what was dealt before counts where it was dealt, however late it comes.",
    )


def _day_version(subject: str) -> str | None:
    """Whether a gaming day is open: what is booked on it is asked when it is closed, by the sequences that were looked at."""
    try:
        return "closed" if is_closed(day_named(subject)) else "open"
    except ActRefused:
        return None


def _day_is_open(subject: str) -> bool:
    return _day_version(subject) == "open"


def _looked_at(subject: str) -> dict[str, Any]:
    """What the form begins with: every stream as far as it was verified."""
    return {"sequences": checklist.look(day_named(subject), at=timezone.now()).sequences}


def _foresee_closing(asked: Asked) -> Foreseen:
    """The checklist; refused `not_ready` while anything on it stands in the way."""
    days.foresee(act_asked(asked), at=asked.at)
    found = checklist.look(day_named(asked.subject), at=asked.at)
    if found.in_the_way:
        raise ActRefused("not_ready", detail=f"{found.in_the_way[0].title}: {found.in_the_way[0].words}")
    rows = [Change(f"Gaming day {asked.subject}", "open", "closed for good")]
    rows += [Change(item.title, item.words, "") for item in found.items if item.state == checklist.LISTED]
    return Foreseen(
        tuple(rows), f"Every stream has one event of it; the heads of {len(found.streams)} streams are signed."
    )


def close_day(act: rules.Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Close a gaming day and wake every stream, so that whatever came meanwhile waits no longer; the first stream's event."""
    closed = days.perform(act, at=at, **more)
    waiting = [stream.id for stream in streams_now()]
    transaction.on_commit(lambda: wake(waiting), robust=True)
    return next(iter(sorted(closed.items())))


ACTS: tuple[Act, ...] = (
    Act(
        shape=shapes.TABLE_JOIN,
        title="Let a table join a link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=_version,
        foresee=_foresee,
        perform=performing(perform),
        possible=lambda table: link_of(table) is None,
    ),
    Act(
        shape=shapes.TABLE_LEAVE,
        title="Let a table leave its link",
        proposes=frozenset({ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=_version,
        foresee=_foresee,
        perform=performing(perform),
        possible=lambda table: link_of(table) is not None,
    ),
    Act(
        shape=CLOSE_DAY,
        title="Close a gaming day",
        proposes=frozenset({ACCOUNTING, CONTROLLER}),
        approves=(Tier(0, CONTROLLER, 1),),
        version=_day_version,
        foresee=_foresee_closing,
        perform=performing(close_day),
        begins=_looked_at,
        possible=_day_is_open,
    ),
)
