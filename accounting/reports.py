"""Reports of the books: the roll-forward of what is owed, trial balance, ledger, adjustments."""

import json
from collections.abc import Iterator
from typing import Any, Final

from accounting import book_queries, event_queries, queries
from accounting.book_queries import Moved
from accounting.reporting.shape import (
    BOOKS,
    CONTROL,
    DAY,
    METERS,
    MOMENT,
    MONEY,
    Asked,
    Column,
    Foot,
    Page,
    Parameter,
    Report,
    Row,
)
from accounting.roll_forward import DAY as BY_DAY
from accounting.roll_forward import MOVEMENTS, PARTS, WIDTHS, rolled
from accounting.rules.accounts import named
from accounting.rules.events import REASONS
from accounting.rules.roles import ACCOUNTING, AUDITOR, CONTROLLER
from accounting.shell.templatetags.pages import words

KEEPERS: Final = frozenset({ACCOUNTING, CONTROLLER, AUDITOR})
EVENT: Final = Page("event", "accounting")


def _accounts() -> list[str]:
    return [account.code for account in book_queries.accounts()]


# ── what is owed on jackpots, from period to period ─────────────────────────────────────────────────────────────
MOVED_TITLES: Final = {
    "contribution": "Contributed", "award": "Awards", "seed": "Seeds", "overflow": "Overflow", "adjusted": "Adjusted",
    "transfer": "Transfers", "reversed": "Reversed", "paid": "Paid out", "unclaimed": "To unclaimed",
}  # fmt: skip


def _rolled(asked: Asked) -> Iterator[Row]:
    only = asked.get("link")
    for one in rolled(asked.first, asked.last, asked.get("by") or BY_DAY):
        link = one.owner.partition("/")[0]
        if only is None or link == only:
            yield (
                one.period,
                link or None,
                one.owner or None,
                PARTS[one.kind],
                one.opening_cents,
                *one.moved_cents,
                one.closing_cents,
            )


ROLL_FORWARD: Final = Report(
    code="roll-forward",
    title="Liability roll-forward",
    purpose="What is owed on jackpots: how each level's parts, and what is unpaid and unclaimed, came from opening to closing",
    group=METERS,
    roles=KEEPERS,
    parameters=(
        Parameter(name="by", title="Period", options=lambda: WIDTHS, default=BY_DAY),
        Parameter(name="link", title="Link", options=queries.links_with_books),
    ),
    columns=(
        Column(name="period", title="Period"),
        Column(name="link", title="Link", only_in_files=True),
        Column(name="level", title="Level"),
        Column(name="part", title="Part"),
        Column(name="opening", title="Opening", kind=MONEY),
        *(Column(name=name, title=MOVED_TITLES[name], kind=MONEY, sums=True) for name in MOVEMENTS),
        Column(name="closing", title="Closing", kind=MONEY),
    ),
    rows=_rolled,
    feet=(
        Foot(
            said="what every part opened with and its movements, transfer by transfer, are the ledger's balance at the close",
            left=("opening", *MOVEMENTS),
            right=("closing",),
        ),
    ),
)


# ── trial balance ───────────────────────────────────────────────────────────────────────────────────────────────
def _balances(asked: Asked) -> Iterator[Row]:
    numbers = queries.house_numbers()
    for each in queries.balances_between(asked.first, asked.last):
        after = each.after_cents
        yield (
            each.name, each.code, numbers.get(each.code), each.before_cents, each.debit_cents, each.credit_cents,
            max(after, 0), max(-after, 0),
        )  # fmt: skip


TRIAL_BALANCE: Final = Report(
    code="trial-balance",
    title="Trial balance",
    purpose="Every account: what was brought forward, what moved, and its balance on the side on which it stands",
    group=BOOKS,
    roles=KEEPERS,
    columns=(
        Column(name="account", title="Account"),
        Column(name="code", title="Code", as_written=True),
        Column(name="number", title="House's number"),
        Column(name="before", title="Brought forward", kind=MONEY, sums=True),
        Column(name="debits", title="Debits", kind=MONEY, sums=True),
        Column(name="credits", title="Credits", kind=MONEY, sums=True),
        Column(name="debit_balance", title="Balance, debit", kind=MONEY, sums=True),
        Column(name="credit_balance", title="Balance, credit", kind=MONEY, sums=True),
    ),
    rows=_balances,
    feet=(
        Foot(said="debits equal credits", left=("debits",), right=("credits",), each=False),
        Foot(said="balances on both sides agree", left=("debit_balance",), right=("credit_balance",), each=False),
        Foot(
            said="brought forward and moved is the balance",
            left=("before", "debits", "credit_balance"),
            right=("credits", "debit_balance"),
        ),
    ),
)


