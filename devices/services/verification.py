"""Replaying a stream from its opening and comparing everything that was recorded (ARCHITECTURE §4.2, SPEC §9).

Each event is taken in order: its hash and the one before, the message it came from, the settlement that the rules make of
that message on the meters as they stood, and every row that follows from it. What is compared was read in one short
transaction a chunk; a service that goes on settling meanwhile is verified up to where it stood at the start.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from typing import Any

from django.db import connection, transaction

from accounting.rules.accounts import Movement, of_level
from accounting.rules.chain import GENESIS, event_hash
from accounting.rules.gaming_day import gaming_date
from accounting.services.statements import execute
from devices.posting import strict
from devices.services import collector
from jackpot.queries import award_row, hits_between, link_definition
from jackpot.rules.meter import Meter, opening
from tables.rules import books
from tables.rules.door import InvalidJson
from tables.rules.settle import settle
from tables.services import floors, terms
from tables.services.rounds import base_wagers, dated, decode, encode
from tables.services.terms import StreamTerms

CHUNK = 1_000


class Difference(Exception):
    """What is recorded is not what the events give. Says where, what was expected and what is there."""

    def __init__(self, where: str, what: str, expected: object, found: object) -> None:
        super().__init__(f"{where}: {what}: expected {_short(expected)}, found {_short(found)}")
        self.where = where
        self.what = what


def _short(value: object) -> str:
    text = value.hex() if isinstance(value, bytes | memoryview) else str(value)
    return text if len(text) <= 300 else text[:297] + "..."


@dataclass(slots=True)
class Counts:
    """What a verification looked at."""

    streams: int = 0
    events: int = 0
    rounds: int = 0
    payouts: int = 0
    transfers: int = 0
    hits: int = 0
    holds: int = 0
    messages: int = 0
    accounts: int = 0

    def add(self, other: "Counts") -> None:
        """Count what another part looked at."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stream as it stood when its verification began."""

    id: int
    code: str
    next_sequence: int
    head: bytes
    terms_version: int
    meters: dict[str, tuple[int, ...]]
    totals: dict[tuple[str, date], tuple[int, int]]


@dataclass(slots=True)
class Replay:
    """A stream as its events make it."""

    head: bytes = GENESIS
    sequence: int = -1
    meters: dict[str, Meter] = field(default_factory=dict)
    wagers: int = 0
    hits: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    wins_cents: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    next_hit: int = 1
    last_round: int = 0
    totals: defaultdict[tuple[str, date], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))


def streams() -> list[tuple[int, str, int]]:
    """Id, code and number of events of every stream, in the order of their codes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, code, next_sequence FROM accounting_stream ORDER BY code")
        return cursor.fetchall()


def verify_stream(stream_id: int, advance: Callable[[int], None] = lambda events: None) -> Counts:
    """Replay one stream. Difference says where it first differs; `advance` is told how many events were done."""
    terms.forget()
    snapshot = _snapshot(stream_id)
    in_force = terms.of_stream(stream_id, snapshot.terms_version)
    replay = Replay()
    counts = Counts(streams=1)
    while replay.sequence + 1 < snapshot.next_sequence:
        with collector.paused():
            chunk = _Chunk.read(snapshot, replay.sequence + 1)
            for event in chunk.events():
                _replay_event(snapshot, in_force, replay, event, chunk, counts)
        advance(chunk.size)
        if not chunk.size:
            raise Difference(
                f"stream {snapshot.code}", "events", f"sequence {replay.sequence + 1}", "none: a gap in the sequence"
            )
    _compare_stream(snapshot, replay, in_force, counts)
    return counts


def _snapshot(stream_id: int) -> Snapshot:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute(
            "SELECT id, code, next_sequence, head, terms_version FROM accounting_stream WHERE id = %s", [stream_id]
        )
        stream = cursor.fetchone()
        cursor.execute(
            """
            SELECT level.code, meter.sequence, meter.value_cents, meter.residual_millionths, meter.reserve_cents,
                meter.reserve_residual_millionths, meter.overflow_cents, meter.overflow_residual_millionths,
                meter.wagers, meter.hits, meter.wins_cents, link.next_hit
            FROM jackpot_meter meter JOIN jackpot_level level ON level.id = meter.level_id
            JOIN jackpot_link link ON link.id = level.link_id WHERE link.stream_id = %s
            """,
            [stream_id],
        )
        meters = {row[0]: tuple(row[1:]) for row in cursor.fetchall()}
        cursor.execute(
            """
            SELECT account.code, total.gaming_date, total.debit_cents, total.credit_cents
            FROM accounting_total total JOIN accounting_account account ON account.id = total.account_id
            WHERE total.stream_id = %s
            """,
            [stream_id],
        )
        totals = {(row[0], row[1]): (row[2], row[3]) for row in cursor.fetchall()}
    return Snapshot(stream[0], stream[1], stream[2], bytes(stream[3]), stream[4], meters, totals)


EVENTS = """
    SELECT event.sequence, event.kind, event.subject, event.gaming_date, event.original_date, event.recorded_at,
        event.message_digest, event.result_digest, event.previous, event.hash,
        round.message_id, round.table_id, round.terms_id, round.reference, round.outcome, round.dealt_at,
        round.settlement, message.received_at, message.raw, message.digest, message.table_id, message.reference
    FROM accounting_event event
    LEFT JOIN tables_round round ON round.stream_id = event.stream_id AND round.sequence = event.sequence
    LEFT JOIN devices_message message ON message.id = round.message_id
    WHERE event.stream_id = %s AND event.sequence BETWEEN %s AND %s ORDER BY event.sequence
