"""Replaying some events in a row of a stream and comparing everything that was recorded (ARCHITECTURE §4.2, SPEC §9).

Each event is taken in order: its hash and the one before, the message it came from, the settlement that the rules make of
that message on the meters as they stood, and every row that follows from it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from typing import Any

import msgspec
from django.db.models import prefetch_related_objects

from accounting.rules.accounts import Movement, of_level
from accounting.rules.chain import GENESIS, event_hash
from accounting.rules.gaming_day import gaming_date
from accounting.services.statements import execute
from devices.bodies import strict
from devices.services import collector
from devices.services.findings import Counts, Difference, same
from jackpot.queries import award_row, hits_between, link_definition
from jackpot.rules.meter import Meter, opening
from tables.rules import books
from tables.rules.books import PayoutLine
from tables.rules.door import InvalidJson
from tables.rules.message import RoundMessage
from tables.rules.settle import settle
from tables.services import floors, terms
from tables.services.rounds import base_wagers, dated, encode
from tables.services.terms import StreamTerms

CHUNK = 500
"""Events whose rows are read and held at a time."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """Events `first` to `last` of a stream that had `events` of them when its verification began."""

    stream_id: int
    code: str
    terms_version: int
    first: int
    last: int
    events: int


@dataclass(frozen=True, slots=True)
class State:
    """A stream between two events: the one before and its hash, the meters, the next hit's number, the last round."""

    sequence: int = -1
    head: bytes = GENESIS
    meters: dict[str, Meter] = field(default_factory=dict)
    next_hit: int = 1
    last_round: int = 0


@dataclass(slots=True)
class Sums:
    """What events add up to, in whole cents and pieces: of ranges side by side it is the sum of theirs."""

    wagers: int = 0
    hits: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    wins_cents: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    totals: dict[tuple[str, date], list[int]] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)

    def add(self, other: "Sums") -> None:
        """Add what another range adds up to."""
        self.wagers += other.wagers
        for mine, others in ((self.hits, other.hits), (self.wins_cents, other.wins_cents)):
            for level, number in others.items():
                mine[level] += number
        for key, (debit_cents, credit_cents) in other.totals.items():
            total = self.totals.setdefault(key, [0, 0])
            total[0] += debit_cents
            total[1] += credit_cents
        self.counts.add(other.counts)


@dataclass(frozen=True, slots=True)
class Replayed:
    """A range without a difference: the state it began from as recorded, and what its events made of it."""

    part: Range
    began: State
    ended: State
    sums: Sums


def replay_range(part: Range) -> Replayed:
    """Replay a range from the state recorded before it. Raises Difference at the first event that is not as recorded."""
    in_force = terms.of_stream(part.stream_id, part.terms_version)
    began = recorded_before(part, in_force)
    replay = _Replay(part, in_force, began)
    with collector.paused():
        while replay.sequence < part.last:
            replay.take(_Chunk(part.stream_id, replay.sequence + 1, min(replay.sequence + CHUNK, part.last)))
    return Replayed(part, began, replay.state(), replay.totalled())


HASH = "SELECT hash FROM accounting_event WHERE stream_id = %s AND sequence = %s"
LAST_ROUND = """
    SELECT sequence, settlement FROM tables_round WHERE stream_id = %s AND sequence < %s ORDER BY sequence DESC LIMIT 1
"""
LAST_HIT = """
    SELECT hit.number FROM jackpot_hit hit JOIN jackpot_link link ON link.id = hit.link_id
    WHERE link.stream_id = %s AND hit.sequence < %s ORDER BY hit.sequence DESC, hit."order" DESC LIMIT 1
"""


