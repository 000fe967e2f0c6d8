"""Reading the property, its accounts and balances, its streams, and the audit trail."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from accounting.models import (
    Account,
    AuditHead,
    AuditRecord,
    HouseNumber,
    Property,
    Stream,
    Total,
)
from accounting.rules.accounts import named
from accounting.rules.chart import in_its_sign, order
from accounting.statements import execute


class NoProperty(LookupError):
    """No floor was loaded yet: `manage.py load_floor FLOOR.toml` creates the property."""


def the_property() -> Property:
    """The one property this service serves. Raises NoProperty before a floor was loaded."""
    found = Property.objects.first()
    if found is None:
        raise NoProperty("no property yet: run `python3 manage.py load_floor FLOOR.toml`")
    return found


@dataclass(frozen=True, slots=True)
class Balance:
    """An account on one gaming day, in whole cents. Balances are debits less credits: negative is a credit balance."""

    code: str
    kind: str
    owner: str
    before_cents: int
    debit_cents: int
    credit_cents: int

    @property
    def name(self) -> str:
        """What accountants call the account."""
        return named(self.code)

    @property
    def after_cents(self) -> int:
        """The balance at the end of the day."""
        return self.before_cents + self.debit_cents - self.credit_cents

    @property
    def in_its_sign_cents(self) -> int:
        """The same, positive on the side on which an account of its kind usually stands."""
        return in_its_sign(self.kind, self.after_cents)


def trial_balance(day: date) -> list[Balance]:
    """Every account that ever moved up to the end of a gaming day, in the order of the chart of accounts."""
    return balances_between(day, day)


def balances_between(first: date, last: date) -> list[Balance]:
    """The same over the gaming days from one to another: brought forward, and what moved in them."""
    within, earlier = Q(totals__gaming_date__range=(first, last)), Q(totals__gaming_date__lt=first)
    accounts = (
        Account.objects.filter(totals__gaming_date__lte=last)
        .annotate(
            before=Coalesce(
                Sum("totals__debit_cents", filter=earlier) - Sum("totals__credit_cents", filter=earlier), Decimal(0)
            ),
            debits=Coalesce(Sum("totals__debit_cents", filter=within), Decimal(0)),
            credits=Coalesce(Sum("totals__credit_cents", filter=within), Decimal(0)),
        )
        .values_list("code", "kind", "owner", "before", "debits", "credits")
    )
    found = [
        Balance(code, kind, owner, int(before), int(debits), int(credits))
        for code, kind, owner, before, debits, credits in accounts
    ]
    return sorted(found, key=lambda balance: order(balance.kind, balance.owner))


def account_named(code: str) -> Account | None:
    """An account by its code."""
    return Account.objects.filter(code=code).first()


def stream_heads() -> list[tuple[str, int, str]]:
    """Every stream by code with the sequence of its last event and that event's hash in hexadecimal."""
    return [
        (code, following - 1, bytes(head).hex())
        for code, following, head in Stream.objects.order_by("code").values_list("code", "next_sequence", "head")
    ]


def audit_head() -> dict[str, Any] | None:
    """How many records the audit trail has, and the hash of the last in hexadecimal; None before the first."""
    head = AuditHead.objects.first()
    return None if head is None else {"records": head.records, "hash": bytes(head.hash).hex()}


def audit_records(*, before: int | None = None, subject: str = "", limit: int = 50) -> list[AuditRecord]:
    """The audit trail, newest first: by key below `before`, and about one subject where one is given."""
    records = AuditRecord.objects.order_by("-id")
    if before is not None:
        records = records.filter(id__lt=before)
    if subject:
        records = records.filter(subject=subject)
    return list(records[:limit])


AUDIT_AT_ONCE = 1_000


def audit_between(first: datetime, end: datetime, *, about: Q) -> Iterator[AuditRecord]:
    """The audit records from a moment to before another, oldest first, a run at a time; `about` says which."""
    found = AuditRecord.objects.filter(about, recorded_at__gte=first, recorded_at__lt=end).order_by("id")
    after = 0
    while run := list(found.filter(id__gt=after)[:AUDIT_AT_ONCE]):
        yield from run
        after = run[-1].pk


SOFTWARE = "software"
"""What the audit trail calls other software than before."""


def software() -> str:
    """The SHA-256 over the software that was put on record last, in hexadecimal; nothing before any was."""
    last = AuditRecord.objects.filter(action=SOFTWARE).order_by("-id").values_list("subject", flat=True).first()
    return last or ""


