"""What people decide about tables that only the inbox can know enough for (CONTRACT §7), declared to the office.

A table is moved with an empty queue: whether rounds of it wait is known here.
"""

from datetime import datetime
from typing import Any

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.acts import ActRefused
from accounting.rules.roles import ADMINISTRATOR, MANAGER
from devices.queries import rounds_wait
from jackpot.acts.asked import act_asked, performing
from jackpot.rules import decision as rules
from tables.queries.set_up import link_of
from tables.rules import acts as shapes
from tables.services import moving
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
)