def recorded_before(part: Range, in_force: StreamTerms) -> State:
    """The state that a range begins from, as it is recorded.

    Nothing here is taken on trust: whoever replays the events before comes to this state or finds a difference, and
    `verification.joined` compares the two. The last settlement has the meters to the millionth, the hits their numbers.
    """
    if part.first == 0:
        return State()
    heads = execute(HASH, [part.stream_id, part.first - 1])
    rounds = execute(LAST_ROUND, [part.stream_id, part.first])
    hits = execute(LAST_HIT, [part.stream_id, part.first])
    if rounds:
        ((last_round, settlement),) = rounds
        meters = {row["level"]: _meter(row) for row in msgspec.json.decode(settlement)["meters"]}
    else:
        last_round, meters = 0, _opened(in_force)
    return State(part.first - 1, heads[0][0] if heads else b"", meters, hits[0][0] + 1 if hits else 1, last_round)


def _meter(row: dict[str, Any]) -> Meter:
    return Meter(
        row["after_cents"], row["residual_millionths"], row["reserve_cents"], row["reserve_residual_millionths"],
        row["overflow_cents"], row["overflow_residual_millionths"],
    )  # fmt: skip


def _hits(part: Range) -> dict[int, list[Any]]:
    """The hits of a range by their event: few, so all of them at once."""
    hits = hits_between(part.stream_id, part.first, part.last)
    prefetch_related_objects(hits, "steps")
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for hit in hits:
        found[hit.sequence].append(hit)
    return dict(found)


def _opened(in_force: StreamTerms) -> dict[str, Meter]:
    levels = in_force.link_terms.levels if in_force.link_terms else ()
    return {level.code: opening(level) for level in levels}


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
    SELECT sequence, line, debit_id, credit_id, amount_cents, reason FROM accounting_transfer
    WHERE stream_id = %s AND sequence BETWEEN %s AND %s ORDER BY sequence, line
"""
PAYOUTS = """
    SELECT sequence, line, seat, kind, wager, hand, level_id, cents, table_id, dealt_at FROM tables_payout
    WHERE stream_id = %s AND sequence BETWEEN %s AND %s ORDER BY sequence, line
"""
NEXT_EVENT = """
    SELECT min(sequence) FROM accounting_event WHERE stream_id = %s AND sequence >= %s AND sequence < %s
"""


class _Rows:
    """Rows that begin with the sequence of their event, in its order, taken event by event."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._place = 0

    def of(self, sequence: int) -> list[Row]:
        """The rows of an event; events are asked for in their order."""
        rows, first = self._rows, self._place
        place, end = first, len(rows)
        while place < end and rows[place][0] <= sequence:
            place += 1
        self._place = place
        return rows[first:place]


class _Chunk:
    """The recorded rows of some events in a row."""

    def __init__(self, stream_id: int, first: int, last: int) -> None:
        span = [stream_id, first, last]
        self.events = execute(EVENTS, span, prepare=False)
        self.transfers = _Rows(execute(TRANSFERS, span, prepare=False))
        self.payouts = _Rows(execute(PAYOUTS, span, prepare=False))


