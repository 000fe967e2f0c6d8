"""A service on a folder and a port of its own, with everything in reach that a fault can strike.

Whatever is posted through it is remembered with its answer, so that `tests.faults.account` can ask for it afterwards.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, LiteralString, Protocol

import httpx
import psutil
import psycopg

from devices.simulator.irregularities import Rates
from devices.simulator.run import Plan, Service, load_floor
from devices.simulator.table import Dealt
from jackpot.config.embedded_postgres import BROKER, EmbeddedPostgres
from jackpot.config.processes import State, runs

ROOT = Path(__file__).resolve().parents[2]
LINK = "soak"
NOT_INHERITED = ("DATABASE_URL", "CELERY_BROKER_URL", "JACKPOT_DATA", "JACKPOT_DEMO", "DJANGO_SETTINGS_MODULE")
MISHAPS = Rates(times=10)
BACK_WITHIN_SECONDS = 100.0
"""After so long a test gives up. It is no promise: what must come is waited for, and a busy machine may take its time."""

PORTS = range(20_000, 32_000)
"""Below those that the kernel lends to outgoing connections, so that none of them takes a port between look and use."""

# A worker that has written and not committed: the worst moment to die.
WRITING: LiteralString = """
    SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'jackpot settle' AND backend_xid IS NOT NULL
"""
RECORDED: LiteralString = "SELECT count(*) FROM tables_round"
QUEUED: LiteralString = "SELECT count(*) FROM devices_queued"

Message = dict[str, Any]


def free_port() -> int:
    """A port that nobody has."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


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


