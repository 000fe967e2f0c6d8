"""What every test may ask for: a real database, a settling worker, the real server with a real browser."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psycopg
import pytest
from django.db import OperationalError, connection
from hypothesis import HealthCheck, settings

from jackpot.config.database_roles.privileges import SERVICE, SETTLE

ROOT = Path(__file__).resolve().parents[1]

# How long an example takes says something of the machine, and nothing of what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

pytest_plugins = [
    "tests.services.fixtures",
    "tests.services.played",
    "tests.pages.reported",
]  # floors, and houses that were lived in


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> None:
    """Signing in is tested often; the real hasher is slow on purpose."""
    from django.conf import settings

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]


@pytest.fixture(scope="session", autouse=True)
def _nothing_noted_aside() -> None:
    """What this process notes would be committed by a thread of its own, past a test's transaction, for every later test.

    Web processes note as ever, each on its own database; tests of the notebook have one of their own.
    """
    from devices.intake import significant

    significant.NOTEBOOK.write = lambda noted: None


COUNTER = 'INSERT INTO slips_slipcounter ("only", last) VALUES (true, 0)'
"""The one row that a migration puts there and nothing else does."""


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> None:
    """Tests that commit are cleaned up by TRUNCATE, which the append-only tables refuse: that one statement may pass them.

    The triggers stay on for everything else, so that a test of theirs needs nothing special.
    """
    from django.db.backends.postgresql.operations import DatabaseOperations

    from jackpot.config import celery  # noqa: F401  # as every process of the service: tasks are sent by our transport

    plain = DatabaseOperations.sql_flush

    def past_the_guards(self: Any, *args: Any, **kwargs: Any) -> list[str]:
        statements = plain(self, *args, **kwargs)
        if not statements:
            return statements
        return [
            "SET LOCAL session_replication_role = replica",
            *statements,
            "SET LOCAL session_replication_role = origin",
            COUNTER,
        ]

    emptied = DatabaseOperations.execute_sql_flush

    def once_nobody_reads(self: Any, statements: list[str]) -> None:
        for _ in range(5):  # a page that was left is still being read, table by table: the two may wait for each other
            with suppress(OperationalError):
                emptied(self, statements)
                return
        emptied(self, statements)

    DatabaseOperations.sql_flush = past_the_guards  # type: ignore[method-assign]
    DatabaseOperations.execute_sql_flush = once_nobody_reads  # type: ignore[method-assign, assignment]


@pytest.fixture(scope="session", autouse=True)
def _requests_as_the_service() -> None:
    """What a request asks of the database it asks as the service does: a right that is missing fails here, not in a house."""
    from django.core.handlers.base import BaseHandler

    plain = BaseHandler.get_response

    def as_the_service(self: Any, request: Any) -> Any:
        connection.ensure_connection()
        assert connection.connection is not None
        connection.connection.execute("SET ROLE jackpot_service")  # past Django, which counts statements
        try:
            return plain(self, request)
        finally:
            if connection.connection is not None:
                with suppress(psycopg.errors.InFailedSqlTransaction):
                    connection.connection.execute("RESET ROLE")

    BaseHandler.get_response = as_the_service  # type: ignore[method-assign]


class _Lent:
    """Django's own connection while it is inside a transaction that nobody else can see into."""

    closed = True  # not kept from one look to the next

    def __init__(self, whose: Any) -> None:
        self.execute = whose.execute

    def close(self) -> None:
        """It is not ours to end."""


@pytest.fixture(scope="session", autouse=True)
def _health_sees_what_a_test_has_not_committed() -> None:
    """Health looks on a session of its own; where a test works inside a transaction it is lent that."""
    from devices import vitals

    plain, look = vitals.connect, vitals.look
    lent: list[Any] = []

    def connect(where: dict[str, Any]) -> Any:
        return _Lent(lent[-1]) if lent else plain(where)

    def looking() -> vitals.Found:
        if not connection.in_atomic_block:
            return look()
        lent.append(connection.connection)
        try:
            return look()
        finally:
            lent.clear()

    vitals.connect, vitals.look = connect, looking


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    """What processes keep between requests (terms, directory of devices) does not pass from one test to the next."""
    yield
    for name in ("devices.intake.directory", "devices.vitals", "tables.services.terms"):
        if (module := sys.modules.get(name)) is not None:
            module.forget()


