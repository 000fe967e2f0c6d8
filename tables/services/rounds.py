"""Settling a batch of rounds and locks of one stream: decode, decide, record. One call inside one transaction (§3)."""

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from psycopg.sql import Composable

from accounting.rules import moments
from accounting.services import gaming_days
from accounting.services.copying import Copying
from tables.rules.deciding import Result, decide_result
from tables.rules.house import LOCKED, TableState
from tables.rules.lock import LockMessage
from tables.rules.message import RoundMessage
from tables.services import lock_rows, locks, recording, terms
from tables.services.recording import LATE, RESULT, Booking, Incoming, Recorder, decode
from tables.services.terms import StreamTerms

PORTION = 250
"""Rounds that are handed over to the database at a time, at most, while the next ones are settled."""
LAST_PORTION = 32
"""So few may be left for the end, when there is nothing to settle meanwhile. Each portion costs both sides a little."""
LOOK_IN = 4
"""Rounds between two looks at whether the database is ready for more: it must not be kept waiting for long."""


@dataclass(slots=True)
class Batch:
    """What became of a batch; `set_aside` are the locks that were held or came after their results, and why."""

    settled: int = 0
    held: int = 0
    locked: int = 0
    hits: int = 0
    last_sequence: int = 0
    misdated: list[Incoming] = field(default_factory=list)
    crashed: list[tuple[Incoming, str]] = field(default_factory=list)
    set_aside: list[tuple[Incoming, str, list[str]]] = field(default_factory=list)

    @property
    def dealt_with(self) -> int:
        """How many messages wait no more."""
        return self.settled + self.held + self.locked + len(self.set_aside)


@dataclass(frozen=True, slots=True)
class StreamHead:
    """The locked row of a stream."""

    id: int
    next_sequence: int
    head: bytes
    terms_version: int


class Dated(NamedTuple):
    """When a round was dealt or locked, and the moment it counts from, as instant and in nanoseconds since 1970 UTC."""

    dealt_at: datetime
    counts_at: datetime
    moment: int
    misdated: bool


def dated(message: RoundMessage, received_at: datetime, table: TableState) -> Dated:
    """Date a round by its deal, or by receipt when it was dealt in the future or before the table existed."""
    return dated_by(message.dealt_at, received_at, table)


def dated_by(reported: str, received_at: datetime, table: TableState) -> Dated:
    """Date what a table reports the moment of, a round's deal or its lock."""
    dealt_at, dealt = moments.read(reported)
    moment = table.counts_at(dealt, moments.instant_nanoseconds(received_at))
    if moment == dealt:
        return Dated(dealt_at, dealt_at, dealt, False)
    return Dated(dealt_at, moments.at_nanoseconds(moment), moment, True)


def settle_batch(
    stream: StreamHead,
    incoming: Sequence[Incoming],
    *,
    at: datetime,
    hold_for: str = "",
    besides: Composable | None = None,
) -> Batch:
    """Settle messages in this order on a locked stream and write everything they move, `at` being the edge's clock.

    `besides` is a statement of the caller's that belongs to the batch and touches one row a message; it runs while the
    first rounds are settled.

    A message that makes the rules raise, or that they cannot read, is held `processing_error` with the error, alone; any
    other error is ours and ends the batch. With `hold_for` the messages are held so without being tried again: it says
    what became of them before.
    """
    in_force = terms.of_stream(stream.id, stream.terms_version)
    recorder = recording.recorder(
        stream.id, in_force, next_sequence=stream.next_sequence, head=bytes(stream.head), at=at
    )
    settling = _Settling(recorder, hold_for, incoming)
    booked_on: dict[date, Booking] = {}
    with Copying() as copying:
        if besides is not None:
            copying.execute(besides, rows=len(incoming))
        for portion in _portions(incoming):
            ready: list[_Ready] = []
            for count, message in enumerate(portion):
                if (item := settling.prepare(message)) is not None:
                    ready.append(item)
                if not count % LOOK_IN:
                    copying.step()
            if new := {item.day for item in ready} - booked_on.keys():
                copying.finish()  # the connection is free for a question
                held_open = gaming_days.hold_open(new)
                booked_on |= {own: Booking(day, None if day == own else own) for own, day in held_open.items()}
            for count, item in enumerate(ready):
                settling.settle(item, booked_on[item.day])
                if not count % LOOK_IN:
                    copying.step()
            recorder.send(copying)
    settling.close()
    return settling.batch


