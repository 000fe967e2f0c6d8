"""Putting decisions on record on one locked stream: journal, rounds, payouts, holds, meters (ARCHITECTURE §3a).

Intake batches and acts of people write by the same recorder, so that a released round leaves the very rows that it would
have left when it came.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from accounting.rules import edition
from accounting.rules.events import ROUND
from accounting.services import ledger
from accounting.services.copying import Copying
from accounting.services.ledger import Entry, Journal
from accounting.statements import execute
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.services import listening, meters
from tables.models import Hold, LockSetAside
from tables.rules.deciding import RoundDecision, decide
from tables.rules.house import DECIDED, House
from tables.rules.message import RoundMessage
from tables.services import as_recorded, ends, precedents, terms
from tables.services.seals import seal
from tables.services.terms import StreamTerms

if TYPE_CHECKING:
    from accounting.models import Stream

encode = msgspec.json.Encoder(order="sorted").encode
decode = msgspec.json.Decoder(RoundMessage).decode


RESULT = "result"
LATE = b"late"


class Incoming(NamedTuple):
    """A stored message: it waits to be settled, or was held.

    Where locks are about, `lock` is not None: of a lock, whether its round's result had come before it (`late`) or not
    (empty); of a result, what its lock put in.
    """

    message_id: int
    table_id: int
    reference: str
    received_at: datetime
    raw: bytes
    digest: bytes
    device_id: int | None
    kind: str = RESULT
    lock: bytes | None = None


class Moments(Protocol):
    """When a round was dealt as its table reports it, and the moment that it counts from."""

    @property
    def dealt_at(self) -> datetime: ...
    @property
    def counts_at(self) -> datetime: ...


class Booking(NamedTuple):
    """The gaming day an event is booked on, and its own where that one was closed."""

    day: date
    original: date | None


@dataclass(slots=True)
class Recorder:
    """Carries meters, journal and rows from decision to decision."""

    in_force: StreamTerms
    journal: Journal
    link: meters.LinkMeters | None
    rounds: list[tuple[Any, ...]] = field(default_factory=list)
    payouts: list[tuple[Any, ...]] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    locks: list[tuple[Any, ...]] = field(default_factory=list)
    set_aside: list[LockSetAside] = field(default_factory=list)
    ended: list[tuple[int, str, str, int]] = field(default_factory=list)
    recorded: int = 0

    @property
    def house(self) -> House:
        """The stream's house as it stands after what was recorded so far."""
        return self.in_force.house

    def round(self, decision: RoundDecision, incoming: Incoming, when: Moments, booking: Booking) -> None:
        """Record a round that was settled or void when its message came."""
        encoded = encode(decision.result)
        self._round(
            decision,
            incoming,
            when,
            booking,
            encoded,
            Entry(
                ROUND,
                f"{self.in_force.tables[incoming.table_id]}/{incoming.reference}",
                booking.day,
                booking.original,
                incoming.digest,
                sha256(encoded).digest(),
                decision.movements,
                incoming.received_at,
                incoming.device_id,
            ),
        )

    def decided_round(
        self, act: Act, cause: bytes, decision: RoundDecision, incoming: Incoming, when: Moments, booking: Booking
    ) -> int:
        """Record a held round that people have decided; its sequence."""
        encoded = encode(decision.result)
        entry = ledger.documented(act.act, act.subject, *booking, cause, encoded, decision.movements)
        return self._round(decision, incoming, when, booking, encoded, entry)

    def _round(
        self,
        decision: RoundDecision,
        incoming: Incoming,
        when: Moments,
        booking: Booking,
        encoded: bytes,
        entry: Entry,
    ) -> int:
        sequence = self.journal.post(entry)
        stream_id, table_id, terms = self.journal.stream_id, incoming.table_id, decision.terms
        dealt_at, counts_at = when.dealt_at, when.counts_at
        day, original = booking
        assert terms is not None, "a round is decided under terms"
        if decision.round is not None:  # it had a lock
            self.house.keep(decision)
            self.ended.append((table_id, incoming.reference, DECIDED, sequence))
        if self.link is not None:
            self.link.apply(
                settlement=decision.result,
                meters=decision.meters.get(self.link.link, {}),
                contributions=decision.contributions,
                wagers=decision.progressives,
                sequence=sequence,
                dealt_at=dealt_at,
                detected_at=self.journal.recorded_at,
            )
            if decision.hits:
                self.house.links[self.link.link].next_hit = self.link.next_hit
        self.rounds.append((
            stream_id, sequence, incoming.message_id, table_id, self.in_force.terms_ids[terms.code][terms.edition - 1],
            incoming.reference, decision.outcome, dealt_at, counts_at, day, original, encoded,
        ))  # fmt: skip
        levels = self.in_force.levels
        for line, payout in enumerate(decision.payouts, 1):
            self.payouts.append((
                stream_id, sequence, line, table_id, payout.seat, payout.kind, payout.wager, payout.hand,
                levels[payout.level] if payout.level else None, payout.cents, dealt_at, counts_at, day,
            ))  # fmt: skip
        self.recorded += 1
        return sequence

    def hold(self, incoming: Incoming, dealt_at: datetime, settlement: dict[str, Any], error: str) -> None:
        """Keep a round that waits for a supervisor."""
        encoded, held_at = encode(settlement), self.journal.recorded_at
        known = (self.journal.stream_id, self.journal.next_sequence)
        self.holds.append(
            Hold(
                message_id=incoming.message_id,
                table_id=incoming.table_id,
                reference=incoming.reference,
                reasons=settlement["reasons"],
                settlement=encoded,
                error=error,
                dealt_at=dealt_at,
                held_at=held_at,
                rules=edition.CURRENT,
                stream_id=known[0],
                before_sequence=known[1],
                seal=seal(incoming.message_id, encoded, error, dealt_at, held_at, edition.CURRENT, known),
            )
        )

    def act(self, act: Act, cause: bytes, decision: Decision, booking: Booking) -> int:
        """Record an act that is not about a round; its sequence. The house is moved along."""
        result = encode(decision.result)
        entry = ledger.documented(act.act, act.subject, *booking, cause, result, decision.movements)
        sequence = self.journal.post(entry)
        self.house.apply(decision)
        self.recorded += 1
        return sequence

    def send(self, copying: Copying) -> None:
        """Hand over the rows made since the last time."""
        self.journal.send(copying)
        if self.rounds:
            copying.send("tables_round", ROUND_COLUMNS, self.rounds)
        if self.payouts:
            copying.send("tables_payout", PAYOUT_COLUMNS, self.payouts)
        if self.locks:
            copying.send("tables_lock", LOCK_COLUMNS, self.locks)
            self.locks.clear()
        self.rounds.clear()
        self.payouts.clear()

    def close(self) -> None:
        """Write what changes once: holds, locks that ended, totals, the stream's head, its meters."""
        if self.holds:
            Hold.objects.bulk_create(self.holds)
        if self.set_aside:
            LockSetAside.objects.bulk_create(self.set_aside)
        if self.ended:
            columns = [list(column) for column in zip(*self.ended, strict=True)]
            ((ended,),) = execute(END_LOCKS, [*columns, self.journal.stream_id])
            assert ended == len(self.ended), "locks that ended were waiting"
        if self.recorded:
            self.journal.close()
            if self.link is not None:
                self.link.write(sequence=self.journal.next_sequence - 1)

    def finish(self) -> None:
        """Write all of what people decided on a stream; whoever listens to it hears after the commit."""
        with Copying() as copying:
            self.send(copying)
        self.close()
        listening.tell_after(self.journal.stream_id, self.journal.next_sequence - 1)