@pytest.fixture
def settle() -> Callable[[], int]:
    """Empties every queue here and now, as a settling worker would; the number of messages dealt with."""
    from django.utils import timezone

    from devices.intake import settling

    return lambda: settling.drain(clock=timezone.now)


def service_environment(role: str = "command", *, demo: bool = True) -> dict[str, str]:
    """The environment for a process of the service that works on this test's database."""
    database = connection.settings_dict
    where = f"{SETTLE if role == 'settle' else SERVICE}@{quote(database['HOST'], safe='')}:{database['PORT']}"
    return {
        **os.environ,
        "DATABASE_URL": f"postgresql://{where}/{database['NAME']}",
        "JACKPOT_DEMO": "1" if demo else "",
        "JACKPOT_PATRON_KEY": "A" * 43,
        "JACKPOT_ROLE": role,
    }


@contextmanager
def running(
    command: list[str], role: str, *, pass_fds: Sequence[int] = (), demo: bool = True
) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the service on the test database, ended with the block."""
    environment = service_environment(role, demo=demo)
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment, pass_fds=pass_fds)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


WORKER = ["-m", "celery", "-A", "jackpot.config.celery", "worker", "-Q", "settle", "-P", "solo"]
WORKER += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR"]


@pytest.fixture
def settling_worker(transactional_db: None) -> Callable[[], Any]:
    """A real settling worker in a process of its own: `with settling_worker() as process: …`. May be started several times."""
    return lambda: running(WORKER, "settle")


@dataclass(frozen=True, slots=True)
class Service:
    """The web process under test."""

    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def serving(*, demo: bool = True) -> Iterator[Service]:
    """The web process on the test database, answering. It gets its socket from here, so that nobody can take its port."""
    with ExitStack() as stack:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(1024)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            descriptor = listener.fileno()
            web = running(["-m", "jackpot.config.web", str(descriptor)], "web", pass_fds=[descriptor], demo=demo)
            process = stack.enter_context(web)
        give_up = time.monotonic() + 100
        while True:
            assert process.poll() is None, "the web process ended at once; its words stand above"
            assert time.monotonic() < give_up, "the web process does not answer"
            try:
                httpx.get(f"{url}/api/v1/health", trust_env=False, timeout=5)
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield Service(url, process)


class _Servers:
    """One web process for all tests of a session: starting one costs more than most tests."""

    def __init__(self) -> None:
        self.context: Any = None
        self.service: Service | None = None
        self.last_used = 0.0

    def get(self) -> Service:
        """The running one, or a new one. What it keeps of the last test's floor is a second old at most: wait for that."""
        if self.service is None or self.service.process.poll() is not None:
            self.context = serving()
            self.service = self.context.__enter__()
            self.last_used = time.monotonic()
        time.sleep(max(0.0, 1.1 - (time.monotonic() - self.last_used)))
        return self.service

    def stop(self) -> None:
        """End it."""
        if self.context is not None:
            self.context.__exit__(None, None, None)


@pytest.fixture(scope="session")
def _servers(django_db_setup: None) -> Iterator[_Servers]:
    servers = _Servers()
    yield servers
    servers.stop()


@pytest.fixture
def live_service(transactional_db: None, _servers: _Servers) -> Iterator[Service]:
    """The real ASGI server in its own process on the test database (Django's live server would hang on an endless stream)."""
    yield _servers.get()
    _servers.last_used = time.monotonic()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium: none is downloaded."""
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert browser, (
        "Pages are tested in Chromium: install it (Debian: apt install chromium) or say where it is in CHROMIUM"
    )
    quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    quiet += ["--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"]
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {**browser_type_launch_args, "executable_path": browser, "args": [*quiet, *sandbox]}
