"""Whether the database that is reached is one that this code can work with: whole, not newer, with sessions that last."""

import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, LiteralString, Protocol

import psycopg
from django.conf import settings
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
LOOK_AGAIN_SECONDS = 1.0
EXAMPLE = "it is to look like postgresql://user:password@host:5432/database"


class Misfit(DatabaseProblem):
    """The database is not as this program needs it, and may be before long: somebody migrates it, or replaces the program."""


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
        _refuse_a_misfit(whole=command not in ON_ANY_DATABASE)
    except OperationalError as error:
        raise DatabaseProblem(
            f"The database cannot be reached: {one_line(error)}. Is it running, and is DATABASE_URL right?"
        ) from None
    if os.environ.get("DATABASE_URL"):
        try:
            refuse_a_pooler()
        except psycopg.OperationalError as error:
            raise DatabaseProblem(f"The database gave up: {one_line(error)}") from None


def _refuse_a_misfit(*, whole: bool) -> None:
    """Misfit for a database newer than this program or, where it must be `whole`, behind it. OperationalError without one."""
    applied, known = _applied(), _known()
    _refuse_newer(applied - known)
    if whole and known - applied:
        state = "behind this program" if applied else "empty"
        raise Misfit(f"The database is {state}: `python3 manage.py migrate` first, or `up`, which does it")


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
    _refuse_a_misfit(whole=False)


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
        # Rights are given at the end of the first migration.
        kind = Misfit if isinstance(error, Error) else DatabaseProblem
        raise kind(f"The database cannot be asked: {one_line(error)}. Is DATABASE_URL right? {EXAMPLE}") from None


def _known() -> set[tuple[str, str]]:
    migrations = MigrationLoader(None).disk_migrations
    return set(migrations).union(*(migration.replaces for migration in migrations.values()))


def _refuse_newer(unknown: set[tuple[str, str]]) -> None:
    if unknown:
        names = ", ".join(f"{app}.{name}" for app, name in sorted(unknown)[:3])
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise Misfit(
            f"The database is newer than this program, which does not know its migrations {names}{more}:"
            " start the version that made them, or a later one"
        )


class Session(Protocol):
    """A connection in autocommit, as far as it is needed here."""

    def execute(self, query: LiteralString, params: Any = None) -> Any:
        """Run a statement; a cursor."""


def refuse_a_pooler() -> None:
    """DatabaseProblem when the server is reached through a pooler of transactions. OperationalError without a server."""
    _refuse_a_pooler_before("The database", "DATABASE_URL", **connecting.parameters())


def _refuse_a_pooler_before(what: str, variable: str, conninfo: str = "", **where: Any) -> None:
    with (
        psycopg.connect(conninfo, **where, autocommit=True) as first,
        psycopg.connect(conninfo, **where, autocommit=True) as second,
    ):
        if not sessions_last(first, second):
            raise DatabaseProblem(
                f"{what} is reached through a pooler that lends a session for one transaction only: advisory locks,"
                f" LISTEN, SET and prepared statements do not survive there, and settling needs them. Let {variable}"
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


def serve_when_it_fits(ask: Callable[[Callable[[], str]], str] = lambda look: look()) -> None:
    """Return when this process may serve its database; until then wait, and say on standard error why, a line a reason.

    Hosts are updated one after the other. A process that starts may be newer than the database until somebody migrates that,
    or older until it is itself replaced; one that runs goes on while a later version migrates (docs/updates.md). A signal
    ends the waiting and the process, and so does a pooler that lends no sessions. Where the database cannot be reached yet the
    process goes on, and ends as soon as it is reached and does not fit. `ask` looks where this thread may not.
    """
    said = ""
    try:
        with _ended_by_signals():
            while why := ask(_why_not):
                if why != said:
                    _say(f"Waiting. {why}")
                    said = why
                time.sleep(LOOK_AGAIN_SECONDS)
    except DatabaseProblem as problem:
        _say(problem)
        raise SystemExit(1) from None
    if said:
        _say("The database is as this program needs it.")


def _why_not() -> str:
    """Why this process has to wait; nothing where it has not to."""
    try:
        _refuse_what_cannot_be_served()
    except Misfit as misfit:
        return str(misfit)
    except (OperationalError, psycopg.OperationalError):
        threading.Thread(target=_refuse_later, name="fit", daemon=True).start()
    finally:
        connection.close()
    return ""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a signal to end do so at once: servers keep it for later while they load what they serve."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, _end) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler or signal.SIG_DFL)


def _end(number: int, frame: object) -> None:
    raise SystemExit(0)


def _say(words: DatabaseProblem | str) -> None:
    os.write(2, f"{words}\n".encode())  # to standard error itself: beat sends to its log what is written to Python's


def _refuse_what_cannot_be_served() -> None:
    _refuse_a_misfit(whole=True)
    refuse_a_pooler()
    if settings.CELERY_BROKER_URL.startswith("pgmq:"):
        where = settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"]
        with suppress(psycopg.OperationalError):  # it may be away as long as it likes: settling goes on without
            _refuse_a_pooler_before("The broker", "CELERY_BROKER_URL", where)


def _refuse_later() -> None:
    while True:
        time.sleep(LOOK_AGAIN_SECONDS)
        try:
            _refuse_what_cannot_be_served()
        except DatabaseProblem as problem:
            _say(problem)
            os._exit(1)  # from a thread there is no other way; nothing was served that is not in the database
        except (OperationalError, psycopg.OperationalError):
            continue
        finally:
            connection.close()
        return


def one_line(error: Exception) -> str:
    """What an error says first, without the full stop."""
    said = str(error).strip() or repr(error)
    return said.splitlines()[0].strip().rstrip(".")
