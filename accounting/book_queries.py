"""Reading the books as accountants do: balances at a moment, statements of accounts, and rows for a general ledger (SPEC §9)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import Count, Max, Min, Sum
from django.db.models.functions import Greatest

from accounting.day_queries import closed_at, house_days
from accounting.event_queries import event_shown, recorded_from
from accounting.models import Account, Event, Stream, Total, Transfer
from accounting.queries import Balance, the_property
from accounting.rules.chart import order
from accounting.rules.events import KINDS, REASONS
from accounting.rules.gaming_day import began
from accounting.rules.parameters import Parameters
from accounting.statements import execute

AROUND = timedelta(hours=1)
NEXT_MICROSECOND = timedelta(microseconds=1)
EVENTS_AT_ONCE = 1_000

# Whichever is shorter: what came before, or what came after taken from the totals. Each is one statement, so that what is
# settled meanwhile is in both or in neither of its parts.
BEFORE = """
    SELECT account, sum(debit), sum(credit) FROM (
        SELECT debit_id AS account, amount_cents::numeric AS debit, 0::numeric AS credit
        FROM accounting_transfer WHERE stream_id = %(stream)s AND sequence < %(cut)s
        UNION ALL SELECT credit_id, 0, amount_cents FROM accounting_transfer WHERE stream_id = %(stream)s AND sequence < %(cut)s
    ) AS moved GROUP BY account
"""
LESS_LATER = """
    SELECT account, sum(debit), sum(credit) FROM (
        SELECT account_id AS account, debit_cents AS debit, credit_cents AS credit
        FROM accounting_total WHERE stream_id = %(stream)s
        UNION ALL SELECT debit_id, -amount_cents::numeric, 0
        FROM accounting_transfer WHERE stream_id = %(stream)s AND sequence >= %(cut)s
        UNION ALL SELECT credit_id, 0, -amount_cents::numeric
        FROM accounting_transfer WHERE stream_id = %(stream)s AND sequence >= %(cut)s
    ) AS moved GROUP BY account
