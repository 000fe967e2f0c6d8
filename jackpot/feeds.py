"""Live meters for browsers and signs: one reading a change and link, however many are watching (ARCHITECTURE §6)."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import structlog
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connections

from jackpot.queries import LinkReading, reading
from jackpot.services.listening import HUB

log = structlog.get_logger()

COMMENT_SECONDS = 5.0
COALESCE_SECONDS = 0.1  # a busy link shows ten values a second: more cannot be read
LOOK_AGAIN_SECONDS = 1.0  # when no notification came through
MOST_WAITING = 512  # a browser that reads no more is cut off; it resumes with Last-Event-ID


def message(kind: str, sequence: int, data: dict[str, Any]) -> str:
    """One server-sent event; its id is the stream sequence (CONTRACT §5)."""
    return f"id: {sequence}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


def worded(link: str, read: LinkReading, *, with_state: bool) -> list[tuple[int, str]]:
    """The events of a reading: every award, then each level as it stands after it."""
    events = [(sequence, "hit", award) for sequence, award in read.hits]
    if with_state:
        events.append((read.sequence, "state", {"link": link, "state": read.state}))
    events += [(read.sequence, "meter", {"link": link, **level}) for level in read.levels]
    return [(sequence, message(kind, sequence, data)) for sequence, kind, data in events]


def _read(link_id: int, after_sequence: int) -> LinkReading:
    try:
        return reading(link_id, after_sequence=after_sequence)
    finally:
        connections.close_all()  # a stream that stays open must not keep a connection


read_link = sync_to_async(_read, thread_sensitive=False)


@dataclass(frozen=True, slots=True)
class Told:
    """An event under way to everybody: what changed after stream sequence `after`, as it stands at `sequence`.

    `afresh` when it is news although the sequence did not move, as a link that closes is. The text may be empty: then it
    only says from where on changes are told.
    """

    after: int
    sequence: int
    text: str
    afresh: bool = False


# None says that the browser is cut off.
Waiting = asyncio.Queue[Told | None]


@dataclass(slots=True)
class Feed:
    """The readings of one link, handed to every browser that watches it."""

    link: str
    link_id: int
    stream_id: int
    watching: set[Waiting] = field(default_factory=set)
    task: asyncio.Task[None] | None = None

    async def events(self, last_event_id: int | None) -> AsyncIterator[str]:
        """Events for one browser: what it missed, the current state, then every change."""
        queue: Waiting = asyncio.Queue(MOST_WAITING)
        self.watching.add(queue)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._follow())
        try:
            # Watching before reading, so that no award is missed; what was read already is not sent again.
            now = await read_link(self.link_id, 2**62 if last_event_id is None else last_event_id)
            yield "retry: 1000\n\n"
            for _, first in worded(self.link, now, with_state=True):
                yield first
            read = reached = now.sequence
            while True:
                event: Told | None
                try:
                    event = await asyncio.wait_for(asyncio.ensure_future(queue.get()), COMMENT_SECONDS)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if event is None:
                    return
                if event.after > reached:
                    # Changes are told from a later moment than was read here: what lies between is read as well.
                    now = await read_link(self.link_id, reached)
                    for _, missed in worded(self.link, now, with_state=True):
                        yield missed
                    read = now.sequence
                reached = max(reached, read, event.sequence)
                if event.sequence > read or event.afresh:
                    yield event.text
        finally:
            self.watching.discard(queue)

    async def _follow(self) -> None:
        heard = HUB.subscribe(self.stream_id)
        told: LinkReading | None = None
        loop = asyncio.get_running_loop()
        try:
            while self.watching:
                heard.clear()
                next_at = loop.time() + COALESCE_SECONDS
                try:
                    if told is None:
                        told = await read_link(self.link_id, 2**62)
                        self._hand_out(Told(told.sequence, told.sequence, ""))
                    now = await read_link(self.link_id, told.sequence)
                except DatabaseError as error:
                    log.warning("meters_not_read", link=self.link, error=str(error))
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
                    continue
                if (now.sequence, now.state) != (told.sequence, told.state):
                    turned = now.state != told.state
                    for sequence, text in worded(self.link, now, with_state=turned):
                        self._hand_out(Told(told.sequence, sequence, text, turned and "event: hit" not in text))
                    told = now
                try:
                    await asyncio.wait_for(heard.wait(), LOOK_AGAIN_SECONDS)
                    # A change that comes alone is told at once; one on the heels of the last waits for company.
                    await asyncio.sleep(max(0.0, next_at - loop.time()))
                except TimeoutError:
                    continue
        finally:
            HUB.unsubscribe(self.stream_id, heard)

    def _hand_out(self, event: Told) -> None:
        for queue in list(self.watching):
            try:
                queue.put_nowait(event)
            except asyncio.QueueFull:
                self.watching.discard(queue)
                while not queue.empty():
                    queue.get_nowait()
                queue.put_nowait(None)


FEEDS: dict[int, Feed] = {}


def feed(link: str, link_id: int, stream_id: int) -> Feed:
    """The feed of a link in this process."""
    return FEEDS.setdefault(link_id, Feed(link, link_id, stream_id))
