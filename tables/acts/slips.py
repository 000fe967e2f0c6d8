"""Slips for hits and envy (REQUIREMENTS R74–R79, R111), declared to the office; and what a payment asks of a slip.

A slip may be issued before its payout is handed over, or is made by the act that hands it over. Who must sign a slip of an
amount is data, the tiers of `slip.issue`: the steps of a hit are signatures already, envy has none before.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from accounting.office.acts import Act, Asked, Change, Foreseen, Performed, Tier
from accounting.office.queries import agreed_as, tiers_of
from accounting.office.rules.approval import Need, missing, needs_for
from accounting.rules.acts import CHOICE, TEXT, ActRefused, Field, Shape
from accounting.rules.roles import CAGE, MANAGER, SUPERVISOR
from accounting.rules.tax import NOTHING, REGULAR, Form
from accounting.shell.templatetags.pages import money, role, words
from accounting.slips.queries import particulars_of, slip_of, withheld_on
from accounting.slips.rules.register import FORMS, slip_name
from accounting.slips.services import forms
from accounting.slips.services import slips as kept
from accounting.slips.services.slips import Issuing, Payable
from jackpot.rules.hits import CANCELLED, METHOD, REJECTED
from tables.services import past, slips

PIT = frozenset({SUPERVISOR, MANAGER})
ISSUE = "slip.issue"
ISSUED: Shape = Shape(
    ISSUE,
    "payout",
    (
        METHOD,
        Field("form", CHOICE, "Paid in", choices=FORMS, help="a table pays in chips"),
        Field(
            "override", TEXT, "Override", required=False, least=1, help="why, where the hit's checks are not all done"
        ),
    ),
)
SIGNED_AS = {"hit.verify": SUPERVISOR, "hit.approve": MANAGER}
"""As whom somebody has signed who took a step of a hit."""


def payer(payload: Mapping[str, Any]) -> frozenset[str]:
    """Who hands money over: the cage its own, the pit the table's chips."""
    return frozenset({CAGE}) if payload["method"] == "cage" else PIT


def _preparer(payload: Mapping[str, Any]) -> frozenset[str]:
    """Who prepares a slip: whoever hands the money over; over what is missing a manager alone (R78)."""
    return frozenset({MANAGER}) if payload.get("override") else payer(payload)


def unsigned(payable: Payable) -> tuple[Need, ...]:
    """Who must still sign for a payout, by the tiers in force: the steps of a hit count, one signature a step."""
    roles = []
    for act, by, proposal in slips.signed(payable):
        as_role = SIGNED_AS.get(act) or (agreed_as(proposal, by) if proposal is not None else None)
        roles += [as_role] if as_role else []
    return missing(needs_for(tiers_of(ISSUE), payable.cents), roles)


def _worth(subject: str) -> int:
    """What the tiers of a slip are measured by: nothing where all who must sign have signed before."""
    try:
        payable = slips.payable(subject)
    except ActRefused:
        return 0
    return payable.cents if unsigned(payable) else 0


def _version(subject: str) -> str | None:
    state, slip = slips.state_of(subject), slip_of(subject)
    return None if state is None else f"{state}:{'-' if slip is None else slip_name(slip.number)}:{_stands(subject)}"


def _stands(subject: str) -> bool:
    return kept.standing(subject) is not None


def _possible(subject: str) -> bool:
    return slips.state_of(subject) in slips.PAYABLE and not _stands(subject)


def _judged(asked: Asked) -> tuple[Payable, Issuing]:
    payable, payload = slips.payable(asked.subject), asked.payload
    if (stands := kept.standing(asked.subject)) is not None:
        raise ActRefused("slip_stands", detail=f"{asked.subject} has slip {slip_name(stands.number)}")
    if payload["method"] == "table" and payload["form"] != "chips":
        raise ActRefused("invalid_value", "/payload/form", "Paid in: a table pays in chips")
    if not payable.complete and not payload.get("override"):
        left = ", ".join(words(one["check"]) for one in payable.facts["checks"] if not one["done"])
        raise ActRefused(
            "checks_missing", "/payload/override", f"not checked: {left}; a manager overrides it, saying why"
        )
    how = _issuing(asked, payload["form"], payload.get("override", ""))
    known = particulars_of(asked.subject)
    due = forms.of_payable(payable.subject, payable.cents, how.transaction, known, forms.local_date(asked.at))
    if not known and any(form.withholding == REGULAR for form in due):
        raise ActRefused(
            "particulars_missing",
            detail=f"Particulars: tax is withheld from {money(payable.cents)}, so who won it, by two identifications, is taken"
            " down first",
        )
    return payable, how


