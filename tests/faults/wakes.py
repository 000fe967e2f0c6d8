"""Wakes without end: whoever listens to the broker reads, so that no session fills up and none holds the server back.

    python3 -m tests.faults.wakes --count 20000

brings up a service of its own, has every publisher declare its queues, sends so many wakes through the broker and looks
at the server meanwhile: who listens, who hangs writing to a client, how full the notification queue is, and how far the
oldest snapshot lies behind.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from jackpot.config.embedded_postgres import BROKER
from tests.faults.hall import Hall, eventually

LOOK_SECONDS = 0.25

# Who said LISTEN last. A session that reads says nothing else; one that does not has often hung by now.
LISTENERS: LiteralString = """
    SELECT application_name, query FROM pg_stat_activity WHERE query ILIKE 'LISTEN%' AND backend_type = 'client backend'
"""
LOOK: LiteralString = """
    SELECT pg_notification_queue_usage(),
        count(*) FILTER (WHERE wait_event = 'ClientWrite'),
        coalesce(max(age(backend_xmin)) FILTER (WHERE pid <> pg_backend_pid()), 0)
    FROM pg_stat_activity WHERE backend_type = 'client backend'
"""


@dataclass(slots=True)
class Watch:
    """What was seen of the server while wakes went through it."""

    usage: list[float] = field(default_factory=list)
    hanging: list[int] = field(default_factory=list)
    behind: list[int] = field(default_factory=list)

    def look(self, server: psycopg.Connection[Any]) -> None:
        """Look once."""
        row = server.execute(LOOK).fetchone()
        assert row is not None
        self.usage.append(row[0])
        self.hanging.append(row[1])
        self.behind.append(row[2])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of it. `behind` is in transactions; the last figures are of a server at rest."""

    wakes: int
    seconds: float
    listeners: tuple[str, ...]
    most_usage: float
    most_hanging: int
    last_usage: float
    last_hanging: int
    last_behind: int
    settled_ms: float

    def __str__(self) -> str:
        return (
            f"{self.wakes:,} wakes in {self.seconds:.0f} s; listening: {', '.join(sorted(self.listeners))}\n"
            f"notification queue: {self.most_usage:.6f} full at most, {self.last_usage:.6f} at the end\n"
            f"sessions that hang writing to a client: {self.most_hanging} at most, {self.last_hanging} at the end\n"
            f"oldest snapshot at the end: {self.last_behind} transactions behind\n"
            f"one round, from its post to its settlement: {self.settled_ms:.1f} ms (median)"
        )


def publish(count: int, stream: int) -> None:
    """Send so many wakes of a stream, as the web process does."""
    from jackpot.config.celery import app

    for _ in range(count):
        app.send_task("devices.tasks.settle", [stream])


def settled_ms(hall: Hall, rounds: int = 30) -> float:
    """How long one round takes from its post to its settlement on a quiet floor, in milliseconds."""
    took = []
    with hall.client() as client:
        for dealt in (each for each in hall.deal(rounds * 8) if each.table == "SK-1"):
            began = time.monotonic()
            answer = client.post("/api/v1/rounds", json=dealt.message, headers={"Prefer": "wait=5"})
            took.append((time.monotonic() - began) * 1_000)
            assert answer.status_code == 200, answer.text
            time.sleep(0.1)  # the next one is woken for by itself
    return statistics.median(took)


def soak(hall: Hall, count: int) -> Outcome:
    """Send wakes through a service that is up."""
    milliseconds = settled_ms(hall)
    stream = hall.number("SELECT id FROM accounting_stream WHERE code = 'soak'")
    watch = Watch()
    over = threading.Event()

    def watching() -> None:
        with hall.server.connect() as server:
            while not over.wait(LOOK_SECONDS):
                watch.look(server)

    watcher = threading.Thread(target=watching)
    watcher.start()
    began = time.monotonic()
    try:
        sent = hall.python("-m", "tests.faults.wakes", "--publish", str(count), str(stream))
        assert sent.returncode == 0, sent.stderr.decode()
        seconds = time.monotonic() - began
        with hall.server.connect(BROKER) as broker:
            empty = "SELECT count(*) = 0 FROM pgmq.q_settle"
            eventually(lambda: broker.execute(empty).fetchone() == (True,), "the wakes are not taken", within=600)
    finally:
        over.set()
        watcher.join()
    with hall.server.connect() as server:
        last = Watch()
        # A snapshot is taken and let go all the time; what is pinned stays behind.
        for _ in range(20):
            last.look(server)
            time.sleep(0.05)
        listeners = [f"{name or '(nameless)'}: {query.split()[-1]}" for name, query in server.execute(LISTENERS)]
    return Outcome(
        wakes=count,
        seconds=seconds,
        listeners=tuple(listeners),
        most_usage=max(watch.usage, default=0.0),
        most_hanging=max(watch.hanging, default=0),
        last_usage=min(last.usage),
        last_hanging=min(last.hanging),
        last_behind=min(last.behind),
        settled_ms=milliseconds,
    )


def main() -> None:
    """The long form, from the command line."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.faults.wakes", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=20_000, help="wakes to send (20,000)")
    parser.add_argument("--publish", nargs=2, type=int, metavar=("COUNT", "STREAM"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        publish(*options.publish)
        return
    with tempfile.TemporaryDirectory(prefix="jackpot-wakes-") as folder:
        Path(folder).chmod(0o711)  # the database's user must reach its files
        with Hall(Path(folder), tables=4).up() as hall:
            print(soak(hall, options.count))


if __name__ == "__main__":
    main()
