"""Every command there is, Django's and packages' too: its help has an example, and what it expects to fail is one line."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, get_commands, load_command_class
from django.db import DatabaseError, OperationalError, connections
from pytest_django import DjangoDbBlocker

import manage
from jackpot.config import bootstrap, command_line
from jackpot.config.command_line import HOUSE, WITHOUT_DATABASE, example, execute
from jackpot.config.database import ON_ANY_DATABASE
from tests.conftest import ROOT
from tests.faults.hall import free_port

DJANGOS = sorted({*get_commands()} - {*HOUSE})
NEED_DATABASE = [name for name in DJANGOS if name not in WITHOUT_DATABASE]
OURS = ("accounting", "jackpot", "tables", "devices")
NOBODY = "postgresql://127.0.0.1:1/nobody"

Captured = pytest.CaptureFixture[str]


def words_of(name: str) -> list[str]:
    """How the command's own example calls it."""
    return shlex.split(example(load_command_class(get_commands()[name], name), name))


def ended(*words: str) -> int:
    """The exit code of `manage.py words…`."""
    try:
        return execute(["manage.py", *words])
    except SystemExit as end:
        assert isinstance(end.code, int), words
        return end.code


def refused(capsys: Captured, *words: str) -> str:
    """The one line with which `manage.py words…` ends; its exit code is 2."""
    code = ended(*words)
    written = capsys.readouterr()
    assert (code, written.out) == (2, ""), (words, written)
    assert written.err.count("\n") == 1 and written.err.endswith("\n"), (words, written.err)
    return written.err


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands take the test's database for one that DATABASE_URL names."""
    monkeypatch.setenv("DATABASE_URL", NOBODY)


@pytest.mark.parametrize("name", [*DJANGOS, *HOUSE])
def test_help_ends_well_and_shows_an_example(name: str, capsys: Captured) -> None:
    assert ended(name, "--help") == 0
    helped = capsys.readouterr()
    assert f"Example: python3 manage.py {name}" in " ".join(helped.out.split())
    assert helped.err == ""
    assert ended("help", name) == 0
    assert f"Example: python3 manage.py {name}" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", DJANGOS)
def test_the_example_can_be_called_as_it_stands(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    first, *words = words_of(name)
    assert first == name
    command.create_parser("manage.py", name).parse_args(words)
    if type(command).__module__.startswith(OURS):
        assert "example" in vars(type(command)), "a command of ours says how it is called"


def test_help_lists_the_commands_that_django_does_not_know(capsys: Captured) -> None:
    assert ended("help") == 0
    assert capsys.readouterr().out.split("[the house]")[1].split()[: len(HOUSE)] == [*HOUSE]


@pytest.mark.parametrize("name", [*DJANGOS, "up", "down", "settle", "backup", "restore"])
def test_a_word_that_it_does_not_know_is_refused(
    name: str, elsewhere: None, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "refuse_what_does_not_fit", lambda command: None)
    said = refused(capsys, *(words_of(name) if name in DJANGOS else [name]), "--no-such-word")
    assert "manage.py " + name in said


def test_a_command_that_is_none_is_refused_without_a_database(capsys: Captured) -> None:
    assert refused(capsys, "verfy") == "There is no command verfy: `python3 manage.py help` lists them\n"


@pytest.mark.parametrize("name", [*DJANGOS, "up", "down"])
@pytest.mark.parametrize("url", ["mysql://x/y", "::::", "postgresql://x@h:port/y", "postgresql://h"])
def test_a_wrong_address_is_refused(name: str, url: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", url)
    said = refused(capsys, name)
    assert "DATABASE_URL" in said and "postgresql://user:password@host:5432/database" in said


def test_every_command_that_needs_migrations_refuses_an_empty_database(
    bare: None, elsewhere: None, capsys: Captured
) -> None:
    for name in set(NEED_DATABASE) - ON_ANY_DATABASE:
        assert refused(capsys, *words_of(name)).startswith("The database is empty: `python3 manage.py migrate` first")


def test_lists_of_commands_name_commands_that_are_there() -> None:
    known = {*DJANGOS, *HOUSE}
    assert known >= ON_ANY_DATABASE
    assert known >= {*command_line.EXAMPLES}
    assert not ON_ANY_DATABASE & WITHOUT_DATABASE


@contextmanager
def database_with(option: str, value: Any) -> Iterator[None]:
    """Connections of this process ask for something else than the test's database."""
    settings = connections.settings["default"]
    connections.close_all()
    before, settings[option] = settings[option], value
    try:
        yield
    finally:
        connections.close_all()
        settings[option] = before


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("HOST", "/nowhere", "The database cannot be reached: "),
        ("NAME", "no_such_database", 'The database cannot be reached: .*database "no_such_database" does not exist'),
        ("OPTIONS", {"no_such_option": "1"}, "The database cannot be asked: "),
    ],
)
def test_every_command_that_needs_a_database_says_that_it_is_not_there(
    option: str, value: Any, words: str, elsewhere: None, capsys: Captured, django_db_blocker: DjangoDbBlocker
) -> None:
    with django_db_blocker.unblock(), database_with(option, value):
        for name in NEED_DATABASE:
            said = refused(capsys, *words_of(name))
            assert re.match(words, said) and "DATABASE_URL" in said, (name, said)


