"""Locks on their way into the record, and as later causes find them there (CONTRACT §2, DECISIONS A50-A52).

A lock that contributes is an event of its stream with a row that waits until the round's result, or people, end it. One
that is held, or came after its result, is as if it had never come: it is set aside with no place in the chain.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from accounting.rules import edition
from accounting.rules.acts import ActRefused
from accounting.rules.events import LOCK
from accounting.services import ledger
from accounting.services.ledger import Entry
from accounting.statements import execute
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.rules.lifetime import bring
from tables import models
from tables.rules import lock
from tables.rules.deciding import decide
from tables.rules.door import Refusal
from tables.rules.house import HELD, LOCKED, House, RoundState
from tables.rules.lock import LockMessage
from tables.rules.locking import Lock, LockDecision, decide_lock
from tables.services import recording
from tables.services.lock_rows import put_in, state_of
from tables.services.recording import Booking, Incoming, Recorder, encode
from tables.services.seals import seal

if TYPE_CHECKING:
    from accounting.models import Stream

VOID: Final = "lock.void"
RESULT_CAME: Final = RoundState(HELD, [])
"""Stands for the round's result, of which a lock needs to know no more than that it came before."""


class UnreadableLock(ValueError):
    """A stored lock is no lock of this stream: it passed the door as one."""


def read(raw: bytes, tables: Mapping[str, Any]) -> LockMessage:
    """The lock that stored bytes are; `tables` are the stream's, by code."""
    found = lock.read(msgspec.json.decode(raw), tables)
    if isinstance(found, Refusal):
        raise UnreadableLock(f"{found.code} at {found.pointer}")
    return found


class When(NamedTuple):
    """When a lock was pressed as its table reports it, and the moment it counts from, as instant and in nanoseconds."""

    locked_at: datetime
    counts_at: datetime
    moment: int


def settle(
    book: Recorder, incoming: Incoming, message: LockMessage, when: When, booking: Booking, *, late: bool
) -> tuple[LockDecision, str]:
    """Decide a lock and record it, or set it aside; the decision and the error of one that the rules failed on.

    `late`: its round's result had come before it.
    """
    house, key = book.house, (message.table, message.round)
    if late:
        house.rounds[key] = RESULT_CAME
    error = ""
    try:
        decision = decide_lock(Lock(message, when.moment), house)
    except MemoryError:  # says nothing against the message
        raise
    except Exception:  # this message alone
        error = traceback.format_exc()
        decision = failed(message.round, message.table)
    finally:
        house.rounds.pop(key, None)
    if decision.outcome == LOCKED:
        _record(book, decision, incoming, when, booking)
    else:
        set_aside(book, incoming, when.locked_at, decision, error)
    return decision, error


def failed(round_: str, table: str) -> LockDecision:
    """The decision of a lock that the settling code failed on."""
    reasons = ["processing_error"]
    result = {"round": round_, "table": table, "kind": "lock", "outcome": HELD, "reasons": reasons, "meters": []}
    return LockDecision(HELD, result, key=(table, round_))


def _record(book: Recorder, decision: LockDecision, incoming: Incoming, when: When, booking: Booking) -> None:
    state = decision.lock
    assert state is not None and book.link is not None, "it contributed"
    result = encode(decision.result)
    sequence = book.journal.post(
        Entry(
            LOCK,
            f"{book.in_force.tables[incoming.table_id]}/{incoming.reference}",
            booking.day,
            booking.original,
            incoming.digest,
            sha256(result).digest(),
            decision.movements,
            incoming.received_at,
            incoming.device_id,
        )
    )
    book.house.apply(decision)
    bring(book.link.lifetime, decision.contributions)
    book.locks.append((
        book.journal.stream_id, sequence, incoming.message_id, incoming.table_id, incoming.reference, when.locked_at,
        when.counts_at, booking.day, booking.original, result, put_in(state), LOCKED, None,
    ))  # fmt: skip
    book.recorded += 1


def set_aside(book: Recorder, incoming: Incoming, locked_at: datetime, decision: LockDecision, error: str) -> None:
    """Keep a lock that is as if it had never come, and why."""
    result, decided_at = encode(decision.result), book.journal.recorded_at
    known = (book.journal.stream_id, book.journal.next_sequence)
    book.set_aside.append(
        models.LockSetAside(
            message_id=incoming.message_id,
            table_id=incoming.table_id,
            reference=incoming.reference,
            outcome=decision.outcome,
            result=result,
            error=error,
            locked_at=locked_at,
            decided_at=decided_at,
            rules=edition.CURRENT,
            stream_id=known[0],
            before_sequence=known[1],
            seal=seal(incoming.message_id, result, error, locked_at, decided_at, edition.CURRENT, known),
        )
    )


NAMED = """
    SELECT lock.stream_id, lock.sequence, lock.put_in, lock.state, lock.ended,
        (SELECT outcome FROM tables_round round WHERE round.stream_id = lock.stream_id AND round.sequence = lock.ended),
        EXISTS (SELECT FROM tables_hold hold WHERE hold.table_id = lock.table_id AND hold.reference = lock.reference)
    FROM tables_lock lock JOIN tables_table tabl ON tabl.id = lock.table_id
    WHERE tabl.code = %s AND lock.reference = %s
"""


class Named(NamedTuple):
    """A lock by its round: its place, what it put in, and what has become of it and of its round."""

    stream_id: int
    sequence: int
    put_in: bytes
    state: str
    ended: int | None
    outcome: str | None
    held: bool


def named(subject: str) -> Named:
    """The lock that contributed to the round `TABLE/ROUND`. ActRefused where there is none."""
    table, _, reference = subject.partition("/")
    found = execute(NAMED, [table, reference])
    if not found:
        raise ActRefused("unknown_subject", detail=f"there is no lock of {subject}")
    return Named._make(found[0])


def standing(subject: str) -> str | None:
    """Whether a lock waits, is decided or void; `held` where its result waits for people; None where it never was."""
    try:
        found = named(subject)
    except ActRefused:
        return None
    return HELD if found.state == LOCKED and found.held else found.state


def version(subject: str) -> str | None:
    """What changes whenever a lock does; None where there is none."""
    state = standing(subject)
    return None if state is None else f"{state}:{named(subject).sequence}"


def with_precedent(act: Act, house: House) -> Named:
    """Let the house know of the lock that an act is about, and whether its round's result has come."""
    found = named(act.subject)
    table, _, reference = act.subject.partition("/")
    state = house.locks[table, reference] = state_of(found.put_in)
    if found.state != LOCKED:
        state.end(found.state)
    if found.held or found.outcome is not None:
        house.rounds[table, reference] = RESULT_CAME
    return found


def foresee_void(act: Act, *, at: datetime) -> Decision:
    """What voiding a lock would come to as its stream stands, without recording it. Raises ActRefused."""
    book = recording.on_stream(ledger.stream(named(act.subject).stream_id), at=at)
    with_precedent(act, book.house)
    return decide(act, book.house)


def void(stream: Stream, act: Act, *, at: datetime, **more: Any) -> int:
    """Decide and record the void of a lock on its locked stream; the sequence. Raises ActRefused where it cannot be done."""
    book = recording.on_stream(stream, at=at)
    with_precedent(act, book.house)
    decision = decide(act, book.house)
    sequence = book.act(act, encode(cause_of(act, **more)), decision, Booking(*ledger.booked_on(ledger.day_of(at))))
    table, _, reference = act.subject.partition("/")
    book.ended.append((book.in_force.table_ids[table], reference, models.Lock.State.VOID.value, sequence))
    book.finish()
    return sequence
