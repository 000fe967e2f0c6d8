"""What people decide about slips that were issued, and of the payer on tax forms; how a slip is issued is the tables' to say."""

from typing import Any

from accounting.office.acts import Act, Asked, Change, Foreseen, Performed, Tier
from accounting.queries import the_property
from accounting.rules.acts import ActRefused, Shape
from accounting.rules.roles import ACCOUNTING, CAGE, CONTROLLER, MANAGER, SUPERVISOR
from accounting.shell.templatetags.pages import money
from accounting.slips import queries
from accounting.slips.rules import payer
from accounting.slips.rules.register import PAID, VOID, slip_name, slip_number
from accounting.slips.services import payers, slips


def _version(name: str) -> str | None:
    """The state of a slip; None where there is none, or where it is named without its zeros."""
    slip = queries.slip_named(name)
    return None if slip is None or slip_name(slip.number) != name else queries.row(slip)["state"]


def _foresee(asked: Asked) -> Foreseen:
    """The slip void under its number; where it was paid, one that takes its place."""
    slip = queries.slip_named(asked.subject)
    if slip is None:
        raise ActRefused("unknown_subject", detail=f"there is no slip {asked.subject}")
    shown = queries.row(slip)
    if shown["state"] == VOID:
        raise ActRefused("wrong_state", detail=f"slip {shown['slip']} is void")
    rows = [Change(f"Slip {shown['slip']}, {money(shown['cents'])}", shown["state"], VOID)]
    if shown["state"] == PAID:
        rows.append(Change("Replaced by", "", "the next number, paid"))
    return Foreseen(tuple(rows), "It keeps its number and stays in the register.")


def _perform(asked: Asked) -> Performed:
    replaced = slips.void(
        slip_number(asked.subject) or 0, reason=asked.reason, by=asked.proposed_by, approved_by=asked.approved_by,
        at=asked.at,
    )  # fmt: skip
    return Performed(detail="" if replaced is None else f"replaced by slip {slip_name(replaced.number)}")


def _payer_version(code: str) -> str | None:
    """The last that was stated of the payer; None for another property."""
    last = queries.last_payer()
    return None if code != the_property().code else "nothing stated" if last is None else str(last.pk)


def _payer_as_stated(code: str) -> dict[str, Any]:
    """What was stated last; from which day the next counts is for whoever states it."""
    last = queries.last_payer()
    fields = [field.name for field in payer.STATE_PAYER.fields if field.name != "counts_from"]
    return {} if last is None else {name: getattr(last, name) for name in fields}


def _foresee_payer(asked: Asked) -> Foreseen:
    """What forms of payments from that day on say, and what they said."""
    said = payer.read(asked.payload)
    before = payers.payer_on(said["counts_from"])
    rows = [
        Change(field.title, "" if before is None else str(getattr(before, field.name)), str(said.get(field.name, "")))
        for field in payer.STATE_PAYER.fields
    ]
    return Foreseen(
        tuple(rows), "Forms W-2G and 5754 of payments from that day on say so, also where they are printed again."
    )


def _state_payer(asked: Asked) -> Performed:
    made = payers.state(asked.payload, at=asked.at, by=asked.proposed_by)
    return Performed(detail=f"stated from {made.counts_from} on")


SUBJECTS = (("slip", queries.standing_names), ("property", lambda: [the_property().code]))
ACTS: tuple[Act, ...] = (
    Act(
        shape=Shape("slip.void", "slip"),
        title="Void a slip",
        proposes=frozenset({CAGE, SUPERVISOR, MANAGER}),
        approves=(Tier(0, MANAGER, 1),),
        version=_version,
        foresee=_foresee,
        perform=_perform,
        possible=lambda name: _version(name) not in (None, VOID),
    ),
    Act(
        shape=payer.STATE_PAYER,
        title="State the payer of tax forms",
        proposes=frozenset({ACCOUNTING}),
        approves=(Tier(0, CONTROLLER, 1),),
        version=_payer_version,
        foresee=_foresee_payer,
        perform=_state_payer,
        begins=_payer_as_stated,
    ),
)
