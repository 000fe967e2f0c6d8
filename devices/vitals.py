"""What health knows of the house, read and proved on a session of its own, so that whoever asks is answered within seconds.

Everything else may stand still: the pool may be used up by commits that hang, the server frozen, its name unknown. The
session lives in a thread; whoever asks waits for it no longer than `PATIENCE_SECONDS` and is told how far it came.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg
import structlog
from celery import current_app
from django.conf import settings

from accounting import connecting
from devices import queries

log = structlog.get_logger()

PATIENCE_SECONDS = 2.0
PROVEN_FOR_SECONDS = 1.0
"""Health is open to everybody, and a commit is not free: one proof serves all who ask within so long."""

# The session gives up by itself where it can. Nothing ends a commit that waits for a standby but the standby, and there is
# at most one such in the house however many processes ask or were restarted: the others meet its row lock.
BOUNDS = "SET statement_timeout = '1500ms'; SET lock_timeout = '1500ms'; SET idle_session_timeout = 0"
PROOF = """
    INSERT INTO devices_heartbeat (name, seen_at) VALUES ('commit', now())
    ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
"""
SOONER = {"connect_timeout": 2}

CONNECTING, READING, COMMITTING, DONE = "connecting", "reading", "committing", "done"


class Session(Protocol):
    """As much of a connection as is needed, committing at once."""

    @property
    def closed(self) -> bool:
        """Whether it is of no use any more."""
        ...

    def execute(self, query: Any, params: Any = None) -> Any:
        """Run a statement; a cursor."""
        ...

    def close(self) -> None:
        """End it."""
        ...


@dataclass(frozen=True, slots=True)
class Figures:
    """What was read."""

    health: queries.Health
    stopped: list[queries.Stopped]
    late: list[queries.Late]


@dataclass(frozen=True, slots=True)
class Found:
    """How far the look came: `figures` is None where not even reading was possible, `commit` says what became of it.

    `commit` is "ok", or in words why nothing is written.
    """

    figures: Figures | None
    commit: str


def connect(where: dict[str, Any]) -> Session:
    """A session for looking, bounded by the server and by the network."""
    session = psycopg.connect(**where | SOONER, autocommit=True)
    session.execute(BOUNDS)
    return session


class Watch:
    """Looks when somebody asks, one look at a time."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self.patience = patience
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None
        self.where: dict[str, Any] = {}
        self.asked = self.ended = self.begun = 0
        self.began_at = 0.0
        self.stage = DONE
        self.figures: Figures | None = None
        self.trouble = ""
        # Of the thread alone.
        self.session: Session | None = None
        self.session_to: dict[str, Any] = {}
        self.proved_at = float("-inf")

    def look(self, where: dict[str, Any]) -> Found:
        """What a look that begins now finds, or how far it has come when patience ends. `where`: how the database is reached."""
        with self.changed:
            self.where = where
            patience = self.patience
            if self.stage != DONE:  # one that began long ago and hangs has been waited for already
                patience = max(0.1, patience - (time.monotonic() - self.began_at))
            wanted = self.asked = self.begun + 1
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="vitals", daemon=True)
                self.thread.start()
            self.changed.notify_all()
            if self.changed.wait_for(lambda: self.ended >= wanted, patience):
                return Found(self.figures, self.trouble or "ok")
            return Found(self.figures, self.trouble or "no commit within its time")

    def forget(self) -> None:
        """Begin anew with the next look."""
        with self.changed:
            self.proved_at = float("-inf")
            if self.stage == DONE and self.session is not None:
                self.session.close()
                self.session = None

    def _run(self) -> None:
        while True:
            with self.changed:
                while self.asked <= self.begun:
                    self.changed.wait()
                self.begun += 1
                self.began_at = time.monotonic()
                self.figures, self.trouble, self.stage = None, "", CONNECTING
                where = self.where
            try:
                self._look(where)
            except Exception as error:  # whatever a driver raises: the next look begins anew
                with self.changed:
                    self.trouble = str(error).strip().partition("\n")[0] or repr(error)
                self._close()
            finally:
                with self.changed:
                    self.ended, self.stage = self.begun, DONE
                    self.changed.notify_all()

    def _look(self, where: dict[str, Any]) -> None:
        if self.session is not None and (self.session.closed or self.session_to != where):
            self._close()
        old = self.session
        try:
            figures = self._read(self.session or self._open(where))
        except psycopg.OperationalError:
            if old is None:
                raise
            self._close()  # the server was started again since
            figures = self._read(self._open(where))
        self._enter(COMMITTING, figures)
        if time.monotonic() - self.proved_at < PROVEN_FOR_SECONDS:
            return
        session = self.session
        assert session is not None
        try:
            session.execute(PROOF)
        except psycopg.errors.LockNotAvailable:
            raise TimeoutError("a commit before this one still waits") from None
        self.proved_at = time.monotonic()

    def _open(self, where: dict[str, Any]) -> Session:
        self._enter(CONNECTING)
        self.session, self.session_to = connect(where), where
        return self.session

    def _read(self, session: Session) -> Figures:
        self._enter(READING)

        def ask(statement: str, values: Any = ()) -> list[tuple[Any, ...]]:
            found: list[tuple[Any, ...]] = session.execute(statement, values or None).fetchall()
            return found

        return Figures(queries.health(ask), queries.stopped(ask), queries.late(settings.STALLED_SECONDS, ask))

    def _enter(self, stage: str, figures: Figures | None = None) -> None:
        with self.changed:
            self.stage = stage
            self.figures = figures

    def _close(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.close()


WATCH = Watch()
forget = WATCH.forget


def look() -> Found:
    """How the house does, within `PATIENCE_SECONDS`."""
    return WATCH.look(connecting.parameters())


class Broker:
    """Whether the broker answers, asked at most every few seconds from a thread, and never waited for."""

    def __init__(self, ask: Callable[[], None], every: float = 5.0) -> None:
        self.ask = ask
        self.every = every
        self.lock = threading.Lock()
        self.asked_at = float("-inf")
        self.answered_at = float("-inf")
        self.under_way = False
        self.failures = 0

    def state(self) -> str:
        """`ok`, or `away` when it failed twice running or nothing was heard for three times as long as it is asked."""
        now = time.monotonic()
        with self.lock:
            if not self.under_way and now - self.asked_at >= self.every:
                first = self.asked_at == float("-inf")
                self.under_way, self.asked_at = True, now
                if first:
                    self.answered_at = now  # the benefit of the doubt until the first answer
                threading.Thread(target=self._run, name="broker-look", daemon=True).start()
            return "ok" if self.failures < 2 and now - self.answered_at < 3 * self.every else "away"

    def _run(self) -> None:
        try:
            self.ask()
        except Exception as error:  # whatever the broker's client raises
            log.info("broker_away", error=str(error))
            with self.lock:
                self.failures += 1
        else:
            with self.lock:
                self.answered_at, self.failures = time.monotonic(), 0
        finally:
            with self.lock:
                self.under_way = False


def _ask_the_broker() -> None:
    options = getattr(settings, "CELERY_BROKER_TRANSPORT_OPTIONS", {})
    if "conn_string" in options:  # a queue in PostgreSQL; its client would open a pool for the asking
        psycopg.connect(options["conn_string"], connect_timeout=2).close()
        return
    with current_app.connection_for_write(connect_timeout=2) as broker:
        broker.ensure_connection(max_retries=1, timeout=2)


BROKER = Broker(_ask_the_broker)