"""


def balances_at(moment: datetime) -> list[Balance]:
    """Every account that had moved by a moment, that moment included, in the order of the chart: what had been recorded."""
    sums: dict[int, list[int]] = {}
    for stream_id, following in Stream.objects.values_list("id", "next_sequence"):
        cut = recorded_from(stream_id, moment + NEXT_MICROSECOND)
        statement = BEFORE if cut <= following // 2 else LESS_LATER
        for account_id, debits, credits in execute(statement, {"stream": stream_id, "cut": cut}):
            total = sums.setdefault(account_id, [0, 0])
            total[0] += int(debits)
            total[1] += int(credits)
    accounts = Account.objects.filter(id__in=[each for each, total in sums.items() if any(total)])
    found = [
        Balance(code, kind, owner, 0, *sums[account_id])
        for account_id, code, kind, owner in accounts.values_list("id", "code", "kind", "owner")
    ]
    return sorted(found, key=lambda balance: order(balance.kind, balance.owner))


class Place(NamedTuple):
    """Where a line stands in a statement: its gaming day, its stream, sequence and line."""

    day: date
    stream_id: int
    sequence: int
    line: int

    @property
    def text(self) -> str:
        """The place as it stands in an address."""
        return f"{self.day.isoformat()}~{self.stream_id}~{self.sequence}~{self.line}"


@dataclass(frozen=True, slots=True)
class Line:
    """One movement of an account: the event it belongs to, the account on its other side, whole cents on one side.

    `balance_cents` is the account's balance behind it, debits less credits, whatever lines are left out between.
    """

    day: date
    stream_id: int
    stream: str
    sequence: int
    line: int
    kind: str
    subject: str
    recorded_at: datetime
    original_date: date | None
    reason: str
    other: str
    debit_cents: int
    credit_cents: int
    balance_cents: int

    @property
    def place(self) -> Place:
        """Where it stands in the statement."""
        return Place(self.day, self.stream_id, self.sequence, self.line)


# The balance is worked out over all lines of the account on the stream and day before any is left out.
LINES = """
    SELECT moved.sequence, moved.line, event.kind, event.subject, event.recorded_at, event.original_date, moved.reason,
        other.code, moved.debit, moved.credit, moved.running
    FROM (
        SELECT transfer.sequence, transfer.line, transfer.reason,
            CASE WHEN transfer.debit_id = %(account)s THEN transfer.credit_id ELSE transfer.debit_id END AS other_id,
            CASE WHEN transfer.debit_id = %(account)s THEN transfer.amount_cents ELSE 0 END AS debit,
            CASE WHEN transfer.credit_id = %(account)s THEN transfer.amount_cents ELSE 0 END AS credit,
            sum(CASE WHEN transfer.debit_id = %(account)s THEN transfer.amount_cents ELSE -transfer.amount_cents END)
                OVER (ORDER BY transfer.sequence, transfer.line) AS running
        FROM accounting_transfer transfer
        JOIN accounting_event dated ON dated.stream_id = transfer.stream_id AND dated.sequence = transfer.sequence
        WHERE transfer.stream_id = %(stream)s AND transfer.sequence BETWEEN %(first)s AND %(last)s
            AND %(account)s IN (transfer.debit_id, transfer.credit_id) AND dated.gaming_date = %(day)s
    ) AS moved
    JOIN accounting_event event ON event.stream_id = %(stream)s AND event.sequence = moved.sequence
    JOIN accounting_account other ON other.id = moved.other_id
    WHERE (moved.sequence, moved.line) > (%(after)s, %(after_line)s)
        AND (%(reason)s::text IS NULL OR moved.reason = %(reason)s)
        AND (%(other)s::text IS NULL OR other.code = %(other)s)
        AND (%(kind)s::text IS NULL OR event.kind = %(kind)s)
        AND (%(subject)s::text IS NULL OR event.subject = %(subject)s)
        AND (%(min_cents)s::bigint IS NULL OR moved.debit + moved.credit >= %(min_cents)s)
        AND (%(max_cents)s::bigint IS NULL OR moved.debit + moved.credit <= %(max_cents)s)
    ORDER BY moved.sequence, moved.line LIMIT %(limit)s
"""
FILTERS = ("stream", "reason", "other", "kind", "subject", "min_cents", "max_cents")


def filters_of(given: Parameters) -> dict[str, Any]:
    """The filters of a statement as they were given; BadParameter for one that cannot be followed."""
    return {
        "stream": given.text("stream"),
        "reason": given.choice("reason", REASONS),
        "other": given.text("other"),
        "kind": given.choice("kind", KINDS),
        "subject": given.text("subject"),
        "min_cents": given.whole("min_cents"),
        "max_cents": given.whole("max_cents"),
    }


def brought_forward(account: Account, first: date) -> int:
    """An account's balance before a gaming day, debits less credits, in whole cents."""
    found = account.totals.filter(gaming_date__lt=first).aggregate(
        debits=Sum("debit_cents"), credits=Sum("credit_cents")
    )
    return int(found["debits"] or 0) - int(found["credits"] or 0)


def turnover(account: Account, first: date, last: date) -> tuple[int, int]:
    """What was debited and credited to an account from one gaming day to another, in whole cents."""
    totals = account.totals.filter(gaming_date__range=(first, last))
    found = totals.aggregate(debits=Sum("debit_cents"), credits=Sum("credit_cents"))
    return int(found["debits"] or 0), int(found["credits"] or 0)


