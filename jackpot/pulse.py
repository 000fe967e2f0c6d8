"""Whether what is shown is still so: how long ago the record was last read, and when settling was last seen at work.

Live pages hear it every few seconds, so that each can say by itself that it has gone stale, and for how long. The record
is looked at once a second and process at most, however many are watching.
"""

import asyncio
import json
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

import structlog
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connections
from django.utils import timezone

log = structlog.get_logger()

LOOK_AGAIN_SECONDS = 1.0
NOBODY_SECONDS = 15.0  # so long after somebody asked last, the looking ends
PATIENCE_SECONDS = 1.0  # the first look is waited for so long; one that takes longer shows by its age


class Pulse:
    """What one process knows of it. `settled_at` reads when settling was last seen, `silent` the tables without contact by
    link, `wins` the hits of each that nobody has acknowledged; whoever owns that says how."""

    def __init__(self) -> None:
        self.wins: Callable[[], dict[str, list[dict[str, Any]]]] | None = None
        self.settled_at: Callable[[], datetime | None] | None = None
        self.silent: Callable[[], dict[str, list[str]]] | None = None
        self._asked = 0.0
        self._looked: float | None = None  # when the last look that succeeded began; none yet while nobody watched
        self._seen: datetime | None = None
        self._silent: dict[str, list[str]] = {}
        self._wins: dict[str, list[dict[str, Any]]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._first = asyncio.Event()

    def told(self) -> str:
        """A server-sent event with both ages in seconds, at once: `read` is null before the first look, `settling` where
        it was never seen; and, where there are any, by link the tables without contact under `silent` and the hits that nobody
        has acknowledged under `wins`. Whoever asks keeps the looking going."""
        self._asked = time.monotonic()
        loop = asyncio.get_running_loop()
        if self._looking is None or self._looking.done() or self._looking.get_loop() is not loop:
            self._first = asyncio.Event()
            self._looking = loop.create_task(self._look_on())
        read = None if self._looked is None else round(time.monotonic() - self._looked, 1)
        settling = None if self._seen is None else round((timezone.now() - self._seen).total_seconds(), 1)
        told: dict[str, Any] = {"read": read, "settling": settling}
        if self._silent:
            told["silent"] = self._silent
        if self._wins:
            told["wins"] = self._wins
        return f"event: beat\ndata: {json.dumps(told)}\n\n"

    async def event(self) -> str:
        """The same, after the first look where that comes soon."""
        self.told()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._first.wait(), PATIENCE_SECONDS)
        return self.told()

    async def _look_on(self) -> None:
        while time.monotonic() - self._asked < NOBODY_SECONDS:
            began = time.monotonic()
            try:
                self._seen, self._silent, self._wins = await sync_to_async(self._read, thread_sensitive=False)()
                self._looked = began
            except DatabaseError as error:
                log.warning("pulse_not_read", error=str(error))
            self._first.set()
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
        self._looked = None  # whoever comes next is told of a look of then

    def _read(self) -> tuple[datetime | None, dict[str, list[str]], dict[str, list[dict[str, Any]]]]:
        try:
            return (
                self.settled_at() if self.settled_at else None,
                self.silent() if self.silent else {},
                self.wins() if self.wins else {},
            )
        finally:
            connections.close_all()  # a thread of its own must not keep a connection


PULSE = Pulse()
