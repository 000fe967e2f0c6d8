"""Reports of hand pays: the register of slips with its gaps, and what tax came to on them."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from accounting.day_queries import gaming_day
from accounting.queries import links_with_books, tables_with_books, trial_balance
from accounting.reporting.shape import (
    DAY,
    HAND_PAYS,
    MOMENT,
    MONEY,
    WHOLE,
    Asked,
    Column,
    Foot,
    Page,
    Parameter,
    Report,
    Row,
)
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER, MANAGER
from accounting.rules.tax import WITHHOLDINGS
from accounting.shell.templatetags.pages import words
from accounting.slips import queries
from accounting.slips.rules.register import ISSUED, PAID, STATES, VOID, slip_name

SLIP: Final = Page("slip", "slips")


def _register(asked: Asked) -> Iterator[Row]:
    for slip in queries.issued_between(asked.first, asked.last, asked.given):
        cents, state = slip["cents"], slip["state"]
        yield (
            slip["slip"], state, slip["gaming_date"], slip["issued_at"], slip["kind"], slip["table"], slip["seat"], slip["link"],
            words(slip["hand"]), *(cents if state == each else 0 for each in (PAID, ISSUED, VOID)), cents, slip["withheld_cents"],
            slip["method"], slip["form"], slip["prepared_by"], slip["paid_by"], slip["paid_at"], slip["void_by"],
            slip["void_agreed_by"], slip["void_reason"], slip["replaces"], slip["replaced_by"], slip["override"] or None,
        )  # fmt: skip


def _gaps(asked: Asked) -> list[str]:
    """Which numbers no slip has, of the whole register: a gap is nobody's day (REQUIREMENTS R74)."""
    missing, last = queries.missing_numbers()
    if not last:
        return ["No slip was issued yet."]
    if not missing:
        return [f"No number is missing from {slip_name(1)} to {slip_name(last)}, the last that was given out."]
    named = ", ".join(first if first == end else f"{first}–{end}" for first, end in missing)
    return [f"MISSING of {slip_name(1)} to {slip_name(last)}: {named}. The record was changed past its guards."]


SLIPS: Final = Report(
    code="slips",
    title="Slips register",
    purpose="Every hand-pay slip by its number, void ones among them, and the numbers that are missing",
    group=HAND_PAYS,
    roles=frozenset({ACCOUNTING, CONTROLLER, AUDITOR, MANAGER}),
    parameters=(
        Parameter(name="state", title="State", options=lambda: STATES),
        Parameter(name="kind", title="Kind", options=lambda: ("hit", "envy")),
        Parameter(name="method", title="Paid from", options=lambda: ("cage", "table")),
        Parameter(name="table", title="Table", options=tables_with_books),
        Parameter(name="link", title="Link", options=links_with_books),
    ),
    columns=(
        Column(name="slip", title="Slip", page=SLIP),
        Column(name="state", title="State"),
        Column(name="gaming_date", title="Gaming day", kind=DAY),
        Column(name="issued_at", title="Issued", kind=MOMENT, only_in_files=True),
        Column(name="kind", title="For"),
        Column(name="table", title="Table"),
        Column(name="seat", title="Seat"),
        Column(name="link", title="Link", only_in_files=True),
        Column(name="hand", title="Hand", words=words),
        Column(name="paid", title="Paid", kind=MONEY, sums=True),
        Column(name="issued", title="Not paid", kind=MONEY, sums=True),
        Column(name="void", title="Void", kind=MONEY, sums=True),
        Column(name="amount", title="On the slip", kind=MONEY, sums=True, only_in_files=True),
        Column(name="withheld", title="Withheld", kind=MONEY, sums=True),
        Column(name="method", title="From"),
        Column(name="form", title="In", only_in_files=True),
        Column(name="prepared_by", title="Prepared by"),
        Column(name="paid_by", title="Paid by"),
        Column(name="paid_at", title="Paid at", kind=MOMENT, only_in_files=True),
        Column(name="void_by", title="Void by", only_in_files=True),
        Column(name="void_agreed_by", title="Agreed by", only_in_files=True),
        Column(name="void_reason", title="Why void", only_in_files=True),
        Column(name="replaces", title="Replaces", page=SLIP, only_in_files=True),
        Column(name="replaced_by", title="Replaced by", page=SLIP, only_in_files=True),
        Column(name="override", title="Override", only_in_files=True),
    ),
    rows=_register,
    feet=(
        Foot(
            said="what stands on the slips is paid, not paid or void",
            left=("paid", "issued", "void"),
            right=("amount",),
        ),
    ),
    remarks=_gaps,
)


