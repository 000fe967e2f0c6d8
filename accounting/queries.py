"""Reading the property, its gaming days and the ledger."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from django.db import connection
from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from accounting.models import (
    Account,
    AuditHead,
    AuditRecord,
    Document,
    Event,
    GamingDay,
    HouseNumber,
    Property,
    Stream,
    Total,
    Transfer,
)
from accounting.rules.accounts import named
from accounting.rules.chart import in_its_sign, order
from accounting.rules.events import ROUND
from accounting.rules.gaming_day import began, gaming_date
from accounting.statements import Row, execute


class NoProperty(LookupError):
    """No floor was loaded yet: `manage.py load_floor FLOOR.toml` creates the property."""


def the_property() -> Property:
    """The one property this service serves. Raises NoProperty before a floor was loaded."""
    found = Property.objects.first()
    if found is None:
        raise NoProperty("no property yet: run `python3 manage.py load_floor FLOOR.toml`")
    return found


def gaming_day(at: datetime) -> tuple[date, datetime]:
    """The gaming day of an instant and when it began. Raises NoProperty before a floor was loaded."""
    home = the_property()
    zone, starts = ZoneInfo(home.time_zone), home.gaming_day_starts
    day = gaming_date(at, zone=zone, starts=starts)
    return day, began(day, zone=zone, starts=starts)


def began_on(day: date) -> datetime:
    """When a gaming day begins, or began."""
    home = the_property()
    return began(day, zone=ZoneInfo(home.time_zone), starts=home.gaming_day_starts)


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


def house_days(now: datetime) -> tuple[date, date]:
    """The first gaming day of the house, and the one that it is now. Raises NoProperty before a floor was loaded."""
    return gaming_day(the_property().opened_at)[0], gaming_day(now)[0]


def account_named(code: str) -> Account | None:
    """An account by its code."""
    return Account.objects.filter(code=code).first()


def recorded_from(stream_id: int, at: datetime) -> int:
    """The first sequence of a stream that was recorded at an instant or later; its next one where none was."""
    return _recorded_from(Stream.objects.get(pk=stream_id), at)


def _recorded_from(stream: Stream, at: datetime) -> int:
    """The first sequence of a stream that was recorded at an instant or later: sequences have no gaps, so it is halved."""
    low, high = 0, stream.next_sequence
    events = Event.objects.filter(stream=stream)
    while low < high:
        middle = (low + high) // 2
        recorded = events.filter(sequence=middle).values_list("recorded_at", flat=True).first()
        if recorded is not None and recorded < at:
            low = middle + 1
        else:
            high = middle
    return low


def days_around(day: date) -> tuple[date | None, date | None]:
    """The gaming days on record just before and just after this one."""
    return (
        GamingDay.objects.filter(date__lt=day).order_by("-date").values_list("date", flat=True).first(),
        GamingDay.objects.filter(date__gt=day).order_by("date").values_list("date", flat=True).first(),
    )


def closed_at(day: date) -> datetime | None:
    """When a gaming day was closed, itself or with a later one; None while it is open."""
    closed = GamingDay.objects.filter(date__gte=day, closed_at__isnull=False)
    return closed.order_by("date").values_list("closed_at", flat=True).first()


CLOSED_BEFORE = """
    SELECT subject FROM accounting_event WHERE stream_id = %s AND sequence < %s AND kind = 'day.close'
    ORDER BY sequence DESC LIMIT 1
"""
BOOKED_BETWEEN = """
    SELECT sequence FROM accounting_event
    WHERE stream_id = %s AND sequence > %s AND sequence < %s AND gaming_date <= %s ORDER BY sequence LIMIT 1
"""


def closed_before(stream_id: int, sequence: int) -> date | None:
    """The latest gaming day that a stream's own events had closed before one of them; None where none had."""
    found = execute(CLOSED_BEFORE, [stream_id, sequence])
    return date.fromisoformat(found[0][0]) if found else None


def booked_between(stream_id: int, after: int, before: int, day: date) -> int | None:
    """The first event between two of a stream that is booked on a gaming day or an earlier one; None where none is."""
    found = execute(BOOKED_BETWEEN, [stream_id, after, before, day])
    return int(found[0][0]) if found else None


def closing_events() -> list[tuple[int, int, str, bytes]]:
    """The events that closed gaming days: stream, sequence, the day as it is written, hash."""
    found = Event.objects.filter(kind="day.close").order_by("stream_id", "sequence")
    return [
        (stream_id, sequence, subject, bytes(hash_))
        for stream_id, sequence, subject, hash_ in found.values_list("stream_id", "sequence", "subject", "hash")
    ]


