"""Replaying some events in a row of a stream and comparing everything that was recorded (ARCHITECTURE §3a, §4.2; SPEC §9).

Each event is taken in order: its hash and the one before, its cause, what the rules of its edition decide of that on the
stream as it stood, and every row that follows from it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from hashlib import sha256
from typing import Any

import msgspec

from accounting.day_queries import closed_before
from accounting.event_queries import event_digests, next_event
from accounting.queries import stream_ids
from accounting.rules.accounts import Movement
from accounting.rules.acts import ActRefused
from accounting.rules.chain import GENESIS, event_hash
from accounting.rules.edition import FIRST
from accounting.rules.events import LOCK, MOVES, OPENED, ROUND
from accounting.rules.moments import at_nanoseconds, instant_nanoseconds
from accounting.statements import Row
from devices import collector
from devices.audit import between_links, closings, locks
from devices.audit.findings import Counts, Difference, same
from devices.audit.rows import Chunk, Recorded, hits_of
from devices.audit.steps import compare_steps
from devices.bodies import strict
from jackpot.hits_on_record import next_hit_before
from jackpot.queries import award_row
from jackpot.rules import between
from jackpot.rules.decision import Act, Decision, act_of
from jackpot.rules.lifetime import Lifetime, bring
from jackpot.rules.meter import Meter
from jackpot.services.standing import paytable_definitions
from tables.queries.record import head_and_result, held_for
from tables.rules.books import PayoutLine
from tables.rules.days import CLOSE
from tables.rules.deciding import ACTS, Result, RoundDecision, decide, decide_result
from tables.rules.door import InvalidJson
from tables.rules.house import House, RoundState
from tables.rules.message import RoundMessage
from tables.rules.opening import first_changes, first_movements
from tables.services import as_recorded, moving, precedents, terms
from tables.services.lock_rows import waiting
from tables.services.recording import encode
from tables.services.rounds import dated
from tables.services.terms import StreamTerms

CHUNK = 500
"""Events whose rows are read and held at a time."""


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
    """A stream between two events: the one before and its hash, the meters, the next hit's number."""

    sequence: int = -1
    head: bytes = GENESIS
    meters: dict[str, Meter] = field(default_factory=dict)
    next_hit: int = 1


@dataclass(slots=True)
class Sums:
    """What events add up to, in whole cents and pieces: of ranges side by side it is the sum of theirs.

    `locks` are those that wait for their results; `elsewhere` is what acts between links brought to accounts of this stream
    and another stream booked.
    """

    wagers: int = 0
    locks: int = 0
    hits: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    wins_cents: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    lifetime: defaultdict[str, Lifetime] = field(default_factory=lambda: defaultdict(Lifetime))
    totals: dict[tuple[str, date], list[int]] = field(default_factory=dict)
    elsewhere: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    counts: Counts = field(default_factory=Counts)

    def add(self, other: "Sums") -> None:
        """Add what another range adds up to."""
        self.wagers += other.wagers
        self.locks += other.locks
        for mine, others in (
            (self.hits, other.hits), (self.wins_cents, other.wins_cents), (self.elsewhere, other.elsewhere),
        ):  # fmt: skip
            for name, number in others.items():
                mine[name] += number
        for level, lifetime in other.lifetime.items():
            self.lifetime[level].add(lifetime)
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
    house = terms.house_of(part.stream_id, before=part.first)
    house.days = in_force.days
    began = recorded_before(part, house)
    replay = _Replay(part, in_force, house, began)
    with collector.paused():
        while replay.sequence < part.last:
            replay.take(Chunk(part.stream_id, replay.sequence + 1, min(replay.sequence + CHUNK, part.last)))
    return Replayed(part, began, replay.state(), replay.totalled())


