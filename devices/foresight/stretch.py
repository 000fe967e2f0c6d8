"""A stretch of a link's recorded events, read and decided under other terms by itself, side by side with other stretches.

What comes of it is in pieces in their order (`tables.rules.alternative`): what rounds without a hit staked, together; and the
events that bear on the meters otherwise - hits, acts of people, rounds that people decided -, to be taken in their turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from accounting.event_queries import Documented
from accounting.rules.events import LOCK, ROUND, TERMS
from accounting.statements import execute
from devices import collector
from devices.audit.replay import Range, recorded_before
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import Meter
from jackpot.services.standing import paytable_definitions
from tables.rules.alternative import Alternative, Tally, difference, tallies
from tables.rules.deciding import Result, decide_stakes
from tables.rules.house import House
from tables.services import lock_rows, terms
from tables.services.recording import decode
from tables.services.rounds import dated

CHUNK = 1_000
"""Events that are read and held at a time."""

# What came of a round is in its settlement, what people did in the documents of their acts.
EVENTS = """
    SELECT event.sequence, event.kind, event.rules, event.recorded_at, round.settlement, message.raw, message.received_at,
        round.message_id, document.cause, coalesce(lock.result, document.result), ended.sequence IS NOT NULL
    FROM accounting_event event
    LEFT JOIN tables_round round ON round.stream_id = event.stream_id AND round.sequence = event.sequence
    LEFT JOIN tables_lock lock ON event.kind = 'lock'
        AND lock.stream_id = event.stream_id AND lock.sequence = event.sequence
    LEFT JOIN tables_lock ended ON ended.stream_id = event.stream_id AND ended.ended = event.sequence
    LEFT JOIN devices_message message ON message.id = coalesce(round.message_id, lock.message_id)
    LEFT JOIN accounting_document document ON event.kind <> 'round'
        AND document.stream_id = event.stream_id AND document.sequence = event.sequence
    WHERE event.stream_id = %s AND event.sequence BETWEEN %s AND %s ORDER BY event.sequence
"""


class NotReplayable(Exception):
    """Something on record that cannot be decided under other terms; says which event and why."""


class Recorded(NamedTuple):
    """An event as `EVENTS` reads it; what is not there is None. `ends_lock`: it decided or voided one."""

    sequence: int
    kind: str
    rules: int
    recorded_at: datetime
    settlement: bytes | None
    raw: bytes | None
    received_at: datetime | None
    message_id: int | None
    cause: bytes | None
    result: bytes | None
    ends_lock: bool


class Row(msgspec.Struct):
    """A meter row of a result (CONTRACT §3): what is read of it here."""

    link: str
    level: str
    after_cents: int
    residual_millionths: int
    reserve_cents: int
    reserve_residual_millionths: int
    overflow_cents: int
    overflow_residual_millionths: int
    contributed_millionths: int = 0

    def meter(self) -> Meter:
        """The meter after the event."""
        return Meter(
            self.after_cents, self.residual_millionths, self.reserve_cents, self.reserve_residual_millionths,
            self.overflow_cents, self.overflow_residual_millionths,
        )  # fmt: skip


class Came(msgspec.Struct):
    """What is read of a settlement or of an act's result."""

    meters: list[Row] = []
    awards: list[dict[str, Any]] = []


read_result = msgspec.json.Decoder(Came).decode


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events `first` to `last` of a link's stream, to be decided under `proposed`; a piece ends every `width` events."""

    stream_id: int
    version: int
    proposed: LinkTerms
    first: int
    last: int
    width: int


@dataclass(slots=True)
class Piece:
    """Rounds without a hit up to a sequence, together, and the event after them that is taken in its turn, if any.

    `was_cents` are the recorded displays by level before that event, and `was_after_cents` behind it.
    """

    sequence: int = 0
    at: float = 0.0
    rounds: int = 0
    stakes_cents: int = 0
    wagers: int = 0
    held: dict[str, int] = field(default_factory=dict)
    was_cents: dict[str, int] = field(default_factory=dict)
    event: Recorded | None = None
    moved: dict[str, dict[str, int]] = field(default_factory=dict)
    was_after_cents: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Decided:
    """A stretch once it is decided: its pieces, and the side as it was."""

    part: Stretch
    pieces: list[Piece]
    was: dict[str, Tally]
    rounds: int
    acts: int


def house_before(part: Stretch) -> tuple[House, dict[str, Meter]]:
    """The house before a stretch, its link on the meters recorded then; NotReplayable where the link was not there."""
    code = part.proposed.code
    house = terms.house_of(part.stream_id, before=part.first)
    if code not in house.links:
        raise NotReplayable(f"link {code} was not there before event {part.first}")
    whole = Range(part.stream_id, code, part.version, part.first, part.last, part.last + 1)
    began = recorded_before(whole, house)
    link = house.links[code]
    link.meters, link.next_hit = dict(began.meters), began.next_hit
    house.locks.update(lock_rows.waiting(part.stream_id, before=part.first))
    return house, began.meters


