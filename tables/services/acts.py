"""Recording what people decide about tables, held rounds and locks (CONTRACT §7): one event on the table's stream."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from accounting.rules import moments
from accounting.rules.acts import ActRefused
from accounting.services import ledger
from accounting.statements import execute
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.services.under_lock import done_at
from tables import models
from tables.rules import floor
from tables.rules.deciding import RoundDecision, decide
from tables.rules.house import HELD as HELD_STILL
from tables.rules.house import House, RoundState
from tables.rules.message import RoundMessage
from tables.rules.precedents import OF_THE_PAST, VOID_ROUND
from tables.services import lock_rows, locks, past, recording, routing, terms
from tables.services.messages import MESSAGES
from tables.services.recording import Booking, Incoming, decode, encode
from tables.services.rounds import dated

ROUND_ACTS = frozenset({"round.release", "round.correct", "round.void"})

POSTED = """
    SELECT coalesce(hold.message_id, round.message_id), tabl.id, tabl.stream_id, coalesce(hold.reasons, '{}'), round.outcome
    FROM tables_table tabl
    LEFT JOIN tables_hold hold ON hold.table_id = tabl.id AND hold.reference = %(reference)s
    LEFT JOIN tables_round round ON round.table_id = tabl.id AND round.reference = %(reference)s
    WHERE tabl.code = %(table)s AND (hold.message_id IS NOT NULL OR round.message_id IS NOT NULL)
"""


class Posted(NamedTuple):
    """A round's message, the stream its table is on, why it was held if it was, and what it is now: held, settled or void."""

    incoming: Incoming
    stream_id: int
    reasons: list[str]
    outcome: str


def posted(subject: str) -> Posted:
    """The round that `TABLE/ROUND` names. ActRefused `unknown_subject`: there is none, or nothing has become of it yet."""
    table, _, reference = subject.partition("/")
    found = execute(POSTED, {"table": table, "reference": reference})
    if not found:
        raise ActRefused("unknown_subject", detail=f"there is no round {subject}")
    message_id, table_id, stream_id, reasons, outcome = found[0]
    incoming = Incoming(message_id, table_id, reference, *MESSAGES.of(message_id))
    return Posted(incoming, stream_id, reasons, outcome or HELD_STILL)


def standing(subject: str) -> str | None:
    """Whether a round is held, settled or void; None where there is none."""
    try:
        return posted(subject).outcome
    except ActRefused:
        return None


def is_open(table: str) -> bool:
    """Whether a table is open now, as its events say."""
    return models.Table.objects.filter(code=table, state=models.Table.State.OPEN).exists()


def stream_of(act: Act) -> int:
    """The stream that an act is recorded on. ActRefused where its subject is not there."""
    if act.act in ROUND_ACTS:
        found = posted(act.subject)
        corrected = encode(act.payload["message"]) if act.act == "round.correct" and "message" in act.payload else None
        return routing.stream_of(found.incoming, found.stream_id, corrected)
    if act.act == locks.VOID:
        return locks.named(act.subject).stream_id
    stream_id = models.Table.objects.filter(code=act.subject).values_list("stream_id", flat=True).first()
    if stream_id is None:
        raise ActRefused("unknown_subject", detail=f"there is no table {act.subject}")
    return stream_id


def is_of_the_past(act: Act) -> bool:
    """Whether an act is about something that a settled round left; the void of a round that was never held is."""
    return act.act in OF_THE_PAST and not (act.act == VOID_ROUND and is_held(act.subject))


def is_held(subject: str) -> bool:
    """Whether a round was held and nothing has become of it since."""
    return standing(subject) == HELD_STILL


def foresee(act: Act, *, at: datetime) -> Decision:
    """What an act would come to as its stream stands, without recording it. Raises ActRefused."""
    if is_of_the_past(act):
        return past.foresee(act, at=at).decision
    stream = ledger.stream(stream_of(act))
    book = recording.on_stream(stream, at=at)
    if act.act in ROUND_ACTS:
        with_precedent(act, book.house)
        book.house.locks |= lock_rows.of_round(stream.pk, act.subject, before=stream.next_sequence)
    try:
        return decide(act, book.house)
    finally:
        book.house.rounds.clear()


def terms_before_and_after(act: Act, *, at: datetime) -> tuple[dict[str, Any], dict[str, Any]]:
    """The terms of a table in the keys of the floor file, as they count at a moment and as `table.terms` would leave them."""
    book = recording.on_stream(ledger.stream(stream_of(act)), at=at)
    moment = moments.nanoseconds(act.at)
    before = floor.table_definition(book.house.tables[act.subject].terms.at(moment))
    book.house.apply(decide(act, book.house))
    return before, floor.table_definition(book.house.tables[act.subject].terms.at(moment))


def terms_now(table: str, *, at: datetime) -> dict[str, Any]:
    """The terms of a table in the keys of the floor file, as they count at a moment."""
    stream_id = models.Table.objects.values_list("stream_id", flat=True).get(code=table)
    book = recording.on_stream(ledger.stream(stream_id), at=at)
    return floor.table_definition(book.house.tables[table].terms.at(moments.instant_nanoseconds(at)))


