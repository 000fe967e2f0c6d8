"""Inside .venv: the one way that every command goes, `up`, `down`, `test` and `settle` as well as Django's.

`--help` ends with an example. What can be expected to fail is one line on standard error and exit code 2.
"""

import atexit
import fcntl
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TextIO

import django
import psycopg
from django.core.management import CommandError, ManagementUtility, call_command, get_commands
from django.core.management.base import BaseCommand, CommandParser, SystemCheckError
from django.db import Error, OperationalError
from django.utils.module_loading import import_string
from psycopg.errors import InsufficientPrivilege

from jackpot.config.data_folder import DataFolder, open_private
from jackpot.config.database import OWNERS, as_owner, one_line, refuse_a_wrong_address, refuse_what_does_not_fit
from jackpot.config.embedded_postgres import DatabaseProblem, EmbeddedPostgres

HOUSE = {
    "up": "jackpot.config.up.main",
    "down": "jackpot.config.down.main",
    "test": "jackpot.config.testing.run",
    "settle": "tables.settle.main",
    "backup": "jackpot.config.backup.main",
    "restore": "jackpot.config.restore.main",
}
"""Commands that are none of Django's."""

WITHOUT_DATABASE = {
    "", "bench", "help", "version", "--version", "--help", "-h", "check", "collectstatic", "compilemessages",
    "diffsettings", "findstatic", "generateschema", "makemessages", "odds", "roles", "sendtestemail", "simulate", "soak",
    "spectacular", "startapp", "startproject",
}  # fmt: skip

APART = {"demo_day"}
"""Commands that play in a demo house of their own, in a folder of their name in the data folder, unless they are told where."""

EXAMPLES = {
    "axes_reset_ip": "axes_reset_ip 192.0.2.7",
    "axes_reset_ip_username": "axes_reset_ip_username 192.0.2.7 maria",
    "axes_reset_username": "axes_reset_username maria",
    "changepassword": "changepassword maria",
    "dumpdata": "dumpdata accounting.property",
    "findstatic": "findstatic htmx.js",
    "loaddata": "loaddata FILE.json",
    "migrate": "migrate --plan",
    "optimizemigration": "optimizemigration devices 0001",
    "sendtestemail": "sendtestemail maria@example.com",
    "sqlmigrate": "sqlmigrate devices 0001",
    "sqlsequencereset": "sqlsequencereset devices",
    "squashmigrations": "squashmigrations devices 0002",
    "startapp": "startapp NAME",
    "startproject": "startproject NAME",
    "testserver": "testserver FILE.json",
}
"""Of commands that are not ours and need or invite an argument; ours say theirs themselves (`example`)."""

INTERRUPTED = 130


class Refused(Exception):
    """A command said why it cannot do its work."""


def execute(argv: list[str]) -> int:
    """Run one command and return its exit code."""
    try:
        return _run(argv)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        if not isinstance(end.code, str):
            raise
        words = end.code
    except Exception as error:
        expected = _words(error, argv[1] if len(argv) > 1 else "")
        if expected is None or "--traceback" in argv:
            raise
        words = expected
    print(" ".join(words.split()), file=sys.stderr)
    return 2


def _words(error: Exception, command: str) -> str | None:
    """What to say about a failure that is to be expected; None for a bug, which may show where it is."""
    if isinstance(error, DatabaseProblem | Refused):
        return str(error)
    if isinstance(error, CommandError):  # of the words after the command
        return f"{str(error).removeprefix('Error: ')}: `python3 manage.py {command} --help` shows how"
    if (trouble := broken_database(error)) is not None:
        return trouble
    if isinstance(error.__cause__, InsufficientPrivilege):
        return (
            f"The database does not let this role do so: {one_line(error)}. What makes or changes tables is for their owner:"
            " DATABASE_URL is to name it, as for the migration in docker/compose.yaml"
        )
    if isinstance(error, OSError) and error.filename is not None:
        where = DataFolder().path
        ours = os.fsdecode(error.filename).startswith(str(where))
        advice = f". Choose another data folder than {where}: JACKPOT_DATA names it" if ours else ""
        return f"{os.fsdecode(error.filename)}: {error.strerror}{advice}"
    return None


