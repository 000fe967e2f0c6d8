"""What people decide about tables and held rounds (CONTRACT §7), declared to the office."""

import json
from typing import Any

from accounting.office.acts import Act, Asked, Change, Foreseen, Performed, Tier
from accounting.rules.roles import ADMINISTRATOR, MANAGER, SUPERVISOR
from accounting.shell.templatetags.pages import money
from jackpot.rules import decision as rules
from tables.rules import acts as shapes
from tables.rules import differences, round_acts
from tables.services import acts


def _act(asked: Asked) -> rules.Act:
    """What is asked for, as the rules take it: done at the moment of the question."""
    return rules.Act(asked.act, asked.subject, asked.at.isoformat(), asked.payload)


def _perform(asked: Asked) -> Performed:
    stream, sequence = acts.perform(
        _act(asked),
        at=asked.at,
        reason=asked.reason,
        by=asked.proposed_by,
        approved_by=list(asked.approved_by),
        proposal=asked.proposal_id,
        evidence=asked.evidence,
    )
    return Performed(stream, sequence)


def _table_version(subject: str) -> str | None:
    return acts.version(subject, of_table=True)


def _round_version(subject: str) -> str | None:
    return acts.version(subject, of_table=False)


def _is_held(subject: str) -> bool:
    return acts.standing(subject) == "held"


def _can_be_released(subject: str) -> bool:
    return _is_held(subject) and not round_acts.unreleasable(acts.held(subject).reasons)


def _as_posted(subject: str) -> dict[str, Any]:
    """The form of a correction begins with the message as it was posted."""
    return {"message": json.loads(acts.held(subject).incoming.raw)}


def _foresee_state(asked: Asked) -> Foreseen:
    """Whether the table is open, before and after."""
    decision = acts.foresee(_act(asked), at=asked.at)
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
    before, after = acts.terms_before_and_after(_act(asked), at=asked.at)
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


def _foresee_round(asked: Asked) -> Foreseen:
    """What the round would come to: its outcome, what was staked and paid, and the meters it would move."""
    decision = acts.foresee(_act(asked), at=asked.at)
    settlement = decision.result
    if settlement["outcome"] == "held":
        still = ", ".join(reason.replace("_", " ") for reason in settlement["reasons"])
        return Foreseen((), f"It would be held again: {still}.")
    seats = settlement["seats"]
    rows = [
        Change("Round", "held", settlement["outcome"]),
        Change("Staked", "–", money(sum(seat["staked_cents"] for seat in seats))),
        Change("Paid", "–", money(sum(seat["paid_cents"] for seat in seats))),
    ]
    rows += [
        Change(f"Meter {row['link']}/{row['level']}", money(row["before_cents"]), money(row["after_cents"]))
        for row in settlement["meters"]
        if row["before_cents"] != row["after_cents"]
    ]
    rows += [
        Change(f"Hit at seat {award['seat']}", "–", f"{money(award['paid_cents'])} of {award['level']}")
        for award in settlement["awards"]
    ]
    if asked.act == "round.correct":
        posted = json.loads(acts.held(asked.subject).incoming.raw)
        rows += [
            Change(f"Message: {row.part.replace('_', ' ')}", row.posted or "–", row.corrected or "–")
            for row in differences.changed(posted, asked.payload["message"])
        ]
    return Foreseen(tuple(rows))


ACTS: tuple[Act, ...] = (
    Act(
        shape=round_acts.RELEASE,
        title="Release a held round",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=_round_version,
        foresee=_foresee_round,
        perform=_perform,
        possible=_can_be_released,
    ),
    Act(
        shape=round_acts.CORRECT,
        title="Correct a held round",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=_round_version,
        foresee=_foresee_round,
        perform=_perform,
        begins=_as_posted,
        possible=_is_held,
    ),
    Act(
        shape=round_acts.VOID_ROUND,
        title="Void a round",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=_round_version,
        foresee=_foresee_round,
        perform=_perform,
        possible=_is_held,
    ),
    Act(
        shape=shapes.TABLE_OPEN,
        title="Open a table",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        version=_table_version,
        foresee=_foresee_state,
        perform=_perform,
        possible=lambda table: not acts.is_open(table),
    ),
    Act(
        shape=shapes.TABLE_CLOSE,
        title="Close a table",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        version=_table_version,
        foresee=_foresee_state,
        perform=_perform,
        possible=acts.is_open,
    ),
    Act(
        shape=shapes.TABLE_TERMS,
        title="Change a table's terms",
        proposes=frozenset({MANAGER, ADMINISTRATOR}),
        approves=(Tier(0, MANAGER, 1),),
        version=_table_version,
        foresee=_foresee_terms,
        perform=_perform,
    ),
)
