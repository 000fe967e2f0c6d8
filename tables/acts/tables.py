"""What people decide about tables (CONTRACT §7), declared to the office."""

from typing import Any

from django.utils import timezone

from accounting.office.acts import Act, Asked, Change, Foreseen, Tier
from accounting.rules.roles import ADMINISTRATOR, MANAGER, SUPERVISOR
from accounting.shell.templatetags.pages import money
from jackpot.acts.asked import act_asked, performing
from tables.rules import acts as shapes
from tables.services import acts


def _table_version(subject: str) -> str | None:
    return acts.version(subject, of_table=True)


def _foresee_state(asked: Asked) -> Foreseen:
    """Whether the table is open, before and after."""
    decision = acts.foresee(act_asked(asked), at=asked.at)
    (change,) = decision.changes
    states = ("closed", "open") if change["open"] else ("open", "closed")
    return Foreseen(
        (Change("State", *states),),
        "Rounds that count from then on are settled."
        if change["open"]
        else "Rounds that count from then on are held; what was dealt before settles however late it comes.",
    )


def _foresee_terms(asked: Asked) -> Foreseen:
    """Each term that changes, before and after."""
    before, after = acts.terms_before_and_after(act_asked(asked), at=asked.at)
    rows = [
        Change(key.removesuffix("_cents").capitalize(), money(before[key]), money(after[key]))
        for key in ("minimum_cents", "maximum_cents")
        if before[key] != after[key]
    ]
    rows += [
        Change(name.replace("_", " "), _worded(before["terms"][name]), _worded(value))
        for name, value in after["terms"].items()
        if before["terms"][name] != value
    ]
    return Foreseen(tuple(rows), "Rounds that count from then on; what was dealt before keeps its terms.")


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


TABLE_ACTS: tuple[Act, ...] = (
    Act(
        shape=shapes.TABLE_OPEN,
        title="Open a table",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        version=_table_version,
        foresee=_foresee_state,
        perform=performing(acts.perform),
        possible=lambda table: not acts.is_open(table),
    ),
    Act(
        shape=shapes.TABLE_CLOSE,
        title="Close a table",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        version=_table_version,
        foresee=_foresee_state,
        perform=performing(acts.perform),
        possible=acts.is_open,
    ),
    Act(
        shape=shapes.TABLE_TERMS,
        title="Change a table's terms",
        proposes=frozenset({MANAGER, ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=_table_version,
        foresee=_foresee_terms,
        perform=performing(acts.perform),
        stands=lambda table: acts.terms_now(table, at=timezone.now()),
    ),
)