"""
TRANSFERS = """
    SELECT transfer.sequence, transfer.line, debit.code, credit.code, transfer.amount_cents, transfer.reason
    FROM accounting_transfer transfer JOIN accounting_account debit ON debit.id = transfer.debit_id
    JOIN accounting_account credit ON credit.id = transfer.credit_id
    WHERE transfer.stream_id = %s AND transfer.sequence BETWEEN %s AND %s
    ORDER BY transfer.sequence, transfer.line
"""
PAYOUTS = """
    SELECT payout.sequence, payout.line, payout.seat, payout.kind, payout.wager, payout.hand, level.code, payout.cents,
        payout.table_id, payout.dealt_at
    FROM tables_payout payout LEFT JOIN jackpot_level level ON level.id = payout.level_id
    WHERE payout.stream_id = %s AND payout.sequence BETWEEN %s AND %s ORDER BY payout.sequence, payout.line
"""
Row = tuple[Any, ...]


@dataclass(slots=True)
class _Chunk:
    """The recorded rows of some events in a row."""

    rows: list[Row]
    transfers: defaultdict[int, list[Row]]
    payouts: defaultdict[int, list[Row]]
    hits: defaultdict[int, list[Any]]

    @classmethod
    def read(cls, snapshot: Snapshot, first: int) -> "_Chunk":
        last = min(first + CHUNK, snapshot.next_sequence) - 1
        span = [snapshot.id, first, last]
        rows = execute(EVENTS, span, prepare=False)
        transfers = _by_sequence(execute(TRANSFERS, span, prepare=False))
        payouts = _by_sequence(execute(PAYOUTS, span, prepare=False))
        hits: defaultdict[int, list[Any]] = defaultdict(list)
        for hit in hits_between(snapshot.id, first, last):
            hits[hit.sequence].append(hit)
        return cls(rows, transfers, payouts, hits)

    @property
    def size(self) -> int:
        return len(self.rows)

    def events(self) -> Iterator[Row]:
        return iter(self.rows)


def _by_sequence(rows: list[Row]) -> defaultdict[int, list[Row]]:
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for sequence, *row in rows:
        found[sequence].append(tuple(row))
    return found


def _same(where: str, what: str, expected: object, found: object) -> None:
    if expected != found:
        raise Difference(where, what, expected, found)


def content_digest(where: str, raw: bytes) -> bytes:
    """SHA-256 of a stored message's canonical JSON; Difference where it is no JSON any more."""
    try:
        return sha256(strict(raw)[1]).digest()
    except InvalidJson:
        raise Difference(where, "message", "JSON", raw) from None