def with_precedent(act: Act, house: House) -> Posted:
    """Let the house know of the round that an act is about, held or held no more.

    ActRefused `wrong_state` for the void of a round that was held when it was asked for and by now is not: what a settled round
    left is another thing to undo, and nobody has agreed to that.
    """
    found = posted(act.subject)
    if act.act == VOID_ROUND and found.outcome != HELD_STILL:
        raise ActRefused("wrong_state", detail=f"round {act.subject} is {found.outcome}, not held")
    table, _, reference = act.subject.partition("/")
    received = moments.instant_nanoseconds(found.incoming.received_at)
    house.rounds[table, reference] = RoundState(found.outcome, found.reasons, decode(found.incoming.raw), received)
    return found


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record an act inside the caller's transaction: the stream and the sequence of its event.

    `more` is kept with its cause: who asked, who approved, why. Raises ActRefused where it cannot be done.
    """
    if is_of_the_past(act):
        return past.perform(act, at=at, **more)
    stream = ledger.lock_stream(stream_of(act))
    while stream.pk != (moved := stream_of(act)):  # its table joined or left a link while this waited
        stream = ledger.lock_stream(moved)
    act, at = done_at(act, [stream], at)
    if act.act in ROUND_ACTS:
        return stream.code, _decide_round(stream, act, at=at, **more)
    if act.act == locks.VOID:
        return stream.code, locks.void(stream, act, at=at, **more)
    act = after_the_last_change(act, terms.house_of(stream.pk))
    sequence, house = recording.record(stream, act, at=at, **more)
    _project(act, house)
    return stream.code, sequence


def after_the_last_change(act: Act, house: House) -> Act:
    """The act, counting from after the table's last change: clocks of several machines may differ by a little."""
    table = house.tables[act.subject]
    last = max(since for changes in (table.terms, table.opens, table.links, table.progressive) for since, _ in changes)
    if moments.nanoseconds(act.at) > last:
        return act
    later = moments.at_nanoseconds(last) + timedelta(microseconds=1)
    return Act(act.act, act.subject, later.isoformat(), act.payload)


def _decide_round(stream: Any, act: Act, *, at: datetime, **more: Any) -> int:
    book = recording.on_stream(stream, at=at)
    found = with_precedent(act, book.house)
    book.house.locks |= lock_rows.of_round(stream.pk, act.subject, before=stream.next_sequence)
    incoming = found.incoming
    try:
        decision = decide(act, book.house)
    finally:
        book.house.rounds.clear()
    assert isinstance(decision, RoundDecision), "it is about a round"
    if decision.outcome == "held":
        still = ", ".join(reason.replace("_", " ") for reason in decision.result["reasons"])
        raise ActRefused("still_held", detail=f"corrected so, it would be held again: {still}")
    message = decode(incoming.raw)
    if act.act == "round.correct":
        message = msgspec.convert(act.payload["message"], RoundMessage)
    when = dated(message, incoming.received_at, book.house.tables[message.table])
    moment = when.moment
    if decision.round is not None:  # it counts from its lock (DECISIONS A51)
        (lock,) = book.house.locks.values()
        moment = lock.counts_at
        when = when._replace(counts_at=moments.at_nanoseconds(moment))
    own_day = book.in_force.days.of(moment)
    named = {
        "message": incoming.digest.hex(),
        "received_at": incoming.received_at.isoformat(),
        "device": incoming.device_id,
    }
    cause = encode(cause_of(act, **named, **more))
    booking = Booking(*ledger.booked_on(own_day))
    sequence = book.decided_round(act, cause, decision, incoming, when, booking)
    book.finish()
    return sequence


def _project(act: Act, house: House) -> None:
    """Show in the tables of the database what the events say of a table now."""
    table = models.Table.objects.get(code=act.subject)
    state = house.tables[act.subject]
    at = moments.instant(act.at)
    now = moments.nanoseconds(act.at)
    if act.act != "table.terms":
        table.state = models.Table.State.OPEN if state.opens.at(now) else models.Table.State.CLOSED
        table.save(update_fields=["state"])
        return
    wanted = state.terms.at(now)
    before = table.terms.get(in_force__upper_inf=True)
    before.in_force = DateTimeTZRange(before.in_force.lower, at)
    before.save(update_fields=["in_force"])
    terms.show(table, wanted, at, before.paytables.values_list("wager", "edition_id"))


def version(subject: str, *, of_table: bool) -> str | None:
    """What changes whenever the subject does; None where there is no such subject."""
    if of_table:
        table = models.Table.objects.filter(code=subject).select_related("stream").first()
        return None if table is None else f"{table.stream.code}:{table.stream.terms_version}:{table.state}"
    try:
        found = posted(subject)
    except ActRefused:
        return None
    return f"{found.outcome}:{found.incoming.digest.hex()[:16]}"
