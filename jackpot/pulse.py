"""Whether what is shown is still so: how long ago the record was last read, and when settling was last seen at work.

Live pages hear it every few seconds, so that each can say by itself that it has gone stale, and for how long. The record
is looked at once a second and process at most, however many are watching.
"""

import asyncio
import json
import time
from collections.abc import Callable
from datetime import datetime

import structlog
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connections
from django.utils import timezone

log = structlog.get_logger()

LOOK_AGAIN_SECONDS = 1.0
PATIENCE_SECONDS = 1.0  # a look that takes longer is not waited for: the last one's age says so


class Pulse:
    """What one process knows of it. `settled_at` reads when settling was last seen; whoever owns that says how."""

    def __init__(self) -> None:
        self.settled_at: Callable[[], datetime | None] | None = None
        self._looked = time.monotonic()
        self._seen: datetime | None = None
        self._looking: asyncio.Task[None] | None = None

    async def event(self) -> str:
        """A server-sent event with both ages in seconds; settling that was never seen has none."""
        if time.monotonic() - self._looked > LOOK_AGAIN_SECONDS and (self._looking is None or self._looking.done()):
            self._looking = asyncio.get_running_loop().create_task(self._look())
        if self._looking is not None and self._looking.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([self._looking], timeout=PATIENCE_SECONDS)
        settling = None if self._seen is None else round((timezone.now() - self._seen).total_seconds(), 1)
        ages = {"read": round(time.monotonic() - self._looked, 1), "settling": settling}
        return f"event: beat\ndata: {json.dumps(ages)}\n\n"

    async def _look(self) -> None:
        began = time.monotonic()
        try:
            self._seen = await sync_to_async(self._read, thread_sensitive=False)()
        except DatabaseError as error:
            log.warning("pulse_not_read", error=str(error))
            return
        self._looked = began

    def _read(self) -> datetime | None:
        try:
            return self.settled_at() if self.settled_at else None
        finally:
            connections.close_all()  # a thread of its own must not keep a connection


PULSE = Pulse()