@pytest.mark.parametrize(
    "words",
    [
        ["load_floor", "jackpot/config/demo/floor.toml"], ["verify"], ["migrate"],
        ["up", "--exit-when-ready"], ["up", "--detach"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_as_a_process_of_its_own_it_ends_with_that_line(words: list[str], tmp_path: Path) -> None:
    if words[0] == "up":
        words = [*words, "--port", str(free_port())]
    surroundings = {**os.environ, "DATABASE_URL": NOBODY, "JACKPOT_DATA": str(tmp_path), "JACKPOT_NO_VENV": "1"}
    done = subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "The database " in done.stderr and "Connection refused" in done.stderr
    assert "Is it running, and is DATABASE_URL right?" in done.stderr


# ── what happens while it works ─────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (CommandError("there is\n no such thing"), "there is no such thing"),
        (FileNotFoundError(2, "No such file or directory", "floor.toml"), "floor.toml: No such file or directory"),
        (SystemExit("enough"), "enough"),
    ],
)
def test_what_is_expected_is_one_line(
    error: BaseException, words: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Any, *args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("tables.management.commands.odds.Command.handle", fails)
    assert refused(capsys, "odds") == f"{words}\n"


def from_the_driver(error: Exception, cause: psycopg.Error) -> Exception:
    """An error as Django raises it for one of the driver's."""
    error.__cause__ = cause
    return error


LOST = ". Is it running, and is DATABASE_URL right?"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OperationalError("it left"), f"The database gave up: it left{LOST}"),
        (psycopg.OperationalError("it left"), f"The database gave up: it left{LOST}"),
        (psycopg.InterfaceError("it is closed"), f"The database gave up: it is closed{LOST}"),
        (from_the_driver(DatabaseError("shut"), psycopg.InterfaceError()), f"The database gave up: shut{LOST}"),
        (from_the_driver(DatabaseError("full"), psycopg.errors.DiskFull()), f"The database gave up: full{LOST}"),
        (psycopg.errors.AdminShutdown("ended"), f"The database gave up: ended{LOST}"),
        (from_the_driver(DatabaseError("no x"), psycopg.errors.UndefinedTable()), "The database is not whole: no x."),
        (from_the_driver(DatabaseError("a bug"), psycopg.ProgrammingError()), None),
        (from_the_driver(ValueError("a bug"), psycopg.OperationalError()), None),
        (psycopg.errors.DivisionByZero("a bug"), None),
        (DatabaseError("a bug"), None),
    ],
)  # fmt: skip
def test_a_database_that_fails_is_told_from_a_bug(error: Exception, words: str | None) -> None:
    said = command_line.broken_database(error)
    assert said is None if words is None else said is not None and said.startswith(words)


def test_where_an_address_names_the_database_none_is_borrowed(
    elsewhere: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_DATA", str(tmp_path / "none"))
    command_line.borrow_database()
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("error", [ValueError("a bug"), DatabaseError("a bug"), OSError("a bug")])
def test_a_bug_shows_where_it_is(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, *args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("tables.management.commands.odds.Command.handle", fails)
    with pytest.raises(type(error)):
        execute(["manage.py", "odds"])


def test_files_that_are_not_there(
    bare: None, elsewhere: None, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "refuse_what_does_not_fit", lambda command: None)
    assert refused(capsys, "load_floor", "none.toml") == "none.toml: No such file or directory\n"
    assert refused(capsys, "simulate", "none.toml").startswith("none.toml: ")
    assert refused(capsys, "settle", "none.toml", "-").startswith("none.toml: No such file or directory. `python3")
    assert refused(capsys, "up", "--floor", "none.toml").startswith("--floor: there is no file ")
    for command in ("backup", "restore"):
        assert refused(capsys, command, "none").startswith(
            f"`{command}` is for the embedded server; DATABASE_URL names"
        )


def test_a_data_folder_that_cannot_be(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv("JACKPOT_DATA", str(tmp_path / "file" / "below"))
    assert "JACKPOT_DATA" in refused(capsys, "verify")
    assert "--data" in refused(capsys, "up")


# ── packages that only tests bring ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("command", ["bench", "test"])
def test_packages_of_tests_are_installed_for_whoever_needs_them(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[Path]] = []

    def filled(files: list[Path]) -> bool:
        asked.append(files)
        return True

    monkeypatch.delenv("JACKPOT_NO_VENV", raising=False)
    monkeypatch.setattr(bootstrap, "_filled", filled)
    monkeypatch.setattr(bootstrap, "VENV", Path(sys.prefix))
    monkeypatch.setattr(command_line, "execute", lambda argv: 0)
    for words, tests in (([command], True), ([command, "--help"], False), (["verify"], False)):
        monkeypatch.setattr(sys, "argv", ["manage.py", *words])
        with pytest.raises(SystemExit):
            manage.main()
        assert (bootstrap.TESTS in asked.pop()) is tests


@pytest.mark.parametrize("command", ["bench", "test"])
def test_where_nothing_is_installed_it_says_what_is_missing(
    command: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_NO_VENV", "1")
    monkeypatch.setattr(sys, "argv", ["manage.py", command])
    for pins, words in (("no-such-package==1\n", "missing here: no-such-package."), (None, "There are no tests here")):
        monkeypatch.setattr(bootstrap, "TESTS", tmp_path / f"{len(words)}.txt")
        if pins:
            bootstrap.TESTS.write_text(pins)
        with pytest.raises(SystemExit) as stopped:
            manage.main()
        said = capsys.readouterr().err
        assert (stopped.value.code, said.count("\n")) == (2, 1)
        assert words in said


def test_the_packages_of_tests_are_all_here() -> None:
    assert bootstrap._missing(bootstrap.TESTS) == []
