"""What is measured: the product in a data folder of its own, and the naive peer in a database beside it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg

from jackpot.config.data_folder import ROOT, DataFolder
from jackpot.config.embedded_postgres import OWNER, EmbeddedPostgres

PEER = Path(__file__).parent / "peer"
PEER_DATABASE = "naive_peer"
FIRST_PORT = int(os.environ.get("BENCH_PORT", "18300"))


class NotStarted(RuntimeError):
    """A server did not come up; the words are its own."""


def free_port() -> int:
    """A port that nobody listens on, from the benchmark's own hundred."""
    for port in range(FIRST_PORT, FIRST_PORT + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise NotStarted(f"no free port from {FIRST_PORT}")


class Hall:
    """A data folder with a durable PostgreSQL of its own, thrown away at the end.

    `prepare` makes databases with a floor, `up` starts the whole product, `peer` the naive peer on the same server.
    """

    def __init__(self, folder: Path) -> None:
        self.data = DataFolder(folder)
        self.postgres = EmbeddedPostgres(self.data.postgres)
        self.prepared: dict[str, str] = {}
        self.running = contextlib.ExitStack()
        self.product: Product | None = None
        self.beside = contextlib.ExitStack()
        self.peer: Peer | None = None

    def url(self, database: str) -> str:
        """DATABASE_URL of a database on this server."""
        return f"postgresql://{OWNER}@{quote(str(self.postgres.socket), safe='')}:5432/{database}"

    def environment(self, database: str | None = None, role: str = "command") -> dict[str, str]:
        """The environment for a process of the product in this folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        kept |= {"JACKPOT_DATA": str(self.data.path), "JACKPOT_DEMO": "1", "JACKPOT_ROLE": role}
        kept.pop("DATABASE_URL", None)
        kept.pop("CELERY_BROKER_URL", None)
        if database is not None:
            kept["DATABASE_URL"] = self.url(database)
        return kept

    def connect(self, database: str = "jackpot") -> psycopg.Connection[Any]:
        """A connection of the owner's, committing at once."""
        return self.postgres.connect(database)

    def prepare(self, database: str, floor: str) -> None:
        """A new database with the product's schema and this floor."""
        if floor not in self.prepared:
            template = f"floor_{len(self.prepared)}"
            with self.connect("postgres") as server:
                server.execute(f'CREATE DATABASE "{template}"'.encode())
            file = self.data.path / f"{template}.toml"
            file.write_text(floor)
            _run([sys.executable, "-m", "jackpot.config.prepare", "--base-url", "http://127.0.0.1", "--floor", str(file)],
                 self.environment(template))  # fmt: skip
            self.prepared[floor] = template
        self.clone(self.prepared[floor], database)

    def clone(self, database: str, copy: str) -> None:
        """A database like another one, row by row and page by page."""
        self.drop(copy)
        with self.connect("postgres") as server:
            size = server.execute("SELECT pg_database_size(%s)", [database]).fetchone()
            # Copying files ends with a checkpoint of everything, which costs a small database more than itself.
            strategy = "wal_log" if size is not None and size[0] < 64 * 2**20 else "file_copy"
            server.execute(f'CREATE DATABASE "{copy}" TEMPLATE "{database}" STRATEGY {strategy}'.encode())

    def drop(self, database: str) -> None:
        """Remove a database if it is there."""
        with self.connect("postgres") as server:
            server.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)'.encode())

    def inside(self, database: str, *steps: tuple[str, dict[str, Any]]) -> list[Any]:
        """Run functions of `tests.benchmarks.inside` in a process of its own on a database; what each measured."""
        return self.finish_inside(self.start_inside(database, *steps))

    def start_inside(self, database: str, *steps: tuple[str, dict[str, Any]]) -> subprocess.Popen[str]:
        """The same without waiting for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.inside", json.dumps(steps)],
            cwd=ROOT, env=self.environment(database, role="settle"), stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish_inside(self, process: subprocess.Popen[str]) -> list[Any]:
        """What a process that was started so has measured."""
        said, _ = process.communicate()
        if process.returncode:
            raise NotStarted(f"a measuring process ended with exit code {process.returncode}")
        return [json.loads(line) for line in said.splitlines()]

    def quiet(self) -> None:
        """Stop the product if it runs: what is measured next has the machine to itself."""
        self.product = None
        self.running.close()

    def cpu_seconds(self) -> float:
        """What the server's processes have used so far, those that ended included."""
        server = self.postgres.process()
        return cpu_seconds([server]) if server is not None else 0.0