def recorded_before(part: Range, house: House) -> State:
    """The state that a range begins from, as it is recorded.

    Nothing here is taken on trust: whoever replays the events before comes to this state or finds a difference, and
    `verification.joined` compares the two. The result before has the meters to the millionth, the hits their numbers.
    """
    if part.first == 0:
        return State()
    head, result = head_and_result(part.stream_id, part.first - 1)
    meters = {code: dict(link.meters) for code, link in house.links.items()}.get(part.code, {})
    meters |= as_recorded.meters_of(result, part.code)
    return State(part.first - 1, head, meters, next_hit_before(part.stream_id, part.first))


class _Replay:
    """A stream as its events make it, from one to the next."""

    def __init__(self, part: Range, in_force: StreamTerms, house: House, began: State) -> None:
        self.part = part
        self.in_force = in_force
        self.house = house
        self.sequence = began.sequence
        self.head = began.head
        if part.code in house.links:
            house.links[part.code].meters = dict(began.meters)
            house.links[part.code].next_hit = began.next_hit
        house.days = in_force.days
        house.closed_through = closed_before(part.stream_id, part.first)
        self.sums = Sums()
        self._moved: defaultdict[tuple[str, str, date], int] = defaultdict(int)
        self._hits = hits_of(part.stream_id, part.first, part.last)
        self._locks = locks.of_range(part.stream_id, part.first, part.last, in_force)
        self._event = ""

    def state(self) -> State:
        """Where it stands."""
        link = self.house.links.get(self.part.code)
        if link is None:
            return State(self.sequence, self.head)
        return State(self.sequence, self.head, dict(link.meters), link.next_hit)

    def totalled(self) -> Sums:
        """What its events add up to."""
        totals = self.sums.totals
        for (debit, credit, day), amount_cents in self._moved.items():
            totals.setdefault((debit, day), [0, 0])[0] += amount_cents
            totals.setdefault((credit, day), [0, 0])[1] += amount_cents
        self._moved.clear()
        self.sums.locks = self._locks.waiting
        return self.sums

    @property
    def where(self) -> str:
        """The event in hand, for people."""
        return f"stream {self.part.code}, sequence {self.sequence + 1} ({self._event})"

    def same(self, what: str, expected: object, found: object) -> None:
        """Raise Difference unless the event in hand has what was expected. Words are made only for a difference."""
        if expected != found:
            raise Difference(self.where, what, expected, found)

    def take(self, chunk: Chunk) -> None:
        """Replay the events of a chunk."""
        if not chunk.events:
            self._gap()
        for event in chunk.events:
            self._take_event(Recorded._make(event), chunk)

    def _gap(self) -> None:
        expected = self.sequence + 1
        following = next_event(self.part.stream_id, expected, self.part.events)
        where = f"stream {self.part.code}"
        if following is not None:
            raise Difference(where, "next event", expected, following)
        raise Difference(where, "events", f"sequence {expected}", "none: a gap in the sequence")

    def _take_event(self, event: Recorded, chunk: Chunk) -> None:
        sequence = event.sequence
        if sequence != self.sequence + 1:
            raise Difference(f"stream {self.part.code}", "next event", self.sequence + 1, sequence)
        self._event = event.subject
        is_round = event.kind == ROUND
        lock = self._locks.began.get(sequence)
        if event.kind == LOCK and (lock is None or lock.raw is None):
            raise Difference(self.where, "lock of the event with its message", "rows", "none")
        if is_round and event.message_id is None:
            raise Difference(self.where, "round of the event", "a row", "none")
        if event.message_id is not None and event.raw is None:
            raise Difference(self.where, "message of the round", f"message {event.message_id}", "none")
        self.same("hash of the previous event", self.head, event.previous)
        came = event if is_round else lock if event.kind == LOCK else None
        expected = event_hash(
            event.previous,
            stream=self.part.code,
            sequence=sequence,
            kind=event.kind,
            subject=event.subject,
            gaming_date=event.day,
            recorded_at=event.recorded_at,
            message_digest=event.message_digest,
            result_digest=event.result_digest,
            rules=event.rules,
            received_at=came.received_at if came is not None else None,
            device_id=came.device_id if came is not None else None,
        )
        self.same("hash of the event", expected, event.hash)
        payouts, hits = chunk.payouts.of(sequence), self._hits.get(sequence, [])
        self._locks.bring(sequence, self.house)
        known = len(self.house.locks)
        try:
            if is_round:
                movements = self._round(event, payouts, hits)
            elif lock is not None:
                movements = self._lock(event, lock, payouts, hits)
            else:
                movements = self._act(event, payouts, hits)
        except (KeyError, IndexError, LookupError, TypeError, ValueError) as error:
            # What is on record names something that is not there; the rules would not have decided it so.
            raise Difference(self.where, "decision", "one that can be decided again", repr(error)) from error
        self._locks.end(sequence, event.kind, self.house, known, self.same)
        self._transfers(event.day, movements, chunk.transfers.of(sequence))
        self.sums.counts.events += 1
        self.sequence, self.head = sequence, event.hash

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

    def _act(self, event: Recorded, payouts: list[Row], hits: list[Any]) -> list[Movement]:
        """An event that is no message's: its documents, and what its cause comes to once more."""
        if event.cause is None or event.result is None:
            raise Difference(self.where, "documents of the event", "cause and result", "none")
        self.same("digest of the cause in the event", sha256(event.cause).digest(), event.message_digest)
        self.same("digest of the result in the event", sha256(event.result).digest(), event.result_digest)
        if event.rules == FIRST:
            return self._first_opening(event, payouts, hits)
        cause = msgspec.json.decode(event.cause)
        act = act_of(cause)
        kind = OPENED if event.sequence == 0 else act.act
        self.same("kind of event", kind, event.kind)
        self.same("subject", act.subject, event.subject)
        if act.act == "link.close":
            self.house.locks.update(waiting(self.part.stream_id, before=event.sequence))
        if act.act not in ACTS:
            raise Difference(self.where, "kind of event", "one that this version can replay", act.act)
        if event.message_id is not None:
            return self._decided_round(event, cause, payouts, hits)
        self.same("round, payouts and hits", ([], []), (payouts, hits))
        stream_id, sequence = self.part.stream_id, event.sequence
        self.house.know(cause)
        as_recorded.know(act, self.house, stream_id, before=sequence)
        house = self._moving(event, cause) if act.act in MOVES else self.house
        with precedents.given(act, house, stream_id, before=sequence) as precedent:
            if between.KEY in cause:
                decision = self._between(event, act, cause)
            else:
                decision = self._decided(act, event.rules, house)
            encoded = encode(decision.result)
            if encoded != event.result:
                raise Difference(self.where, "result", encoded.decode(), event.result.decode(errors="replace"))
            day = self.in_force.days.of(instant_nanoseconds(event.recorded_at))
            self._day(event, day)
            if act.act == CLOSE:
                closings.compare(self.where, cause, self.part.code, stream_id, event)
            if house is not self.house and cause["to"]["stream"] == self.part.code:
                self.house.take(house.tables[act.subject].copy())
            self.house.apply(decision)
        if precedent is not None:
            at = event.recorded_at
            compare_steps(self.where, decision.steps, precedent, cause, stream_id=stream_id, sequence=sequence, at=at)
        return decision.movements

    def _between(self, event: Recorded, act: Act, cause: dict[str, Any]) -> Decision:
        """An act that moves several links: what its event does on this stream."""
        code, where = self.part.code, self.where
        links = between_links.links_of(where, act, cause, self.house, code, event.sequence)
        decision = self._decided(act, event.rules, replace(self.house, links=links, _games={}, _standing={}))
        own_day = event.original or event.day
        heading = (event.kind, event.subject, own_day, event.day, event.recorded_at, event.rules)
        between_links.other_sides(where, cause, code, (*heading, event.cause, event.result))
        share = between.share_of(decision, code, act)
        if code != between.books_of(act):
            for account, cents in between.booked_elsewhere(decision.movements, self.house.links[code]).items():
                self.sums.elsewhere[account] += cents
        return share

    def _moving(self, event: Recorded, cause: dict[str, Any]) -> House:
        """What the move of a table is decided on: this stream's house, and the other's, which has the same event."""
        here = {"stream": self.part.code, "sequence": event.sequence}
        other = cause["to"] if cause["from"] == here else cause["from"]
        self.same("places that the cause names", True, here in (cause["from"], cause["to"]) and other != here)
        there = stream_ids([other["stream"]]).get(other["stream"])
        found = None if there is None else event_digests(there, other["sequence"])
        same_event = (event.message_digest, event.result_digest)
        self.same(f"the same event on stream {other['stream']}, sequence {other['sequence']}", same_event, found)
        return moving.joint_as_recorded(cause, self.part.code, self.house)

    def _decided(self, act: Act, edition: int, house: House | None = None) -> Decision:
        try:
            return decide(act, house or self.house, edition)
        except ActRefused as refusal:
            raise Difference(self.where, "decision", "done", f"refused: {refusal.code}") from None

    def _decided_round(
        self, event: Recorded, cause: dict[str, Any], payouts: list[Row], hits: list[Any]
    ) -> list[Movement]:
        """A held round that people decided: released, corrected or called off; its message is named by its digest."""
        act = act_of(cause)
        message = self._message(event)
        held = held_for(event.message_id or 0)
        if held is None:
            raise Difference(self.where, "hold of the message", "a row", "none")
        assert event.received_at is not None, "its message is there"
        self.same("message that the cause names", cause["message"], (event.digest or b"").hex())
        self.same("receipt that the cause names", cause["received_at"], event.received_at.isoformat())
        self.same("device that the cause names", cause["device"], event.device_id)
        received = instant_nanoseconds(event.received_at)
        key = (message.table, message.round)
        self.house.rounds[key] = RoundState("held", held, message, received)
        try:
            decision = self._decided(act, event.rules)
        finally:
            del self.house.rounds[key]
        assert isinstance(decision, RoundDecision), "it is about a round"
        dealt = message if act.act != "round.correct" else msgspec.convert(act.payload["message"], RoundMessage)
        return self._recorded_round(event, decision, dealt, payouts, hits)

    def _first_opening(self, event: Recorded, payouts: list[Row], hits: list[Any]) -> list[Movement]:
        self.same("round, payouts and hits", (None, [], []), (event.message_id, payouts, hits))
        self.same("kind of event", OPENED, event.kind)
        assert event.cause is not None, "its documents are there"
        self.same("result", event.cause, event.result)
        definition = msgspec.json.decode(event.cause)
        changes = first_changes(definition, paytable_definitions(), event.recorded_at.isoformat())
        self.house.change(changes)
        return first_movements(definition, self.house)

    def _message(self, event: Recorded) -> RoundMessage:
        """The message of a round, once its bytes, digest and reference are what is on record."""
        assert event.raw is not None, "it was looked at before the hash"
        try:
            value, canonical = strict(event.raw)
        except InvalidJson:
            raise Difference(self.where, "message", "JSON", event.raw) from None
        self.same("digest of the message", sha256(canonical).digest(), event.digest)
        self.same(
            "table and reference of the message",
            (event.table_id, event.reference),
            (event.message_table, event.message_reference),
        )
        try:
            message = msgspec.convert(value, RoundMessage)
        except msgspec.ValidationError as error:
            raise Difference(self.where, "message", "a round message", error) from None
        table = self.in_force.tables.get(event.table_id or 0)
        self.same("table on this stream", message.table, table)
        self.same("reference in the message", message.round, event.reference)
        return message

    def _round(self, event: Recorded, payouts: list[Row], hits: list[Any]) -> list[Movement]:
        message = self._message(event)
        self.same("digest of the message in the event", event.digest, event.message_digest)
        self.same("subject", f"{message.table}/{message.round}", event.subject)
        assert event.received_at is not None, "its message is there"
        when = dated(message, event.received_at, self.house.tables[message.table])
        decision = decide_result(Result(message, when.moment), self.house, event.rules)
        return self._recorded_round(event, decision, message, payouts, hits)

    def _lock(self, event: Recorded, lock: locks.LockRow, payouts: list[Row], hits: list[Any]) -> list[Movement]:
        """A lock that contributed; what it put in stays with the house until an event ends it."""
        self.same("kind of event", LOCK, event.kind)
        self.same("round, payouts and hits", (None, [], []), (event.message_id, payouts, hits))
        decision = self._locks.decide(event, lock, self.house, self.same, self.where)
        assert decision.lock is not None, "it is locked"
        self._day(event, self.in_force.days.of(decision.lock.counts_at, rules=event.rules))
        self.house.apply(decision)
        bring(self.sums.lifetime, decision.contributions)
        self.sums.counts.locks += 1
        return decision.movements

    def _recorded_round(
        self, event: Recorded, decision: RoundDecision, message: RoundMessage, payouts: list[Row], hits: list[Any]
    ) -> list[Movement]:
        """Compare the rows of a decided round with its decision, and move along."""
        same, in_force, sums = self.same, self.in_force, self.sums
        settlement = decision.result
        assert event.received_at is not None, "its message is there"
        when = dated(message, event.received_at, self.house.tables[message.table])
        lock = self.house.lock_of(message.table, message.round)
        if lock is not None:  # it counts from there (DECISIONS A51)
            when = when._replace(counts_at=at_nanoseconds(lock.counts_at), moment=lock.counts_at)
        terms_of = decision.terms
        assert terms_of is not None, "a round is decided under terms"
        same("terms in force", in_force.terms_ids[terms_of.code][terms_of.edition - 1], event.terms_id)
        same("time of the deal", when.dealt_at, event.dealt_at)
        same("moment it counts from", when.counts_at, event.counts_at)
        self._day(event, in_force.days.of(when.moment, rules=event.rules))
        same("days of the round", (event.day, event.original), (event.shown_day, event.shown_original))
        encoded = encode(settlement)
        if encoded != event.settlement:
            found = event.settlement or b""
            raise Difference(self.where, "settlement", encoded.decode(), found.decode(errors="replace"))
        same("digest of the settlement in the event", sha256(encoded).digest(), event.result_digest)
        same("outcome", decision.outcome, event.outcome)
        self.house.apply(decision)
        awards = settlement["awards"]
        for award in awards:
            sums.hits[award["level"]] += 1
            sums.wins_cents[award["level"]] += award["paid_cents"]
        sums.wagers += decision.progressives
        bring(sums.lifetime, decision.contributions)
        self._payouts(decision.payouts, event, payouts)
        if awards or hits:
            _compare_hits(self.where, settlement, hits, when.dealt_at, event.recorded_at)
        sums.counts.rounds += 1
        sums.counts.payouts += len(decision.payouts)
        sums.counts.hits += len(awards)
        return decision.movements

    def _day(self, event: Recorded, own: date) -> None:
        """An event is booked on its own gaming day, or on a later one because that was closed."""
        self.same("gaming day", own, event.original or event.day)
        closed = self.house.closed_through
        if closed is not None and event.day <= closed:
            raise Difference(
                self.where, "gaming day it is booked on", f"one after {closed}, which is closed", event.day
            )
        if event.original is not None and not event.day > event.original:
            raise Difference(self.where, "gaming day it was moved to", f"a day after {event.original}", event.day)

    def _payouts(self, owed: Sequence[PayoutLine], event: Recorded, found: list[Row]) -> None:
        sequence, levels = self.sequence + 1, self.in_force.levels
        when = (event.table_id, event.dealt_at, event.counts_at, event.day)
        expected = [
            (sequence, line, seat, kind, wager, hand, levels[level] if level else None, cents, *when)
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
