"""Slips: issued, paid, void, each in the caller's transaction and each on the audit trail (REQUIREMENTS R74–R79).

Order of locks: the caller's stream, then the counter of slips, then the audit trail, always last.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from zoneinfo import ZoneInfo

from accounting.queries import the_property
from accounting.rules.acts import ActRefused
from accounting.rules.chain import canonical
from accounting.rules.gaming_day import gaming_date
from accounting.slips import trail
from accounting.slips.models import Slip, SlipCounter, SlipPayment, SlipVoid, TaxForm
from accounting.slips.rules.register import slip_name
from accounting.slips.services import forms


@dataclass(frozen=True, slots=True)
class Payable:
    """What a slip is for, as the record has it: its place among the payouts, its name, whole cents, and all the rest.

    `facts` follow from the events alone and stay the same for ever: whoever verifies reads them anew. `complete` says
    whether the hit's checklist was.
    """

    stream_id: int
    sequence: int
    line: int
    subject: str
    kind: str
    cents: int
    complete: bool
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Issuing:
    """How a slip is made: what is handed over and from where, who prepared and who agreed.

    `transaction` is the wager that won it with all that it won (`forms.Transaction` in JSON); `override` is why it is issued
    although something is missing.
    """

    method: str
    form: str
    by: str
    approved_by: Sequence[str]
    transaction: Mapping[str, Any]
    override: str = ""
    origin: str = ""


def standing(subject: str) -> Slip | None:
    """The slip of a payout that is not void; None where it has none."""
    return Slip.objects.filter(subject=subject, void=None).first()


def issue(payable: Payable, how: Issuing, *, at: datetime) -> Slip:
    """Give a payout its slip, under the next number. ActRefused `slip_stands` where it has one."""
    slip, made = _issue(payable, how, at=at)
    _on_trail(slip, how, made, at)
    return slip


def pay(payable: Payable, how: Issuing, *, event: int, at: datetime) -> Slip:
    """Note that an event of its stream paid a payout: on the slip that stands, or on one made for it now.

    ActRefused `slip_says_otherwise` where the slip that stands is to be paid from elsewhere.
    """
    slip = standing(payable.subject)
    if slip is None:
        slip, made = _issue(payable, how, at=at)
        paid = SlipPayment.objects.create(slip=slip, event=event, at=at, by=how.by)
        _on_trail(slip, how, made, at)
    elif slip.method != how.method:
        raise ActRefused(
            "slip_says_otherwise", "/payload/method", f"slip {slip_name(slip.number)} is paid from the {slip.method}"
        )
    else:
        paid = SlipPayment.objects.create(slip=slip, event=event, at=at, by=how.by)
        forms.on_trail(slip, forms.work_out_anew(slip, at=at, by=how.by), at=at, by=how.by)
    trail.note("pay slip", slip_name(slip.number), [paid], at=at, by=how.by, origin=how.origin, event=event)
    return slip


def void(number: int, *, reason: str, by: str, approved_by: Sequence[str], at: datetime) -> Slip | None:
    """Void a slip, which keeps its number; one that was paid is replaced at once, under the next number.

    Returns what replaces it. ActRefused `unknown_subject`, `wrong_state`.
    """
    slip = Slip.objects.filter(number=number).first()
    if slip is None:
        raise ActRefused("unknown_subject", detail=f"there is no slip {slip_name(number)}")
    _counter()
    if SlipVoid.objects.filter(slip=slip).exists():
        raise ActRefused("wrong_state", detail=f"slip {slip_name(number)} is void")
    paid = SlipPayment.objects.filter(slip=slip).first()
    made = SlipVoid.objects.create(slip=slip, at=at, by=by, approved_by=", ".join(approved_by), reason=reason)
    replaced = None
    if paid is not None:
        before = facts_of(slip)
        issued = before["issued"]
        how = Issuing(slip.method, slip.form, by, approved_by, issued["transaction"], slip.override)
        payable = Payable(
            slip.stream_id, slip.sequence, slip.line, slip.subject, slip.kind, slip.cents, slip.complete, before["payout"]
        )  # fmt: skip
        replaced, forms_made = _issue(payable, how, at=at, replaces=slip, paid=paid)
        again = SlipPayment.objects.create(slip=replaced, event=paid.event, at=paid.at, by=paid.by)
    trail.note("void slip", slip_name(number), [made], at=at, by=by, reason=reason, approved_by=list(approved_by))
    if replaced is not None:
        _on_trail(replaced, how, forms_made, at)
        trail.note("pay slip", slip_name(replaced.number), [again], at=at, by=by, event=again.event)
    return replaced


def facts_of(slip: Slip) -> dict[str, Any]:
    """The facts that a slip was issued with."""
    found: dict[str, Any] = json.loads(bytes(slip.facts))
    return found


def _counter() -> int:
    """The last number given out; no other slip is issued, void or printed until the transaction ends."""
    return SlipCounter.objects.select_for_update().get().last


def _issue(
    payable: Payable, how: Issuing, *, at: datetime, replaces: Slip | None = None, paid: SlipPayment | None = None
) -> tuple[Slip, list[TaxForm]]:
    number = _counter() + 1
    if (stands := standing(payable.subject)) is not None:
        raise ActRefused("slip_stands", detail=f"{payable.subject} has slip {slip_name(stands.number)}")
    latest = replaces or Slip.objects.filter(subject=payable.subject).first()
    home = the_property()
    day = gaming_date(at, zone=ZoneInfo(home.time_zone), starts=home.gaming_day_starts)
    facts = canonical({
        "payout": payable.facts,
        "issued": {
            "number": number,
            "at": at.isoformat(),
            "gaming_date": day.isoformat(),
            "replaces": None if latest is None else latest.number,
            "method": how.method,
            "form": how.form,
            "by": how.by,
            "approved_by": list(how.approved_by),
            "override": how.override,
            "transaction": how.transaction,
        },
    })  # fmt: skip
    shown = payable.facts
    slip = Slip.objects.create(
        number=number, stream_id=payable.stream_id, sequence=payable.sequence, line=payable.line,
        subject=payable.subject, kind=payable.kind, table=shown["table"], link=shown["link"], seat=shown["seat"],
        hand=shown["hand"], cents=payable.cents, method=how.method, form=how.form, prepared_by=how.by, issued_at=at,
        gaming_date=day, override=how.override, complete=payable.complete, replaces=latest, facts=facts,
        digest=sha256(facts).digest(),
    )  # fmt: skip
    return slip, forms.work_out(slip, at=at, by=how.by, paid_at=None if paid is None else paid.at)


def _on_trail(slip: Slip, how: Issuing, made: Sequence[TaxForm], at: datetime) -> None:
    name = slip_name(slip.number)
    said: dict[str, Any] = {"payout": slip.subject, "cents": slip.cents, "method": slip.method}
    said |= {"replaces": slip_name(slip.replaces_id)} if slip.replaces_id else {}
    trail.note("issue slip", name, [slip], at=at, by=how.by, origin=how.origin, **said)
    forms.on_trail(slip, made, at=at, by=how.by)
