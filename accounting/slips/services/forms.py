"""Forms W-2G of what slips pay: worked out when a slip is issued, when its winner is known, and when it is paid.

What is withheld is on the slip and on the form, and stays as it was when the slip was paid. Who pays books it right after the
payment, which books the whole (CONTRACT §7): `tables/rules/withholding`.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from accounting.queries import the_property
from accounting.rules import tax
from accounting.rules.tax import Form, Payee, Won
from accounting.slips import trail
from accounting.slips.models import Particulars, Slip, SlipPayment, TaxForm
from accounting.slips.queries import latest, particulars_of
from accounting.slips.rules.register import slip_name

UNKNOWN = "not known yet"


def work_out(slip: Slip, *, at: datetime, by: str, paid_at: datetime | None = None) -> list[TaxForm]:
    """Work a slip's forms out under the terms of the day, or of that on which it was paid; none where nothing is reported.

    What a slip that is replaced withheld stays withheld: it has been handed over so.
    """
    paid_on = local_date(paid_at or at)
    known = particulars_of(slip.subject)
    before = latest(slip.replaces) if slip.replaces is not None and paid_at is not None else []
    return _keep(slip, known, paid_on, before, at=at, by=by)


def work_out_anew(slip: Slip, *, at: datetime, by: str) -> list[TaxForm]:
    """Work a slip's forms out once more, with the particulars that are known now; what was paid keeps what it withheld.

    None where they would be as they are.
    """
    paid = SlipPayment.objects.filter(slip=slip).first()
    before = latest(slip)
    just_paid = paid is not None and paid.at == at
    paid_on = local_date(paid.at if paid is not None else at)
    known = particulars_of(slip.subject)
    kept = before if paid is not None and not just_paid else []
    edition = known[0].edition if known else 0
    if before and all((form.particulars, form.paid_on) == (edition, paid_on) for form in before):
        return []
    return _keep(slip, known, paid_on, kept, at=at, by=by)


def on_trail(slip: Slip, made: Sequence[TaxForm], *, at: datetime, by: str) -> None:
    """Put forms that were worked out on the audit trail."""
    if made:
        withheld = sum(form.withheld_cents for form in made)
        trail.note("work out tax forms", slip_name(slip.number), made, at=at, by=by, withheld_cents=withheld)


def local_date(at: datetime) -> date:
    """The calendar day of a moment at the property: taxes know no gaming days."""
    return at.astimezone(ZoneInfo(the_property().time_zone)).date()


def of_payable(
    subject: str, cents: int, transaction: Mapping[str, Any], known: Sequence[Particulars], paid_on: date
) -> tuple[Form, ...]:
    """The forms of a payout, for those who are known to share in it; while nobody is, for somebody without a number."""
    payees = [Payee(str(one.payee), one.share_cents, one.has_number) for one in known]
    won = tuple(Won(line["subject"], line["cents"]) for line in transaction["lines"])
    place = next(place for place, line in enumerate(won) if line.name == subject)
    terms = tax.in_force(tax.us_federal(), paid_on)
    return tax.forms_of_line(
        terms, wager_cents=transaction["wager_cents"], won=won, place=place,
        payees=payees or [Payee(UNKNOWN, cents, False)],
    )  # fmt: skip


def _keep(
    slip: Slip, known: Sequence[Particulars], paid_on: date, before: Sequence[TaxForm], *, at: datetime, by: str
) -> list[TaxForm]:
    terms = tax.in_force(tax.us_federal(), paid_on)
    transaction = json.loads(bytes(slip.facts))["issued"]["transaction"]
    made = of_payable(slip.subject, slip.cents, transaction, known, paid_on)
    withheld = [form.withheld_cents for form in made]
    rules = [form.withholding for form in made]
    if before and made:
        withheld = list(tax.shared(sum(form.withheld_cents for form in before), [form.paid_cents for form in made]))
        rules = [before[0].withholding] * len(made)
    last = TaxForm.objects.filter(slip=slip).order_by("-edition").values_list("edition", flat=True).first() or 0
    return TaxForm.objects.bulk_create(
        TaxForm(
            slip=slip, edition=last + 1, particulars=known[0].edition if known else 0, payee=place, paid_on=paid_on,
            terms_from=terms.counts_from, paid_cents=form.paid_cents, wager_cents=form.wager_cents,
            winnings_cents=form.winnings_cents, withholding=rule, withheld_cents=cents, at=at, by=by,
        )
        for place, (form, cents, rule) in enumerate(zip(made, withheld, rules, strict=True), 1)
    )  # fmt: skip
