"""A stream looks at itself before the first round that a worker settles on it (REQUIREMENTS R21, R24).

A worker that has just started knows nothing of what happened to the database meanwhile: restored, repaired, changed by hand.
So the first visit of each process decides the last event once more and compares what every round builds on: the head of the
chain, the meters against the result that left them, the terms that rows show against the documents that they follow from.
`verify` looks at all the rest.
"""

from datetime import datetime

from accounting.event_queries import stray_documents
from accounting.queries import stream_row
from accounting.rules.events import TERMS
from devices.audit.findings import Difference, readable, same
from devices.audit.projections import compare_shown, shown
from devices.audit.replay import Range, replay_range
from devices.models import SignificantEvent, Stoppage
from jackpot.queries import meters_shown
from tables.queries.record import rows_beyond
from tables.services.rounds import StreamHead

FAILED = "self_check_failed"
SAID = "its own check failed"

_passed: set[int] = set()


class SelfCheckFailed(Exception):
    """What a stream stands on is not as it was recorded: nothing is settled on it until somebody has looked."""

    def __init__(self, stream: str, difference: Difference) -> None:
        super().__init__(f"{SAID}: {difference}")
        self.stream = stream


def forget() -> None:
    """Look again at every stream, as a process that has just started does."""
    _passed.clear()


def check(stream: StreamHead) -> None:
    """Look at a stream that the caller holds locked, once a process. Raises SelfCheckFailed with the first difference."""
    if stream.id in _passed:
        return
    code = stream_row(stream.id)[1]
    try:
        with readable(f"stream {code}"):
            _compare(stream, code)
    except Difference as difference:
        raise SelfCheckFailed(code, difference) from None
    _passed.add(stream.id)


def _compare(stream: StreamHead, code: str) -> None:
    where = f"stream {code}"
    last = stream.next_sequence - 1
    for sequence in stray_documents(stream.id, TERMS):
        raise Difference(f"{where}, sequence {sequence}", "digests of its documents", "those of the event", "others")
    replayed = replay_range(Range(stream.id, code, stream.terms_version, last, last, stream.next_sequence)).ended
    same(where, "head of the chain", replayed.head, stream.head)
    for what, beyond in rows_beyond(stream.id).items():
        same(where, f"{what} after the last event", None, beyond)
    meters = meters_shown(stream.id)
    same(where, "levels", set(replayed.meters), set(meters))
    for level, meter in replayed.meters.items():
        expected = [
            last, meter.value_cents, meter.residual_millionths, meter.reserve_cents, meter.reserve_residual_millionths,
            meter.overflow_cents, meter.overflow_residual_millionths,
        ]  # fmt: skip
        same(where, f"meter {level} after the last event", expected, list(meters[level][:7]))
    compare_shown(stream.id, code, stream.next_sequence, shown(stream.id))


def put_on_record(stream_id: int, failure: SelfCheckFailed, at: datetime) -> None:
    """Say once that a stream's check failed, however often it is tried again while it stands still for that."""
    if not Stoppage.objects.filter(stream_id=stream_id, reason__contains=SAID).exists():
        SignificantEvent.objects.create(
            recorded_at=at, code=FAILED, detail={"stream": failure.stream, "difference": str(failure)}
        )
