"""Hosts are updated one after the other: programs newer and older than the database wait in words, one that runs goes on."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import httpx
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from jackpot.config.celery import app
from jackpot.config.database_roles.privileges import SERVICE, SETTLE
from tables.services import floors
from tests.conftest import ROOT, WORKER, service_environment
from tests.faults.hall import free_port
from tests.services import auditor
from tests.services.fixtures import Databases
from tests.services.house import FLOOR, OPENED, House, message, run, value, verify

pytestmark = [pytest.mark.alone, pytest.mark.timeout(150)]

OURS = {"accounting", "office", "people", "slips", "jackpot", "tables", "devices"}
NEWER = "The database is newer than this program, which does not know its migrations devices.0999_from_the_future"
BEHIND = "Waiting. The database is behind this program: `python3 manage.py migrate` first, or `up`, which does it"
LINK = "ms-mg01"
COMMANDS = {
    "what `up` does first": (1, ["-m", "jackpot.config.prepare", "--base-url", "http://127.0.0.1:1"]),
    "migrate": (2, ["manage.py", "migrate"]),
    "load_floor": (2, ["manage.py", "load_floor", "jackpot/config/demo/floor.toml"]),
    "verify": (2, ["manage.py", "verify"]),
}


@dataclass
class Server:
    """A process of the service that runs on, and the lines that it says."""

    process: subprocess.Popen[str]
    lines: SimpleQueue[str]

    def says(self, line: str, within: float = 60) -> None:
        """Wait until it says so."""
        give_up, heard = time.monotonic() + within, [""]
        while line not in heard[-1]:
            try:
                heard.append(self.lines.get(timeout=max(0.0, give_up - time.monotonic())))
            except Empty:
                raise AssertionError(f"it did not say {line!r} but {heard}; {self.process.poll()}") from None

    def is_silent(self) -> bool:
        """Whether it runs and has said nothing more."""
        return self.process.poll() is None and self.lines.empty()

    def end(self) -> int:
        """Tell it to end; its exit code."""
        self.process.terminate()
        return self.process.wait(20)


@contextmanager
def started(role: str, command: list[str]) -> Iterator[Server]:
    """A process of the service on this test's database, ended with the block."""
    surroundings = {**service_environment(role), "PYTHONWARNINGS": "ignore", "JACKPOT_SIGNING_KEY": "11" * 32}
    process = subprocess.Popen(
        [sys.executable, *command], cwd=ROOT, env=surroundings, stderr=subprocess.PIPE, text=True
    )  # fmt: skip
    server = Server(process, SimpleQueue())

    def listen() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            server.lines.put(line)

    Thread(target=listen, daemon=True).start()
    try:
        yield server
    finally:
        process.kill()
        process.wait()


def web(port: int) -> list[str]:
    """The web process as the image runs it."""
    return ["-m", "uvicorn", "jackpot.config.asgi:application", "--port", str(port), "--log-level", "error"]


def wake(stream: int) -> None:
    """Send what the web process sends when something was posted."""
    app.send_task("devices.tasks.settle", [stream])


def eventually(so: Callable[[], object], what: str, within: float = 60) -> None:
    """Wait for something that must come about."""
    give_up = time.monotonic() + within
    while not so():
        assert time.monotonic() < give_up, what
        time.sleep(0.1)


def answers(port: int) -> bool:
    """Whether the web process is there."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/v1/health", trust_env=False, timeout=5).is_success
    except httpx.HTTPError:
        return False


@pytest.fixture
def one_behind(databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database to which the last migration of each of our apps has not come yet."""
    with django_db_blocker.unblock():
        name = databases.create()
        with databases.entered(name):
            executor = MigrationExecutor(connection)
            last = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] in OURS]
            late = {each for leaf in last for each in executor.loader.graph.backwards_plan(leaf)}
            plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
            executor.migrate(None, [step for step in plan if (step[0].app_label, step[0].name) not in late])
            run(f"GRANT SELECT ON django_migrations TO {SERVICE}, {SETTLE}")  # as the version before was given it
            yield
        databases.drop(name)


def test_programs_newer_than_the_database_wait_until_it_is_migrated_and_go_on(one_behind: None) -> None:
    port = free_port()
    with ExitStack() as stack:
        settler = stack.enter_context(started("settle", WORKER))
        served = stack.enter_context(started("web", web(port)))
        for server in (settler, served):
            server.says(BEHIND)
        assert not answers(port)
        assert settler.is_silent(), "a reason is said once"
        call_command("migrate", verbosity=0)
        floors.install(FLOOR, at=OPENED)
        house = House()
        house.post(message("R-1"))
        for server in (settler, served):
            server.says("The database is as this program needs it.")
        eventually(lambda: answers(port), "the web process serves")
        wake(house.stream(LINK))
        eventually(lambda: not house.waiting(), "what was posted is settled")
    verify()


def test_programs_older_than_the_database_wait_and_one_that_runs_goes_on(busy_house: House) -> None:
    """What a later version's migrations may do: a table, columns that old rows lack, longer lists (tests/rules/migrations.py)."""
    stream, port = busy_house.stream(LINK), free_port()
    busy_house.post(message("R-1"))
    with ExitStack() as stack:
        running = stack.enter_context(started("settle", WORKER))
        wake(stream)
        eventually(lambda: not busy_house.waiting(), "the old worker settles")
        run("""
            CREATE TABLE tables_next (id bigint PRIMARY KEY);
            ALTER TABLE tables_round ADD COLUMN next text;
            ALTER TABLE accounting_event ADD COLUMN next integer NOT NULL DEFAULT 7;
            ALTER TABLE devices_message ADD COLUMN next bytea;
            ALTER TABLE accounting_event DROP CONSTRAINT an_event_is_of_a_known_kind;
            INSERT INTO django_migrations (app, name, applied) VALUES ('devices', '0999_from_the_future', now());
        """)
        busy_house.post(message("R-2"), message("R-3"))
        wake(stream)
        eventually(lambda: not busy_house.waiting(), "it goes on while the next version migrates")
        busy_house.post(message("R-4"))
        assert running.end() == 0
        for role, command in {"settle": WORKER, "web": web(port)}.items():
            server = stack.enter_context(started(role, command))
            server.says(f"Waiting. {NEWER}")
            assert not answers(port)
            assert server.end() == 0, "it ends when it is told to, not when it has waited"
    assert busy_house.waiting() == 1, "what waits is left to the later version"
    assert busy_house.order() == ["R-1", "R-2", "R-3"]
    auditor.everything_agrees()


@pytest.mark.parametrize(("code", "command"), COMMANDS.values(), ids=COMMANDS.keys())
def test_commands_refuse_a_newer_database_with_one_line(code: int, command: list[str], busy_house: House) -> None:
    busy_house.post(message("R-1"))
    run("INSERT INTO django_migrations (app, name, applied) VALUES ('devices', '0999_from_the_future', now())")
    before = value("SELECT count(*) FROM django_migrations")
    surroundings = {**service_environment("command"), "PYTHONWARNINGS": "ignore"}
    ended = subprocess.run(
        [sys.executable, *command], cwd=Path(ROOT), env=surroundings, capture_output=True, text=True, timeout=90
    )
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert [line for line in ended.stderr.splitlines() if line.startswith(NEWER)] == [ended.stderr.splitlines()[-1]]
    assert busy_house.waiting() == 1
    assert value("SELECT count(*) FROM django_migrations") == before