def statement(
    account: Account,
    first: date,
    last: date,
    filters: dict[str, Any] | None = None,
    *,
    after: Place | None = None,
    limit: int = 100,
) -> list[Line]:
    """The movements of an account from one gaming day to another, day by day, stream by stream in their order.

    With its balance behind each. `after` is the place of a line to go on from.
    """
    wanted: dict[str, Any] = dict.fromkeys(FILTERS) | (filters or {})
    only = wanted.pop("stream")
    codes = dict(Stream.objects.values_list("id", "code"))
    running = brought_forward(account, first)
    found: list[Line] = []
    parts = account.totals.filter(gaming_date__range=(first, last)).order_by("gaming_date", "stream_id")
    for day, stream_id, debits, credits in parts.values_list("gaming_date", "stream_id", "debit_cents", "credit_cents"):
        before, running = running, running + int(debits) - int(credits)
        if (after is not None and (day, stream_id) < after[:2]) or (only is not None and codes[stream_id] != only):
            continue
        reached = after is not None and (day, stream_id) == after[:2]
        values = wanted | {
            "account": account.pk,
            "stream": stream_id,
            "day": day,
            "first": first_of(day, stream_id),
            "last": last_of(day, stream_id),
            "after": after.sequence if after is not None and reached else -1,
            "after_line": after.line if after is not None and reached else 0,
            "limit": limit - len(found),
        }
        for row in execute(LINES, values):
            columns: list[Any] = [day, stream_id, codes[stream_id], *row[:-1], before + int(row[-1])]
            found.append(Line(*columns))
        if len(found) >= limit:
            break
    return found


def every_line(account: Account, first: date, last: date, filters: dict[str, Any]) -> Iterator[Line]:
    """The same, all of it, page by page, so that no snapshot is held while somebody downloads."""
    after: Place | None = None
    while page := statement(account, first, last, filters, after=after, limit=EVENTS_AT_ONCE):
        yield from page
        after = page[-1].place


def first_of(day: date, stream_id: int) -> int:
    """The first sequence of a stream that can be booked on a gaming day: none is recorded before the day begins."""
    home = the_property()
    at = began(day, zone=ZoneInfo(home.time_zone), starts=home.gaming_day_starts)
    return recorded_from(stream_id, at - AROUND)


def last_of(day: date, stream_id: int) -> int:
    """The last that can: what comes after it is closed goes to a later one."""
    closed = closed_at(day)
    if closed is None:
        return Stream.objects.values_list("next_sequence", flat=True).get(pk=stream_id)
    return recorded_from(stream_id, closed + AROUND)


class Moved(NamedTuple):
    """One transfer for a general ledger: its event and both its sides."""

    day: date
    original_date: date | None
    recorded_at: datetime
    stream: str
    sequence: int
    line: int
    kind: str
    subject: str
    reason: str
    debit: str
    credit: str
    cents: int


TRANSFERS = """
    SELECT event.gaming_date, event.original_date, event.recorded_at, stream.code, transfer.sequence, transfer.line, event.kind,
        event.subject, transfer.reason, debit.code, credit.code, transfer.amount_cents
    FROM accounting_transfer transfer
    JOIN accounting_event event ON event.stream_id = transfer.stream_id AND event.sequence = transfer.sequence
    JOIN accounting_stream stream ON stream.id = transfer.stream_id
    JOIN accounting_account debit ON debit.id = transfer.debit_id
    JOIN accounting_account credit ON credit.id = transfer.credit_id
    WHERE transfer.stream_id = %(stream)s AND transfer.sequence BETWEEN %(begins)s AND %(ends)s
        AND event.gaming_date BETWEEN %(first)s AND %(last)s
        AND (%(account)s::text IS NULL OR %(account)s IN (debit.code, credit.code))
        AND (%(reasons)s::text[] IS NULL OR transfer.reason = ANY(%(reasons)s))
    ORDER BY transfer.sequence, transfer.line
"""


