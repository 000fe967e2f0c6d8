"""Behind a real PgBouncer: one that lends sessions for a transaction or a statement is refused by every process, one that lends
whole sessions will do for everything.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from django.db import connection, connections
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from devices import demo
from jackpot.config.embedded_postgres import EmbeddedPostgres
from tables.services import floors
from tests.api.conftest import OPENED_BEFORE, Api
from tests.api.test_stream import watching
from tests.conftest import ROOT, WORKER, running, service_environment, serving
from tests.faults.pooler import PGBOUNCER, pooling
from tests.services.fixtures import Databases
from tests.services.house import FLOOR, House, value, verify

pytestmark = [
    pytest.mark.alone,
    pytest.mark.timeout(170),
    pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed"),
]

CELERY = ["-m", "celery", "-A", "jackpot.config.celery"]
PROCESSES: dict[str, list[str]] = {
    "settle": WORKER,
    "work": [*CELERY, "worker", "-Q", "work", "-P", "threads", "-c", "2", "--loglevel", "ERROR"],
    "beat": [*CELERY, "beat", "-S", "jackpot.config.reconnecting:Scheduler", "--pidfile", "", "--loglevel", "ERROR"],
    "web": ["-m", "jackpot.config.web"],
}
COMMANDS = (["verify"], ["migrate"], ["load_floor", "jackpot/config/demo/floor.toml"], ["token", "sam"])
SAID = "pool_mode = session"


@contextmanager
def behind(port: int) -> Iterator[None]:
    """Every connection of this process, and of those it starts, goes through the pooler."""
    settings = connections.settings["default"]
    connections.close_all()
    before = {name: settings[name] for name in ("HOST", "PORT")}
    settings |= {"HOST": "127.0.0.1", "PORT": str(port)}
    try:
        yield
    finally:
        connections.close_all()
        settings |= before


def server() -> EmbeddedPostgres:
    """The one that all tests share."""
    return EmbeddedPostgres(Path(os.environ["JACKPOT_TEST_POSTGRES"]), durable=False)


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_every_process_refuses_a_pooler_of_less_than_sessions(mode: str, busy_house: House, tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    with ExitStack() as stack:
        port = stack.enter_context(pooling(tmp_path / "pooler", server(), mode))
        stack.enter_context(behind(port))
        started = {}
        for role, words in PROCESSES.items():
            if mode == "statement" and role in ("work", "beat"):
                continue  # they ask what `settle` asks, in the same place
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            descriptor = listener.fileno()
            command = [sys.executable, *words, *([str(descriptor)] if role == "web" else [])]
            started[role] = (1, command, service_environment(role), [descriptor])
        for words in COMMANDS[: None if mode == "transaction" else 1]:
            started[" ".join(words)] = (2, [sys.executable, "manage.py", *words], service_environment(), [])
        ended = {}
        for name, (code, command, environment, kept) in started.items():
            process = subprocess.Popen(
                command, cwd=ROOT, env={**environment, "JACKPOT_NO_VENV": "1"}, pass_fds=kept,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            stack.callback(process.kill)
            ended[name] = (code, process)
        for name, (code, process) in ended.items():
            _, said = process.communicate(timeout=100)
            words = [line for line in said.splitlines() if SAID in line]
            assert (process.returncode, len(words)) == (code, 1), (name, process.returncode, said)
            assert "Traceback" not in said, (name, said)


def test_behind_a_pooler_of_sessions_everything_works(
    databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker, tmp_path: Path
) -> None:
    tmp_path.chmod(0o711)
    with ExitStack() as stack:
        stack.enter_context(django_db_blocker.unblock())
        name = databases.create(like=migrated)
        stack.callback(databases.drop, name)
        stack.enter_context(databases.entered(name))
        floors.install(FLOOR, at=timezone.now() - OPENED_BEFORE)
        keys = {table: device["api_key"] for table, device in demo.ensure()["devices"].items()}
        port = stack.enter_context(pooling(tmp_path / "pooler", server(), "session"))
        stack.enter_context(behind(port))
        assert value("SELECT inet_client_addr() IS NULL AND inet_server_addr() IS NULL")  # the pooler's own way in
        web = stack.enter_context(serving())
        stack.enter_context(running(WORKER, "settle"))
        api = Api(web.url, name, keys)
        with watching(api, "ms-mg01") as page:
            page.opening(1)
            answer = api.post(api.round(), wait=20)
            assert answer.status_code == 200 and answer.json()["outcome"] == "settled", answer.text
            assert page.until_meter(1, "major")
        house = House(now=timezone.now())
        house.act("link.suspend", "ms-mg01")
        assert value("SELECT state FROM jackpot_link WHERE code = 'ms-mg01'") == "suspended"
        assert verify().rounds == 1
        done = subprocess.run(
            [sys.executable, "manage.py", "verify"],
            cwd=ROOT, env={**service_environment(), "JACKPOT_NO_VENV": "1"}, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert (done.returncode, connection.settings_dict["PORT"]) == (0, str(port)), done.stderr