class _Replay:
    """A stream as its events make it, from one to the next."""

    def __init__(self, part: Range, in_force: StreamTerms, began: State) -> None:
        self.part = part
        self.in_force = in_force
        self.sequence = began.sequence
        self.head = began.head
        self.meters = began.meters
        self.next_hit = began.next_hit
        self.last_round = began.last_round
        self.sums = Sums()
        self._moved: defaultdict[tuple[str, str, date], int] = defaultdict(int)
        self._hits = _hits(part)
        self._event = ""

    def state(self) -> State:
        """Where it stands."""
        return State(self.sequence, self.head, dict(self.meters), self.next_hit, self.last_round)

    def totalled(self) -> Sums:
        """What its events add up to."""
        totals = self.sums.totals
        for (debit, credit, day), amount_cents in self._moved.items():
            totals.setdefault((debit, day), [0, 0])[0] += amount_cents
            totals.setdefault((credit, day), [0, 0])[1] += amount_cents
        self._moved.clear()
        return self.sums

    @property
    def where(self) -> str:
        """The event in hand, for people."""
        return f"stream {self.part.code}, sequence {self.sequence + 1} ({self._event})"

    def same(self, what: str, expected: object, found: object) -> None:
        """Raise Difference unless the event in hand has what was expected. Words are made only for a difference."""
        if expected != found:
            raise Difference(self.where, what, expected, found)

    def take(self, chunk: _Chunk) -> None:
        """Replay the events of a chunk."""
        if not chunk.events:
            self._gap()
        for event in chunk.events:
            self._take_event(event, chunk)

    def _gap(self) -> None:
        expected = self.sequence + 1
        ((following,),) = execute(NEXT_EVENT, [self.part.stream_id, expected, self.part.events])
        where = f"stream {self.part.code}"
        if following is not None:
            raise Difference(where, "next event", expected, following)
        raise Difference(where, "events", f"sequence {expected}", "none: a gap in the sequence")

    def _take_event(self, event: Row, chunk: _Chunk) -> None:
        sequence, kind, subject, day, _, recorded_at = event[:6]
        message_digest, result_digest, previous, recorded_hash = event[6:10]
        if sequence != self.sequence + 1:
            raise Difference(f"stream {self.part.code}", "next event", self.sequence + 1, sequence)
        self._event = subject
        self.same("hash of the previous event", self.head, previous)
        expected = event_hash(
            previous,
            stream=self.part.code,
            sequence=sequence,
            kind=kind,
            subject=subject,
            gaming_date=day,
            recorded_at=recorded_at,
            message_digest=message_digest,
            result_digest=result_digest,
        )
        self.same("hash of the event", expected, recorded_hash)
        payouts, hits = chunk.payouts.of(sequence), self._hits.get(sequence, [])
        if kind == "round":
            movements = self._round(event, payouts, hits)
        elif kind == "opened":
            self.same("round, payouts and hits", (None, [], []), (event[10], payouts, hits))
            movements = self._opening(message_digest, result_digest)
        else:
            raise Difference(self.where, "kind of event", "one that this version can replay", kind)
        self._transfers(day, movements, chunk.transfers.of(sequence))
        self.sums.counts.events += 1
        self.sequence, self.head = sequence, recorded_hash

    def _transfers(self, day: date, movements: list[Movement], found: list[Row]) -> None:
        sequence, accounts, moved = self.sequence + 1, self.in_force.accounts, self._moved
        expected = []
        for line, (debit, credit, amount_cents, reason) in enumerate(movements, 1):
            expected.append((sequence, line, accounts.get(debit), accounts.get(credit), amount_cents, reason))
            moved[debit, credit, day] += amount_cents
        if expected != found:
            codes = {account_id: code for code, account_id in accounts.items()}
            recorded = [
                Movement(codes.get(debit, f"account {debit}"), codes.get(credit, f"account {credit}"), *rest)
                for _, _, debit, credit, *rest in found
            ]
            self.same("ledger transfers", movements, recorded)
            self.same("lines of the ledger", [row[1] for row in expected], [row[1] for row in found])
        self.sums.counts.transfers += len(movements)

    def _opening(self, message_digest: bytes, result_digest: bytes) -> list[Movement]:
        link = link_definition(self.part.stream_id)
        definition = link.definition if link else floors.opening_definition(self.part.stream_id)
        digest = sha256(encode(definition)).digest()
        self.same("definition it opened with", digest, message_digest)
        self.same("definition it opened with", digest, result_digest)
        self.meters = _opened(self.in_force)
        return [
            Movement("seed_expense", of_level(self.part.code, code, "liability"), meter.value_cents, "seed")
            for code, meter in self.meters.items()
            if meter.value_cents
        ]

    def _round(self, event: Row, payouts: list[Row], hits: list[Any]) -> list[Movement]:
        (
            sequence, _, subject, day, original, recorded_at, message_digest, result_digest, _, _,
            message_id, table_id, terms_id, reference, outcome, dealt_at, recorded,
            received_at, raw, digest, message_table, message_reference,
        ) = event  # fmt: skip
        same, in_force, sums = self.same, self.in_force, self.sums
        if message_id is None:
            raise Difference(self.where, "round of the event", "a row", "none")
        if raw is None:
            raise Difference(self.where, "message of the round", f"message {message_id}", "none")
        try:
            value, canonical = strict(raw)
        except InvalidJson:
            raise Difference(self.where, "message", "JSON", raw) from None
        content = sha256(canonical).digest()
        same("digest of the message", content, digest)
        same("digest of the message in the event", content, message_digest)
        same("table and reference of the message", (table_id, reference), (message_table, message_reference))
        table = in_force.tables[table_id]
        message = self._message(value)
        same("subject", f"{table.code}/{reference}", subject)
        same("reference in the message", (table.code, reference), (message.table, message.round))
        when = dated(message, received_at, table)
        edition = table.at(when.counts_at)
        same("terms in force", edition.id, terms_id)
        same("time of the deal", when.dealt_at, dealt_at)
        own_day = gaming_date(when.counts_at, zone=in_force.zone, starts=in_force.day_starts)
        same("gaming day", own_day, original or day)
        if original is not None and not day > original:
            raise Difference(self.where, "gaming day it was moved to", f"a day after {original}", day)

        settled = settle(message, edition.terms, self.meters)
        settlement = settled.settlement
        awards = settlement["awards"]
        for award in awards:
            award["hit"] = f"{in_force.link}-{self.next_hit:06d}"
            self.next_hit += 1
            sums.hits[award["level"]] += 1
            sums.wins_cents[award["level"]] += award["paid_cents"]
        encoded = encode(settlement)
        if encoded != recorded:
            raise Difference(self.where, "settlement", encoded.decode(), recorded.decode(errors="replace"))
        same("digest of the settlement in the event", sha256(encoded).digest(), result_digest)
        same("outcome", settled.outcome, outcome)
        self.meters = settled.meters
        owed, money, progressives = books.posting(
            settlement,
            base_wagers=base_wagers(edition.terms.game),
            contributions=settled.movements,
            link=in_force.link,
        )
        sums.wagers += progressives
        self._payouts(owed, table_id, dealt_at, payouts)
        if awards or hits:
            _compare_hits(self.where, settlement, hits, dealt_at, recorded_at)
        self.last_round = sequence
        sums.counts.rounds += 1
        sums.counts.payouts += len(owed)
        sums.counts.hits += len(awards)
        return money

    def _message(self, value: object) -> RoundMessage:
        try:
            return msgspec.convert(value, RoundMessage)
        except msgspec.ValidationError as error:
            raise Difference(self.where, "message", "a round message", error) from None

    def _payouts(self, owed: Sequence[PayoutLine], table_id: int, dealt_at: datetime, found: list[Row]) -> None:
        sequence, levels = self.sequence + 1, self.in_force.levels
        expected = [
            (sequence, line, seat, kind, wager, hand, levels[level] if level else None, cents, table_id, dealt_at)
            for line, (seat, kind, wager, hand, level, cents) in enumerate(owed, 1)
        ]
        self.same("payouts", expected, found)


def _compare_hits(
    where: str, settlement: dict[str, Any], hits: list[Any], dealt_at: datetime, recorded_at: datetime
) -> None:
    same(where, "number of hits", len(settlement["awards"]), len(hits))
    for award, hit in zip(settlement["awards"], hits, strict=True):
        row = award_row(hit)
        expected = {key: award[key] for key in row if key in award}
        expected |= {"table": settlement["table"], "round": settlement["round"]}
        same(where, f"hit {award['hit']}", expected, {key: row[key] for key in expected})
        same(where, f"time of hit {award['hit']}", (dealt_at, recorded_at), (hit.dealt_at, hit.detected_at))
        detected = [(step.at, step.by) for step in hit.steps.all() if step.state == "detected"]
        same(where, f"detection of hit {award['hit']}", [(recorded_at, "settlement")], detected)