def _replay_event(
    snapshot: Snapshot, in_force: StreamTerms, replay: Replay, event: Row, chunk: _Chunk, counts: Counts
) -> None:
    sequence, kind, subject, day, _, recorded_at = event[:6]
    message_digest, result_digest, previous, recorded_hash = (bytes(value) for value in event[6:10])
    where = f"stream {snapshot.code}, sequence {sequence} ({subject})"
    _same(f"stream {snapshot.code}", "next event", replay.sequence + 1, sequence)
    _same(where, "hash of the previous event", replay.head, previous)
    expected = event_hash(
        previous,
        stream=snapshot.code,
        sequence=sequence,
        kind=kind,
        subject=subject,
        gaming_date=day,
        recorded_at=recorded_at,
        message_digest=message_digest,
        result_digest=result_digest,
    )
    _same(where, "hash of the event", expected, recorded_hash)
    if kind == "opened":
        _same(
            where, "round, payouts and hits", (None, [], []), (event[10], chunk.payouts[sequence], chunk.hits[sequence])
        )
        movements = _replay_opening(snapshot, in_force, replay, where, message_digest, result_digest)
    elif kind == "round":
        movements = _replay_round(in_force, replay, event, where, chunk, counts)
    else:
        raise Difference(where, "kind of event", "one that this version can replay", kind)
    recorded = [Movement(*row[1:]) for row in chunk.transfers[sequence]]
    _same(where, "ledger transfers", movements, recorded)
    _same(
        where, "lines of the ledger", list(range(1, len(recorded) + 1)), [row[0] for row in chunk.transfers[sequence]]
    )
    for movement in movements:
        replay.totals[movement.debit, day][0] += movement.amount_cents
        replay.totals[movement.credit, day][1] += movement.amount_cents
    counts.events += 1
    counts.transfers += len(movements)
    replay.sequence, replay.head = sequence, recorded_hash


def _replay_opening(
    snapshot: Snapshot, in_force: StreamTerms, replay: Replay, where: str, message_digest: bytes, result_digest: bytes
) -> list[Movement]:
    link = link_definition(snapshot.id)
    definition = link.definition if link else floors.opening_definition(snapshot.id)
    digest = sha256(encode(definition)).digest()
    _same(where, "definition it opened with", digest, message_digest)
    _same(where, "definition it opened with", digest, result_digest)
    if in_force.link_terms is None:
        return []
    replay.meters = {level.code: opening(level) for level in in_force.link_terms.levels}
    return [
        Movement("seed_expense", of_level(snapshot.code, code, "liability"), meter.value_cents, "seed")
        for code, meter in replay.meters.items()
        if meter.value_cents
    ]


def _replay_round(
    in_force: StreamTerms, replay: Replay, event: Row, where: str, chunk: _Chunk, counts: Counts
) -> list[Movement]:
    sequence, _, subject, day, original, recorded_at = event[:6]
    (
        message_id, table_id, terms_id, reference, outcome, dealt_at, settlement,
        received_at, raw, digest, message_table, message_reference,
    ) = event[10:]  # fmt: skip
    if message_id is None:
        raise Difference(where, "round of the event", "a row", "none")
    if raw is None:
        raise Difference(where, "message of the round", f"message {message_id}", "none")
    raw, settlement = bytes(raw), bytes(settlement)
    content = content_digest(where, raw)
    _same(where, "digest of the message", content, bytes(digest))
    _same(where, "digest of the message in the event", content, bytes(event[6]))
    _same(where, "table and reference of the message", (table_id, reference), (message_table, message_reference))
    table = in_force.tables[table_id]
    message = decode(raw)
    _same(where, "subject", f"{table.code}/{reference}", subject)
    _same(where, "reference in the message", (table.code, reference), (message.table, message.round))
    when = dated(message, received_at, table)
    edition = table.at(when.counts_at)
    _same(where, "terms in force", edition.id, terms_id)
    _same(where, "time of the deal", when.dealt_at, dealt_at)
    own_day = gaming_date(when.counts_at, zone=in_force.zone, starts=in_force.day_starts)
    _same(where, "gaming day", own_day, original or day)
    if original is not None and not day > original:
        raise Difference(where, "gaming day it was moved to", f"a day after {original}", day)

    settled = settle(message, edition.terms, replay.meters)
    for award in settled.settlement["awards"]:
        award["hit"] = f"{in_force.link}-{replay.next_hit:06d}"
        replay.next_hit += 1
        replay.hits[award["level"]] += 1
        replay.wins_cents[award["level"]] += award["paid_cents"]
    encoded = encode(settled.settlement)
    if encoded != settlement:
        raise Difference(where, "settlement", encoded.decode(), settlement.decode(errors="replace"))
    _same(where, "digest of the settlement in the event", sha256(encoded).digest(), bytes(event[7]))
    _same(where, "outcome", settled.outcome, outcome)
    replay.meters = dict(settled.meters)
    if settled.outcome == "settled":
        replay.wagers += books.accepted_progressives(settled.settlement)

    owed = books.payouts(settled.settlement, base_wagers=base_wagers(edition.terms.game))
    expected = [(line, *payout, table_id, dealt_at) for line, payout in enumerate(owed, 1)]
    _same(where, "payouts", expected, chunk.payouts[sequence])
    _compare_hits(where, settled.settlement, chunk.hits[sequence], dealt_at, recorded_at)
    replay.last_round = sequence
    counts.rounds += 1
    counts.payouts += len(owed)
    counts.hits += len(settled.settlement["awards"])
    return books.movements(settled.settlement, contributions=settled.movements, link=in_force.link)


