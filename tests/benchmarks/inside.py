"""What is measured inside the product's own code, in a process of its own on the database that the environment names."""

import json
import math
import os
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
django.setup()

import psutil  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from devices import posting  # noqa: E402
from devices.intake import directory, inbox, self_check, settling  # noqa: E402
from tests.benchmarks.clients import percentile  # noqa: E402
from tests.benchmarks.stopwatch import Stopwatch  # noqa: E402

MEASURES: dict[str, Callable[..., dict[str, Any]]] = {}


def measure(act: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A function that `python -m tests.benchmarks.inside [[NAME, OPTIONS], …]` runs."""
    MEASURES[act.__name__] = act
    return act


class Used:
    """Wall time, this process's CPU and its database backend's CPU since the start."""

    def __init__(self) -> None:
        connection.ensure_connection()
        self.backend = psutil.Process(connection.connection.info.backend_pid)
        self.started = time.time()
        self.began = time.perf_counter()
        self.python = time.process_time()
        self.server = self._server()

    def _server(self) -> float:
        times = self.backend.cpu_times()
        return times.user + times.system

    def since(self) -> dict[str, float]:
        """Seconds: wall, python (this process), postgres (its backend); and when it began and ended by the clock."""
        return {
            "wall": time.perf_counter() - self.began,
            "python": time.process_time() - self.python,
            "postgres": self._server() - self.server,
            "started": self.started,
            "ended": time.time(),
        }


@measure
def accept(file: str, batch: int = 1_000) -> dict[str, Any]:
    """Read messages at the door and store them, `batch` a transaction, as the web process does."""
    bodies = Path(file).read_bytes().splitlines()
    known = directory.current()
    caller = directory.Caller(0, "bench", frozenset(known.addresses))
    used = Used()
    reading = 0.0
    for first in range(0, len(bodies), batch):
        began = time.perf_counter()
        post = posting.read(b"[" + b",".join(bodies[first : first + batch]) + b"]", caller, known, timezone.now())
        reading += time.perf_counter() - began
        assert isinstance(post, posting.Post), post
        inbox.accept(post.arrivals)
    return {"messages": len(bodies), "reading": reading, **used.since()}


@measure
def drain(split: bool = False, limit: int = settling.BATCH, most: int | None = None) -> dict[str, Any]:
    """Settle everything that waits; with `split`, where the time goes (which costs some itself)."""
    watch = Stopwatch()
    if split:
        _split(watch)
    settling.streams_waiting()  # the connection is open and the terms' code is imported
    used = Used()
    messages = 0
    while streams := settling.streams_waiting():
        before = messages
        for stream_id in streams:
            batch = settling.settle_next(stream_id, clock=timezone.now, limit=limit).batch
            messages += batch.settled + batch.held
        if messages == before:
            time.sleep(0.001)  # other workers are at all of them
        if most is not None and messages >= most:
            break
    return {"messages": messages, **used.since(), "split": dict(watch.seconds)}


def _split(watch: Stopwatch) -> None:
    from accounting.services import copying, gaming_days, ledger
    from jackpot.services import meters
    from tables.rules import books, deciding
    from tables.services import rounds
    from tables.services.recording import Recorder

    watch.watch("take the batch", settling, "_settle")
    watch.watch("attempt", settling, "_attempt")
    watch.watch("look at itself", self_check, "check")
    watch.watch("decode", rounds._Settling, "prepare")
    watch.watch("rules", rounds, "decide_result")
    watch.watch("rules", deciding, "settle")
    watch.watch("rules", books, "posting")
    watch.watch("rows and chain", Recorder, "round")
    watch.watch("rows and chain", ledger.Journal, "post")
    watch.watch("meters", meters, "read")
    watch.watch("meters", meters.LinkMeters, "write")
    watch.watch("rows and chain", meters.LinkMeters, "apply")
    watch.watch("gaming day", gaming_days, "hold_open")
    watch.watch("handing over", copying.Copying, "send")
    watch.watch("handing over", copying.Copying, "step")
    watch.watch("waiting for COPY", copying.Copying, "finish")
    watch.watch("totals, stream", ledger.Journal, "close")
    watch.watch("commit", connection, "_commit")


@measure
def one_by_one(file: str, seconds: float | None = None) -> dict[str, Any]:
    """Accept and settle message after message, for so long; seconds from each one's arrival to its settlement's commit."""
    known = directory.current()
    caller = directory.Caller(0, "bench", frozenset(known.addresses))
    took = []
    used = Used()
    over = math.inf if seconds is None else time.perf_counter() + seconds
    with Path(file).open("rb") as lines:
        for body in lines:
            began = time.perf_counter()
            if began > over:
                break
            post = posting.read(body.rstrip(), caller, known, timezone.now())
            assert isinstance(post, posting.Post), post
            inbox.accept(post.arrivals)
            settling.settle_next(post.arrivals[0].stream_id, clock=timezone.now)
            took.append(time.perf_counter() - began)
    return {
        "messages": len(took),
        **used.since(),
        "p50": percentile(took, 50),
        "p99": percentile(took, 99),
        "longest": max(took),
        "last_tenth": percentile(took[-max(1, len(took) // 10) :], 50),
    }


@measure
def settle_until(file: str, over: str) -> dict[str, Any]:
    """Accept and settle round after round until a file is there; from when to when each one took, in seconds since 1970."""
    known = directory.current()
    caller = directory.Caller(0, "bench", frozenset(known.addresses))
    spans: list[tuple[float, float]] = []
    with Path(file).open("rb") as lines:
        for body in lines:
            if Path(over).exists():
                break
            post = posting.read(body.rstrip(), caller, known, timezone.now())
            assert isinstance(post, posting.Post), post
            inbox.accept(post.arrivals)
            began = time.time()
            while not settling.settle_next(post.arrivals[0].stream_id, clock=timezone.now).batch.dealt_with:
                time.sleep(0.001)  # a close holds the stream: whoever is told when it ends goes on
            spans.append((began, time.time()))
    return {"spans": spans}


@measure
def close_days(closes: int, pause: float = 0.25) -> dict[str, Any]:
    """Close gaming days of long ago, one after the other, as the office does; from when to when every stream was held."""
    from datetime import date, timedelta

    from django.db import transaction

    from accounting.services import audit, closed_days
    from jackpot.rules.decision import Act
    from tables.services import days

    held: list[float] = []
    hold = closed_days.hold_streams

    def noted() -> Any:
        streams = hold()
        held.append(time.time())
        return streams

    closed_days.hold_streams = noted
    spans: list[tuple[float, float]] = []
    for number in range(closes):
        at, day = timezone.now(), (date(2000, 1, 1) + timedelta(days=number)).isoformat()
        with transaction.atomic():
            act = Act("day.close", day, at.isoformat(), {"sequences": {}})
            events = days.perform(act, at=at, by="accounting", reason="bench")
            audit.record(at=at, actor="controller", action="perform", subject=day, detail={"events": len(events)})
        spans.append((held[-1], time.time()))
        time.sleep(pause)
    return {"held": spans}


@measure
def pages(queries: dict[str, dict[str, str]], times: int, limit: int = 100) -> dict[str, Any]:
    """Milliseconds of each kind of page: one after the other by cursor, `times` pages, first ones again when it ends."""
    from tables.queries import payouts

    found: dict[str, Any] = {}
    for name, filters in queries.items():
        took: list[float] = []
        rows = 0
        cursor: str | None = None
        for _ in range(times):
            asked = {**filters, "cursor": cursor} if cursor else filters
            began = time.perf_counter()
            page = payouts.page(asked, limit=limit)
            took.append(time.perf_counter() - began)
            rows += len(page.items)
            cursor = page.next
        found[name] = {
            "rows": rows,
            **{f"p{share}": percentile(took, share) * 1000 for share in (50, 95, 99)},
            "most": max(took) * 1000,
        }
    return found


@measure
def explain(times: int) -> dict[str, Any]:
    """Milliseconds of the explanation of payouts spread over the whole history."""
    from devices.queries import explanation_of
    from tables.queries import payouts

    with connection.cursor() as cursor:
        cursor.execute("SELECT id, code, next_sequence FROM accounting_stream ORDER BY next_sequence DESC LIMIT 1")
        stream_id, code, upto = cursor.fetchone()
        step = max(1, upto // times)
        cursor.execute(
            "SELECT sequence, min(line) FROM tables_payout WHERE stream_id = %s AND sequence = ANY(%s) GROUP BY sequence",
            [stream_id, list(range(1, upto, step))],
        )
        keys = cursor.fetchall()
    took = []
    for sequence, line in keys:
        began = time.perf_counter()
        assert explanation_of(payouts.payout_id(code, sequence, line)) is not None
        took.append(time.perf_counter() - began)
    return {"payouts": len(took), **{f"p{share}": percentile(took, share) * 1000 for share in (50, 95, 99)}}


@measure
def export(most: int) -> dict[str, Any]:
    """Rows a second of the streamed history, and how much memory that took at its peak."""
    from tables.queries import payouts

    process = psutil.Process()
    before = process.memory_info().rss
    peak = before
    used = Used()
    rows = 0
    for _ in islice(payouts.every({}), most):
        rows += 1
        if rows % 5_000 == 0:
            peak = max(peak, process.memory_info().rss)
    return {"rows": rows, **used.since(), "grown_mib": (peak - before) / 2**20, "peak_mib": peak / 2**20}


def main(steps: str) -> None:
    """Run measures one after the other and print what each found as a line."""
    for name, options in json.loads(steps):
        print(json.dumps(MEASURES[name](**options)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
