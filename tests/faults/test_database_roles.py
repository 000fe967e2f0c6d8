"""`docker/roles.sql`: what the service's roles cannot do, so that a stolen password of theirs cannot rewrite the books."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

from jackpot.config.embedded_postgres import EmbeddedPostgres, find_binaries

pytestmark = pytest.mark.alone

ROOT = Path(__file__).resolve().parents[2]
Connect = Callable[[str], psycopg.Connection[Any]]


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    folder = tmp_path_factory.mktemp("roles")
    folder.chmod(0o711)
    server = EmbeddedPostgres(folder / "postgres", durable=False)
    server.start()
    passwords = [word for role in ("owner", "service", "settle", "auditor") for word in ("-v", f"{role}=secret")]
    where = ["-h", str(server.socket), "-U", "jackpot", "-d", "jackpot"]
    psql = [str(find_binaries() / "psql"), "-q", "-v", "ON_ERROR_STOP=1", *where, *passwords]
    subprocess.run([*psql, "-f", "docker/roles.sql"], cwd=ROOT, check=True)
    as_owner = server.database_url.replace("jackpot@", "jackpot_owner@", 1)
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, check=True, env={**os.environ, "DATABASE_URL": as_owner})

    def connect_as(role: str) -> psycopg.Connection[Any]:
        return psycopg.connect(host=str(server.socket), user=f"jackpot_{role}", dbname="jackpot", autocommit=True)

    yield connect_as
    server.stop()


@pytest.mark.parametrize("role", ["service", "settle", "auditor"])
@pytest.mark.parametrize(
    "attempt",
    [
        "ALTER TABLE accounting_transfer DISABLE TRIGGER append_only",
        "DROP TRIGGER append_only ON accounting_transfer",
        "TRUNCATE accounting_transfer",
        "SET session_replication_role = replica",
        "CREATE TABLE mine (id int)",
    ],
)
def test_no_guard_can_be_switched_off_but_by_the_owner(connect: Connect, role: str, attempt: str) -> None:
    with connect(role) as connection, pytest.raises((errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)):
        connection.execute(attempt)


def test_an_auditor_reads_and_cannot_write(connect: Connect) -> None:
    with connect("auditor") as connection:
        assert connection.execute("SELECT count(*) FROM accounting_transfer").fetchone() == (0,)
        connection.execute("SET default_transaction_read_only = off")
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute("DELETE FROM tables_table")


def test_a_settling_worker_that_falls_silent_lets_go_of_its_lock(connect: Connect) -> None:
    with connect("settle") as connection:
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("1500ms",)