# ── ledger ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _ledger(asked: Asked) -> Iterator[Row]:
    reason = asked.get("reason")
    found = book_queries.transfers_between(
        asked.first,
        asked.last,
        stream=asked.get("stream"),
        account=asked.get("account"),
        reasons=[reason] if reason else None,
    )
    for moved in found:
        yield (
            moved.day, moved.original_date, moved.recorded_at, f"{moved.stream}/{moved.sequence}", moved.line, moved.kind,
            moved.subject, moved.reason, moved.debit, moved.credit, moved.cents,
        )  # fmt: skip


def _turnover(asked: Asked) -> list[str]:
    """What the account came with and what it is left at, where one is asked for."""
    code = asked.get("account")
    account = queries.account_named(code) if code else None
    if account is None:
        return []
    before = book_queries.brought_forward(account, asked.first)
    debits, credits = book_queries.turnover(account, asked.first, asked.last)
    return [
        f"{named(account.code)}: brought forward {_signed(before)}, debits {_signed(debits)}, credits {_signed(credits)},"
        f" balance {_signed(before + debits - credits)} (debits less credits, of all streams and reasons)"
    ]


def _signed(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


LEDGER: Final = Report(
    code="ledger",
    title="Ledger",
    purpose="Every transfer, stream by stream in the order in which it was recorded",
    group=BOOKS,
    roles=KEEPERS,
    parameters=(
        Parameter(name="account", title="Account", options=_accounts, words=named),
        Parameter(name="stream", title="Stream", options=lambda: list(book_queries.streams())),
        Parameter(name="reason", title="Reason", options=lambda: REASONS, words=words),
    ),
    columns=(
        Column(name="gaming_date", title="Gaming day", kind=DAY),
        Column(name="original_date", title="For day", kind=DAY, only_in_files=True),
        Column(name="recorded_at", title="Recorded", kind=MOMENT),
        Column(name="event", title="Event", page=EVENT),
        Column(name="line", title="Line", only_in_files=True),
        Column(name="kind", title="Kind"),
        Column(name="subject", title="About"),
        Column(name="reason", title="Reason", words=words),
        Column(name="debit", title="Debit account", words=named),
        Column(name="credit", title="Credit account", words=named),
        Column(name="amount", title="Amount", kind=MONEY, sums=True),
    ),
    rows=_ledger,
    remarks=_turnover,
)


# ── adjustments ─────────────────────────────────────────────────────────────────────────────────────────────────
ADJUSTING: Final = (
    "correction", "boost", "malfunction", "over_limit", "reserve_release", "regulator_order", "revenue_booked", "transfer",
    "rejection", "void",
)  # fmt: skip
"""The reasons for which people move money, and those for which it goes back."""


def _adjusted(asked: Asked) -> Iterator[Row]:
    event: tuple[str, int] | None = None
    cause: dict[str, Any] = {}
    wanted = asked.get("reason")
    for moved in book_queries.transfers_between(
        asked.first, asked.last, reasons=ADJUSTING if wanted is None else (wanted,)
    ):
        if (moved.stream, moved.sequence) != event:
            event, cause = (moved.stream, moved.sequence), _cause(moved)
        yield (
            moved.day, moved.recorded_at, f"{moved.stream}/{moved.sequence}", moved.kind, moved.subject, moved.reason,
            moved.debit, moved.credit, moved.cents, cause.get("by"), ", ".join(cause.get("approved_by", ())) or None,
            cause.get("proposal"), cause.get("reason"),
        )  # fmt: skip


def _cause(moved: Moved) -> dict[str, Any]:
    """What the event's document says of who asked and why; nothing of a round that a message settled."""
    found = event_queries.documents_at(moved.stream, moved.sequence)
    asked: dict[str, Any] = {} if found is None else json.loads(found[6])
    return asked


ADJUSTMENTS: Final = Report(
    code="adjustments",
    title="Adjustments",
    purpose="Every transfer that people decided on or that went back: reason, who asked, who agreed, and why",
    group=CONTROL,
    roles=KEEPERS,
    parameters=(Parameter(name="reason", title="Reason", options=lambda: ADJUSTING, words=words),),
    columns=(
        Column(name="gaming_date", title="Gaming day", kind=DAY),
        Column(name="recorded_at", title="Recorded", kind=MOMENT, only_in_files=True),
        Column(name="event", title="Event", page=EVENT),
        Column(name="kind", title="Act"),
        Column(name="subject", title="About"),
        Column(name="reason", title="Reason", words=words),
        Column(name="debit", title="Debit account", words=named),
        Column(name="credit", title="Credit account", words=named),
        Column(name="amount", title="Amount", kind=MONEY, sums=True),
        Column(name="by", title="Asked by"),
        Column(name="approved_by", title="Agreed by"),
        Column(name="proposal", title="No.", page=Page("decision", "decisions")),
        Column(name="why", title="Why"),
    ),
    rows=_adjusted,
)

REPORTS: Final = (ROLL_FORWARD, TRIAL_BALANCE, LEDGER, ADJUSTMENTS)