ASK = ". Is it running, and is DATABASE_URL right?"
FAILS = {"08", "25", "28", "3D", "53", "54", "55", "57", "58", "F0", "XX"}
"""Classes of the server's own troubles: connections, a database that may not be written, resources, shutdowns, damage."""
NOT_WHOLE = {
    "42P01",
    "42703",
    "42883",
    "42P02",
    "3F000",
    "42704",
}  # a table, column, function, schema, type that is not there


def broken_database(error: Exception) -> str | None:
    """What to say when it is the database that fails, lost, read only, damaged or not whole; None for whatever else."""
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    if not isinstance(cause, psycopg.Error) or not isinstance(error, Error | psycopg.Error):
        return "The database gave up: " + one_line(error) + ASK if isinstance(error, OperationalError) else None
    state = cause.sqlstate or ""
    if state in NOT_WHOLE:
        return f"The database is not whole: {one_line(error)}. Restore it, or let `python3 manage.py verify` say what is there"
    lost = not state and isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
    if lost or state[:2] in FAILS or isinstance(error, OperationalError):
        return "The database gave up: " + one_line(error) + ASK
    return None


def _run(argv: list[str]) -> int:
    command, rest = argv[1] if len(argv) > 1 else "", argv[2:]
    if command == "help" and rest and rest[0] in HOUSE:
        command, rest = rest[0], ["--help"]
    asks_for_help = bool({"-h", "--help"} & set(rest))
    if not asks_for_help and command != "test":  # tests have a server of their own
        refuse_a_wrong_address()
    if command in HOUSE:
        main: Callable[[list[str]], int] = import_string(HOUSE[command])
        return main(rest)
    if command not in WITHOUT_DATABASE and not asks_for_help:
        apart = command in APART and not os.environ.get("DATABASE_URL")
        if apart:
            os.environ.setdefault("JACKPOT_DEMO", "1")
            os.environ.setdefault("JACKPOT_DATA", str(DataFolder().path / command))
        django.setup()
        if command in get_commands():
            from jackpot.config import celery  # noqa: F401  # what it wakes goes to the house's broker, not to Celery's own choice

            borrow_database()
            if apart:
                with as_owner():
                    call_command("migrate", interactive=False, verbosity=0)
            refuse_what_does_not_fit(command)
    with as_owner() if command in OWNERS and not asks_for_help else nullcontext():
        _Commands(argv).execute()
    if command in ("", "help", "--help", "-h") and not rest:
        print("\n[the house]\n" + "".join(f"    {name}\n" for name in HOUSE))
        print("Each of these says more with --help.")
    return 0


class _Commands(ManagementUtility):
    """Django's way to run a command, with one line for what it refuses and an example in its help."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """The command, or one line that there is none."""
        if subcommand not in get_commands():
            raise Refused(f"There is no command {subcommand}: `python3 manage.py help` lists them")
        return _plain_spoken(super().fetch_command(subcommand), subcommand)


def example(command: BaseCommand, name: str) -> str:
    """How it may be called, after `manage.py`."""
    return str(getattr(command, "example", EXAMPLES.get(name, name)))


def _plain_spoken(command: BaseCommand, name: str) -> BaseCommand:
    made, executed = command.create_parser, command.execute

    def create_parser(prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        command._called_from_command_line = False  # type: ignore[attr-defined]  # errors are raised, not explained at length
        return made(prog_name, subcommand, epilog=f"Example: python3 manage.py {example(command, name)}", **options)

    def execute(*args: Any, **options: Any) -> str | None:
        try:
            return executed(*args, **options)
        except SystemCheckError:
            raise
        except CommandError as error:
            raise Refused(str(error)) from error

    command.create_parser, command.execute = create_parser, execute  # type: ignore[method-assign]
    return command


def borrow_database() -> None:
    """Adopt the embedded server or start it for this command; whoever is the last to need it stops it."""
    if os.environ.get("DATABASE_URL"):
        return
    data = DataFolder()
    data.create()
    server = EmbeddedPostgres(data.postgres)
    users = use_database(data)
    server.start()
    atexit.register(_give_back, server, users)


def use_database(data: DataFolder) -> TextIO:
    """A shared lock that says the embedded server is needed, for as long as the file stays open."""
    users = open_private(data.path / "postgres.users")
    fcntl.flock(users, fcntl.LOCK_SH)
    return users


def _give_back(server: EmbeddedPostgres, users: TextIO) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # somebody else needs it
    with users:
        server.stop()
