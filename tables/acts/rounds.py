"""What people decide about rounds, held and settled (CONTRACT §7), declared to the office."""

import json
from hashlib import sha256
from typing import Any

from accounting.office.acts import Act, Asked, Change, Foreseen, Performed, Tier
from accounting.rules.roles import MANAGER, SUPERVISOR
from accounting.shell.templatetags.pages import money
from jackpot.acts.asked import act_asked, performing
from jackpot.rules.hits import PAID, REMITTED
from tables.acts.hits import rows
from tables.acts.slips import taken_back
from tables.rules import differences, round_acts
from tables.rules.house import SETTLED
from tables.rules.precedents import VOID_ROUND
from tables.services import acts, past


def _round_version(subject: str) -> str | None:
    return acts.version(subject, of_table=False)


def _version_to_void(subject: str) -> str | None:
    """A round that is not held is voided with its hits: it changes when one of them or their envy does."""
    if _is_held(subject):
        return _round_version(subject)
    found = past.standing(VOID_ROUND, subject)
    if found is None:
        return None
    states = ",".join(str(found.standing(one)) for one in found.subjects())
    return f"{found.round.outcome}:{sha256(f'{found.sequence}:{states}'.encode()).hexdigest()[:16]}"


def _can_be_voided(subject: str) -> bool:
    if _is_held(subject):
        return True
    found = past.standing(VOID_ROUND, subject)
    return (
        found is not None
        and found.round.outcome == SETTLED
        and all(hit.state not in (PAID, REMITTED) for hit in found.hits)
    )


def _foresee_void(asked: Asked) -> Foreseen:
    """What a held round, or a settled one with its hits and envy, would come to."""
    act = act_asked(asked)
    if not acts.is_of_the_past(act):
        return _foresee_round(asked)
    found = past.foresee(act, at=asked.at)
    stands = [
        f"{envy.name} ({money(envy.cents)})"
        for hit in found.precedent.hits
        for envy in hit.envy
        if envy.state in (PAID, REMITTED)
    ]
    return Foreseen(tuple(rows(found)), f"Paid envy stands: {', '.join(stands)}." if stands else "")


def _void(asked: Asked) -> Performed:
    """The void as one event, and the slips of its hits and envy void as well, in one commit."""
    was_held = _is_held(asked.subject)
    performed = performing(acts.perform)(asked)
    if not was_held:
        taken_back(asked)
    return performed


def _is_held(subject: str) -> bool:
    return acts.standing(subject) == "held"


def _can_be_released(subject: str) -> bool:
    return _is_held(subject) and not round_acts.unreleasable(acts.posted(subject).reasons)


def _as_posted(subject: str) -> dict[str, Any]:
    """The form of a correction begins with the message as it was posted."""
    return {"message": json.loads(acts.posted(subject).incoming.raw)}


def _foresee_round(asked: Asked) -> Foreseen:
    """What the round would come to: its outcome, what was staked and paid, and the meters it would move."""
    decision = acts.foresee(act_asked(asked), at=asked.at)
    settlement = decision.result
    if settlement["outcome"] == "held":
        still = ", ".join(reason.replace("_", " ") for reason in settlement["reasons"])
        return Foreseen((), f"It would be held again: {still}.")
    seats = settlement["seats"]
    changes = [
        Change("Round", "held", settlement["outcome"]),
        Change("Staked", "–", money(sum(seat["staked_cents"] for seat in seats))),
        Change("Paid", "–", money(sum(seat["paid_cents"] for seat in seats))),
    ]
    changes += [
        Change(f"Meter {row['link']}/{row['level']}", money(row["before_cents"]), money(row["after_cents"]))
        for row in settlement["meters"]
        if row["before_cents"] != row["after_cents"]
    ]
    changes += [
        Change(f"Hit at seat {award['seat']}", "–", f"{money(award['paid_cents'])} of {award['level']}")
        for award in settlement["awards"]
    ]
    if asked.act == "round.correct":
        as_posted = json.loads(acts.posted(asked.subject).incoming.raw)
        changes += [
            Change(f"Message: {row.part.replace('_', ' ')}", row.posted or "–", row.corrected or "–")
            for row in differences.changed(as_posted, asked.payload["message"])
        ]
    return Foreseen(tuple(changes))


ROUND_ACTS: tuple[Act, ...] = (
    Act(
        shape=round_acts.RELEASE,
        title="Release a held round",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=_round_version,
        foresee=_foresee_round,
        perform=performing(acts.perform),
        possible=_can_be_released,
    ),
    Act(
        shape=round_acts.CORRECT,
        title="Correct a held round",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=_round_version,
        foresee=_foresee_round,
        perform=performing(acts.perform),
        begins=_as_posted,
        possible=_is_held,
    ),
    Act(
        shape=round_acts.VOID_ROUND,
        title="Void a round",
        proposes=frozenset({SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=_version_to_void,
        foresee=_foresee_void,
        perform=_void,
        possible=_can_be_voided,
    ),
)
