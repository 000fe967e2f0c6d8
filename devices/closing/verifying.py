"""Verifying every stream as far as it has come, from the head that was signed last: what a day's closing asks for.

The whole record is verified by `manage.py verify` from the openings on. Here each stream is replayed from the event that
closed the last day, whose hash was signed: it was verified when that day was closed, and its result has the meters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from accounting.queries import streams
from accounting.rules.heads import Head
from accounting.services import closed_days
from devices.audit.findings import Difference, readable, same
from devices.audit.replay import State, replay_range
from devices.audit.verification import RANGE, Snapshot, cut, take_snapshot
from tables.services import terms


@dataclass(slots=True)
class Verified:
    """How much was looked at."""

    streams: int = 0
    events: int = 0


def verify_all(*, at: datetime, advance: Callable[[int], None] = lambda done: None) -> Verified:
    """Verify every stream from its last signed head to its end, and put on record how far. Raises the first Difference.

    What was verified before the difference stays on record.
    """
    terms.forget()
    signed, found = closed_days.last_heads(), Verified()
    for stream_id, _, _ in streams():
        head = signed.get(stream_id)
        stream = take_snapshot(stream_id)
        with readable(f"stream {stream.code}"):
            reached = _since(stream, head, advance)
        first = 0 if head is None else head.sequence
        closed_days.note_verified(stream_id, first, Head(stream.code, reached.sequence, reached.head), at=at)
        found.streams += 1
        found.events += reached.sequence - first + 1
    return found


def events_to_verify() -> int:
    """How many events that would be."""
    signed = closed_days.last_heads()
    return sum(number - (signed[id_].sequence if id_ in signed else 0) for id_, _, number in streams())


def _since(stream: Snapshot, head: Head | None, advance: Callable[[int], None]) -> State:
    where = f"stream {stream.code}"
    first = 0 if head is None else head.sequence
    reached: State | None = None
    for part in cut(stream, RANGE, first):
        replayed = replay_range(part)
        if reached is not None:
            same(where, f"state before sequence {part.first}", reached, replayed.began)
        reached = replayed.ended
        if head is not None and part.first == first and part.last == first:
            same(where, f"signed hash of event {first}", head.hash, reached.head)
        advance(part.last - part.first + 1)
    if reached is None:
        raise Difference(where, "events", f"one at sequence {first}", "none")
    same(where, "head of the chain", reached.head, stream.head)
    same(where, "next sequence", reached.sequence + 1, stream.next_sequence)
    same(where, "levels", set(reached.meters), set(stream.meters))
    for code, meter in reached.meters.items():
        same(where, f"meter {code} after the last event", [reached.sequence, *meter], list(stream.meters[code][:7]))
    return reached
