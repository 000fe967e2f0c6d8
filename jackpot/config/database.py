"""Whether the database that is reached is one that this code can work with: whole, not newer, with sessions that last."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString, Protocol

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import OperationalError

from accounting import connecting
from jackpot.config import address
from jackpot.config.embedded_postgres import OWNER, DatabaseProblem

ON_ANY_DATABASE = {
    "createcachetable", "dbshell", "inspectdb", "makemigrations", "migrate", "optimizemigration", "shell",
    "showmigrations", "sqlflush", "sqlmigrate", "sqlsequencereset", "squashmigrations", "testserver",
}  # fmt: skip
"""Commands that do not need what migrations make."""

OWNERS = {
    "axes_reset_logs", "createcachetable", "flush", "loaddata", "migrate", "remove_stale_contenttypes", "testserver",
}  # fmt: skip
"""Commands that make tables, empty them or write what the service may only read."""

TURNS = 3
EXAMPLE = "it is to look like postgresql://user:password@host:5432/database"


def refuse_a_wrong_address() -> None:
    """DatabaseProblem when DATABASE_URL, or the broker's where that is a PostgreSQL, is none that this service can use."""
    broker = os.environ.get("CELERY_BROKER_URL", "")
    named = {"DATABASE_URL": os.environ.get("DATABASE_URL", "")}
    if broker.startswith("pgmq:"):
        named["CELERY_BROKER_URL"] = f"postgresql{broker.removeprefix('pgmq')}"
    for variable, url in named.items():
        try:
            if url:
                address.read(url)
        except address.WrongAddress as error:
            example = EXAMPLE if variable == "DATABASE_URL" else EXAMPLE.replace("postgresql", "pgmq")
            raise DatabaseProblem(f"{variable} {error}: {example}") from None


def refuse_what_does_not_fit(command: str) -> None:
    """DatabaseProblem when a command cannot work on the database as it is; the words say what to do."""
    try:
        applied = _applied()
    except OperationalError as error:
        raise DatabaseProblem(
            f"The database cannot be reached: {one_line(error)}. Is it running, and is DATABASE_URL right?"
        ) from None
    known = _known()
    _refuse_newer(applied - known)
    if command not in ON_ANY_DATABASE and known - applied:
        state = "behind this program" if applied else "empty"
        raise DatabaseProblem(f"The database is {state}: `python3 manage.py migrate` first, or `up`, which does it")


@contextmanager
def as_owner() -> Iterator[None]:
    """Work on the embedded database as the owner of its tables. With DATABASE_URL it has said already who works there."""
    if os.environ.get("DATABASE_URL"):
        yield
        return
    service = connection.settings_dict["USER"]
    connection.close()
    connection.settings_dict["USER"] = OWNER
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["USER"] = service


def refuse_newer() -> None:
    """DatabaseProblem when the database was migrated by a version newer than this code. OperationalError without one."""
    _refuse_newer(_applied() - _known())


def _applied() -> set[tuple[str, str]]:
    """The migrations that the database has had. OperationalError without one, DatabaseProblem where it cannot be asked."""
    try:
        return set(MigrationRecorder(connection).applied_migrations())
    except OperationalError:
        raise
    except (
        Error,
        ImproperlyConfigured,
        ValueError,
        TypeError,
    ) as error:  # options that no driver knows, missing rights
        raise DatabaseProblem(
            f"The database cannot be asked: {one_line(error)}. Is DATABASE_URL right? {EXAMPLE}"
        ) from None


def _known() -> set[tuple[str, str]]:
    migrations = MigrationLoader(None).disk_migrations
    return set(migrations).union(*(migration.replaces for migration in migrations.values()))


def _refuse_newer(unknown: set[tuple[str, str]]) -> None:
    if unknown:
        names = ", ".join(f"{app}.{name}" for app, name in sorted(unknown)[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise DatabaseProblem(
            f"The database is newer than this program, which does not know its migrations {names}{more}:"
            " start the version that made them, or a later one"
        )


class Session(Protocol):
    """A connection in autocommit, as far as it is needed here."""

    def execute(self, query: LiteralString, params: Any = None) -> Any:
        """Run a statement; a cursor."""


def refuse_a_pooler() -> None:
    """DatabaseProblem when the server is reached through a pooler of transactions. OperationalError without a server."""
    where = connecting.parameters()
    with psycopg.connect(**where, autocommit=True) as first, psycopg.connect(**where, autocommit=True) as second:
        if not sessions_last(first, second):
            raise DatabaseProblem(
                "The database is reached through a pooler that lends a session for one transaction only: advisory locks,"
                " LISTEN, SET and prepared statements do not survive there, and settling needs them. Let DATABASE_URL"
                " name the server itself, or let the pooler lend whole sessions (PgBouncer: pool_mode = session)"
            )


def sessions_last(first: Session, second: Session) -> bool:
    """Whether each of two connections keeps a session of its own from one statement to the next.

    A pooler lends what was given back last: while the second is inside a transaction it has the session that the first
    believed its own, or the first is given another one meanwhile.
    """
    for _ in range(TURNS):
        mark = secrets.token_hex(8)
        mine = first.execute(
            "SELECT pg_backend_pid()::text, set_config('jackpot.session', %s, false)", [mark]
        ).fetchone()
        try:
            second.execute("BEGIN")
        except psycopg.errors.ProtocolViolation:
            return False  # lent for one statement only: there are no transactions at all
        try:
            (others,) = second.execute("SELECT pg_backend_pid()::text").fetchone()
        finally:
            second.execute("ROLLBACK")
        again = first.execute("SELECT pg_backend_pid()::text, current_setting('jackpot.session', true)").fetchone()
        if others == mine[0] or tuple(again) != tuple(mine):
            return False
    return True


def refuse_at_start(*, sessions: bool) -> None:
    """End this process with one line on standard error when it may not serve this database; with `sessions`, it needs them.

    A database that cannot be reached yet is waited for elsewhere.
    """
    try:
        refuse_newer()
        if sessions:
            refuse_a_pooler()
    except DatabaseProblem as problem:
        print(problem, file=sys.stderr, flush=True)
        raise SystemExit(1) from None
    except (OperationalError, psycopg.OperationalError):
        pass
    finally:
        connection.close()


def one_line(error: Exception) -> str:
    """What an error says first, without the full stop."""
    said = str(error).strip() or repr(error)
    return said.splitlines()[0].strip().rstrip(".")
