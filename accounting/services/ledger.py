"""Posting journal entries: events, their transfers and the totals of one batch, under the stream's lock."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from hashlib import sha256
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import F

from accounting.models import Account, Stream
from accounting.queries import the_property
from accounting.rules import edition
from accounting.rules.accounts import LEVEL_ACCOUNTS, PROPERTY_ACCOUNTS, Movement, inventory, of_level
from accounting.rules.chain import GENESIS, event_hash
from accounting.rules.events import KINDS, OPENED
from accounting.rules.gaming_day import gaming_date
from accounting.services import gaming_days
from accounting.services.copying import Copying, RowsAstray
from accounting.statements import Row, execute


class UnknownAccount(LookupError):
    """A movement names an account that was never opened."""


class Entry(NamedTuple):
    """One event to be posted: what it is, when it counts, the digests it is chained by, and its movements.

    Of a message also when it was received and from which device; of anything else its two documents.
    """

    kind: str
    subject: str
    gaming_date: date
    original_date: date | None
    message_digest: bytes
    result_digest: bytes
    movements: Sequence[Movement]
    received_at: datetime | None = None
    device_id: int | None = None
    documents: tuple[bytes, bytes] | None = None


def documented(
    kind: str,
    subject: str,
    gaming_date: date,
    original_date: date | None,
    cause: bytes,
    result: bytes,
    movements: Sequence[Movement],
) -> Entry:
    """The entry of an event that is no message's: it is chained by its own documents and keeps them."""
    digests = sha256(cause).digest(), sha256(result).digest()
    return Entry(kind, subject, gaming_date, original_date, *digests, movements, documents=(cause, result))


@dataclass(slots=True)
class Journal:
    """The entries of one batch on one locked stream: numbers and chains them; the rows are sent in portions."""

    stream_id: int
    stream: str
    next_sequence: int
    head: bytes
    accounts: Mapping[str, int]
    recorded_at: datetime
    events: list[tuple[Any, ...]] = field(default_factory=list)
    documents: list[tuple[Any, ...]] = field(default_factory=list)
    transfers: list[tuple[Any, ...]] = field(default_factory=list)
    moved: defaultdict[tuple[int, int, date], int] = field(default_factory=lambda: defaultdict(int))
    """What moved from one account to another on a gaming day, in whole cents: by debit, credit and day."""

    def post(self, entry: Entry) -> int:
        """Number and chain an entry; its sequence is returned. Nothing is handed over before `send`."""
        sequence, previous = self.next_sequence, self.head
        (
            kind, subject, gaming_date, original_date, message_digest, result_digest, movements, received_at, device_id,
            documents,
        ) = entry  # fmt: skip
        self.head = event_hash(
            previous,
            stream=self.stream,
            sequence=sequence,
            kind=kind,
            subject=subject,
            gaming_date=gaming_date,
            recorded_at=self.recorded_at,
            message_digest=message_digest,
            result_digest=result_digest,
            rules=edition.CURRENT,
            received_at=received_at,
            device_id=device_id,
        )
        self.next_sequence = sequence + 1
        self.events.append((
            self.stream_id, sequence, kind, subject, gaming_date, original_date, self.recorded_at, edition.CURRENT,
            message_digest, result_digest, previous, self.head,
        ))  # fmt: skip
        if documents is not None:
            self.documents.append((self.stream_id, sequence, *documents))
        accounts, moved = self.accounts, self.moved
        try:
            for line, (debit, credit, amount_cents, reason) in enumerate(movements, 1):
                debit_id, credit_id = accounts[debit], accounts[credit]
                self.transfers.append((self.stream_id, sequence, line, debit_id, credit_id, amount_cents, reason))
                moved[debit_id, credit_id, gaming_date] += amount_cents
        except KeyError as unknown:
            raise UnknownAccount(*unknown.args) from None
        return sequence

    def _totals(self) -> dict[tuple[int, date], list[int]]:
        """What was debited and credited to each account on each gaming day."""
        totals: defaultdict[tuple[int, date], list[int]] = defaultdict(lambda: [0, 0])
        for (debit_id, credit_id, day), amount_cents in self.moved.items():
            totals[debit_id, day][0] += amount_cents
            totals[credit_id, day][1] += amount_cents
        return totals

    def send(self, copying: Copying) -> None:
        """Hand over the rows made since the last time."""
        if self.events:
            copying.send("accounting_event", EVENT_COLUMNS, self.events)
        if self.documents:
            copying.send("accounting_document", DOCUMENT_COLUMNS, self.documents)
        if self.transfers:
            copying.send("accounting_transfer", TRANSFER_COLUMNS, self.transfers)
        self.events.clear()
        self.documents.clear()
        self.transfers.clear()

    def close(self) -> None:
        """Write the batch's totals and move the stream on; its rows are stored. The caller holds the lock and commits."""
        totals = sorted((*key, *sums) for key, sums in self._totals().items())
        if totals:
            accounts, dates, debits, credits = (list(column) for column in zip(*totals, strict=True))
            sums = {"accounts": accounts, "dates": dates, "debits": debits, "credits": credits}
            execute(ADD_TOTALS, {"stream": self.stream_id, **sums}, kept=True)
        on = {"next_sequence": self.next_sequence, "head": self.head, "stream": self.stream_id}
        if not execute(MOVE_ON, on, kept=True):
            raise RowsAstray(f"stream {self.stream} was not moved on to sequence {self.next_sequence}")


