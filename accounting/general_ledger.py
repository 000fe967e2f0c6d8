"""The ledger for the house's general ledger: CSV under its own account numbers, and a journal in plain text.

Both are written row by row while the record is read, so that a period of any length takes no more memory than a day of it.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import NamedTuple

from accounting.book_queries import DaySum, Moved, accounts, sums_between, transfers_between
from accounting.queries import house_numbers, the_property, trial_balance
from accounting.rules import plain_text
from accounting.rules.accounts import named
from accounting.rules.chart import CHART, CREDIT, DEBIT
from accounting.rules.plain_text import Posting, dollars, plain_name
from accounting.rules.spreadsheet import row

ENTRIES, DAYS = "entries", "days"
LEVELS_OF_DETAIL = (DAYS, ENTRIES)
"""Sums of each account and gaming day, or every transfer."""

ACCOUNT = ("account", "number", "name", "type")
DAY_COLUMNS = ("gaming_date", *ACCOUNT, "debit", "credit", "debit_cents", "credit_cents")
ENTRY_COLUMNS = (
    "gaming_date", "original_date", "recorded_at", "stream", "sequence", "line", "kind", "subject", "reason", "side", *ACCOUNT,
    "debit", "credit", "debit_cents", "credit_cents",
)  # fmt: skip


class Exported(NamedTuple):
    """An account as it is exported: its code, the house's number, its name for people, its type, its name in the journal."""

    code: str
    number: str
    name: str
    type: str
    plain: str

    @property
    def remark(self) -> str:
        """What is said of it in the journal: the house's number and its name for people."""
        return f"{self.number}, {self.name}" if self.number else self.name


def exported() -> dict[str, Exported]:
    """Every account as it is exported, by its code, in the order of the chart."""
    numbers = house_numbers()
    return {
        account.code: Exported(
            account.code,
            numbers.get(account.code, ""),
            named(account.code),
            CHART[account.kind].type,
            plain_name(account.code, account.kind, account.owner),
        )
        for account in accounts()
    }


def csv(first: date, last: date, detail: str) -> Iterator[str]:
    """The rows from one gaming day to another: sums by day, or both sides of every transfer. One header row."""
    known = exported()
    if detail == DAYS:
        yield row(DAY_COLUMNS)
        for one in sums_between(first, last):
            yield _day_row(one, known[one.account])
        return
    yield row(ENTRY_COLUMNS)
    for moved in transfers_between(first, last):
        yield _side(moved, DEBIT, known[moved.debit])
        yield _side(moved, CREDIT, known[moved.credit])


def _day_row(one: DaySum, account: Exported) -> str:
    debit, credit = one.debit_cents, one.credit_cents
    return row([one.day, *account[:4], dollars(debit), dollars(credit), debit, credit])


def _side(moved: Moved, side: str, account: Exported) -> str:
    debit, credit = (moved.cents, 0) if side == DEBIT else (0, moved.cents)
    return row([
        moved.day, moved.original_date, moved.recorded_at.isoformat(), moved.stream, moved.sequence, moved.line, moved.kind,
        moved.subject, moved.reason, side, *account[:4], dollars(debit), dollars(credit), debit, credit,
    ])  # fmt: skip


def journal(first: date, last: date, detail: str, *, carried: bool) -> Iterator[str]:
    """The journal in plain text from one gaming day to another, as hledger and beancount read it.

    With `carried` it begins with what each account brings forward, so that the balances are the house's; without, several
    periods can follow each other.
    """
    home, known = the_property(), exported()
    yield plain_text.comment(
        f"{home.name} ({home.code}), gaming days {first} to {last}, by {detail}; amounts in dollars"
    )
    yield plain_text.comment(
        "debits are positive, credits negative; the house's own account number follows each account"
    )
    for account in known.values():
        yield plain_text.opening(account.plain, first, account.remark)
    yield "\n"
    if carried:
        yield from _brought_forward(first, known)
    if detail == DAYS:
        yield from _by_day(first, last, known)
    else:
        yield from _by_event(first, last, known)


def _brought_forward(first: date, known: dict[str, Exported]) -> Iterator[str]:
    balances = [(known[each.code], each.before_cents) for each in trial_balance(first) if each.before_cents]
    if balances:
        postings = [Posting(account.plain, cents, account.number) for account, cents in balances]
        yield plain_text.entry(first, "brought forward", "balances of earlier gaming days", "", postings)


def _by_day(first: date, last: date, known: dict[str, Exported]) -> Iterator[str]:
    day: date | None = None
    postings: list[Posting] = []
    for one in sums_between(first, last):
        if one.day != day:
            yield from _day_entry(day, postings)
            day, postings = one.day, []
        account = known[one.account]
        postings += [
            Posting(account.plain, cents, account.number) for cents in (one.debit_cents, -one.credit_cents) if cents
        ]
    yield from _day_entry(day, postings)


def _day_entry(day: date | None, postings: list[Posting]) -> Iterator[str]:
    if day is not None:
        yield plain_text.entry(day, "gaming day", day.isoformat(), "", postings)


def _by_event(first: date, last: date, known: dict[str, Exported]) -> Iterator[str]:
    event: list[Moved] = []
    for moved in transfers_between(first, last):
        if event and (moved.stream, moved.sequence) != (event[0].stream, event[0].sequence):
            yield _event_entry(event, known)
            event = []
        event.append(moved)
    if event:
        yield _event_entry(event, known)


def _event_entry(event: list[Moved], known: dict[str, Exported]) -> str:
    head = event[0]
    reference = f"{head.stream}/{head.sequence}" + (f" for {head.original_date}" if head.original_date else "")
    return plain_text.entry(head.day, head.kind, head.subject, reference, _postings(event, known))


def _postings(event: Iterable[Moved], known: dict[str, Exported]) -> Iterator[Posting]:
    for moved in event:
        debit, credit = known[moved.debit], known[moved.credit]
        yield Posting(debit.plain, moved.cents, f"{debit.number} {moved.reason}".strip())
        yield Posting(credit.plain, -moved.cents, f"{credit.number} {moved.reason}".strip())