def decide_stretch(part: Stretch) -> Decided:
    """Read and decide a stretch. Raises NotReplayable for an event that cannot be decided."""
    house, meters = house_before(part)
    house.locks.clear()  # a round with a lock is decided in its turn; no other may find one that was void meanwhile
    run = _Run(part, Alternative(house, part.proposed), tallies(meters))
    with collector.paused():
        for first in range(part.first, part.last + 1, CHUNK):
            for row in execute(EVENTS, (part.stream_id, first, min(first + CHUNK - 1, part.last))):
                run.take(Recorded(*row))
    return run.decided()


class _Run:
    """A stretch on its way."""

    def __init__(self, part: Stretch, other: Alternative, was: dict[str, Tally]) -> None:
        self.part = part
        self.other = other
        self.was = was
        self.rounds = 0
        self.acts = 0
        self.pieces: list[Piece] = []
        self.piece = Piece()
        self._definitions = paytable_definitions()

    def take(self, event: Recorded) -> None:
        """One event more."""
        if event.kind == ROUND:
            self._round(event)
        elif event.kind == LOCK:
            self._lock(event)
        elif event.cause is None or event.result is None:
            raise NotReplayable(f"event {event.sequence} ({event.kind}) is neither a message's nor an act of people")
        else:
            self._act(event)
        self.piece.sequence, self.piece.at = event.sequence, event.recorded_at.timestamp()
        if self.piece.event is not None or not event.sequence % self.part.width:
            self._end()

    def _displays(self) -> dict[str, int]:
        return {level: tally.meter.value_cents for level, tally in self.was.items()}

    def _end(self) -> None:
        if self.piece.event is None:
            self.piece.was_cents = self._displays()
        self.piece.was_after_cents = self._displays()
        self.pieces.append(self.piece)
        self.piece = Piece()

    def _round(self, event: Recorded) -> None:
        if event.raw is None or event.received_at is None or event.settlement is None:
            raise NotReplayable(f"event {event.sequence} has no message")
        if event.ends_lock:  # what its lock put in is known in its turn only
            self.piece.event, self.piece.was_cents = event, self._displays()
            self._came(read_result(event.settlement))
            return
        message = decode(event.raw)
        house = self.other.house
        when = dated(message, event.received_at, house.tables[message.table])
        staked = decide_stakes(Result(message, when.moment), house)
        came = read_result(event.settlement)
        piece = self.piece
        if staked.held and not came.awards:
            piece.held[staked.held] = piece.held.get(staked.held, 0) + 1
        elif came.awards or staked.hits:
            piece.event, piece.was_cents = event, self._displays()
        else:
            piece.stakes_cents += staked.stakes_cents
            piece.wagers += staked.wagers
        self._came(came)

    def _lock(self, event: Recorded) -> None:
        """A lock, to be decided in its turn: what it puts in is taken up by a later round."""
        if event.raw is None or event.received_at is None or event.result is None:
            raise NotReplayable(f"event {event.sequence} has no message")
        self.piece.event, self.piece.was_cents = event, self._displays()
        self._contributed(read_result(event.result))

    def _contributed(self, came: Came) -> None:
        for row in came.meters:
            if row.link == self.part.proposed.code:
                self.was[row.level].moved(row.meter(), row.contributed_millionths)

    def _came(self, came: Came) -> None:
        """A round as it came on record."""
        was = self.was
        self._contributed(came)
        for award in came.awards:
            was[award["level"]].awarded(award)  # type: ignore[arg-type]
        self.rounds += 1

    def _act(self, event: Recorded) -> None:
        """What people decided: a round's is decided again in its turn, else the others are moved by what these were."""
        assert event.cause is not None and event.result is not None
        piece = self.piece
        piece.event, piece.was_cents = event, self._displays()
        if event.message_id is not None:
            self._came(read_result(event.settlement or event.result))
            return
        self.acts += 1
        if event.ends_lock:
            self._contributed(read_result(event.result))
            return
        for row in read_result(event.result).meters:
            if row.link == self.part.proposed.code:
                tally, after = self.was[row.level], row.meter()
                if parts := difference(tally.meter, after):
                    piece.moved[row.level] = parts
                    for part, millionths in parts.items():
                        tally.carried[part] += millionths
                    tally.moved(after, 0)
        if event.kind in TERMS:
            self.other.change(changes_of(event, self._definitions))

    def decided(self) -> Decided:
        """What it came to."""
        if self.piece.sequence:
            self._end()
        return Decided(self.part, self.pieces, self.was, self.rounds, self.acts)


def changes_of(event: Recorded, definitions: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The editions of terms, states and membership that an act introduced."""
    assert event.cause is not None and event.result is not None, "an act has its documents"
    return terms.changes_of(
        Documented(event.sequence, event.kind, event.rules, event.recorded_at, event.cause, event.result), definitions
    )
