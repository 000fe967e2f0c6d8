"""Telling and hearing that a stream moved on: NOTIFY after the commit, one LISTEN connection a process.

Only ids travel. Who hears reads; after a lost connection everybody reads again, so nothing is missed.
"""

import asyncio
from collections import defaultdict
from functools import partial
from typing import Any

import psycopg
import structlog
from django.db import connection, transaction

log = structlog.get_logger()

CHANNEL = "settled"
RECONNECT_SECONDS = 0.5


def tell(stream_id: int, sequence: int) -> None:
    """Say that a stream stands at a sequence. Called after the commit: inside it, NOTIFY serialises all commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, f"{stream_id}:{sequence}"])


def tell_after(stream_id: int, sequence: int) -> None:
    """Say so once the transaction at hand is committed; an act stands whether anybody hears of it or not."""
    transaction.on_commit(partial(tell, stream_id, sequence), robust=True)


class Hub:
    """One LISTEN connection for all who wait for streams in this process; it holds while anybody does."""

    def __init__(self) -> None:
        self.waiting: defaultdict[int, set[asyncio.Event]] = defaultdict(set)
        self.task: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()

    def subscribe(self, stream_id: int) -> asyncio.Event:
        """An event that is set whenever the stream may have moved on. Clear it before you read."""
        heard = asyncio.Event()
        self.waiting[stream_id].add(heard)
        if self.task is None or self.task.done():
            self.connected.clear()
            self.task = asyncio.create_task(self._listen())
        return heard

    def unsubscribe(self, stream_id: int, heard: asyncio.Event) -> None:
        """Stop waiting."""
        self.waiting[stream_id].discard(heard)
        if not self.waiting[stream_id]:
            del self.waiting[stream_id]

    async def _listen(self) -> None:
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(**_parameters(), autocommit=True) as listener:
                    await listener.execute(f"LISTEN {CHANNEL}")
                    self.connected.set()
                    self._wake_everybody()
                    async for notice in listener.notifies():
                        stream_id = int(notice.payload.partition(":")[0])
                        for heard in self.waiting.get(stream_id, ()):
                            heard.set()
            except (psycopg.OperationalError, OSError) as error:
                log.warning("listening_again", error=str(error))
            self.connected.clear()
            self._wake_everybody()
            await asyncio.sleep(RECONNECT_SECONDS)

    def _wake_everybody(self) -> None:
        for group in self.waiting.values():
            for heard in group:
                heard.set()


def _parameters() -> dict[str, Any]:
    """How to reach the same database as everybody, without what only pooled connections need."""
    parameters = connection.get_connection_params()
    return {
        key: value
        for key, value in parameters.items()
        if key in {"host", "port", "user", "password", "dbname", "connect_timeout", "application_name"}
    }


HUB = Hub()