def transfers_between(
    first: date,
    last: date,
    *,
    stream: str | None = None,
    account: str | None = None,
    reasons: Sequence[str] | None = None,
) -> Iterator[Moved]:
    """Every transfer booked from one gaming day to another, stream by stream in its order, a run of events at a time.

    Those of one stream, of one account or for some reasons, where these are given.
    """
    streams = Stream.objects.order_by("id") if stream is None else Stream.objects.filter(code=stream)
    narrowed = {"first": first, "last": last, "account": account, "reasons": None if reasons is None else list(reasons)}
    for stream_id in list(streams.values_list("id", flat=True)):
        begins, ends = first_of(first, stream_id), last_of(last, stream_id)
        for run in range(begins, ends + 1, EVENTS_AT_ONCE):
            values = narrowed | {"stream": stream_id, "begins": run, "ends": min(run + EVENTS_AT_ONCE - 1, ends)}
            yield from map(Moved._make, execute(TRANSFERS, values))


class DaySum(NamedTuple):
    """What an account was debited and credited on a gaming day, in whole cents."""

    day: date
    account: str
    debit_cents: int
    credit_cents: int


def sums_between(first: date, last: date) -> Iterator[DaySum]:
    """What every account moved on every gaming day from one to another, in the order of days and of the chart."""
    chart = {account.code: account for account in accounts()}
    days = Total.objects.filter(gaming_date__range=(first, last)).values_list("gaming_date", flat=True)
    for day in list(days.distinct().order_by("gaming_date")):
        sums = Total.objects.filter(gaming_date=day).values_list("account__code")
        totals = sums.annotate(debits=Sum("debit_cents"), credits=Sum("credit_cents")).order_by()
        rows = [DaySum(day, code, int(debits), int(credits)) for code, debits, credits in totals]
        yield from sorted(rows, key=lambda row: order(chart[row.account].kind, chart[row.account].owner))


def balances_by_day(kind: str, first: date, last: date) -> dict[str, list[tuple[date, int]]]:
    """What stood on the credit side of every account of a kind at the end of each gaming day, by the account's owner.

    Each account begins with the day before the first, and has every day after it, moved or not.
    """
    before = first - timedelta(days=1)
    moved: dict[str, dict[date, int]] = {}
    rows = Total.objects.filter(account__kind=kind, gaming_date__lte=last).annotate(day=Greatest("gaming_date", before))
    sums = rows.values_list("account__owner", "day").annotate(cents=Sum("credit_cents") - Sum("debit_cents")).order_by()
    for owner, day, cents in sums:
        moved.setdefault(owner, {})[day] = int(cents)
    days = [before + timedelta(days=number) for number in range((last - before).days + 1)]
    return {
        owner: list(zip(days, accumulate(of_day.get(day, 0) for day in days), strict=True))
        for owner, of_day in sorted(moved.items())
    }


def accounts() -> list[Account]:
    """Every account of the house in the order of the chart."""
    return sorted(Account.objects.all(), key=lambda account: order(account.kind, account.owner))


def days_booked(now: datetime) -> tuple[date, date]:
    """The first and the last gaming day with anything on them: the house's first and today where there is less."""
    first, today = house_days(now)
    found = Total.objects.aggregate(first=Min("gaming_date"), last=Max("gaming_date"))
    return min(found["first"] or first, first), max(found["last"] or today, today)


def streams() -> Sequence[str]:
    """Every stream by its code."""
    return list(Stream.objects.order_by("code").values_list("code", flat=True))


def event_of(stream: str, sequence: int) -> tuple[int, dict[str, Any]] | None:
    """An event as auditors read it, with its stream's id; None where there is none."""
    found = Stream.objects.filter(code=stream).first()
    if found is None or not 0 <= sequence < found.next_sequence:
        return None
    return found.pk, event_shown(found.pk, sequence)


def last_sequence(stream_id: int) -> int:
    """The sequence of a stream's last event."""
    return Stream.objects.values_list("next_sequence", flat=True).get(pk=stream_id) - 1


def events_by_kind() -> Counter[str]:
    """How many events of each kind there are on record."""
    return Counter(dict(Event.objects.values_list("kind").annotate(Count("pk")).order_by("kind")))


def transfers_by_reason() -> Counter[str]:
    """How many transfers there are for each reason."""
    return Counter(dict(Transfer.objects.values_list("reason").annotate(Count("pk")).order_by("reason")))
