"""Moving a table to a link or off it (CONTRACT §7): one event on the stream that it leaves and one on that it comes to.

Both are recorded in one commit with the same cause and result; the cause names either place, so that each stream is
replayed by itself. Streams are locked in the order of their ids.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounting.queries import stream_ids
from accounting.services import ledger
from jackpot.queries import link_and_paytable
from jackpot.rules.decision import Act, Decision, cause_of
from jackpot.services.under_lock import done_at
from tables import models
from tables.rules.deciding import decide
from tables.rules.house import House
from tables.services import recording
from tables.services.acts import after_the_last_change, stream_of
from tables.services.as_recorded import house_before
from tables.services.recording import Booking, Recorder, encode

JOIN, LEAVE = "table.join", "table.leave"


@dataclass(slots=True)
class _Side:
    """A stream that has a part in a move, with a recorder on it; `book` is None where it is only to be opened."""

    code: str
    stream: Any = None
    book: Recorder | None = None

    @property
    def house(self) -> House:
        """What the stream knows."""
        return self.book.house if self.book is not None else House({}, {}, remembers=False)

    @property
    def place(self) -> dict[str, Any]:
        """Its next event, as a cause names it."""
        return {"stream": self.code, "sequence": 0 if self.stream is None else self.stream.next_sequence}


def foresee(act: Act, *, at: datetime) -> Decision:
    """What a move would come to as things stand, without recording it. Raises ActRefused."""
    ends = _ends(act)
    giver, taker = (_side(code, ledger.stream(stream_id) if stream_id else None, at) for code, stream_id in ends)
    return decide(act, joint(act.subject, giver.house, taker.house))


def perform(act: Act, *, at: datetime, **more: Any) -> tuple[str, int]:
    """Decide and record a move inside the caller's transaction: the link's stream and the sequence of its event there.

    `more` is kept with its cause: who asked, who approved, why. Raises ActRefused where it cannot be done.
    """
    while True:
        ends = _ends(act)
        locked = {stream_id: ledger.lock_stream(stream_id) for stream_id in sorted(each for _, each in ends if each)}
        if _ends(act) == ends:  # else it was moved while this waited
            break
    act, at = done_at(act, list(locked.values()), at)
    giver, taker = (_side(code, locked[stream_id] if stream_id else None, at) for code, stream_id in ends)
    house = joint(act.subject, giver.house, taker.house)
    act = after_the_last_change(act, house)
    decision = decide(act, house)
    cause = encode(cause_of(act, **{"from": giver.place, "to": taker.place}, **more))
    booking = Booking(*ledger.booked_on(ledger.day_of(at)))
    if taker.book is None:
        taker.stream = ledger.open_stream(taker.code, cause=cause, result=encode(decision.result), at=at)
        there = 0
    else:
        taker.book.house.take(house.tables[act.subject].copy())
        there = _write(taker, act, cause, decision, booking)
    here = _write(giver, act, cause, decision, booking)
    (change,) = decision.changes
    link_id, paytable_id = (change["link"] and link_and_paytable(change["link"])) or (None, None)
    models.Table.objects.filter(code=act.subject).update(
        link_id=link_id, link_paytable_id=paytable_id, stream_id=taker.stream.pk
    )
    return (taker.code, there) if act.act == JOIN else (giver.code, here)


def _ends(act: Act) -> tuple[tuple[str, int | None], tuple[str, int | None]]:
    """The stream that a table is on and the one that it would come to, by code and id; without an id what is not there."""
    giver = stream_of(act)
    to = act.payload.get("link") if act.act == JOIN else act.subject
    to = to if isinstance(to, str) else ""
    return (ledger.stream(giver).code, giver), (to, stream_ids([to]).get(to))


def _side(code: str, stream: Any, at: datetime) -> _Side:
    return _Side(code, stream, recording.on_stream(stream, at=at) if stream is not None else None)


def joint(table: str, giver: House, taker: House) -> House:
    """What both streams know that a move is decided on: the table as it stands, and the links of both."""
    return House({**giver.links, **taker.links}, {table: giver.tables[table]}, remembers=False)


def joint_as_recorded(cause: dict[str, Any], here: str, house: House) -> House:
    """The same for a move on record: `house` is the stream's in hand before it, the other's is read from its own record."""
    giver, taker = (house if side["stream"] == here else house_before(side) for side in (cause["from"], cause["to"]))
    return joint(cause["subject"], giver, taker)


def _write(side: _Side, act: Act, cause: bytes, decision: Decision, booking: Booking) -> int:
    book, stream = side.book, side.stream
    assert book is not None, "the stream is there"
    sequence = book.act(act, cause, decision, booking)
    book.finish()
    ledger.terms_changed(stream.pk)
    return sequence
