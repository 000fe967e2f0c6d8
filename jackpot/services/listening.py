"""Telling and hearing that a stream moved on: NOTIFY after the commit, one LISTEN connection a process.

Only ids travel. Who hears reads; after a lost connection everybody reads again, so nothing is missed.
"""

import asyncio
from collections import defaultdict

import psycopg
import structlog
from django.db import connection, transaction

from accounting.connecting import parameters

log = structlog.get_logger()

CHANNEL = "settled"
RECONNECT_SECONDS = 0.5
MOST_DIGITS = 20


def tell(stream_id: int, sequence: int) -> None:
    """Say that a stream stands at a sequence. Called after the commit: inside it, NOTIFY serialises all commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, f"{stream_id}:{sequence}"])


def tell_after(stream_id: int, sequence: int) -> None:
    """Say so once the transaction at hand is committed; an act stands whether anybody hears of it or not."""
    transaction.on_commit(
        lambda: tell(stream_id, sequence), robust=True
    )  # what fails is logged by its name: no partial


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
                async with await psycopg.AsyncConnection.connect(**parameters(), autocommit=True) as listener:
                    await listener.execute(f"LISTEN {CHANNEL}")
                    self.connected.set()
                    self._wake_everybody()
                    async for notice in listener.notifies():
                        self._hear(notice.payload)
            except Exception as error:  # a lost server, a standby where the first was, no right to connect: it may pass
                log.warning("listening_again", error=str(error))
            self.connected.clear()
            self._wake_everybody()
            await asyncio.sleep(RECONNECT_SECONDS)

    def _hear(self, said: str) -> None:
        """Wake who waits for the stream that is named first; whoever reaches the database can say anything here."""
        stream, _, _ = said.partition(":")
        if stream.isascii() and stream.isdigit() and len(stream) < MOST_DIGITS:
            for heard in self.waiting.get(int(stream), ()):
                heard.set()

    def _wake_everybody(self) -> None:
        for group in self.waiting.values():
            for heard in group:
                heard.set()


HUB = Hub()