def _forms(asked: Asked) -> Iterator[Row]:
    wanted = asked.get("withholding")
    for form in queries.forms_between(asked.first, asked.last):
        if wanted is None or form.withholding == wanted:
            yield (
                slip_name(form.slip_id), form.payee, form.payees, form.paid_on, form.terms_from, form.paid_cents,
                form.wager_cents, form.winnings_cents, form.withholding, form.withheld_cents,
                form.paid_cents - form.withheld_cents, "yes" if form.known else "NOT YET",
            )  # fmt: skip


def _counted(asked: Asked) -> list[str]:
    """How many forms there are by what they withhold, and how many wins several people share."""
    forms = list(queries.forms_between(asked.first, asked.last))
    kinds = Counter(form.withholding for form in forms)
    by_kind = f" ({', '.join(f'{kind} {count}' for kind, count in sorted(kinds.items()))})" if kinds else ""
    shared = len({form.slip_id for form in forms if form.payees > 1})
    unknown = sum(not form.known for form in forms)
    return [
        f"Forms W-2G: {len(forms)}{by_kind}. Wins that several share (Form 5754): {shared}."
        f" Forms whose winner was not taken down yet: {unknown}.",
        _against_the_ledger(asked),
    ]


def _against_the_ledger(asked: Asked) -> str:
    """What was withheld on all slips so far beside what the ledger owes the revenue service."""
    balances = {each.code: -each.after_cents for each in trial_balance(gaming_day(asked.at)[0])}
    ledger, slips = balances.get("withholding_payable", 0), queries.withheld_when_paid()
    words = (
        "agrees with all slips that were paid"
        if ledger == slips
        else f"DIFFERS from the slips that were paid by {ledger - slips} cents"
    )
    return f"Ledger, withholding payable: ${ledger // 100:,}.{ledger % 100:02d}, {words}."


TAX: Final = Report(
    code="tax",
    title="Tax pack",
    purpose="Forms W-2G by the day of payment, without names: who won is sealed, and every look at it is on record",
    group=HAND_PAYS,
    roles=frozenset({ACCOUNTING, CONTROLLER, AUDITOR}),
    by_calendar=True,
    parameters=(Parameter(name="withholding", title="Withholding", options=lambda: WITHHOLDINGS, words=words),),
    columns=(
        Column(name="slip", title="Slip", page=SLIP),
        Column(name="payee", title="Payee", kind=WHOLE),
        Column(name="payees", title="Of", kind=WHOLE),
        Column(name="paid_on", title="Paid on", kind=DAY),
        Column(name="terms_from", title="Terms of", kind=DAY),
        Column(name="paid", title="Gross", kind=MONEY, sums=True),
        Column(name="wager", title="Wager", kind=MONEY, sums=True),
        Column(name="winnings", title="Winnings", kind=MONEY, sums=True),
        Column(name="withholding", title="Withholding"),
        Column(name="withheld", title="Withheld (945)", kind=MONEY, sums=True),
        Column(name="net", title="Net", kind=MONEY, sums=True),
        Column(name="known", title="Winner taken down"),
    ),
    rows=_forms,
    feet=(Foot(said="gross is withheld and net", left=("withheld", "net"), right=("paid",)),),
    remarks=_counted,
)

REPORTS: Final = (SLIPS, TAX)