def _compare_hits(
    where: str, settlement: dict[str, Any], hits: list[Any], dealt_at: datetime, recorded_at: datetime
) -> None:
    _same(where, "number of hits", len(settlement["awards"]), len(hits))
    for award, hit in zip(settlement["awards"], hits, strict=True):
        row = award_row(hit)
        expected = {key: award[key] for key in row if key in award}
        expected |= {"table": settlement["table"], "round": settlement["round"]}
        _same(where, f"hit {award['hit']}", expected, {key: row[key] for key in expected})
        _same(where, f"time of hit {award['hit']}", (dealt_at, recorded_at), (hit.dealt_at, hit.detected_at))
        detected = [(step.at, step.by) for step in hit.steps.all() if step.state == "detected"]
        _same(where, f"detection of hit {award['hit']}", [(recorded_at, "settlement")], detected)


# Compared with the stream as it stands in the same statement: a service that goes on settling is not in the way.
BEYOND = """
    SELECT (SELECT min(row.sequence) FROM tables_round row WHERE row.stream_id = stream.id
            AND (row.sequence >= stream.next_sequence OR row.sequence < 0)),
        (SELECT min(row.sequence) FROM tables_payout row WHERE row.stream_id = stream.id
            AND (row.sequence >= stream.next_sequence OR row.sequence < 0)),
        (SELECT min(row.sequence) FROM accounting_transfer row WHERE row.stream_id = stream.id
            AND (row.sequence >= stream.next_sequence OR row.sequence < 0)),
        (SELECT min(row.sequence) FROM jackpot_hit row JOIN jackpot_link link ON link.id = row.link_id
            WHERE link.stream_id = stream.id AND (row.sequence >= stream.next_sequence OR row.sequence < 0))
    FROM accounting_stream stream WHERE stream.id = %s
"""


def _nothing_beyond(stream_id: int, where: str) -> None:
    """Rows that name an event after the last one belong to nothing."""
    with connection.cursor() as cursor:
        cursor.execute(BEYOND, [stream_id])
        found = cursor.fetchone()
    for what, sequence in zip(("rounds", "payouts", "transfers", "hits"), found, strict=True):
        if sequence is not None:
            raise Difference(where, f"{what} after the last event", "none", f"sequence {sequence}")


def _compare_stream(snapshot: Snapshot, replay: Replay, in_force: StreamTerms, counts: Counts) -> None:
    where = f"stream {snapshot.code}"
    _same(where, "head of the chain", replay.head, snapshot.head)
    _same(where, "next sequence", replay.sequence + 1, snapshot.next_sequence)
    _nothing_beyond(snapshot.id, where)
    _same(where, "levels", set(replay.meters), set(snapshot.meters))
    for code, meter in replay.meters.items():
        sequence, *recorded = snapshot.meters[code]
        _same(where, f"sequence of meter {code}", replay.last_round, sequence)
        expected = [
            meter.value_cents, meter.residual_millionths, meter.reserve_cents, meter.reserve_residual_millionths,
            meter.overflow_cents, meter.overflow_residual_millionths,
            replay.wagers, replay.hits[code], replay.wins_cents[code], replay.next_hit,
        ]  # fmt: skip
        _same(where, f"meter {code} (value, residual, reserve, its residual, overflow, its residual, wagers, hits, "
              "wins, next hit)", expected, list(recorded))  # fmt: skip
    expected_totals = {key: tuple(sums) for key, sums in replay.totals.items()}
    for key in sorted(expected_totals.keys() | snapshot.totals.keys()):
        account, day = key
        _same(
            where,
            f"total of account {account} on {day} (debits, credits)",
            expected_totals.get(key),
            snapshot.totals.get(key),
        )
    for code, meter in replay.meters.items():
        for kind, cents in (
            ("liability", meter.value_cents),
            ("reserve", meter.reserve_cents),
            ("overflow", meter.overflow_cents),
        ):
            account = of_level(snapshot.code, code, kind)
            balance = sum(sums[1] - sums[0] for key, sums in replay.totals.items() if key[0] == account)
            _same(where, f"{kind} of level {code} in the ledger against its meter", cents, balance)
    counts.accounts += len({account for account, _ in expected_totals})
