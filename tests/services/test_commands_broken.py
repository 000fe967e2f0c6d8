"""A database that breaks under a command, or that is not whole: one line, exit code 2, and no traceback. 1 is for findings."""

from __future__ import annotations

import shlex
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from django.core.management import get_commands, load_command_class
from django.db import connection, connections

from jackpot.config import command_line
from jackpot.config.command_line import WITHOUT_DATABASE, example
from jackpot.config.database import refuse_what_does_not_fit
from tests.conftest import ROOT, service_environment
from tests.services.house import House, message, rows, run
from tests.services.test_commands import NOBODY, OURS, Captured, ended

HOUSES_OWN = sorted(
    name for name, where in get_commands().items()
    if isinstance(where, str) and where.split(".")[0] in OURS and name not in WITHOUT_DATABASE
)  # fmt: skip


def words_of(name: str) -> list[str]:
    return shlex.split(example(load_command_class(get_commands()[name], name), name))


def refused_or_done(name: str, capsys: Captured) -> None:
    """Either it needed nothing that is missing, or one line and 2."""
    code = ended(*words_of(name))
    written = capsys.readouterr()
    said = written.err.strip().splitlines()
    assert code in (0, 2), (name, code, written)
    assert "Traceback" not in written.err
    if code == 2:
        assert len(said) == 1, (name, written.err)


@pytest.mark.parametrize("name", HOUSES_OWN)
def test_a_database_that_is_not_whole_is_said_in_one_line(
    name: str, busy_house: House, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """What a restore that broke off leaves: the list of migrations, and no tables."""
    monkeypatch.setenv("DATABASE_URL", NOBODY)
    monkeypatch.chdir(tmp_path)
    for (table,) in rows(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'django_migrations'"
    ):
        run(f'DROP TABLE IF EXISTS "{table}" CASCADE')
    refused_or_done(name, capsys)


@pytest.mark.parametrize("name", HOUSES_OWN)
def test_a_database_that_goes_away_under_a_command_is_said_in_one_line(
    name: str, busy_house: House, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("DATABASE_URL", NOBODY)
    monkeypatch.chdir(tmp_path)
    fits, database = refuse_what_does_not_fit, connection.settings_dict["NAME"]
    where = {"host": connection.settings_dict["HOST"], "user": connection.settings_dict["USER"], "dbname": "postgres"}

    def and_then_it_goes_away(command: str) -> None:
        fits(command)
        with psycopg.connect(**where, autocommit=True) as server:
            server.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false".encode())
            server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [database])

    monkeypatch.setattr(command_line, "refuse_what_does_not_fit", and_then_it_goes_away)
    try:
        refused_or_done(name, capsys)
    finally:
        connections.close_all()
        with psycopg.connect(**where, autocommit=True) as server:
            server.execute(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true".encode())


def verify(**more: str) -> subprocess.CompletedProcess[str]:
    surroundings = {**service_environment(), "PYTHONWARNINGS": "ignore", "JACKPOT_NO_VENV": "1", **more}
    return subprocess.run(
        [sys.executable, "manage.py", "verify"], cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=90
    )


def test_verify_ends_with_1_for_a_difference_and_with_2_for_whatever_kept_it_from_looking(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    assert verify().returncode == 0
    run("ALTER TABLE accounting_transfer DISABLE TRIGGER USER")
    run("UPDATE accounting_transfer SET amount_cents = amount_cents + 1")
    found = verify()
    assert (found.returncode, found.stderr.strip()[:9]) == (1, "DIFFERENT"), found.stderr
    run("REVOKE SELECT ON accounting_transfer FROM jackpot_service")
    kept_from = verify()
    assert (kept_from.returncode, "Traceback" in kept_from.stderr) == (2, False), kept_from.stderr
    assert kept_from.stderr.strip().startswith("NOT VERIFIED permission denied")
    run("ALTER TABLE accounting_transfer RENAME TO gone")
    kept_from = verify()
    assert (kept_from.returncode, kept_from.stderr.strip().count("\n")) == (2, 0), kept_from.stderr


def test_a_bug_ends_with_2_as_well_for_it_has_found_nothing(tmp_path: Any, busy_house: House) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'devices.audit.closings': raise ZeroDivisionError('a bug')\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    done = verify(PYTHONPATH=str(tmp_path))
    assert (done.returncode, "ZeroDivisionError: a bug" in done.stderr) == (2, True), done.stderr