def recorder(stream_id: int, in_force: StreamTerms, *, next_sequence: int, head: bytes, at: datetime) -> Recorder:
    """A recorder on a stream whose row the caller holds locked, on its meters as they stand."""
    link = meters.read(stream_id)
    if link is not None:
        in_force.house.locks.clear()  # those that wait now come with the batch, or with the act that names one
        state = in_force.house.links[link.link]
        state.meters, state.next_hit = link.values, link.next_hit
    journal = Journal(
        stream_id=stream_id,
        stream=in_force.stream,
        next_sequence=next_sequence,
        head=head,
        accounts=in_force.accounts,
        recorded_at=at,
    )
    return Recorder(in_force, journal, link)


def on_stream(stream: "Stream", *, at: datetime) -> Recorder:
    """A recorder for an act on a locked stream: on terms of its own, for the act may change them or be rolled back."""
    in_force = terms.fresh(stream.pk)
    return recorder(stream.pk, in_force, next_sequence=stream.next_sequence, head=bytes(stream.head), at=at)


def record(stream: "Stream", act: Act, *, at: datetime, **more: Any) -> tuple[int, House]:
    """Decide and record an act that is not about a round, on a locked stream: its sequence, and the house after it.

    `more` is kept with its cause: who, and what it names. Raises ActRefused where it cannot be done. An act counts on the
    gaming day on which it is recorded.
    """
    book = on_stream(stream, at=at)
    cause = cause_of(act, **more)
    book.house.know(cause)
    as_recorded.know(act, book.house, stream.pk, before=stream.next_sequence)
    with precedents.given(act, book.house, stream.pk, before=stream.next_sequence) as precedent:
        decision = decide(act, book.house)
        booking = Booking(*ledger.booked_on(ledger.day_of(at)))
        sequence = book.act(act, encode(cause), decision, booking)
    book.finish()
    if precedent is not None:
        ends.show(decision.steps, precedent, cause, stream_id=stream.pk, sequence=sequence, at=at)
    stream.next_sequence, stream.head = book.journal.next_sequence, book.journal.head
    if decision.changes:
        ledger.terms_changed(stream.pk)
        stream.terms_version += 1
    return sequence, book.house


ROUND_COLUMNS = {
    "stream_id": "int8", "sequence": "int8", "message_id": "int8", "table_id": "int8", "terms_id": "int8",
    "reference": "varchar", "outcome": "varchar", "dealt_at": "timestamptz", "counts_at": "timestamptz",
    "gaming_date": "date", "original_date": "date", "settlement": "bytea",
}  # fmt: skip
LOCK_COLUMNS = {
    "stream_id": "int8", "sequence": "int8", "message_id": "int8", "table_id": "int8", "reference": "varchar",
    "locked_at": "timestamptz", "counts_at": "timestamptz", "gaming_date": "date", "original_date": "date",
    "result": "bytea", "put_in": "bytea", "state": "varchar", "ended": "int8",
}  # fmt: skip
END_LOCKS = """
    WITH ended AS (
        UPDATE tables_lock lock SET state = done.state, ended = done.sequence
        FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[]) AS done (table_id, reference, state, sequence)
        WHERE lock.table_id = done.table_id AND lock.reference = done.reference AND lock.stream_id = %s
            AND lock.state = 'locked'
        RETURNING 1
    ) SELECT count(*) FROM ended
"""
PAYOUT_COLUMNS = {
    "stream_id": "int8", "sequence": "int8", "line": "int2", "table_id": "int8", "seat": "int2", "kind": "varchar",
    "wager": "varchar", "hand": "varchar", "level_id": "int8", "cents": "int8", "dealt_at": "timestamptz",
    "counts_at": "timestamptz", "gaming_date": "date",
}  # fmt: skip
