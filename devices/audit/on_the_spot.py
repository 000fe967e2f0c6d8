"""One event decided again where somebody looks at it: what was compared, in words, or the first difference.

The same replay as everywhere, of two events: the one in hand and the one before, whose meters it starts from. So its start is
not taken on trust, and its hash stands between the one before and the one after. All before that is for `verify`.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from accounting.event_queries import event_shown, transfers_of
from accounting.queries import stream_ids, stream_row
from accounting.rules.events import ROUND
from accounting.services.closed_days import signed_over
from devices.audit.findings import Difference, readable, same
from devices.audit.replay import Range, Replayed, State, replay_range
from jackpot.rules.meter import Meter
from tables.services import terms


class Compared(NamedTuple):
    """Something that was worked out again and found as it is recorded: what, and how in words."""

    what: str
    words: str


class Moved(NamedTuple):
    """A level's meter before the event and after it, as the rules have it; whole cents and millionths of one."""

    level: str
    before_cents: int
    before_millionths: int
    after_cents: int
    after_millionths: int


@dataclass(frozen=True, slots=True)
class OnTheSpot:
    """What looking at one event came to; `difference` is empty where all is as recorded."""

    stream: str
    sequence: int
    compared: tuple[Compared, ...]
    meters: tuple[Moved, ...]
    difference: str
    milliseconds: int

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.difference

    def shown(self) -> dict[str, Any]:
        """As the API shows it."""
        return {
            "stream": self.stream,
            "sequence": self.sequence,
            "ok": self.ok,
            "compared": [each._asdict() for each in self.compared],
            "meters": [each._asdict() for each in self.meters],
            "difference": self.difference or None,
            "milliseconds": self.milliseconds,
        }


def look(code: str, sequence: int) -> OnTheSpot:
    """Decide an event of a stream again, and the one before it. Raises LookupError for a stream or an event that is not."""
    began = perf_counter()
    stream_id = stream_ids([code])[code]
    stream = stream_row(stream_id)
    if not 0 <= sequence < stream[2]:
        raise LookupError(f"no event {sequence} of stream {code}")
    terms.forget()  # as they are on record now, not as this process read them once
    compared: tuple[Compared, ...] = ()
    meters: tuple[Moved, ...] = ()
    difference = ""
    try:
        with readable(f"stream {code}, sequence {sequence}"):
            before = _alone(stream, sequence - 1) if sequence else None
            replayed = _alone(stream, sequence)
            if before is not None:
                _handed_over(code, before.ended, replayed.began)
            event = event_shown(stream_id, sequence)
            follows = _chained(stream, event)
            compared = (
                *_of_the_event(stream_id, event, replayed),
                Compared("Hash", f"computed again from its parts: {event['hash']}. {follows}"),
                _signed(stream_id, sequence),
            )
            meters = _meters(replayed)
    except Difference as found:
        difference = str(found)
    return OnTheSpot(code, sequence, compared, meters, difference, round((perf_counter() - began) * 1000))


def _alone(stream: tuple[int, str, int, bytes, int], sequence: int) -> Replayed:
    stream_id, code, events, _, version = stream
    return replay_range(Range(stream_id, code, version, sequence, sequence, events))


def _handed_over(code: str, reached: State, began: State) -> None:
    where = f"stream {code}, after sequence {reached.sequence}"
    same(where, "hash", reached.head, began.head)
    same(where, "meters", reached.meters, began.meters)
    same(where, "next hit", reached.next_hit, began.next_hit)


def _chained(stream: tuple[int, str, int, bytes, int], event: dict[str, Any]) -> str:
    """Compare what comes after the event with its hash; what that is, in words."""
    stream_id, code, events, head, _ = stream
    following = event["sequence"] + 1
    if following == events:
        same(f"stream {code}", "head of the chain", event["hash"], head.hex())
        return "It is the head of its stream."
    after = event_shown(stream_id, following)["previous"]
    same(f"stream {code}, sequence {following}", "hash of the event before", event["hash"], after)
    return f"Event {following:,} names it as the one before."


def _of_the_event(stream_id: int, event: dict[str, Any], replayed: Replayed) -> list[Compared]:
    counts, is_round = replayed.sums.counts, event["kind"] == ROUND
    cause = "message as the table posted it, in canonical JSON," if is_round else "cause of the event"
    booked = transfers_of(stream_id, event["sequence"])
    total = sum(row["amount_cents"] for row in booked)
    found = [
        Compared("Message" if is_round else "Cause", f"the {cause} has the SHA-256 {event['message_digest']}"),
        Compared(
            "Settlement" if counts.rounds else "Result",
            f"decided again by rules edition {event['rules']} under the terms of its own time: the same to the byte,"
            f" SHA-256 {event['result_digest']}",
        ),
        Compared(
            "Ledger",
            f"{_so_many(counts.transfers, 'transfer')} follow from it and are booked so, {total // 100:,}.{total % 100:02d}"
            f" dollars in all, on gaming day {event['gaming_date']}",
        ),
    ]
    if counts.rounds:
        paid = (
            f"{_so_many(counts.payouts, 'payout')} and {_so_many(counts.hits, 'hit')} follow from it and are on record,"
            " no other is"
        )
        found.insert(2, Compared("Payouts", paid))
    return found


def _so_many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _signed(stream_id: int, sequence: int) -> Compared:
    over = signed_over(stream_id, sequence)
    if over is None:
        return Compared("Signed", "not yet: no gaming day was closed on its stream since")
    day, at = over
    return Compared("Signed", f"it lies under event {at:,} of its stream, whose hash was signed when {day} was closed")


def _meters(replayed: Replayed) -> tuple[Moved, ...]:
    before, after = replayed.began.meters, replayed.ended.meters
    none = Meter(0)
    return tuple(
        Moved(
            level,
            before.get(level, none).value_cents,
            before.get(level, none).residual_millionths,
            meter.value_cents,
            meter.residual_millionths,
        )
        for level, meter in after.items()
    )