@contextlib.contextmanager
def hall() -> Iterator[Hall]:
    """A hall with its PostgreSQL running, stopped and deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=os.environ.get("BENCH_FOLDER", "/tmp")))
    made = Hall(folder)
    try:
        made.data.create()
        made.postgres.start()
        yield made
    finally:
        made.quiet()
        made.beside.close()
        made.postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True)
class Product:
    """The product as `up` started it."""

    hall: Hall
    port: int
    keys: dict[str, str]
    children: dict[str, psutil.Process]

    def settled(self) -> int:
        """How many messages ended settled, void or held."""
        with self.hall.connect() as server:
            row = server.execute("SELECT (SELECT count(*) FROM tables_round) + (SELECT count(*) FROM tables_hold)")
            return int(row.fetchone()[0])  # type: ignore[index]

    def queue_is_empty(self) -> bool:
        """Whether nothing waits to be settled."""
        with self.hall.connect() as server:
            return server.execute("SELECT 1 FROM devices_queued LIMIT 1").fetchone() is None

    def wait_until_settled(self, connection: psycopg.Connection[Any], *, patience: float = 300.0) -> None:
        """Return as soon as the queue is empty."""
        deadline = time.monotonic() + patience
        while connection.execute("SELECT 1 FROM devices_queued LIMIT 1").fetchone() is not None:
            if time.monotonic() > deadline:
                raise NotStarted("the queue was not emptied")
            time.sleep(0.005)

    def cpu_seconds(self) -> float:
        """What the product's processes and the server's have used so far."""
        return cpu_seconds(self.children.values()) + self.hall.cpu_seconds()


def product(place: Hall, floor: str) -> Product:
    """The whole product, started on this floor at the first call; it runs until the hall is quiet again."""
    if place.product is None:
        place.product = place.running.enter_context(_up(place, floor))
    return place.product


@contextlib.contextmanager
def _up(place: Hall, floor: str) -> Iterator[Product]:
    """`manage.py up --detach`, and `down` afterwards."""
    file = place.data.path / "floor-to-open.toml"
    file.write_text(floor)
    port = free_port()
    environment = place.environment()
    command = [sys.executable, "manage.py"]
    _run([*command, "up", "--port", str(port), "--floor", str(file), "--detach"], environment)
    try:
        state = json.loads(place.data.state.read_text())
        demo = json.loads(place.data.demo.read_text())
        keys = {code: device["api_key"] for code, device in demo["devices"].items()}
        children = {
            name: psutil.Process(child["pid"]) for name, child in state["children"].items() if name != "postgres"
        }
        yield Product(place, port, keys, children)
    finally:
        going = subprocess.Popen([*command, "down"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        while going.poll() is None:
            place.postgres.reap()  # the server was our child: until it is reaped it seems to be there
            time.sleep(0.05)
        place.postgres.start()  # the hall's owner stops it


@dataclass(slots=True)
class Peer:
    """The naive peer behind gunicorn."""

    hall: Hall
    port: int
    process: psutil.Process

    def cpu_seconds(self) -> float:
        """What gunicorn and the server's processes have used so far."""
        return cpu_seconds([self.process]) + self.hall.cpu_seconds()


def peer(place: Hall, tables: list[str]) -> Peer:
    """The naive peer on the same server, started at the first call; while nobody posts it does nothing."""
    if place.peer is None:
        place.peer = place.beside.enter_context(_gunicorn(place, tables))
    return place.peer


@contextlib.contextmanager
def _gunicorn(place: Hall, tables: list[str], *, workers: int = 4, threads: int = 2) -> Iterator[Peer]:
    """Started as its README says."""
    with place.connect("postgres") as server:
        server.execute(f'DROP DATABASE IF EXISTS "{PEER_DATABASE}" WITH (FORCE)'.encode())
        server.execute(f'CREATE DATABASE "{PEER_DATABASE}"'.encode())
    environment = {**place.environment(PEER_DATABASE), "PYTHONPATH": str(PEER)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    _run([sys.executable, "reset.py", *tables], environment, folder=PEER)
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "-w", str(workers), "--threads", str(threads), "-b", f"127.0.0.1:{port}",
         "--log-level", "error", "wsgi:application"],
        cwd=PEER, env=environment,
    )  # fmt: skip
    try:
        _wait_for_port(port, process)
        yield Peer(place, port, psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait(30)


def _wait_for_port(port: int, process: subprocess.Popen[bytes], patience: float = 30.0) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            time.sleep(1.0)  # the other workers are still starting
            return
        if process.poll() is not None:
            raise NotStarted(f"gunicorn ended with exit code {process.returncode}")
        time.sleep(0.05)
    raise NotStarted(f"nobody listens on {port}")


def cpu_seconds(processes: Any) -> float:
    """CPU time of processes and all below them, dead children included."""
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            for one in [process, *process.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    times = one.cpu_times()
                    total += times.user + times.system + times.children_user + times.children_system
    return total


def _run(command: list[str], environment: dict[str, str], folder: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise NotStarted(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout
