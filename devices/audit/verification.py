"""Verifying streams: each is cut into ranges of events, which may be replayed side by side, and joined again (SPEC §9).

Why the whole is as strong as one replay from the opening to the end: the first range begins from nothing. Every other begins
from the state recorded before it, and `joined` compares that with what the range before it made of its own events. So where
no range differs and no two ends differ, each range began from the very state that a replay from the opening comes to there.
A difference is named where such a replay would find it first: results are looked at in the order of the events, and what
a range beyond found counts only when all before it was as recorded.

A service may go on settling meanwhile. Verified is the stream as it stood when its snapshot was taken: its next sequence,
head, meters and totals, read in one transaction. Every event below that sequence was committed by then, and rows of events
are never changed; so whoever reads them later, in another transaction or process, reads the same. Terms are read when a
process first meets the stream: editions are added, never changed, and each says since when it is in force.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.db import connection, transaction

from accounting.queries import stream_row, streams, totals_of
from accounting.rules.accounts import of_level
from devices.audit.closings import compare_closed_days
from devices.audit.findings import Counts, Difference, ProcessDied, readable, same
from devices.audit.funds import compare_funds
from devices.audit.inbox_check import verify_inbox
from devices.audit.projections import Shown, compare_shown, compare_the_rest, shown
from devices.audit.readings import compare_readings
from devices.audit.replay import Range, Replayed, State, Sums, replay_range
from devices.audit.side_by_side import InThisProcess, Jobs, in_processes
from devices.audit.slips import verify_slips
from devices.audit.weeks import compare_weeks
from jackpot.queries import meters_shown
from tables.queries.record import rows_beyond
from tables.services import terms
from tables.services.lock_rows import waiting_now

__all__ = ["Counts", "Difference", "ProcessDied", "streams", "verify", "verify_stream"]

RANGE = 5_000
"""Events replayed in one go: under a second's work."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stream as it stood when its verification began."""

    id: int
    code: str
    next_sequence: int
    head: bytes
    terms_version: int
    meters: dict[str, tuple[int, ...]]
    totals: dict[tuple[str, date], tuple[int, int]]
    shown: Shown
    locks: int


def _unseen(what: str, done: int) -> None:
    """Nobody watches."""


def verify(
    stream_ids: Sequence[int], *, processes: int = 1, size: int = RANGE, advance: Callable[[str, int], None] = _unseen
) -> Counts:
    """Verify streams and the inbox, in this process or side by side in so many of their own, `size` events at a time.

    Raises the first Difference: of the streams in the order given, then of the inbox. Raises ProcessDied when a process
    ended before it was done, unless a difference was found before that. `advance` is told how many "events" or what
    of the "inbox" was done.
    """
    terms.forget()
    counts = Counts()
    with in_processes(processes) as jobs:
        inbox = jobs.submit(verify_the_rest)  # first: the server works at it while the streams are replayed
        replays = deque(_begin(jobs, stream_id, size) for stream_id in stream_ids)
        while replays:
            snapshot, results = replays.popleft()
            counts.add(joined(snapshot, _awaited(snapshot.code, results, lambda done: advance("events", done))))
        with readable("the rest"):
            counts.add(inbox())
        advance("inbox", 1)
    return counts


def verify_the_rest() -> Counts:
    """What belongs to no stream: the inbox, editions, the chart of accounts, the property, the audit trail, closed days,
    readings of meters, reviews of weeks, slips."""
    counts = verify_inbox()
    compare_the_rest()
    compare_closed_days()
    compare_readings()
    compare_weeks()
    compare_funds()
    counts.slips = verify_slips()
    return counts


def verify_stream(stream_id: int, *, size: int = RANGE) -> Counts:
    """Verify one stream in this process. Difference says where it first differs."""
    terms.forget()
    snapshot, results = _begin(InThisProcess(), stream_id, size)
    return joined(snapshot, _awaited(snapshot.code, results, lambda done: None))


Results = deque[Callable[[], Replayed]]


def _begin(jobs: Jobs, stream_id: int, size: int) -> tuple[Snapshot, Results]:
    snapshot = take_snapshot(stream_id)
    return snapshot, deque(jobs.submit(replay_range, part) for part in cut(snapshot, size))


def _awaited(code: str, results: Results, advance: Callable[[int], None]) -> Iterator[Replayed]:
    while results:
        with readable(f"stream {code}"):
            replayed = results.popleft()()
        advance(replayed.sums.counts.events)
        yield replayed


