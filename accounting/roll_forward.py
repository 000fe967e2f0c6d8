"""What the house owes on jackpots, rolled forward from period to period (REQUIREMENTS §8.5, R89, R91, R96).

What an account opens and closes with comes from the daily totals, what moved it from the transfers one by one: two ways to the
same figure. Both are of one moment without holding one up: how far every stream had come is read with the totals, and
transfers do not change.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from accounting.book_queries import first_of, last_of
from accounting.reconciliation import OF_REASON
from accounting.rules.chart import order
from accounting.statements import execute, of_one_moment

DAY, MONTH, QUARTER, YEAR = "day", "month", "quarter", "year"
WIDTHS: Final = (DAY, MONTH, QUARTER, YEAR)
PARTS: Final = {
    "liability": "display", "reserve": "reserve", "overflow": "overflow", "awards_payable": "unpaid",
    "unclaimed": "unclaimed", "state_payable": "to the state",
}  # fmt: skip
"""The kinds of accounts that are rolled forward, as the report calls them."""
MOVEMENTS: Final = tuple(dict.fromkeys(OF_REASON.values()))
"""What moves are added up under, in the order of their columns."""
EVENTS_AT_ONCE: Final = 20_000

HEADS = "SELECT id, next_sequence - 1 FROM accounting_stream"
TOTALS = """
    SELECT account.id, account.kind, account.owner, total.gaming_date, sum(total.credit_cents - total.debit_cents)
    FROM accounting_account account JOIN accounting_total total ON total.account_id = account.id
    WHERE account.kind = ANY(%s) AND total.gaming_date <= %s
    GROUP BY account.id, total.gaming_date
"""
MOVED = """
    SELECT account_id, gaming_date, reason, sum(cents) FROM (
        SELECT transfer.credit_id AS account_id, event.gaming_date, transfer.reason, transfer.amount_cents::numeric AS cents
        FROM accounting_transfer transfer
        JOIN accounting_event event ON event.stream_id = transfer.stream_id AND event.sequence = transfer.sequence
        WHERE transfer.stream_id = %(stream)s AND transfer.sequence BETWEEN %(begins)s AND %(ends)s
            AND event.gaming_date BETWEEN %(first)s AND %(last)s AND transfer.credit_id = ANY(%(accounts)s)
        UNION ALL
        SELECT transfer.debit_id, event.gaming_date, transfer.reason, -transfer.amount_cents
        FROM accounting_transfer transfer
        JOIN accounting_event event ON event.stream_id = transfer.stream_id AND event.sequence = transfer.sequence
        WHERE transfer.stream_id = %(stream)s AND transfer.sequence BETWEEN %(begins)s AND %(ends)s
            AND event.gaming_date BETWEEN %(first)s AND %(last)s AND transfer.debit_id = ANY(%(accounts)s)
    ) AS moved GROUP BY account_id, gaming_date, reason
"""


class Rolled(NamedTuple):
    """One account over one period, in whole cents: what it opened with, its movements in their order, what it closed with."""

    period: str
    kind: str
    owner: str
    opening_cents: int
    moved_cents: tuple[int, ...]
    closing_cents: int


def period_of(day: date, width: str) -> str:
    """The name of the period that a day is in: the day itself, `2026-11`, `2026 Q4`, `2026`."""
    if width == DAY:
        return day.isoformat()
    if width == MONTH:
        return f"{day:%Y-%m}"
    return f"{day.year} Q{(day.month + 2) // 3}" if width == QUARTER else str(day.year)


def rolled(first: date, last: date, width: str) -> Iterator[Rolled]:
    """Every account of what is owed on jackpots over the periods from one gaming day to another; none in which nothing stood."""
    with of_one_moment():
        heads = [(stream_id, head) for stream_id, head in execute(HEADS)]
        totals = execute(TOTALS, [list(PARTS), last])
    accounts = {account_id: (kind, owner) for account_id, kind, owner, _, _ in totals}
    opening: Counter[int] = Counter()
    closes: Counter[tuple[str, int]] = Counter()
    for account_id, _, _, day, cents in totals:
        if day < first:
            opening[account_id] += int(cents)
        else:
            closes[period_of(day, width), account_id] += int(cents)
    moved = _moved(first, last, width, list(accounts), heads)
    in_order = sorted(accounts, key=lambda account_id: order(*accounts[account_id]))
    for period in _periods(first, last, width):
        for account_id in in_order:
            before = opening[account_id]
            after = opening[account_id] = before + closes[period, account_id]
            found = tuple(moved[period, account_id, name] for name in MOVEMENTS)
            if before or after or any(found):
                yield Rolled(period, *accounts[account_id], before, found, after)


def _moved(
    first: date, last: date, width: str, accounts: list[int], heads: list[tuple[int, int]]
) -> Counter[tuple[str, int, str]]:
    found: Counter[tuple[str, int, str]] = Counter()
    for stream_id, head in heads:
        begins, ends = first_of(first, stream_id), min(last_of(last, stream_id), head)
        for run in range(begins, ends + 1, EVENTS_AT_ONCE):
            values = {
                "stream": stream_id, "begins": run, "ends": min(run + EVENTS_AT_ONCE - 1, ends),
                "first": first, "last": last, "accounts": accounts,
            }  # fmt: skip
            for account_id, day, reason, cents in execute(MOVED, values):
                found[period_of(day, width), account_id, OF_REASON[reason]] += int(cents)
    return found


def _periods(first: date, last: date, width: str) -> list[str]:
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return list(dict.fromkeys(period_of(day, width) for day in days))