def audit_of(actions: Iterable[str]) -> Iterable[AuditRecord]:
    """The audit records of some actions, oldest first."""
    return AuditRecord.objects.filter(action__in=list(actions)).order_by("id").iterator()


PAYABLES = ("awards_payable", "unclaimed")
"""Accounts of what players won and nobody handed over yet."""
UNPAID = """
    SELECT total.stream_id, sum(total.credit_cents - total.debit_cents) FROM accounting_total total
    JOIN accounting_account account ON account.id = total.account_id
    WHERE account.code = ANY(%s) AND total.stream_id = ANY(%s) GROUP BY total.stream_id
"""
UNPAID_BETWEEN = """
    SELECT coalesce(sum(CASE WHEN credit.code = ANY(%s) THEN moved.amount_cents ELSE 0 END
        - CASE WHEN debit.code = ANY(%s) THEN moved.amount_cents ELSE 0 END), 0)
    FROM accounting_transfer moved
    JOIN accounting_account credit ON credit.id = moved.credit_id
    JOIN accounting_account debit ON debit.id = moved.debit_id
    WHERE moved.stream_id = %s AND moved.sequence >= %s AND moved.sequence < %s
"""


def unpaid_on(stream_ids: Iterable[int]) -> dict[int, int]:
    """What was won on each of these streams and is not handed over, in whole cents, by the daily totals; 0 is left out."""
    return {stream_id: int(cents) for stream_id, cents in execute(UNPAID, [list(PAYABLES), list(stream_ids)])}


def unpaid_between(stream_id: int, first: int, before: int) -> int:
    """By how many cents the transfers of a stream from one event to before another raised what is won and not handed over."""
    payables = list(PAYABLES)
    return int(execute(UNPAID_BETWEEN, [payables, payables, stream_id, first, before])[0][0])


def stream_exists(code: str) -> bool:
    """Whether a link or table has a stream of this code."""
    return Stream.objects.filter(code=code).exists()


def stream_ids(codes: Iterable[str]) -> dict[str, int]:
    """The ids of streams by their codes; what is no stream's is left out."""
    return dict(Stream.objects.filter(code__in=list(codes)).values_list("code", "id"))


def codes_in_use() -> frozenset[str]:
    """The codes of all links and tables: of streams, and of tables whose rounds count on their link's."""
    return frozenset(Stream.objects.values_list("code", flat=True)) | frozenset(tables_with_books())


def tables_with_books() -> list[str]:
    """The codes of all tables, by the accounts of their trays."""
    return list(Account.objects.filter(kind="inventory").order_by("owner").values_list("owner", flat=True))


def links_with_books() -> list[str]:
    """The codes of all links, by the accounts of their levels; closed ones too."""
    owners = Account.objects.filter(kind="liability").order_by("owner").values_list("owner", flat=True)
    return list(dict.fromkeys(owner.partition("/")[0] for owner in owners))


def streams() -> list[tuple[int, str, int]]:
    """Id, code and number of events of every stream, in the order of their codes."""
    return list(Stream.objects.order_by("code").values_list("id", "code", "next_sequence"))


def stream_row(stream_id: int) -> tuple[int, str, int, bytes, int]:
    """A stream as it stands: id, code, next sequence, head of its chain, version of its terms."""
    found = Stream.objects.values_list("id", "code", "next_sequence", "head", "terms_version").get(pk=stream_id)
    return (*found[:3], bytes(found[3]), found[4])


def totals_of(stream_id: int) -> dict[tuple[str, date], tuple[int, int]]:
    """What a stream brought to each account on each gaming day: debits and credits in whole cents."""
    rows = Total.objects.filter(stream_id=stream_id)
    rows_of = rows.values_list("account__code", "gaming_date", "debit_cents", "credit_cents")
    return {(account, day): (int(debits), int(credits)) for account, day, debits, credits in rows_of}


CONTRIBUTED = """
    SELECT coalesce(sum(CASE WHEN account.id = transfer.credit_id THEN transfer.amount_cents ELSE -transfer.amount_cents END)
            FILTER (WHERE account.kind = 'liability'), 0),
        count(*) FILTER (WHERE account.kind = 'liability' AND transfer.reason = 'contribution'),
        coalesce(bool_or(account.kind = 'overflow'), false)
    FROM accounting_transfer transfer
    JOIN accounting_account account ON account.id IN (transfer.credit_id, transfer.debit_id)
    WHERE transfer.stream_id = %s AND transfer.sequence > %s AND transfer.sequence <= %s
        AND transfer.reason IN ('contribution', 'void') AND account.kind IN ('liability', 'overflow') AND account.owner = %s
"""


