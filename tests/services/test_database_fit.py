"""A database that this code cannot work with is refused in words: newer than it, behind it, or without sessions of its own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from django.db import OperationalError, connection

from jackpot.config import database
from jackpot.config.embedded_postgres import DatabaseProblem
from tests.services.house import House, run


def another_version_was_here(app: str = "devices", name: str = "0999_from_the_future") -> None:
    """Write down a migration that this code does not have."""
    run("INSERT INTO django_migrations (app, name, applied) VALUES (%s, %s, now())", app, name)


@pytest.mark.parametrize("app", ["devices", "auth", "an_app_to_come"])
def test_a_database_newer_than_the_code_is_refused_by_every_command(app: str, house: House) -> None:
    database.refuse_newer()
    another_version_was_here(app)
    for command in ("verify", "load_floor", "migrate", "shell"):
        with pytest.raises(DatabaseProblem) as refused:
            database.refuse_what_does_not_fit(command)
        said = str(refused.value)
        assert f"newer than this program, which does not know its migrations {app}.0999_from_the_future" in said
        assert "\n" not in said
    with pytest.raises(DatabaseProblem):
        database.refuse_newer()


def test_many_unknown_migrations_are_counted(house: House) -> None:
    for number in range(3):
        another_version_was_here(name=f"099{number}_x")
    with pytest.raises(DatabaseProblem, match=r"devices\.0990_x, devices\.0991_x, devices\.0992_x: start"):
        database.refuse_newer()
    for number in range(3, 5):
        another_version_was_here(name=f"099{number}_x")
    with pytest.raises(DatabaseProblem, match=r"devices\.0990_x, devices\.0991_x, devices\.0992_x and 2 more"):
        database.refuse_newer()


NOT_KNOWN_YET = "DELETE FROM django_migrations WHERE app = 'devices' AND name <> '0001_initial'"
COMES_AND_GOES = {
    "newer": (
        "INSERT INTO django_migrations (app, name, applied) VALUES ('devices', '0999_x', now())",
        "DELETE FROM django_migrations WHERE name = '0999_x'",
        "Waiting. The database is newer than this program, which does not know its migrations devices.0999_x",
    ),
    "behind": (
        "CREATE TABLE kept AS SELECT * FROM django_migrations; " + NOT_KNOWN_YET,
        "INSERT INTO django_migrations SELECT * FROM kept ON CONFLICT DO NOTHING",
        "Waiting. The database is behind this program: `python3 manage.py migrate` first",
    ),
    "not to be asked yet": (
        "ALTER TABLE django_migrations RENAME COLUMN app TO gone",
        "ALTER TABLE django_migrations RENAME COLUMN gone TO app",
        "Waiting. The database cannot be asked: column django_migrations.app does not exist",
    ),
}


@pytest.mark.parametrize(("comes", "goes", "words"), COMES_AND_GOES.values(), ids=COMES_AND_GOES.keys())
def test_who_would_serve_it_waits_and_says_why_once(
    comes: str,
    goes: str,
    words: str,
    busy_house: House,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Three looks find it, and then it is mended."""
    looks = []

    def look_again(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            run(goes)

    monkeypatch.setattr(time, "sleep", look_again)
    run(comes)
    database.serve_when_it_fits()
    assert len(looks) == 3
    first, last = capfd.readouterr().err.splitlines()
    assert first.startswith(words)
    assert last == "The database is as this program needs it."


def test_a_signal_ends_the_waiting_and_is_the_servers_again_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    meanwhile = []

    def look() -> str:
        meanwhile.append({each: signal.getsignal(each) for each in before})
        return ""

    monkeypatch.setattr(database, "_why_not", look)
    database.serve_when_it_fits()
    waiting = threading.Thread(target=database.serve_when_it_fits)
    waiting.start()
    waiting.join()
    assert meanwhile == [dict.fromkeys(before, database._end), before], "a thread has no say about signals"
    assert {each: signal.getsignal(each) for each in before} == before
    with pytest.raises(SystemExit) as ended:
        database._end(signal.SIGTERM, None)
    assert ended.value.code == 0


def test_where_it_cannot_be_reached_yet_the_process_goes_on_and_ends_when_it_is_and_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Looked at from the start, away; once more, still away; then it is there, and another version's."""
    looks = iter([OperationalError("away"), psycopg.OperationalError("away"), DatabaseProblem("It does not fit.")])
    ended: list[int] = []
    waited: list[float] = []

    def look() -> None:
        raise next(looks)

    monkeypatch.setattr(database, "_refuse_what_cannot_be_served", look)
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(os, "_exit", ended.append)
    before = set(threading.enumerate())
    database.serve_when_it_fits()
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
    assert list(looks) == [] and ended == [1] and waited == [database.LOOK_AGAIN_SECONDS] * 2
    assert capfd.readouterr().err == "It does not fit.\n"


def test_an_option_that_no_driver_knows_is_not_waited_for(busy_house: House, capfd: pytest.CaptureFixture[str]) -> None:
    connection.close()
    with patch.dict(connection.settings_dict, NAME=""), pytest.raises(SystemExit) as ended:
        database.serve_when_it_fits()
    assert ended.value.code == 1
    assert capfd.readouterr().err.count("\n") == 1


def test_an_empty_database_is_refused_by_our_commands_and_not_by_migrate(bare: None) -> None:
    for command in ("verify", "load_floor", "person", "axes_reset"):
        with pytest.raises(DatabaseProblem, match=r"empty: `python3 manage.py migrate` first, or `up`"):
            database.refuse_what_does_not_fit(command)
    database.refuse_what_does_not_fit("migrate")
    database.refuse_newer()


def test_a_database_behind_the_code_is_refused_by_our_commands_and_not_by_migrate(house: House) -> None:
    run(NOT_KNOWN_YET)
    with pytest.raises(DatabaseProblem, match=r"behind this program: `python3 manage.py migrate` first"):
        database.refuse_what_does_not_fit("verify")
    database.refuse_what_does_not_fit("migrate")


def test_a_database_that_is_as_it_should_be_is_refused_by_nothing(busy_house: House) -> None:
    for command in ("verify", "load_floor", "migrate"):
        database.refuse_what_does_not_fit(command)
    database.serve_when_it_fits()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mysql://x/y", "names no PostgreSQL"),
        ("postgresql://h:1", "names no database"),
        ("::::", "cannot be read"),
        ("postgresql://x@h:port/y", "cannot be read"),
    ],
)
def test_an_address_that_cannot_be_right_is_refused(url: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    with pytest.raises(DatabaseProblem, match=f"DATABASE_URL {why}.*postgresql://user:password@host:5432/database"):
        database.refuse_a_wrong_address()


# ── poolers ─────────────────────────────────────────────────────────────────────────────────────────────────────
class Pooler:
    """Lends real sessions as PgBouncer does: for a transaction (or a statement outside one), the last given back first."""

    def __init__(self, sessions: list[psycopg.Connection[Any]]) -> None:
        self.free = deque(sessions)

    def client(self) -> Client:
        """One more connection to it."""
        return Client(self)


class Client:
    """A connection to a pooler."""

    def __init__(self, pooler: Pooler) -> None:
        self.pooler = pooler
        self.lent: psycopg.Connection[Any] | None = None

    def execute(self, query: Any, params: Any = None) -> Any:
        """In the session lent for this transaction, or in whichever is free."""
        session = self.lent or self.pooler.free.popleft()
        cursor = session.execute(query, params)
        idle = session.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        self.lent = None if idle else session
        if idle:
            self.pooler.free.appendleft(session)
        return cursor


@pytest.fixture
def sessions(busy_house: House) -> Iterator[list[psycopg.Connection[Any]]]:
    """Three connections to the server itself."""
    where = connection.get_connection_params()
    opened = [psycopg.connect(**where, autocommit=True) for _ in range(3)]
    yield opened
    for each in opened:
        each.close()


def test_two_connections_to_the_server_have_sessions_that_last(sessions: list[psycopg.Connection[Any]]) -> None:
    assert database.sessions_last(sessions[0], sessions[1])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_pooler_of_transactions_is_found(size: int, sessions: list[psycopg.Connection[Any]]) -> None:
    pooler = Pooler(sessions[:size])
    assert not database.sessions_last(pooler.client(), pooler.client())


def test_a_pooler_that_hands_out_its_sessions_in_turn_is_found(sessions: list[psycopg.Connection[Any]]) -> None:
    """PgBouncer's server_round_robin: the first comes back to another session than it left."""

    class InTurn(Client):
        def execute(self, query: Any, params: Any = None) -> Any:
            cursor = super().execute(query, params)
            self.pooler.free.rotate(-1)
            return cursor

    pooler = Pooler(sessions)
    assert not database.sessions_last(InTurn(pooler), InTurn(pooler))


def test_a_pooler_of_statements_is_found(sessions: list[psycopg.Connection[Any]]) -> None:
    class Strict(Client):
        def execute(self, query: Any, params: Any = None) -> Any:
            if query == "BEGIN":
                raise psycopg.errors.ProtocolViolation("transaction blocks not allowed in statement pooling mode")
            return super().execute(query, params)

    pooler = Pooler(sessions)
    assert not database.sessions_last(Strict(pooler), Strict(pooler))


def test_a_pooler_of_sessions_will_do(sessions: list[psycopg.Connection[Any]]) -> None:
    assert database.sessions_last(Pooler(sessions[:1]).client(), Pooler(sessions[1:2]).client())


def test_what_a_pooler_breaks_is_said(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "sessions_last", lambda first, second: False)
    with pytest.raises(
        DatabaseProblem, match=r"advisory locks, LISTEN, SET and prepared statements.*pool_mode = session"
    ):
        database.refuse_a_pooler()
    with pytest.raises(SystemExit):
        database.serve_when_it_fits()