class Accountable(Protocol):
    """What must be in reach of a service so that it can be asked for everything that it was sent."""

    floor_file: Path
    server: EmbeddedPostgres
    answered: dict[str, Message]

    def manage(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a command of manage.py on its data."""

    def python(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run Python on its data."""

    def client(self) -> httpx.Client:
        """A client with a key that may read."""


class Hall:
    """A service that may be struck. `answered` holds every message that it has said it has, by reference."""

    def __init__(
        self, folder: Path, *, tables: int = 8, settlers: int = 1, environment: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.floor_file = folder / "floor.toml"
        self.floor_file.write_text(floor_text(tables))
        self.data = folder / "data"
        self.settlers = settlers
        self.environment = environment or {}
        self.server = EmbeddedPostgres(self.data / "postgres")
        self.before: tuple[str, ...] = ()  # what stands before every command, e.g. to enter a namespace
        self.answered: dict[str, Message] = {}
        self.receipts: Counter[str] = Counter()
        self._deals = 0

    # ── commands ────────────────────────────────────────────────────────────────────────────────────────────────
    def manage(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a command of manage.py on this service's data."""
        return self.python(str(ROOT / "manage.py"), *words, stdin=stdin)

    def python(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run Python on this service's data."""
        environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        environment |= {"JACKPOT_DATA": str(self.data), **self.environment}
        return subprocess.run(
            [*self.before, sys.executable, *words],
            env=environment, cwd=ROOT, input=stdin, capture_output=True, timeout=1800,
        )  # fmt: skip

    def start(self) -> None:
        """Bring it up and return when it is ready."""
        options = ["--port", str(free_port()), "--floor", str(self.floor_file), "--settlers", str(self.settlers)]
        started = self.manage("up", "--data", str(self.data), *options, "--detach")
        assert started.returncode == 0, started.stderr.decode()

    def down(self) -> None:
        """End it; the data stays."""
        self.manage("down", "--data", str(self.data))

    @contextmanager
    def up(self) -> Iterator[Hall]:
        """The service, from ready to ended."""
        try:
            self.start()
            yield self
        finally:
            self.down()

    # ── what can be struck ──────────────────────────────────────────────────────────────────────────────────────
    def children(self) -> dict[str, psutil.Process]:
        """The processes that live now, as `up` wrote them down."""
        known = State.read(self.data / "up.json").children
        return {name: process for name, child in known.items() if (process := child.alive()) is not None}

    def settler(self) -> int:
        """The process that settles now, where there is one."""
        return int(json.loads((self.data / "up.json").read_text())["children"]["settle"]["pid"])

    def strike(self, name: str, number: signal.Signals = signal.SIGKILL) -> bool:
        """Send a child a signal; False when it is dead already."""
        try:
            self.children()[name].send_signal(number)
        except (KeyError, psutil.NoSuchProcess):
            return False
        return True

    def strike_database(self, number: signal.Signals) -> bool:
        """SIGQUIT is `pg_ctl stop -m immediate`; SIGKILL leaves its processes to find out. False when it is dead already.

        It is dead when this returns: whoever asks for it from now on meets its successor or nobody.
        """
        server = self.server.process()
        if server is None:
            return False
        with suppress(psutil.NoSuchProcess):
            server.send_signal(number)
        eventually(lambda: not runs(server), "the database does not die")
        return True

    def empty_broker(self) -> int:
        """Throw away every message that the broker holds; how many there were."""
        with self.server.connect(BROKER) as broker:
            return int(_value(broker, "SELECT coalesce(sum(pgmq.purge_queue(queue_name)), 0) FROM pgmq.list_queues()"))

    @contextmanager
    def broker_unreachable(self) -> Iterator[None]:
        """Nobody can connect to the broker, and who was connected is cut off."""
        try:
            with self.server.connect() as server:
                server.execute("ALTER DATABASE jackpot_broker ALLOW_CONNECTIONS false")
                server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'jackpot_broker'"
                )
            yield
        finally:
            eventually(self._let_broker_answer, "the broker stays unreachable")

    def _let_broker_answer(self) -> bool:
        with self.server.connect() as server:
            server.execute("ALTER DATABASE jackpot_broker ALLOW_CONNECTIONS true")
        return True

    # ── what can be asked ───────────────────────────────────────────────────────────────────────────────────────
    def number(self, query: LiteralString) -> int:
        """One number out of the database."""
        with self.server.connect("jackpot") as database:
            return int(_value(database, query))

    def execute(self, statement: LiteralString) -> None:
        """Change the database behind the service's back."""
        with self.server.connect("jackpot") as database:
            database.execute(statement)

    def health(self) -> dict[str, Any]:
        """What the service says of itself."""
        with self.client() as client:
            found: dict[str, Any] = client.get("/api/v1/health").json()
        return found

    def service(self) -> Service:
        """Where to post, with a key for each table."""
        return Service.from_demo(self.data / "demo.json")

    def client(self, table: str = "SK-1") -> httpx.Client:
        """A client with the key of a table."""
        service = self.service()
        headers = {"Authorization": f"Api-Key {service.keys[table]}"}
        # It is plain HTTP: without `verify` no certificates are loaded, which would cost more than the request.
        return httpx.Client(base_url=service.base_url, headers=headers, timeout=30, trust_env=False, verify=False)

    def settled(self, within: float = BACK_WITHIN_SECONDS) -> None:
        """Wait until nothing is queued."""

        eventually(lambda: self.number(QUEUED) == 0, "messages still wait", within)

    def ready(self, within: float = BACK_WITHIN_SECONDS) -> None:
        """Wait until everybody lives and rounds are accepted and settled."""
        settlers = ["settle"] if self.settlers == 1 else [f"settle-{n + 1}" for n in range(self.settlers)]

        def well() -> bool:
            missing = {"web", "beat", "worker", *settlers} - self.children().keys()
            assert not missing, f"not back: {missing}"
            health = self.health()
            assert health["status"] == "ok" and health["last_sweep_seconds"] < 2.5, health
            return True

        eventually(well, "not ready", within)

    # ── rounds ──────────────────────────────────────────────────────────────────────────────────────────────────
    def deal(self, rounds: int, *, start: datetime | None = None) -> list[Dealt]:
        """Rounds that were never dealt before, as the simulator plays them, all tables in turn."""
        self._deals += 1
        plan = Plan(
            floor=load_floor(self.floor_file),
            start=start or datetime.now(UTC),
            prefix=f"D{self._deals}",
            seed=self._deals,
            speed=0,
            rates=MISHAPS,
        )
        return list(islice(plan.play().deals(), rounds))

    def post(self, messages: Sequence[Message], *, until_answered: bool = True) -> list[str]:
        """Post messages of one table as one array; what became of each. A 5xx or a broken line: the same again."""
        body = json.dumps(messages).encode()
        with self.client(messages[0]["table"]) as client:
            return self.note(messages, send(client, body, until_answered=until_answered))

    def note(self, messages: Sequence[Message], answer: httpx.Response | None) -> list[str]:
        """Remember what was said of these messages; nothing is known when nobody or a 5xx answered."""
        if answer is None or answer.status_code >= 500:
            return ["unknown"] * len(messages)
        assert answer.status_code == 202, answer.text
        said = [str(receipt["status"]) for receipt in answer.json()]
        self.receipts.update(said)
        for message, status in zip(messages, said, strict=True):
            assert status in ("accepted", "duplicate"), status
            self.answered[message["round"]] = message
        return said


def send(client: httpx.Client, body: bytes, *, until_answered: bool = True) -> httpx.Response | None:
    """Post these bytes as a gateway does; None for a line that broke, once nobody waits for an answer."""
    give_up = time.monotonic() + BACK_WITHIN_SECONDS
    while True:
        try:
            answer = client.post("/api/v1/rounds", content=body)
        except httpx.TransportError:
            answer = None
        if not until_answered or (answer is not None and answer.status_code < 500):
            return answer
        assert time.monotonic() < give_up, f"no answer: {answer}"
        time.sleep(0.2)


def by_table(dealt: Sequence[Dealt]) -> dict[str, list[Message]]:
    """The messages of each table in the order dealt."""
    found: dict[str, list[Message]] = {}
    for each in dealt:
        found.setdefault(each.table, []).append(each.message)
    return found


def _value(connection: psycopg.Connection[Any], query: LiteralString) -> Any:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def eventually(holds: Callable[[], bool], complaint: str, within: float = BACK_WITHIN_SECONDS) -> None:
    """Look until it holds; at the end the complaint, or what the last look ran into."""
    give_up = time.monotonic() + within
    while True:
        try:
            if holds():
                return
            assert time.monotonic() < give_up, complaint
        except (AssertionError, psycopg.Error, psutil.Error, httpx.HTTPError, ValueError, TypeError, KeyError):
            if time.monotonic() > give_up:
                raise
        time.sleep(0.05)