def send_together(journals: Sequence[Journal], copying: Copying) -> None:
    """Hand over the events and documents of several streams at once; they move no money."""
    assert not any(journal.transfers for journal in journals), "what moves money is sent by its own stream"
    copying.send("accounting_event", EVENT_COLUMNS, [row for journal in journals for row in journal.events])
    copying.send("accounting_document", DOCUMENT_COLUMNS, [row for journal in journals for row in journal.documents])


EVENT_COLUMNS = {
    "stream_id": "int8", "sequence": "int8", "kind": "varchar", "subject": "varchar", "gaming_date": "date",
    "original_date": "date", "recorded_at": "timestamptz", "rules": "int2", "message_digest": "bytea",
    "result_digest": "bytea", "previous": "bytea", "hash": "bytea",
}  # fmt: skip
DOCUMENT_COLUMNS = {"stream_id": "int8", "sequence": "int8", "cause": "bytea", "result": "bytea"}
TRANSFER_COLUMNS = {
    "stream_id": "int8", "sequence": "int8", "line": "int2", "debit_id": "int8", "credit_id": "int8",
    "amount_cents": "int8", "reason": "varchar",
}  # fmt: skip
# A row that every batch changes is found from the end of its index, where its newest version is: while somebody's snapshot is
# held, every version since is kept, and a look from the other end would pass them all (docs/faults.md). The lock of the stream
# keeps everybody else from these rows.
ADD_TOTALS = """
    WITH added AS MATERIALIZED (
        SELECT * FROM unnest(%(accounts)s::bigint[], %(dates)s::date[], %(debits)s::numeric[], %(credits)s::numeric[])
            AS added (account_id, gaming_date, debit_cents, credit_cents)
    ),
    grown AS (
        UPDATE accounting_total total SET debit_cents = total.debit_cents + added.debit_cents,
            credit_cents = total.credit_cents + added.credit_cents
        FROM added CROSS JOIN LATERAL (
            SELECT known.ctid, known.account_id, known.stream_id, known.gaming_date FROM accounting_total known
            WHERE (known.account_id, known.stream_id, known.gaming_date)
                <= (added.account_id, %(stream)s, added.gaming_date)
            ORDER BY known.account_id DESC, known.stream_id DESC, known.gaming_date DESC LIMIT 1
        ) AS newest
        WHERE total.ctid = newest.ctid AND newest.account_id = added.account_id AND newest.stream_id = %(stream)s
            AND newest.gaming_date = added.gaming_date
        RETURNING total.account_id, total.gaming_date
    )
    INSERT INTO accounting_total (stream_id, account_id, gaming_date, debit_cents, credit_cents)
    SELECT %(stream)s, added.* FROM added
    WHERE NOT EXISTS (
        SELECT FROM grown WHERE grown.account_id = added.account_id AND grown.gaming_date = added.gaming_date
    )
"""
NEWEST_OF_STREAM = "(SELECT ctid FROM accounting_stream WHERE id <= %(stream)s ORDER BY id DESC LIMIT 1)"
MOVE_ON = f"""
    UPDATE accounting_stream SET next_sequence = %(next_sequence)s, head = %(head)s
    WHERE ctid = {NEWEST_OF_STREAM} AND id = %(stream)s RETURNING id
"""