def event_at(stream_id: int, sequence: int) -> tuple[str, str, bytes] | None:
    """Kind, subject and hash of an event; None where there is none."""
    found = Event.objects.filter(stream_id=stream_id, sequence=sequence).values_list("kind", "subject", "hash").first()
    return None if found is None else (found[0], found[1], bytes(found[2]))


def recorded_of(stream_id: int, sequence: int) -> tuple[str, str]:
    """Kind and subject of an event that is there."""
    return Event.objects.values_list("kind", "subject").get(stream_id=stream_id, sequence=sequence)


def days_closed() -> tuple[dict[date, datetime], date | None]:
    """Every gaming day that was closed itself, with when; and through which day all is closed, as the property's row says."""
    days = GamingDay.objects.filter(closed_at__isnull=False).values_list("date", "closed_at")
    closed = {day: at for day, at in days if at is not None}
    home = Property.objects.first()
    return closed, None if home is None else home.closed_through


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


def transfers_of(stream_id: int, sequence: int) -> list[dict[str, Any]]:
    """The transfers of one journal entry, in their order."""
    rows = Transfer.objects.filter(stream_id=stream_id, sequence=sequence).order_by("line")
    return [
        {"line": line, "debit": debit, "credit": credit, "amount_cents": cents, "reason": reason}
        for line, debit, credit, cents, reason in rows.values_list(
            "line", "debit__code", "credit__code", "amount_cents", "reason"
        )
    ]


def event_shown(stream_id: int, sequence: int) -> dict[str, Any]:
    """One event with the digests it is chained by, in hexadecimal."""
    return event_row(Event.objects.select_related("stream").get(stream_id=stream_id, sequence=sequence))


def event_row(event: Event) -> dict[str, Any]:
    """An event as auditors read it: what its hash is computed from (`accounting.rules.chain`), but for what its message says."""
    return {
        "stream": event.stream.code,
        "sequence": event.sequence,
        "kind": event.kind,
        "subject": event.subject,
        "gaming_date": event.gaming_date.isoformat(),
        "original_date": event.original_date.isoformat() if event.original_date else None,
        "recorded_at": event.recorded_at.isoformat(),
        "rules": event.rules,
        "message_digest": bytes(event.message_digest).hex(),
        "result_digest": bytes(event.result_digest).hex(),
        "previous": bytes(event.previous).hex(),
        "hash": bytes(event.hash).hex(),
    }


def events_page(stream: str, *, after_sequence: int, limit: int, with_rounds: bool) -> list[dict[str, Any]]:
    """Events of a stream after a sequence, in their order, with its rounds among them or without."""
    rows = Event.objects.filter(stream__code=stream, sequence__gt=after_sequence).select_related("stream")
    if not with_rounds:
        rows = rows.exclude(kind=ROUND)
    found = list(rows.order_by("sequence")[:limit])
    documents = Document.objects.filter(stream__code=stream, sequence__in=[row.sequence for row in found])
    decided = {document.sequence: said(bytes(document.cause), bytes(document.result)) for document in documents}
    return [event_row(row) | decided.get(row.sequence, NOT_SAID) for row in found]


NOT_SAID: dict[str, Any] = {"act": None, "by": None, "result": None}
"""What an event says whose cause is a message."""


def said(cause: bytes, result: bytes) -> dict[str, Any]:
    """What an event's documents say: which act, by whom, and what came of it. An opening was asked for by nobody."""
    asked = msgspec.json.decode(cause)
    return {"act": asked.get("act"), "by": asked.get("by"), "result": msgspec.json.decode(result)}


@dataclass(frozen=True, slots=True)
class Decided:
    """An event that people decided, with its documents as the text that was hashed.

    `counts_from` is the moment that what it changed counts from, in RFC 3339; None where it is its own.
    """

    stream: str
    sequence: int
    kind: str
    subject: str
    recorded_at: datetime
    cause: str
    result: str

    @property
    def asked(self) -> dict[str, Any]:
        """Its cause: who asked, who agreed, why, by which proposal."""
        found: dict[str, Any] = msgspec.json.decode(self.cause)
        return found

    @property
    def came(self) -> dict[str, Any]:
        """Its result."""
        found: dict[str, Any] = msgspec.json.decode(self.result)
        return found

    @property
    def counts_from(self) -> str | None:
        """The moment that what it changed counts from."""
        return next((change["counts_from"] for change in self.came.get("changes", ()) if "counts_from" in change), None)


DECIDED = """
    SELECT stream.code, event.sequence, event.kind, event.subject, event.recorded_at, document.cause, document.result
    FROM accounting_document document
    JOIN accounting_event event ON event.stream_id = document.stream_id AND event.sequence = document.sequence
    JOIN accounting_stream stream ON stream.id = document.stream_id
    WHERE (stream.code = %(stream)s AND %(subject)s IS NULL OR event.subject = %(subject)s
            OR stream.code = %(stream)s AND event.kind IN ('opened', 'table.install'))
        AND (event.kind NOT LIKE 'round%%'
            OR event.kind = 'round.void' AND position('"steps":'::bytea IN document.result) > 0)
    ORDER BY event.recorded_at DESC, document.stream_id, document.sequence DESC LIMIT %(limit)s
"""


def decided_on(stream: str, *, subject: str | None = None, limit: int = 50) -> list[Decided]:
    """The events of a stream that are neither rounds nor about a held one, newest first.

    With a subject, those about it on whatever stream, and what opened this one.
    """
    with connection.cursor() as cursor:
        cursor.execute(DECIDED, {"stream": stream, "subject": subject, "limit": limit})
        return [
            Decided(code, sequence, kind, about, recorded_at, bytes(cause).decode(), bytes(result).decode())
            for code, sequence, kind, about, recorded_at, cause, result in cursor.fetchall()
        ]


def documents_of(stream_id: int, sequence: int) -> dict[str, str] | None:
    """The cause and the result of an event as the text that was hashed; None where a message is its cause."""
    found = Document.objects.filter(stream_id=stream_id, sequence=sequence).first()
    return None if found is None else {"cause": bytes(found.cause).decode(), "result": bytes(found.result).decode()}


def stream_exists(code: str) -> bool:
    """Whether a link or table has a stream of this code."""
    return Stream.objects.filter(code=code).exists()


def stream_ids(codes: Iterable[str]) -> dict[str, int]:
    """The ids of streams by their codes; what is no stream's is left out."""
    return dict(Stream.objects.filter(code__in=list(codes)).values_list("code", "id"))


def event_digests(stream_id: int, sequence: int) -> tuple[bytes, bytes] | None:
    """The digests that an event is chained by, of its cause and of its result; None where there is no such event."""
    found = (
        Event.objects.filter(stream_id=stream_id, sequence=sequence)
        .values_list("message_digest", "result_digest")
        .first()
    )
    return None if found is None else (bytes(found[0]), bytes(found[1]))


def codes_in_use() -> frozenset[str]:
    """The codes of all links and tables: of streams, and of tables whose rounds count on their link's."""
    tables = Account.objects.filter(kind="inventory").values_list("owner", flat=True)
    return frozenset(Stream.objects.values_list("code", flat=True)) | frozenset(tables)


class Documented(NamedTuple):
    """An event that is no message's, with the bytes of its cause and its result."""

    sequence: int
    kind: str
    rules: int
    recorded_at: datetime
    cause: bytes
    result: bytes


DOCUMENTED = """
    SELECT event.sequence, event.kind, event.rules, event.recorded_at, document.cause, document.result
    FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.kind = ANY(%s) ORDER BY event.sequence
"""


def documented(stream_id: int, kinds: Sequence[str]) -> list[Documented]:
    """The events of these kinds on a stream, in its order, with their documents; none of them rounds."""
    with connection.cursor() as cursor:
        cursor.execute(DOCUMENTED, [stream_id, list(kinds)])
        return [
            Documented(sequence, kind, rules, at, bytes(cause), bytes(result))
            for sequence, kind, rules, at, cause, result in cursor.fetchall()
        ]


DOCUMENTED_BETWEEN = """
    SELECT event.recorded_at, event.subject, document.cause, document.result
    FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.kind = ANY(%s) AND event.sequence BETWEEN %s AND %s
        AND event.gaming_date BETWEEN %s AND %s
    ORDER BY event.sequence
"""


def documented_between(
    stream_id: int, kinds: Sequence[str], begins: int, ends: int, first: date, last: date
) -> list[tuple[datetime, str, bytes, bytes]]:
    """The events of these kinds on a stretch of a stream that are booked from one gaming day to another.

    When each was recorded, what it is about, its cause and its result.
    """
    return [
        (at, subject, bytes(cause), bytes(result))
        for at, subject, cause, result in execute(
            DOCUMENTED_BETWEEN, [stream_id, list(kinds), begins, ends, first, last]
        )
    ]


ABOUT = """
    SELECT event.sequence, event.kind, event.rules, event.recorded_at, document.cause, document.result
    FROM accounting_event event
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.subject = ANY(%s) AND event.kind = ANY(%s)
        AND event.sequence < %s
    ORDER BY event.sequence
"""


def acts_about(stream_id: int, subjects: Sequence[str], kinds: Sequence[str], *, before: int) -> list[Documented]:
    """The events of these kinds about these subjects before a sequence of their stream, in its order, with documents.

    Each subject is one look-up by key.
    """
    return [
        Documented(sequence, kind, rules, at, bytes(cause), bytes(result))
        for sequence, kind, rules, at, cause, result in execute(ABOUT, [stream_id, list(subjects), list(kinds), before])
    ]