def take_snapshot(stream_id: int) -> Snapshot:
    """The stream as it stands, with its meters and totals, of one moment."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        stream = stream_row(stream_id)
        meters, totals, rows = meters_shown(stream_id), totals_of(stream_id), shown(stream_id)
        locks = waiting_now(stream_id)
    return Snapshot(*stream, meters, totals, rows, locks)


def cut(stream: Snapshot, size: int, since: int = 0) -> Iterator[Range]:
    """The stream's events from one on in ranges of at most `size`, none left out and none twice.

    An event that it does not begin with stands alone: whoever knows its hash can compare it before going on.
    """
    if since:
        yield Range(stream.id, stream.code, stream.terms_version, since, since, stream.next_sequence)
        since += 1
    for first in range(since, stream.next_sequence, size):
        last = min(first + size, stream.next_sequence) - 1
        yield Range(stream.id, stream.code, stream.terms_version, first, last, stream.next_sequence)


def joined(stream: Snapshot, ranges: Iterable[Replayed]) -> Counts:
    """Compare a stream as it stood with what its ranges, in their order, make together. Raises the first Difference."""
    reached = State()
    sums = Sums()
    for replayed in ranges:
        _handed_over(stream, reached, replayed.began)
        reached = replayed.ended
        sums.add(replayed.sums)
    with readable(f"stream {stream.code}"):
        _compare(stream, reached, sums)
    sums.counts.streams = 1
    return sums.counts


def _handed_over(stream: Snapshot, reached: State, began: State) -> None:
    where = f"stream {stream.code}, after sequence {reached.sequence}"
    same(where, "event that a range begins after", reached.sequence, began.sequence)
    same(where, "hash that a range begins with", reached.head, began.head)
    same(where, "meters that a range begins with", reached.meters, began.meters)
    same(where, "next hit that a range begins with", reached.next_hit, began.next_hit)


def _nothing_beyond(stream_id: int, where: str) -> None:
    """Rows that name an event after the last one, or before the opening, belong to nothing."""
    for what, sequence in rows_beyond(stream_id).items():
        if sequence is not None:
            place = "before the opening" if sequence < 0 else "after the last event"
            raise Difference(where, f"{what} {place}", "none", f"sequence {sequence}")


def _compare(stream: Snapshot, reached: State, sums: Sums) -> None:
    where = f"stream {stream.code}"
    same(where, "head of the chain", reached.head, stream.head)
    same(where, "next sequence", reached.sequence + 1, stream.next_sequence)
    _nothing_beyond(stream.id, where)
    same(where, "locks that wait for their results", sums.locks, stream.locks)
    same(where, "levels", set(reached.meters), set(stream.meters))
    for code, meter in reached.meters.items():
        sequence, *recorded = stream.meters[code]
        same(where, f"sequence of meter {code}", reached.sequence, sequence)
        expected = [
            meter.value_cents, meter.residual_millionths, meter.reserve_cents, meter.reserve_residual_millionths,
            meter.overflow_cents, meter.overflow_residual_millionths,
            sums.wagers, sums.hits[code], sums.wins_cents[code],
            sums.lifetime[code].contributed_millionths, sums.lifetime[code].reserved_millionths,
            sums.lifetime[code].overflowed_millionths, reached.next_hit,
        ]  # fmt: skip
        same(where, f"meter {code} (value, residual, reserve, its residual, overflow, its residual, wagers, hits, "
              "wins, contributed, reserved and overflowed for ever, next hit)", expected, list(recorded))  # fmt: skip
    expected_totals = {key: tuple(total) for key, total in sums.totals.items()}
    for key in sorted(expected_totals.keys() | stream.totals.keys()):
        account, day = key
        same(
            where,
            f"total of account {account} on {day} (debits, credits)",
            expected_totals.get(key),
            stream.totals.get(key),
        )
    for code, meter in reached.meters.items():
        for kind, cents in (
            ("liability", meter.value_cents),
            ("reserve", meter.reserve_cents),
            ("overflow", meter.overflow_cents),
        ):
            account = of_level(stream.code, code, kind)
            balance = sum(total[1] - total[0] for key, total in sums.totals.items() if key[0] == account)
            balance += sums.elsewhere[account]
            same(where, f"{kind} of level {code} in the ledger against its meter", cents, balance)
    sums.counts.accounts = len({account for account, _ in expected_totals})
    compare_shown(stream.id, stream.code, stream.next_sequence, stream.shown)