def _portions(incoming: Sequence[Incoming]) -> Iterator[Sequence[Incoming]]:
    """In order; each is at most half of what is left, so that little is left to wait for when all is settled."""
    first = 0
    while left := len(incoming) - first:
        size = min(left, PORTION, max(LAST_PORTION, left // 2))
        yield incoming[first : first + size]
        first += size


class _Ready(NamedTuple):
    """A decoded message with the moment it counts from and the gaming day of that."""

    incoming: Incoming
    message: RoundMessage | LockMessage
    dated: Dated
    day: date


def crashed(round: str, table: str, players: int) -> dict[str, Any]:
    """The settlement of a round that the settling code failed on."""
    return {
        "round": round,
        "table": table,
        "outcome": "held",
        "reasons": ["processing_error"],
        "players": players,
        "seats": [],
        "awards": [],
        "meters": [],
    }


class _Settling:
    """A batch on its way: what is evidence against a message is told from what is our own fault here."""

    def __init__(self, recorder: Recorder, hold_for: str, all_of_it: Sequence[Incoming]) -> None:
        self.recorder = recorder
        self.all_of_it = all_of_it
        self.locked: dict[tuple[int, str], tuple[datetime, Booking]] = {}
        self._late: set[int] | None = None
        self.in_force: StreamTerms = recorder.in_force
        self.hold_for = hold_for
        self.batch = Batch()
        self.unread: list[tuple[Incoming, str]] = []

    def prepare(self, incoming: Incoming) -> _Ready | None:
        """Decode and date a message; None where it cannot be read, which costs itself only (ARCHITECTURE §4.11)."""
        table = self.in_force.house.tables[self.in_force.tables[incoming.table_id]]
        try:
            if incoming.lock is not None:
                return self._prepare_with_lock(incoming, table)
            message = decode(incoming.raw)
            when = dated_by(message.dealt_at, incoming.received_at, table)
            day = self.in_force.days.of(when.moment)
        except MemoryError:  # says nothing against the message
            raise
        except Exception:
            self.unread.append((incoming, traceback.format_exc()))
            return None
        return _Ready(incoming, message, when, day)

    def _prepare_with_lock(self, incoming: Incoming, table: TableState) -> _Ready:
        """A lock, or a result with the lock that it decides: that one counts from the lock (DECISIONS A51)."""
        house = self.in_force.house
        message: RoundMessage | LockMessage
        if incoming.kind != RESULT:
            message = locks.read(incoming.raw, house.tables)
            when = dated_by(message.locked_at, incoming.received_at, table)
        else:
            message = decode(incoming.raw)
            when = dated_by(message.dealt_at, incoming.received_at, table)
            assert incoming.lock is not None, "it waits with its lock"
            lock = house.locks[message.table, message.round] = lock_rows.state_of(incoming.lock)
            when = when._replace(counts_at=moments.at_nanoseconds(lock.counts_at), moment=lock.counts_at)
        return _Ready(incoming, message, when, self.in_force.days.of(when.moment))

    def settle(self, item: _Ready, booking: Booking) -> None:
        """Settle one round on the meters as the previous one left them, and record it."""
        incoming, message, when, _ = item
        if when.misdated:
            self.batch.misdated.append(incoming)
        if isinstance(message, LockMessage):
            self._lock(item, message, booking)
            return
        if self.hold_for:
            self._crashed(item, self.hold_for)
            return
        try:
            decision = decide_result(Result(message, when.moment), self.recorder.house)
        except MemoryError:  # says nothing against the message
            raise
        except Exception:  # this message alone
            self._crashed(item, traceback.format_exc())
            return
        if decision.outcome == "held":
            self.batch.held += 1
            self.recorder.hold(incoming, when.dealt_at, decision.result, "")
            return
        if decision.round is not None and (lock := self.locked.get((incoming.table_id, incoming.reference))):
            counts_at, booking = lock  # that of this batch, of which nothing was known before
            when = when._replace(counts_at=counts_at)
        self.recorder.round(decision, incoming, when, booking)
        self.batch.settled += 1

    def _lock(self, item: _Ready, message: LockMessage, booking: Booking) -> None:
        """Decide a lock, and record it or set it aside."""
        incoming, _, when, _ = item
        if self.hold_for:
            self._aside(incoming, when.dealt_at, self.hold_for)
            return
        moment = locks.When(when.dealt_at, when.counts_at, when.moment)
        decision, error = locks.settle(self.recorder, incoming, message, moment, booking, late=self._is_late(incoming))
        if decision.outcome == LOCKED:
            self.locked[incoming.table_id, incoming.reference] = when.counts_at, booking
            self.batch.locked += 1
            return
        if error:
            self.batch.crashed.append((incoming, error))
        self.batch.set_aside.append((incoming, decision.outcome, decision.result["reasons"]))

    def _is_late(self, incoming: Incoming) -> bool:
        """Whether the result of a lock's round came before it: in an earlier batch, or in this one."""
        if self._late is None:
            self._late, results = set(), set()
            for other in self.all_of_it:
                if other.kind == RESULT:
                    results.add((other.table_id, other.reference))
                elif (other.table_id, other.reference) in results:
                    self._late.add(other.message_id)
        return incoming.lock == LATE or incoming.message_id in self._late

    def _aside(self, incoming: Incoming, locked_at: datetime, error: str) -> None:
        """Set a lock aside that cannot be read or was never finished."""
        decision = locks.failed(incoming.reference, self.in_force.tables[incoming.table_id])
        locks.set_aside(self.recorder, incoming, locked_at, decision, error)
        self.batch.crashed.append((incoming, error))
        self.batch.set_aside.append((incoming, decision.outcome, decision.result["reasons"]))

    def _crashed(self, item: _Ready, error: str) -> None:
        message = item.message
        assert isinstance(message, RoundMessage), "a lock is set aside"
        self._hold(item.incoming, item.dated.dealt_at, error, crashed(message.round, message.table, len(message.seats)))

    def _hold(self, incoming: Incoming, dealt_at: datetime, error: str, settlement: dict[str, Any]) -> None:
        self.batch.crashed.append((incoming, error))
        self.batch.held += 1
        self.recorder.hold(incoming, dealt_at, settlement, error)

    def close(self) -> None:
        """Hold what could not even be read, dated by its receipt, and write what a batch changes once."""
        for incoming, error in self.unread:
            if incoming.kind != RESULT:
                self._aside(incoming, incoming.received_at, error)
                continue
            settlement = crashed(incoming.reference, self.in_force.tables[incoming.table_id], 0)
            self._hold(incoming, incoming.received_at, error, settlement)
        recorder = self.recorder
        recorder.close()
        self.batch.last_sequence = recorder.journal.next_sequence - 1
        self.batch.hits = len(recorder.link.detected) if recorder.link is not None else 0
