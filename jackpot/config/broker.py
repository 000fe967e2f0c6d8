"""The broker on PostgreSQL: kombu's `pgmq` transport, in which whoever listens also reads.

As it comes, everybody who declares a queue listens to its inserts, publishers too, and a consumer reads what it hears
only while its queue is empty.  A session that listens and does not read fills up: its backend hangs in ClientWrite, holds
the oldest transaction of the server open, and the server's one notification queue grows without end.
"""

import threading
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import structlog
from kombu.transport import pgmq
from pgmq import PGMQueue
from psycopg import sql
from psycopg_pool import ConnectionPool

from jackpot.config.broker_tables import HEARD

log = structlog.get_logger()

# What tells of inserts keeps this row in an unlogged table, which a crash of the server empties: whoever consumes puts it back.
UNTHROTTLED = """
    INSERT INTO pgmq.notify_insert_throttle (queue_name, throttle_interval_ms) VALUES (%s, %s)
    ON CONFLICT (queue_name) DO UPDATE SET throttle_interval_ms = excluded.throttle_interval_ms
"""
READ_SECONDS = pgmq.Channel.default_visibility_timeout  # so long a message that was read is kept for its reader
LOOK_UP_SECONDS = 0.5  # how soon the reader sees that it is to stop, or that there is more to listen to


class Listener(pgmq._NotifyWaiter):
    """Hears the inserts of queues in a thread of its own, which reads whatever the consumer is doing meanwhile."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn)
        self.channels: set[str] = set()
        self.heard = threading.Event()
        self.closed = threading.Event()
        self.thread: threading.Thread | None = None
        self.error: Exception | None = None

    def register(self, queue_name: str) -> None:
        """Listen to the inserts of a queue as well."""
        self.channels.add(f"pgmq.q_{queue_name}.INSERT")
        if self.thread is None:
            self.thread = threading.Thread(target=self._read, name="broker-listener", daemon=True)
            self.thread.start()

    def wait(self, timeout: float | None) -> bool:
        """Whether a message came since the last wait, or comes within so many seconds.

        A session that was lost is the consumer's to know: its channel may be full of messages that could not be acknowledged,
        and nothing else would tell it to begin anew.
        """
        came = self.heard.wait(timeout)
        self.heard.clear()
        if self.error is not None:
            raise self.error
        return came

    def close(self) -> None:
        """Stop listening; the session ends within a second."""
        self.closed.set()
        self.heard.set()

    def _read(self) -> None:
        try:
            with psycopg.connect(self._dsn, autocommit=True, application_name="jackpot broker listener") as session:
                self._read_from(session)
        except Exception as error:  # whatever it is, the consumer must know
            log.warning("broker_listener_lost", error=str(error))
            self.error = error
            self.heard.set()

    def _read_from(self, session: psycopg.Connection[Any]) -> None:
        listening: set[str] = set()
        while not self.closed.is_set():
            for channel in self.channels - listening:
                session.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
                listening.add(channel)
                self.heard.set()
            for _ in session.notifies(timeout=LOOK_UP_SECONDS):
                self.heard.set()


class Channel(pgmq.Channel):
    """Who declares a queue does not listen to it; who consumes from it does.

    Queues are made by the owner of their schema (`broker_tables.py`), who may do what the service may not: here they are made
    only where they are missing.
    """

    def _new_queue(self, queue: str, **kwargs: Any) -> None:
        if not self._is_heard(self._queue_name(queue)):
            super()._new_queue(queue, **kwargs)  # type: ignore[no-untyped-call]

    def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
        if queue_name is not None:
            return  # asked for a declaration, not for a consumer
        name = self._queue_name(queue)
        if self._is_heard(name):
            with self._session() as session:
                session.execute(UNTHROTTLED, [name, self.notify_throttle_interval_ms])
            self.connection._register_notify_queue(name)
        else:
            super()._maybe_enable_notify(queue)  # type: ignore[no-untyped-call]

    def _session(self) -> AbstractContextManager[psycopg.Connection[Any]]:
        pool = self.pgmq.pool
        assert pool is not None, "a channel that is open has one"
        return pool.connection()

    def _is_heard(self, name: str) -> bool:
        """Whether the queue is there and tells of its inserts."""
        with self._session() as session:
            return bool(session.execute(HEARD, [f"pgmq.q_{name}"]).fetchone() == (True,))


class Transport(pgmq.Transport):
    """kombu's transport with our channel and our listener."""

    Channel = Channel

    def _create_pgmq_client(self) -> PGMQueue:
        """The queue's client on a pool of ours: its own would connect with five of all the things an address can say."""
        known = self._options()
        pool = ConnectionPool(
            known["conn_string"], min_size=1, max_size=known["pool_size"], timeout=known["pool_timeout"], open=True
        )
        client = PGMQueue(conn_string=known["conn_string"], init_extension=False, vt=READ_SECONDS, pool=pool)
        client._own_pool = True  # it closes it
        return client

    def _get_notify_waiter(self) -> pgmq._NotifyWaiter:
        if self._notify_waiter is None:
            self._notify_waiter = Listener(self._options()["conn_string"])
        return self._notify_waiter

    def _options(self) -> dict[str, Any]:
        assert self.client is not None, "a transport belongs to a connection"
        return self.client.transport_options
