"""A server, a floor and a web process that one test may freeze, block or cut off without any other noticing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import httpx
import psutil

from devices.simulator.irregularities import Rates
from devices.simulator.run import Plan, load_floor
from jackpot.config.embedded_postgres import EmbeddedPostgres
from tests.faults.hall import NOT_INHERITED, ROOT, Message, floor_text

TOKEN = "scraper-0123456789abcdef"
FURNISH = """
import os, sys, django
os.environ["DJANGO_SETTINGS_MODULE"] = "jackpot.config.settings"
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_floor", sys.argv[1])
call_command("device", "GW-1", "--tables", "SK-1,SK-2,SK-3,SK-4")
"""


class OwnHouse:
    """An embedded server with a floor of four tables; nothing settles there unless a test starts it."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o711)
        self.folder = folder
        self.server = EmbeddedPostgres(folder / "postgres", durable=False)
        self.key = ""
        self._deals = 0

    @contextmanager
    def open(self) -> Iterator[OwnHouse]:
        """Migrated and with its floor, until the block ends."""
        self.server.start()
        try:
            floor = self.folder / "floor.toml"
            floor.write_text(floor_text(4))
            environment = self.environment(DATABASE_URL=self.server.database_url)
            made = subprocess.run(
                [sys.executable, "-c", FURNISH, str(floor)],
                cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            self.key = made.stdout.split()[-1]
            with self.server.connect() as connection:  # a forgetful server commits without waiting for anybody
                connection.execute("ALTER DATABASE jackpot SET synchronous_commit = on")
            yield self
        finally:
            self.server.stop()

    def environment(self, role: str = "command", **more: str) -> dict[str, str]:
        """As a process of this house has it."""
        inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        return {
            **inherited,
            "JACKPOT_NO_VENV": "1",
            "JACKPOT_DATA": str(self.folder / "data"),
            "JACKPOT_ROLE": role,
            "JACKPOT_METRICS_TOKEN": TOKEN,
            "JACKPOT_SIGNING_KEY": "11" * 32,
            "JACKPOT_SECRET_KEY": "own house",
            "DATABASE_URL": self.server.url_of("jackpot_settle" if role == "settle" else "jackpot_service"),
            "CELERY_BROKER_URL": self.server.broker_url,
            **more,
        }

    def manage(self, *words: str, url: str = "", within: float = 120) -> subprocess.CompletedProcess[str]:
        """A command that must do its work."""
        environment = self.environment(**({"DATABASE_URL": url} if url else {}))
        return subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=within,
        )  # fmt: skip

    @contextmanager
    def web(self, **more: str) -> Iterator[httpx.Client]:
        """The real web process, and a client that needs no key."""
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(256)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            command = [sys.executable, "-m", "jackpot.config.web", str(listener.fileno())]
            process = subprocess.Popen(
                command, cwd=ROOT, env=self.environment("web", **more), pass_fds=[listener.fileno()]
            )
        try:
            with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
                client.get("/api/v1/health")  # it waits in the socket's queue until the process is there
                yield client
        finally:
            process.kill()
            process.wait()

    def deal(self, rounds: int) -> list[Message]:
        """Messages of rounds that were never dealt before."""
        self._deals += 1
        floor = load_floor(self.folder / "floor.toml")
        plan = Plan(
            floor=floor, start=datetime.now(UTC), prefix=f"D{self._deals}", seed=self._deals, speed=0, rates=Rates()
        )
        return [dealt.message for dealt in islice(plan.play().deals(), rounds)]

    def post(self, client: httpx.Client, messages: Sequence[Message], **headers: str) -> httpx.Response:
        """Post these as one array, as the gateway of all tables."""
        return client.post("/api/v1/rounds", json=messages, headers={"Authorization": f"Api-Key {self.key}"} | headers)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Every process of the server stands still."""
        server = self.server.process()
        assert server is not None
        family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
        try:
            for process in family:
                process.send_signal(signal.SIGSTOP)
            yield
        finally:
            for process in family:
                process.send_signal(signal.SIGCONT)


def timed(client: httpx.Client, path: str, **headers: str) -> tuple[float, httpx.Response]:
    """How many seconds an answer took, and the answer."""
    began = time.monotonic()
    answer = client.get(path, headers=headers)
    return time.monotonic() - began, answer