def account_ids() -> dict[str, int]:
    """The id of every account by its code. Accounts are never removed or renamed."""
    return dict(Account.objects.values_list("code", "id"))


def open_property_accounts() -> None:
    """Open the property's own accounts (SPEC §9)."""
    _open((code, code, "") for code in PROPERTY_ACCOUNTS)


def open_table_account(table: str) -> None:
    """Open the account of a table's inventory."""
    _open([(inventory(table), "inventory", table)])


def open_level_accounts(link: str, level: str) -> None:
    """Open the liability, reserve and overflow accounts of a level."""
    _open((of_level(link, level, kind), kind, f"{link}/{level}") for kind in LEVEL_ACCOUNTS)


def _open(accounts: Iterable[tuple[str, str, str]]) -> None:
    Account.objects.bulk_create(Account(code=code, kind=kind, owner=owner) for code, kind, owner in accounts)


# Kinds are looked for from where this process last looked: an index holds the events that are no rounds.
BEYOND = """
    SELECT (SELECT rules FROM accounting_event WHERE stream_id = %(stream)s AND sequence = %(last)s),
        (SELECT kind FROM accounting_event WHERE stream_id = %(stream)s AND kind <> 'round'
            AND sequence > %(seen)s AND kind <> ALL(%(kinds)s) ORDER BY sequence LIMIT 1)
"""
_seen: dict[int, int] = {}


def forget() -> None:
    """Look again at all that stands on every stream, as a process that has just started does."""
    _seen.clear()


def refuse_what_is_beyond(stream_id: int, next_sequence: int) -> None:
    """LaterVersion where events of a locked stream are of a later rules edition, or of a kind unknown here.

    Hosts are updated one after the other: a process of the version before may run beside one of the next. What the later
    one recorded may mean something that this one does not know of, so from then on the stream is the later one's.
    """
    last = next_sequence - 1
    seen = _seen.get(stream_id, -1)
    values = {"stream": stream_id, "last": last, "seen": seen if seen <= last else -1, "kinds": list(KINDS)}
    ((rules, kind),) = execute(BEYOND, values, kept=True)
    if rules is not None and rules > edition.CURRENT:
        what = f"events of rules edition {rules}, of which {edition.CURRENT} are known"
        raise edition.LaterVersion(stream(stream_id).code, what)
    if kind is not None:
        raise edition.LaterVersion(stream(stream_id).code, f"an event of the unknown kind {kind}")
    _seen[stream_id] = last


def lock_stream(stream_id: int) -> Stream:
    """A stream with its row locked until the transaction ends, as whoever changes what is on it must hold it.

    LaterVersion where this program may not go on with it.
    """
    locked = Stream.objects.select_for_update(no_key=True).get(pk=stream_id)
    refuse_what_is_beyond(stream_id, locked.next_sequence)
    return locked


# The moment of the last event is read apart: a row that was locked is read anew, a row beside it is not.
FREE = f"""
    SELECT id, next_sequence, head, terms_version FROM accounting_stream
    WHERE ctid = {NEWEST_OF_STREAM} AND id = %(stream)s FOR NO KEY UPDATE SKIP LOCKED
"""
LAST_RECORDED = """
    SELECT max(event.recorded_at) FROM accounting_stream stream
    JOIN accounting_event event ON event.stream_id = stream.id AND event.sequence = stream.next_sequence - 1
    WHERE stream.id = ANY(%s)
"""
WAITED_AT_MOST = timedelta(minutes=1)
"""So much earlier than the last event a moment may be because whoever read it had to wait, or clocks differ a little."""


def lock_where_free(stream_id: int) -> Row | None:
    """Lock a stream's row until the transaction ends: id, next sequence, head, version of its terms.

    None where another transaction holds it: nobody waits. LaterVersion where this program may not go on with it.
    """
    found = execute(FREE, {"stream": stream_id}, kept=True)
    if not found:
        return None
    refuse_what_is_beyond(stream_id, found[0][1])
    return found[0]


def moment_on(stream_ids: Sequence[int], *, at: datetime) -> datetime:
    """The moment to record an event at on streams whose rows the caller holds locked: `at`, or that of their last event.

    Moments never run backwards along a stream because somebody waited for its lock. A clock that is wrong by more than a
    minute is left as it is: nothing else would be put right by it, and later days would be.
    """
    last = execute(LAST_RECORDED, [list(stream_ids)])[0][0]
    return last if last is not None and at < last <= at + WAITED_AT_MOST else at


def stream(stream_id: int) -> Stream:
    """A stream as it stands, for whoever only looks."""
    return Stream.objects.get(pk=stream_id)


def terms_changed(stream_id: int) -> None:
    """Have every worker read the stream's terms anew. The caller holds the stream's lock."""
    Stream.objects.filter(pk=stream_id).update(terms_version=F("terms_version") + 1)


def hold_codes() -> None:
    """Let nobody else open a link or table until the transaction ends: their codes are one set of names."""
    execute("SELECT pg_advisory_xact_lock(hashtext('install a floor'))")


def stream_is_there(code: str) -> bool:
    """Whether a stream of this code exists: a link's and a lone table's codes are one set of names."""
    return Stream.objects.filter(code=code).exists()


def journal_of(stream: Stream, *, at: datetime) -> Journal:
    """A journal of a stream whose row the caller holds locked."""
    return Journal(
        stream_id=stream.pk,
        stream=stream.code,
        next_sequence=stream.next_sequence,
        head=bytes(stream.head),
        accounts=account_ids(),
        recorded_at=at,
    )


def record(stream: Stream, entry: Entry, *, at: datetime) -> int:
    """Post one entry on a locked stream and write it; its sequence. The stream's row in memory moves along."""
    journal = journal_of(stream, at=at)
    sequence = journal.post(entry)
    with Copying() as copying:
        journal.send(copying)
    journal.close()
    stream.next_sequence, stream.head = journal.next_sequence, journal.head
    return sequence


def booked_on(day: date) -> tuple[date, date | None]:
    """The gaming day to book an entry of this day on, held open, and its own day where that is another one."""
    booked = gaming_days.hold_open([day])[day]
    return booked, None if booked == day else day


def day_of(at: datetime) -> date:
    """The gaming day of an instant at the property."""
    home = the_property()
    return gaming_date(at, zone=ZoneInfo(home.time_zone), starts=home.gaming_day_starts)


def open_stream(code: str, *, cause: bytes, result: bytes, at: datetime, movements: Sequence[Movement] = ()) -> Stream:
    """Begin a stream with its opening event, number 0: the definition it opened with and the first seeds."""
    stream = Stream(code=code, head=GENESIS)
    stream.save()
    stream.next_sequence = 0
    record(stream, documented(OPENED, code, *booked_on(day_of(at)), cause, result, movements), at=at)
    return stream
