"""A long simulated run during which the settling worker is killed again and again, and a full account afterwards.

    .venv/bin/python -m tests.faults.soak [--rounds 20000] [--kills 3] [--tables 8] [--seed 1]

Everything is real: `manage.py up` in a folder of its own, rounds through HTTP from gateways that lose lines and send
twice, kill -9 while the worker has written inside a transaction. The account looks from outside: what the API lists is
what was dealt, each round once, in an order that `manage.py settle` gives the same settlements for; then
`manage.py verify` looks from inside. tests/faults/test_soak.py runs a short form.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import httpx
import psycopg

from devices.simulator import rig
from devices.simulator.gateway import Weather
from devices.simulator.irregularities import Rates
from devices.simulator.run import RUSH, Plan, Run, Service, default_prefix, load_floor
from devices.simulator.table import Dealt
from jackpot.config.embedded_postgres import EmbeddedPostgres

ROOT = Path(__file__).resolve().parents[2]
LINK = "soak"
NOT_INHERITED = ("DATABASE_URL", "CELERY_BROKER_URL", "JACKPOT_DATA", "JACKPOT_DEMO", "DJANGO_SETTINGS_MODULE")
BACK_WITHIN_SECONDS = 20.0
STORM = Weather(outage=1 / 60, late=1 / 60, again=1 / 40, drop=1 / 80)
MISHAPS = Rates(times=10)

# A worker that has written and not committed: the worst moment to die.
WRITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'jackpot settle' AND backend_xid IS NOT NULL
"""
RECORDED = "SELECT count(*) FROM tables_round"
QUEUED = "SELECT count(*) FROM devices_queued"