def _issuing(asked: Asked, form: str, override: str = "") -> Issuing:
    return Issuing(
        asked.payload["method"], form, asked.proposed_by, asked.approved_by, slips.transaction(asked.subject), override
    )


def _foresee(asked: Asked) -> Foreseen:
    """The slip that there would be: its amount, what is withheld, who has signed."""
    payable, how = _judged(asked)
    due = forms.of_payable(
        payable.subject, payable.cents, how.transaction, particulars_of(asked.subject), forms.local_date(asked.at)
    )
    rows = [Change("Slip", "", "the next number"), Change("Gross", "", money(payable.cents))]
    rows += _taxed(due, payable.cents)
    rows += [Change(step["what"], "", step["by"]) for step in payable.facts["steps"]]
    return Foreseen(tuple(rows))


def _perform(asked: Asked) -> Performed:
    payable, how = _judged(asked)
    slip = kept.issue(payable, how, at=asked.at)
    return Performed(detail=f"slip {slip_name(slip.number)}")


def may_be_paid(asked: Asked) -> None:
    """Refuse to hand a payout over that must be signed for and is not: `slip_needed`. Nothing is written.

    Who won it may be taken down later (CONTRACT §7 asks for nothing more than approval): until then its form is open, in the
    register of slips and in the tax pack.
    """
    if kept.standing(asked.subject) is not None:
        return
    try:
        payable = slips.payable(asked.subject)
    except ActRefused:
        return  # of no worth, or in no state to be paid: the rule has its own word for that
    if still := unsigned(payable):
        who = ", ".join(f"{need.count} {role(need.role)}" for need in still)
        raise ActRefused(
            "slip_needed", detail=f"{money(payable.cents)} is paid on a slip that is signed first; missing: {who}"
        )


def kept_back(asked: Asked) -> list[Change]:
    """What of a payment is withheld as things stand, and what is handed over; nothing where no tax form is due."""
    try:
        payable = slips.payable(asked.subject)
    except ActRefused:
        return []
    known, day = particulars_of(asked.subject), forms.local_date(asked.at)
    due = forms.of_payable(payable.subject, payable.cents, slips.transaction(asked.subject), known, day)
    return _taxed(due, payable.cents)


def _taxed(due: Sequence[Form], cents: int) -> list[Change]:
    if not due:
        return []
    withheld, rule = sum(form.withheld_cents for form in due), due[0].withholding
    return [
        Change("Form W-2G", "", f"{len(due)}, {'nothing withheld' if rule == NOTHING else rule + ' withholding'}"),
        Change("Withheld", "", money(withheld)),
        Change("Handed over", "", money(cents - withheld)),
    ]


def handed_over(asked: Asked, performed: Performed) -> str:
    """Put the slip of what was handed over on record: the one that stands, or one made now; and book the tax of it.

    What came of it, in words: the slip, and what is withheld.
    """
    state = slips.standing(asked.subject)
    if state is None or not state.cents()[asked.subject]:
        return ""  # an award of nothing
    assert performed.sequence is not None, "a payment is an event"
    payable = slips.payable(asked.subject)
    form = "cash" if asked.payload["method"] == "cage" else "chips"
    slip = kept.pay(payable, _issuing(asked, form), event=performed.sequence, at=asked.at)
    said, withheld = f"slip {slip_name(slip.number)}", withheld_on(slip)
    if not withheld:
        return said
    past.withhold(
        payable.kind, asked.subject, withheld, slip.method, at=asked.at, by=asked.proposed_by,
        approved_by=list(asked.approved_by), reason=f"Form W-2G of {said}", proposal=asked.proposal_id,
    )  # fmt: skip
    return f"{said}, {money(payable.cents - withheld)} handed over, {money(withheld)} of tax withheld"


def taken_back(asked: Asked) -> None:
    """Void the slips of what was rejected or cancelled before it was paid; their numbers stay."""
    found = past.standing(asked.act, asked.subject)
    agreed = asked.approved_by or (asked.act,)
    for subject in found.subjects() if found is not None else ():
        slip = kept.standing(subject)
        if slip is not None and slips.state_of(subject) in (REJECTED, CANCELLED):
            reason = f"{words(asked.act)}: {asked.reason}"
            kept.void(slip.number, reason=reason, by=asked.proposed_by, approved_by=agreed, at=asked.at)


SLIP_ACTS: tuple[Act, ...] = (
    Act(
        shape=ISSUED,
        title="Issue a slip",
        proposes=PIT | {CAGE},
        asks=_preparer,
        approves=(Tier(120_000, SUPERVISOR, 1), Tier(500_001, MANAGER, 1), Tier(10_000_000, MANAGER, 2)),
        worth=_worth,
        version=_version,
        foresee=_foresee,
        perform=_perform,
        possible=_possible,
    ),
)