BOOKED_AS = """
    SELECT event.stream_id, event.sequence, event.kind, event.subject, debit.code, credit.code, transfer.amount_cents
    FROM accounting_event event
    JOIN accounting_transfer transfer ON transfer.stream_id = event.stream_id AND transfer.sequence = event.sequence
    JOIN accounting_account debit ON debit.id = transfer.debit_id
    JOIN accounting_account credit ON credit.id = transfer.credit_id
    WHERE event.kind <> 'round' AND event.kind = ANY(%s)
    ORDER BY event.stream_id, event.sequence, transfer.line
"""


def booked_as(kinds: Sequence[str]) -> list[tuple[int, int, str, str, str, str, int]]:
    """What events of these kinds booked: stream, sequence, kind, subject, both accounts by code, whole cents."""
    return execute(BOOKED_AS, [list(kinds)])


STRAY_DOCUMENTS = """
    SELECT event.sequence FROM accounting_event event
    LEFT JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.kind <> 'round' AND event.kind = ANY(%s)
        AND (sha256(document.cause), sha256(document.result)) IS DISTINCT FROM (event.message_digest, event.result_digest)
    ORDER BY event.sequence LIMIT 1
"""


def stray_documents(stream_id: int, kinds: Sequence[str]) -> list[int]:
    """The first event of these kinds on a stream whose documents are not those that its digests are of; [] where all are."""
    return [sequence for (sequence,) in execute(STRAY_DOCUMENTS, [stream_id, list(kinds)])]


DOCUMENTS_AT = """
    SELECT event.kind, event.subject, coalesce(event.original_date, event.gaming_date), event.gaming_date,
        event.recorded_at, event.rules, document.cause, document.result
    FROM accounting_stream stream JOIN accounting_event event ON event.stream_id = stream.id
    JOIN accounting_document document ON document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE stream.code = %s AND event.sequence = %s
"""


def documents_at(stream: str, sequence: int) -> tuple[Any, ...] | None:
    """Kind, subject, own day, day booked on, moment, rules edition, cause and result of an event that is no message's."""
    found = execute(DOCUMENTS_AT, [stream, sequence])
    return None if not found else (*found[0][:6], bytes(found[0][6]), bytes(found[0][7]))


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


TRANSFERS = """
    SELECT sequence, line, debit_id, credit_id, amount_cents, reason FROM accounting_transfer
    WHERE stream_id = %s AND sequence BETWEEN %s AND %s ORDER BY sequence, line
"""
NEXT_EVENT = """
    SELECT min(sequence) FROM accounting_event WHERE stream_id = %s AND sequence >= %s AND sequence < %s
"""
LAST_ACT = """
    SELECT coalesce(max(sequence), 0) FROM accounting_event WHERE stream_id = %s AND kind <> 'round'
        AND (kind LIKE %s OR kind IN ('level.transfer', 'link.close') OR subject = %s)
"""
CONTRIBUTED = """
    SELECT coalesce(sum(CASE WHEN account.id = transfer.credit_id THEN transfer.amount_cents ELSE -transfer.amount_cents END)
            FILTER (WHERE account.kind = 'liability'), 0),
        count(DISTINCT transfer.sequence) FILTER (WHERE account.kind = 'liability' AND transfer.reason = 'contribution'),
        coalesce(bool_or(account.kind = 'overflow'), false)
    FROM accounting_transfer transfer
    JOIN accounting_account account ON account.id IN (transfer.credit_id, transfer.debit_id)
    WHERE transfer.stream_id = %s AND transfer.sequence > %s AND transfer.sequence <= %s
        AND transfer.reason IN ('contribution', 'void') AND account.kind IN ('liability', 'overflow') AND account.owner = %s
"""


def transfers_between(stream_id: int, first: int, last: int) -> list[Row]:
    """The transfers of a range of events: sequence, line, ids of debit and credit account, whole cents, reason."""
    return execute(TRANSFERS, [stream_id, first, last])


def next_event(stream_id: int, sequence: int, before: int) -> int | None:
    """The first event on record from a sequence on and before another."""
    ((found,),) = execute(NEXT_EVENT, [stream_id, sequence, before])
    return None if found is None else int(found)


def last_act(stream_id: int, *, kinds: str, subject: str) -> int:
    """The last event of a stream that is no round and whose kind begins so or that is about this subject; 0 if none.

    A transfer is about both its levels, and names one.
    """
    ((found,),) = execute(LAST_ACT, [stream_id, f"{kinds}%", subject])
    return int(found)


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