def floor_text(tables: int) -> str:
    """A floor of `tables` tables on one link that has little room below its limit, so that overflow happens too."""
    text = """
[property]
code = "SOAK"
name = "Soak Hall"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "MA"

[[links]]
code = "soak"
name = "Soak"
paytable = "ms-mg-01"
decks = 1
[[links.levels]]
code = "major"
reset_cents = 1000000
rate_ppm = 170003
reserve_ppm = 30011
limit_cents = 1060000
"""
    for number in range(1, tables + 1):
        text += f"""
[[tables]]
code = "SK-{number}"
game = "mississippi-stud"
seats = 6
decks = 1
minimum_cents = 1000
maximum_cents = 50000
link = "soak"
paytables = {{ base = "ms-base", three_card_bonus = "3cs-0{1 + number % 6}", cover_all = "ms-cover-all" }}
terms = {{ progressive_survives_fold = {"true" if number % 2 else "false"} }}
"""
    return text


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill -9: rounds recorded just then, messages waiting, and how long until somebody settled again."""

    recorded: int
    queued: int
    back_after_seconds: float


@dataclass(slots=True)
class Account:
    """What a soak came to."""

    dealt: int = 0
    settled: int = 0
    void: int = 0
    held: int = 0
    hits: int = 0
    receipts: Counter[str] = field(default_factory=Counter)
    kills: list[Kill] = field(default_factory=list)
    seconds: float = 0.0
    verified: str = ""

    def __str__(self) -> str:
        lines = [
            f"{self.dealt:,} rounds dealt = {self.settled:,} settled + {self.void:,} void + {self.held:,} held",
            f"{self.hits} hits; receipts {dict(self.receipts)}; {self.seconds:.1f} s from first deal to empty queue",
        ]
        for kill in self.kills:
            then = f"{kill.recorded:,} rounds recorded and {kill.queued:,} queued"
            lines.append(f"kill -9 with {then}; settling again after {kill.back_after_seconds:.1f} s")
        return "\n".join([*lines, self.verified])


class Soak:
    """A service on a folder and port of its own, played and killed."""

    def __init__(self, folder: Path, *, rounds: int, kills: int, tables: int, seed: int, speed: float) -> None:
        self.folder = folder
        self.floor_file = folder / "floor.toml"
        self.floor_file.write_text(floor_text(tables))
        self.data = folder / "data"
        start = datetime.now(UTC)
        self.plan = Plan(
            floor=load_floor(self.floor_file),
            start=start,
            prefix=default_prefix(start),
            seed=seed,
            speed=speed,
            rounds=rounds,
            rigs=tuple(rig.read(f"{hand}@{max(1, rounds * at // 100)}") for at, hand in JACKPOTS),
            rates=MISHAPS,
            weather=STORM,
        )
        self.kills = kills
        self.dealt: dict[str, Dealt] = {}
        self.account = Account()
        self._played = threading.Event()

    def manage(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a command of manage.py on this service's data."""
        environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        environment["JACKPOT_DATA"] = str(self.data)
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            env=environment, cwd=ROOT, input=stdin, capture_output=True, timeout=600,
        )  # fmt: skip

    @contextmanager
    def up(self) -> Iterator[None]:
        """The service, from ready to ended."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        started = self.manage(
            "up", "--data", str(self.data), "--port", str(port), "--floor", str(self.floor_file), "--detach"
        )
        try:
            assert started.returncode == 0, started.stderr.decode()
            yield
        finally:
            self.manage("down", "--data", str(self.data))

    def run(self) -> Account:
        """Play, kill, wait until all is settled, and account for everything; AssertionError where it does not add up."""
        with self.up():
            service = Service.from_demo(self.data / "demo.json")
            asyncio.run(self._play(service))
            with httpx.Client(base_url=service.base_url, timeout=60, trust_env=False) as client:
                client.headers["Authorization"] = f"Api-Key {next(iter(service.keys.values()))}"
                self._account(client)
            verified = self.manage("verify")
            assert verified.returncode == 0, verified.stderr.decode()
            self.account.verified = verified.stdout.decode().strip()
        return self.account

    async def _play(self, service: Service) -> None:
        run = Run(self.plan, service, wait_seconds=0, on_dealt=self._note)
        began = time.monotonic()
        killing = asyncio.create_task(asyncio.to_thread(self._kill_in_turn))
        try:
            tally = await run.run()
        finally:
            self._played.set()
        await killing
        await run.settled()
        self.account.seconds = time.monotonic() - began
        self.account.receipts = tally.receipts
        assert tally.queued == 0 or tally.queued is None, f"{tally.queued} messages still wait"
        assert set(tally.receipts) <= {"accepted", "duplicate"}, tally.refusals

    def _note(self, dealt: Dealt) -> None:
        self.dealt[dealt.message["round"]] = dealt

    def _kill_in_turn(self) -> None:
        """Kill the settling worker at equal steps of the way, each time in the middle of a transaction."""
        assert self.plan.rounds is not None
        with EmbeddedPostgres(self.data / "postgres").connect("jackpot") as database:
            for kill in range(self.kills):
                wanted = self.plan.rounds * (kill + 1) // (self.kills + 1)
                while _number(database, RECORDED) < wanted:
                    self._still_playing()
                    time.sleep(0.02)
                pid = self._settler()
                while not _number(database, WRITING):
                    self._still_playing()
                os.kill(pid, signal.SIGKILL)
                killed = time.monotonic()
                recorded, queued = _number(database, RECORDED), _number(database, QUEUED)
                while _number(database, RECORDED) == recorded:
                    assert time.monotonic() - killed < BACK_WITHIN_SECONDS, "nobody settles any more"
                    time.sleep(0.05)
                assert self._settler() != pid
                self.account.kills.append(Kill(recorded, queued, time.monotonic() - killed))

    def _still_playing(self) -> None:
        assert not self._played.is_set(), f"all was settled after {len(self.account.kills)} kills"

    def _settler(self) -> int:
        """The process that settles now, as `up` wrote it down."""
        return int(json.loads((self.data / "up.json").read_text())["children"]["settle"]["pid"])

    def _account(self, client: httpx.Client) -> None:
        """Compare what the API tells with what was dealt."""
        listed = list(_pages(client, "/api/v1/rounds", stream=LINK))
        events = list(_pages(client, f"/api/v1/streams/{LINK}/events", rounds="yes"))
        sequences = [event["sequence"] for event in events]
        assert sequences == list(range(1, len(sequences) + 1)), "the stream's sequence has a gap"
        assert [item["sequence"] for item in listed] == [e["sequence"] for e in events if e["kind"] == "round"]

        references = [item["round"] for item in listed]
        assert len(set(references)) == len(references), "a round was settled twice"
        ends = {reference: dealt.meant for reference, dealt in self.dealt.items()}
        held = {reference for reference, meant in ends.items() if meant == "held"}
        assert set(references) == set(ends) - held, "what was settled is not what was dealt"
        for item in listed:
            assert item["state"] == ends[item["round"]], item
            assert item["message"] == self.dealt[item["round"]].message
        for reference in sorted(held):
            item = client.get(f"/api/v1/rounds/{quote(self.dealt[reference].table)}/{quote(reference)}").json()
            assert item["state"] == "held", item

        self._replay(listed)
        awards = [award for item in listed for award in item["settlement"]["awards"]]
        assert [award["hit"] for award in awards] == [f"{LINK}-{number:06d}" for number in range(1, len(awards) + 1)]
        link = client.get(f"/api/v1/links/{LINK}").json()
        level, last = link["levels"][0], listed[-1]["settlement"]["meters"][0]
        assert level["hits"] == len(awards) >= len(JACKPOTS)
        assert (level["value_cents"], level["residual_millionths"]) == (
            last["after_cents"],
            last["residual_millionths"],
        )

        account = self.account
        counts = Counter(item["state"] for item in listed)
        account.dealt, account.held, account.hits = len(self.dealt), len(held), len(awards)
        account.settled, account.void = counts["settled"], counts["void"]
        assert account.dealt == self.plan.rounds == account.settled + account.void + account.held

    def _replay(self, listed: list[dict[str, Any]]) -> None:
        """The same messages in the stream's order through `manage.py settle` give the same settlements."""
        lines = b"".join(json.dumps(item["message"]).encode() + b"\n" for item in listed)
        replayed = self.manage("settle", str(self.floor_file), "-", stdin=lines)
        assert replayed.returncode == 0, replayed.stderr.decode()
        for item, line in zip(listed, replayed.stdout.splitlines(), strict=True):
            settlement = item["settlement"]
            # Hits are numbered by the stream alone.
            awards = [{**award, "hit": None} for award in settlement["awards"]]
            assert json.loads(line) == {**settlement, "awards": awards}, item["round"]


JACKPOTS = ((8, "straight_flush"), (20, "royal"), (45, "straight_flush"), (50, "royal"), (75, "royal"), (76, "royal"))
"""When jackpots fall, in percent of the way, and which."""


def _number(database: psycopg.Connection[Any], query: LiteralString) -> int:
    row = database.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def _pages(client: httpx.Client, path: str, **query: str) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        answer = client.get(path, params={**query, "limit": "1000", **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        yield from page["items"]
        cursor = page["next"]
        if cursor is None:
            return


def main() -> None:
    """The long form, from the command line."""
    parser = argparse.ArgumentParser(description="Play, kill the settling worker, and account for every round.")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=RUSH, help="0 is as fast as the service takes it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jackpot-soak-") as folder:
        Path(folder).chmod(0o711)  # the database's user must reach its files
        soak = Soak(
            Path(folder),
            rounds=options.rounds,
            kills=options.kills,
            tables=options.tables,
            seed=options.seed,
            speed=options.speed,
        )
        print(soak.run())


if __name__ == "__main__":
    main()
