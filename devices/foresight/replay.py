"""Replaying what is on record of a link under other terms, side by side with what came of it.

Rounds are read as they were posted and decided by `decide`, in stretches that may be decided in processes of their own
(`devices.foresight.stretch`); here they are joined in their order, on the meters that each finds. What came of them is read
from their settlements. Nothing is written, and no lock is taken: events below a sequence are never changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from accounting.rules.events import LOCK, ROUND, TERMS
from accounting.rules.moments import instant_nanoseconds
from devices.audit.side_by_side import in_processes
from devices.foresight.proposed import Standing
from devices.foresight.stretch import (
    Decided,
    NotReplayable,
    Piece,
    Recorded,
    Stretch,
    changes_of,
    decide_stretch,
    house_before,
    read_result,
)
from jackpot.rules.decision import act_of
from jackpot.rules.link import LinkTerms
from jackpot.rules.progressive import Award
from jackpot.services.standing import paytable_definitions
from tables.rules.alternative import Alternative, Tally, tallies
from tables.rules.deciding import Result
from tables.rules.house import HELD, RoundState
from tables.rules.locking import Lock
from tables.services import locks
from tables.services.recording import decode
from tables.services.rounds import dated, dated_by

__all__ = ["NotReplayable", "Sides", "replay"]

STRETCH = 5_000
"""Events decided in one go: half a second's work."""
POINTS = 300
"""Points of a line, at most, hits apart."""
MOST_HITS = 1_000
"""Hits that are listed and drawn one by one; further ones are counted."""


class Point(NamedTuple):
    """Both displays after an event, in whole cents; the moment in seconds since 1970."""

    sequence: int
    at: float
    was_cents: int
    would_cents: int


class BothHits(NamedTuple):
    """A hit on both sides, in whole cents; None on the side on which it was not."""

    sequence: int
    at: str
    level: str
    hand: str
    share_ppm: int
    was_cents: int | None
    would_cents: int | None


@dataclass(slots=True)
class Sides:
    """A period of a link as it was and as it would have been; sequences `first` to `last`."""

    terms: LinkTerms
    first: int
    last: int
    was: dict[str, Tally]
    would: dict[str, Tally]
    rounds: int = 0
    acts: int = 0
    wagers: int = 0
    held: dict[str, int] = field(default_factory=dict)
    hits: list[BothHits] = field(default_factory=list)
    series: dict[str, list[Point]] = field(default_factory=dict)


def _unseen(done: int) -> None:
    """Nobody watches."""


def replay(
    link: Standing,
    proposed: LinkTerms,
    first: int,
    last: int,
    *,
    processes: int = 1,
    size: int = STRETCH,
    advance: Callable[[int], None] = _unseen,
) -> Sides:
    """Replay events `first` to `last` of a link under proposed terms, from the meters recorded before the first.

    In this process or in so many of their own, `size` events at a time. Raises NotReplayable for an event that this cannot
    decide, ProcessDied when a process ended before its time. `advance` is told of so many events more, and may raise.
    """
    width = max(1, -(-(last - first + 1) // POINTS))
    whole = Stretch(link.stream_id, link.version, proposed, first, last, width)
    house, meters = house_before(whole)
    joined = _Joined(whole, Alternative(house, proposed), tallies(meters))
    with in_processes(processes) as jobs:
        waiting = deque(
            jobs.submit(
                decide_stretch,
                Stretch(link.stream_id, link.version, proposed, begin, min(begin + size - 1, last), width),
            )
            for begin in range(first, last + 1, size)
        )
        while waiting:
            found = waiting.popleft()()
            joined.add(found)
            advance(found.part.last - found.part.first + 1)
    return joined.sides()


class _Joined:
    """The two sides on their way, stretch by stretch."""

    def __init__(self, whole: Stretch, would: Alternative, was: dict[str, Tally]) -> None:
        self.would = would
        self._sides = Sides(
            whole.proposed, whole.first, whole.last, was, would.levels, series={level: [] for level in was}
        )
        self._definitions = paytable_definitions()

    def add(self, decided: Decided) -> None:
        """The next stretch."""
        sides = self._sides
        for piece in decided.pieces:
            self._piece(piece)
        for level, tally in decided.was.items():
            sides.was[level].and_then(tally)
        sides.rounds += decided.rounds
        sides.acts += decided.acts

    def _piece(self, piece: Piece) -> None:
        would = self.would
        would.staked(piece.stakes_cents, piece.wagers)
        would.would_hold(piece.held)
        self._points(piece, piece.was_cents, piece.sequence - (piece.event is not None))
        if piece.event is None:
            return
        event = piece.event
        if event.kind == LOCK:
            assert event.raw is not None and event.received_at is not None, "it was read once"
            lock = locks.read(event.raw, would.house.tables)
            when = dated_by(lock.locked_at, event.received_at, would.house.tables[lock.table])
            would.lock(Lock(lock, when.moment))
        elif event.ends_lock and event.message_id is None:
            would.void_lock(act_of(msgspec.json.decode(event.cause or b"")))
        elif event.kind == ROUND or event.message_id is not None:
            assert event.raw is not None and event.received_at is not None, "it was decided once"
            message = decode(event.raw)
            if event.kind == ROUND:
                when = dated(message, event.received_at, would.house.tables[message.table])
                awards = would.round(Result(message, when.moment))
            else:
                key = (message.table, message.round)
                # What it was held for decides nothing: people's act says what becomes of it.
                found = RoundState(HELD, [], message, instant_nanoseconds(event.received_at))
                awards = would.decided_round(act_of(msgspec.json.decode(event.cause or b"")), key, found)
            came = read_result(event.settlement or event.result or b"{}")
            self._hits(event, came.awards, awards)
        else:
            would.carry(piece.moved)
            if event.kind in TERMS:
                would.change(changes_of(event, self._definitions))
        self._points(piece, piece.was_after_cents, piece.sequence)

    def _points(self, piece: Piece, was_cents: dict[str, int], sequence: int) -> None:
        for level, cents in was_cents.items():
            line = self._sides.series[level]
            point = Point(sequence, piece.at, cents, self.would.levels[level].meter.value_cents)
            if not line or point != line[-1]:
                line.append(point)

    def _hits(self, event: Recorded, was: Iterable[dict[str, Any]], would: Iterable[Award]) -> None:
        by_seat = {(award["seat"], award["level"]): award for award in would}
        for award in was:
            other = by_seat.pop((award["seat"], award["level"]), None)
            self._hit(event, award, award["paid_cents"], other["paid_cents"] if other else None)
        for other in by_seat.values():
            self._hit(event, other, None, other["paid_cents"])

    def _hit(self, event: Recorded, award: Any, was_cents: int | None, would_cents: int | None) -> None:
        if len(self._sides.hits) < MOST_HITS:
            at = event.recorded_at.isoformat()
            self._sides.hits.append(
                BothHits(event.sequence, at, award["level"], award["hand"], award["share_ppm"], was_cents, would_cents)
            )

    def sides(self) -> Sides:
        """What it all came to."""
        self._sides.wagers, self._sides.held = self.would.wagers, dict(self.would.held)
        return self._sides
