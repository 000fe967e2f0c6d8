"""Four settling workers, gateways and people at three links, killed (SIGKILL) at random: nothing lost, doubled or half done.

    python3 -m tests.faults.crowded [--kills 200] [--seed 1] [--folder DIR]

Most die while they have written something and not committed it. `test_crowd.py` runs a short form.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from random import Random
from typing import Any

import psutil

from tests.rules.stages import EVERY_POLICY

PARTS = ("settle",) * 4 + ("act",) * 3 + ("gateway",) * 2
AT_WORK = """
    SELECT application_name FROM pg_stat_activity
    WHERE starts_with(application_name, 'crowd ') AND backend_xid IS NOT NULL
"""
PROGRESS = "SELECT (SELECT count(*) FROM devices_message) + (SELECT sum(next_sequence) FROM accounting_stream)"
WITHIN_SECONDS = 120.0
A_MOMENT_SECONDS = 1.0
SIDES = """
    SELECT kind, count(*), count(DISTINCT event.stream_id) FROM accounting_event event
    JOIN accounting_document USING (stream_id, sequence)
    WHERE kind IN ('level.transfer', 'table.join', 'table.leave') GROUP BY kind, cause, result
"""


@dataclass(slots=True)
class Outcome:
    """What a crowd came to; `struck` by the part that died and whether it was writing."""

    struck: Counter[str]
    done: Counter[str]
    refused: Counter[str]
    accepted: int
    stored: int
    ends: dict[str, int]
    events: int
    seconds: float

    def __str__(self) -> str:
        return "\n".join([
            f"{self.struck.total()} killed: " + counted(self.struck),
            f"{self.accepted:,} messages said to be accepted of {self.stored:,} stored: " + counted(Counter(self.ends)),
            f"{self.done.total():,} acts said to be done: {counted(self.done)}",
            f"{self.refused.total():,} refused: {counted(self.refused)}",
            f"{self.events:,} events; {self.seconds:,.0f} s; verified, and every account balanced",
        ])  # fmt: skip


def counted(what: Counter[str]) -> str:
    """A count of each, the most first."""
    return ", ".join(f"{count:,} × {name}" for name, count in what.most_common())


class Crowd:
    """The processes that live, on the database that this process is connected to."""

    def __init__(self, environment: dict[str, str], *, seed: int) -> None:
        self.chance = Random(f"{seed}/crowd")
        self.alive: dict[int, str] = {}
        self.struck: Counter[str] = Counter()
        self.heard: list[dict[str, Any]] = []
        self._forked = 0
        self._answers: Queue[dict[str, Any]] = Queue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.crowd"], env=environment, cwd=Path(__file__).parents[2], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        assert self._answers.get(timeout=WITHIN_SECONDS) == {"ready": True}

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if said.keys() <= {"ready", "pid"}:
                self._answers.put(said)
            else:
                self.heard.append(said)

    def fork(self, part: str) -> None:
        """One more."""
        self._forked += 1
        assert self._process.stdin is not None
        self._process.stdin.write(f"{part} {self._forked}\n")
        self._process.stdin.flush()
        self.alive[self._answers.get(timeout=WITHIN_SECONDS)["pid"]] = part

    def strike(self) -> None:
        """Kill somebody, who is writing if anybody is soon, and let another take the place."""
        victim, how = self.chance.choice(list(self.alive)), "at some moment"
        if self.chance.random() < 0.75:
            give_up = time.monotonic() + A_MOMENT_SECONDS
            while time.monotonic() < give_up:
                writing = [int(name.split()[1]) for (name,) in _rows(AT_WORK)]
                if here := [pid for pid in writing if pid in self.alive]:
                    victim, how = self.chance.choice(here), "while it wrote"
                    break
        else:
            time.sleep(self.chance.uniform(0, 0.2))
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            self.struck[f"{self.alive[victim]} {how}"] += 1
        self.fork(self.alive.pop(victim))

    def end(self, *parts: str) -> None:
        """Let these finish what they are at, and go."""
        going = [pid for pid, part in self.alive.items() if part in parts]
        for pid in going:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        give_up = time.monotonic() + WITHIN_SECONDS
        while any(psutil.pid_exists(pid) for pid in going):
            assert time.monotonic() < give_up, "somebody does not end"
            time.sleep(0.05)
        for pid in going:
            del self.alive[pid]

    def over(self) -> None:
        """Nobody is left."""
        for pid in self.alive:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(WITHIN_SECONDS)
        self._listener.join(WITHIN_SECONDS)


def _rows(query: str) -> list[tuple[Any, ...]]:
    from tests.services.house import rows

    return rows(query)


def crowded(environment: dict[str, str], *, kills: int, seed: int, report: Any = None) -> Outcome:
    """Let a crowd play and strike it so often; AssertionError where something is lost, doubled or half done.

    The database must have the first floor of every policy, and nothing on record.
    """
    began = time.monotonic()
    crowd = Crowd(environment, seed=seed)
    try:
        for part in PARTS:
            crowd.fork(part)
        for number in range(kills):
            _wait_for_more(crowd)
            crowd.strike()
            if report is not None and (number + 1) % 10 == 0:
                report(
                    f"{number + 1} killed, {_rows(PROGRESS)[0][0]:,} messages and events, {time.monotonic() - began:,.0f} s"
                )
        _wait_for_more(crowd)
        crowd.end("gateway", "act")
        give_up = time.monotonic() + WITHIN_SECONDS
        while _rows("SELECT count(*) FROM devices_queued") != [(0,)]:
            assert time.monotonic() < give_up, "messages still wait"
            time.sleep(0.05)
        crowd.end("settle")
    finally:
        crowd.over()
    return _account(crowd, time.monotonic() - began)


def _wait_for_more(crowd: Crowd, more: int = 4) -> None:
    """Whoever is killed next finds work done since."""
    ((before,),) = _rows(PROGRESS)
    give_up = time.monotonic() + WITHIN_SECONDS
    while _rows(PROGRESS)[0][0] < before + more:
        assert not (wrong := [said["wrong"] for said in crowd.heard if "wrong" in said]), wrong
        assert time.monotonic() < give_up, "nothing goes on"
        time.sleep(0.02)


def _account(crowd: Crowd, seconds: float) -> Outcome:
    """Everything that was said is there, everything that is there is whole, and all of it can be decided again."""
    from devices.audit import verification
    from tests.services import auditor

    wrong = [said["wrong"] for said in crowd.heard if "wrong" in said]
    assert wrong == []
    accepted = {message_id for said in crowd.heard for message_id in said.get("accepted", ())}
    stored = {message_id for (message_id,) in _rows("SELECT id FROM devices_message")}
    assert accepted <= stored, f"lost: {sorted(accepted - stored)[:5]}"
    done = [said for said in crowd.heard if "done" in said]
    on_record = {
        (stream, sequence): kind
        for stream, sequence, kind in _rows(
            "SELECT code, sequence, kind FROM accounting_event event JOIN accounting_stream s ON s.id = event.stream_id"
        )
    }
    for said in done:
        assert on_record[said["stream"], said["sequence"]] == said["done"], said
    assert len({(said["stream"], said["sequence"]) for said in done}) == len(done), "two have the same event"
    for kind, events, streams in _rows(SIDES):
        assert (events, streams) == (2, 2), f"{kind} on {streams} streams, {events} times"
    for stream_id, code, next_sequence, head in _rows("SELECT id, code, next_sequence, head FROM accounting_stream"):
        auditor.chain_holds(stream_id, code, next_sequence, bytes(head))
    auditor.totals_are_the_transfers()
    auditor.meters_are_the_liability()
    auditor.every_message_is_somewhere_once()
    verification.verify([stream_id for stream_id, _, _ in verification.streams()])
    ends = dict(_rows("""
        SELECT outcome, count(*) FROM (
            SELECT outcome FROM tables_round UNION ALL SELECT 'lock ' || state FROM tables_lock
            UNION ALL SELECT 'lock ' || outcome FROM tables_locksetaside
            UNION ALL SELECT 'held' FROM tables_hold hold
                WHERE NOT EXISTS (SELECT FROM tables_round round WHERE round.message_id = hold.message_id)
        ) ends GROUP BY outcome
    """))  # fmt: skip
    refused = Counter(said["refused"] for said in crowd.heard if "refused" in said)
    acts = Counter(said["done"] for said in done)
    return Outcome(crowd.struck, acts, refused, len(accepted), len(stored), ends, len(on_record), seconds)


@contextmanager
def floor_of_its_own() -> Iterator[None]:
    """A new database with the first floor of every policy, on the server in hand."""
    from django.db import connections

    from jackpot.config.embedded_postgres import DATABASE
    from tables.services import floors
    from tests.scenarios.lived import everything_forgotten
    from tests.services.house import OPENED

    name, settings = f"crowd_{os.getpid()}", connections.settings["default"]

    def at_the_server(statement: str) -> None:
        connections.close_all()
        settings["NAME"] = "postgres"
        with connections["default"].cursor() as cursor:
            cursor.execute(statement)
        connections.close_all()

    at_the_server(f"CREATE DATABASE {name} TEMPLATE {DATABASE}")
    try:
        settings["NAME"] = name
        everything_forgotten()
        floors.install(EVERY_POLICY[0].text, at=OPENED)
        yield
    finally:
        at_the_server(f"DROP DATABASE {name} WITH (FORCE)")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.faults.crowded",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "jackpot-crowd")
    chosen = parser.parse_args()
    from tests.scenarios.histories import server

    with server(chosen.folder), floor_of_its_own():
        from tests.conftest import service_environment

        say = lambda words: print(words, flush=True)  # noqa: E731
        print(crowded(service_environment(), kills=chosen.kills, seed=chosen.seed, report=say), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