def contributed(stream_id: int, owner: str, *, after: int, upto: int) -> tuple[int, int, bool]:
    """What rounds after one sequence up to another added to a level (`LINK/LEVEL`): whole cents on the display less what
    was taken back, in how many rounds, and whether any went to the overflow."""
    ((cents, rounds, ran_over),) = execute(CONTRIBUTED, [stream_id, after, upto, owner])
    return int(cents), rounds, ran_over


# The balance after the last event of each run of `width` events, counted back from what it is after them all.
SERIES = """
    WITH moves AS (
        SELECT transfer.sequence, CASE WHEN transfer.credit_id = account.id THEN transfer.amount_cents
            ELSE -transfer.amount_cents END AS cents
        FROM accounting_account account
        JOIN accounting_transfer transfer ON account.id IN (transfer.credit_id, transfer.debit_id)
        WHERE account.code = %(account)s AND transfer.stream_id = %(stream)s
            AND transfer.sequence > %(after)s AND transfer.sequence <= %(upto)s
        -- What came from another link is booked on that one's stream, this one's event says how much (jackpot.rules.between).
        UNION ALL SELECT event.sequence, (moved ->> 'cents')::bigint
        FROM accounting_event event JOIN accounting_document document USING (stream_id, sequence),
            jsonb_array_elements(convert_from(document.result, 'UTF8')::jsonb -> 'transfers') AS moved
        WHERE event.stream_id = %(stream)s AND event.kind IN ('level.transfer', 'link.close') AND event.kind <> 'round'
            AND event.sequence > %(after)s AND event.sequence <= %(upto)s AND moved ->> 'credit' = %(account)s
            AND NOT EXISTS (SELECT FROM accounting_transfer booked
                WHERE booked.stream_id = event.stream_id AND booked.sequence = event.sequence)
    ), runs AS (
        SELECT max(sequence) AS sequence, sum(cents)::bigint AS cents FROM moves
        GROUP BY (sequence - %(after)s - 1) / %(width)s
    )
    SELECT runs.sequence, event.recorded_at,
        %(cents)s - coalesce(sum(runs.cents) OVER (
            ORDER BY runs.sequence DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::bigint
    FROM runs JOIN accounting_event event ON event.stream_id = %(stream)s AND event.sequence = runs.sequence
    ORDER BY runs.sequence
"""


def balance_series(
    account: str, stream_id: int, *, after: int, upto: int, width: int, cents: int
) -> list[tuple[int, datetime, int]]:
    """A credit balance over the events of a stream after one sequence up to another, which left it at `cents`.

    Sequence, time and whole cents, of the last event that moved it in each run of `width` events.
    """
    values: dict[str, Any] = {
        "account": account, "stream": stream_id, "after": after, "upto": upto, "width": width, "cents": cents,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(SERIES, values)
        return cursor.fetchall()


def house_numbers() -> dict[str, str]:
    """The house's own number of every account that has one, by code."""
    latest = HouseNumber.objects.order_by("account_id", "-id").distinct("account_id")
    return {code: number for code, number in latest.values_list("account__code", "number") if number}


NUMBERED = "number an account"
"""What the audit trail calls a change of an account's number."""


def house_numbers_told() -> dict[str, str]:
    """The same as the audit trail tells it, change by change."""
    told: dict[str, str] = {}
    for subject, detail in AuditRecord.objects.filter(action=NUMBERED).order_by("id").values_list("subject", "detail"):
        told[subject] = detail["changes"][0]["after"]
    return {code: number for code, number in told.items() if number != NO_NUMBER}


NO_NUMBER = "none"
"""How the audit trail says that an account has none."""


def accounts_shown() -> dict[str, tuple[str, str]]:
    """Every account by its code, with its kind and owner."""
    return {code: (kind, owner) for code, kind, owner in Account.objects.values_list("code", "kind", "owner")}


def property_shown() -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The property as its opening was put on record, and as its row shows it; None before one was opened."""
    home = Property.objects.first()
    if home is None:
        return None
    record = AuditRecord.objects.filter(action="open property").order_by("id").first()
    shown = {
        "code": home.code,
        "name": home.name,
        "time_zone": home.time_zone,
        "gaming_day_starts": home.gaming_day_starts.strftime("%H:%M"),
        "jurisdiction": home.jurisdiction,
        "opened_at": home.opened_at,
    }
    return ((record.detail | {"opened_at": record.recorded_at}) if record else {"opening on record": True}), shown
