"""Inside .venv: `up` and `down`, and Django's commands on a database that is there."""

import atexit
import fcntl
import os
import sys
from typing import TextIO

from jackpot.config.data_folder import DataFolder
from jackpot.config.embedded_postgres import DatabaseProblem, EmbeddedPostgres

WITHOUT_DATABASE = {
    "", "bench", "help", "version", "--version", "--help", "check", "collectstatic", "compilemessages", "diffsettings",
    "findstatic", "makemessages", "odds", "roles", "simulate", "soak", "spectacular", "startapp", "startproject",
}  # fmt: skip

ONE_MEANS_A_FINDING = {"verify"}
"""Commands whose exit code 1 says that they looked and found something; who could not look says 2."""


def execute(argv: list[str]) -> int:
    """Run one command and return its exit code."""
    command = argv[1] if len(argv) > 1 else ""
    asks_for_help = bool({"-h", "--help"} & set(argv[2:]))
    try:
        if not asks_for_help:
            from jackpot.config.database import refuse_a_wrong_address

            refuse_a_wrong_address()
        if command == "up":
            from jackpot.config.up import main as up

            return up(argv[2:])
        if command == "down":
            from jackpot.config.down import main as down

            return down(argv[2:])
        if command not in WITHOUT_DATABASE and not asks_for_help:
            borrow_database()
            _look_at_database(command)
    except DatabaseProblem as problem:
        print(problem, file=sys.stderr)
        return 2 if command in ONE_MEANS_A_FINDING else 1
    from django.core.management import execute_from_command_line

    execute_from_command_line(argv)
    if command in ("", "help", "--help") and len(argv) < 3:
        print("\n[the house]\n    up\n    down\n    test\n    settle\n\nEach of these four says more with --help.")
    return 0


def _look_at_database(command: str) -> None:
    import django

    from jackpot.config.database import refuse_what_does_not_fit

    django.setup()
    refuse_what_does_not_fit(command)


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
    users = (data.path / "postgres.users").open("a")
    fcntl.flock(users, fcntl.LOCK_SH)
    return users


def _give_back(server: EmbeddedPostgres, users: TextIO) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # somebody else needs it
    with users:
        server.stop()
