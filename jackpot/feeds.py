"""Live meters for browsers and signs: one reading a change and link, however many are watching (ARCHITECTURE §6).

Nobody who watches has a thread, a connection to the database or a queue of his own: what a link's feed tells is kept once,
and each watcher knows how far he has been told. He is told in turn with all others, a few at a time, so that posts of
rounds pass between them.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any, Protocol

import structlog
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connections
from django.http import HttpResponse

from jackpot.pulse import PULSE
from jackpot.queries import LinkReading, reading
from jackpot.services.listening import HUB

log = structlog.get_logger()

COMMENT_SECONDS = 5.0
BEAT_SECONDS = 2.0  # a sign that hears nothing for five seconds says that it is stale
COALESCE_SECONDS = 0.1  # a busy link shows ten values a second: more cannot be read
LOOK_AGAIN_SECONDS = 1.0  # when no notification came through
MOST_WAITING = 512  # a browser that reads no more is cut off; it resumes with Last-Event-ID
STUCK_SECONDS = 30.0  # whoever has not taken what was written for so long has gone without saying so
TOLD_AT_ONCE = 40  # watchers, then for a moment it is others' turn
PAUSE_SECONDS = 0.01
MOST_PAUSES = 50  # however many watch, so that all have been told within half a second or little more
RAREST_SECONDS = 1.0  # and where that took long, it is done no more often than this
LATEST = 2**62  # after this sequence there is nothing

NUMBERED, UNNUMBERED, DISPLAYED = "numbered", "unnumbered", "displayed"
"""How events are told: with their ids; without them, where sequences of several streams mix and do not compare; or only
what a sign displays."""
ON_A_SIGN = ("link", "code", "state", "value_cents", "level", "hand", "paid_cents", "table", "hit")


def message(kind: str, sequence: int, data: dict[str, Any]) -> str:
    """One server-sent event; its id is the stream sequence (CONTRACT §5)."""
    return f"id: {sequence}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"


def worded(link: str, read: LinkReading, *, with_state: bool) -> list[str]:
    """The events of a reading: every award, then each level as it stands after it."""
    events = [(sequence, "hit", award) for sequence, award in read.hits]
    if with_state:
        events.append((read.sequence, "state", {"link": link, "state": read.state}))
    events += [(read.sequence, "meter", {"link": link, **level}) for level in read.levels]
    return [message(kind, sequence, data) for sequence, kind, data in events]


def said(events: Sequence[str], how: str) -> bytes:
    """Events as they are told to those who want them so."""
    text = "".join(events)
    if how == UNNUMBERED:
        text = re.sub(r"(?m)^id: .*\n", "", text)
    if how == DISPLAYED:
        text = re.sub(r"(?m)^data: (.*)$", lambda found: "data: " + displayed(found[1]), text)
    return text.encode()


def displayed(data: str) -> str:
    """Of an event's data only what a sign displays: no reserve, no seat, no lifetime counts."""
    shown = {name: value for name, value in json.loads(data).items() if name in ON_A_SIGN}
    return json.dumps(shown, separators=(",", ":"))


def _read(link_id: int, after_sequence: int) -> LinkReading:
    try:
        return reading(link_id, after_sequence=after_sequence)
    finally:
        connections.close_all()  # a stream that stays open must not keep a connection


read_link = sync_to_async(_read, thread_sensitive=False)


class Told:
    """What a feed told at once, in every way that somebody wants it."""

    __slots__ = ("events", "texts")

    def __init__(self, events: Sequence[str]) -> None:
        self.events = events
        self.texts: dict[str, bytes] = {}

    def text(self, how: str) -> bytes:
        """The bytes to send; made once for all who want them so."""
        found = self.texts.get(how)
        if found is None:
            found = self.texts[how] = said(self.events, how)
        return found


class FeedEnded(Exception):
    """A link cannot be read: those who watch it ask anew."""


class Feed:
    """The readings of one link, told to everybody who watches it."""

    def __init__(self, link: str, link_id: int, stream_id: int) -> None:
        self.link = link
        self.link_id = link_id
        self.stream_id = stream_id
        self.watching: set[Watcher] = set()
        self.task: asyncio.Task[None] | None = None
        self.now: LinkReading | None = None
        self.read_at = 0.0  # when that reading began, by the loop's clock
        self.read = asyncio.Event()  # there is another reading
        self.heard = asyncio.Event()
        self.told: list[Told] = []
        self.forgotten = 0  # how many were told before the first of those that are kept

    @property
    def place(self) -> int:
        """How many have been told by now."""
        return self.forgotten + len(self.told)

    def join(self, watcher: "Watcher") -> None:
        """Watch from now on."""
        self.watching.add(watcher)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._follow())

    def leave(self, watcher: "Watcher") -> None:
        """Watch no more; a feed that nobody watches stops reading within a second."""
        self.watching.discard(watcher)

    async def opening(self, last_event_id: int | None) -> tuple[list[str], int]:
        """What a watcher who has joined is told first, and the place to go on from.

        That is the current state, and before it, for who resumes after a sequence, every award from that one on.
        """
        joined_at = asyncio.get_running_loop().time()
        self.heard.set()
        while self.now is None or self.read_at < joined_at:
            if self.task is None or self.task.done():
                raise FeedEnded(self.link)
            await self.read.wait()
        now, place = self.now, self.place
        hits: list[tuple[int, dict[str, Any]]] = []
        if last_event_id is not None and last_event_id <= now.sequence:
            missed = await read_link(self.link_id, last_event_id - 1)
            # What came since is told from that place on.
            hits = [(sequence, award) for sequence, award in missed.hits if sequence <= now.sequence]
        return worded(self.link, LinkReading(now.sequence, now.state, now.levels, hits), with_state=True), place

    def since(self, place: int) -> list[Told] | None:
        """What was told from a place on; None when that is forgotten."""
        return None if place < self.forgotten else self.told[place - self.forgotten :]

    async def _follow(self) -> None:
        self.heard = HUB.subscribe(self.stream_id)
        loop = asyncio.get_running_loop()
        try:
            while self.watching:
                self.heard.clear()
                began = loop.time()
                before = self.now
                try:
                    now = await read_link(self.link_id, LATEST if before is None else before.sequence)
                except DatabaseError as error:
                    log.warning("meters_not_read", link=self.link, error=str(error))
                    self._has_read(began)  # what was read last is the best there is
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
                    continue
                self.now = now
                self._has_read(began)
                pause = COALESCE_SECONDS
                if before is not None and (now.sequence, now.state) != (before.sequence, before.state):
                    self._keep(Told(worded(self.link, now, with_state=now.state != before.state)))
                    pause = min(max(pause, 2 * await self._tell()), RAREST_SECONDS)
                try:
                    await asyncio.wait_for(self.heard.wait(), LOOK_AGAIN_SECONDS)
                    # A change that comes alone is told at once; one on the heels of the last waits for company.
                    await asyncio.sleep(max(0.0, began + pause - loop.time()))
                except TimeoutError:
                    continue
        finally:
            HUB.unsubscribe(self.stream_id, self.heard)
            self.now = None  # whoever comes next begins with what is then
            self._has_read(loop.time())
            for watcher in list(self.watching):  # nobody, unless the reading itself failed
                watcher.end()

    def _has_read(self, began: float) -> None:
        self.read_at = began
        waiting, self.read = self.read, asyncio.Event()
        waiting.set()

    def _keep(self, told: Told) -> None:
        self.told.append(told)
        if len(self.told) >= 2 * MOST_WAITING:
            del self.told[:MOST_WAITING]
            self.forgotten += MOST_WAITING

    async def _tell(self) -> float:
        """Have everybody told, some at a time; how many seconds that took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        at_once = max(TOLD_AT_ONCE, len(self.watching) // MOST_PAUSES)
        for number, watcher in enumerate(list(self.watching), 1):
            watcher.wake()
            if not number % at_once:
                await asyncio.sleep(PAUSE_SECONDS)
        return loop.time() - began


INVITATION = "X-Event-Stream"


def invitation(keys: Sequence[tuple[str, int, int]], how: str) -> HttpResponse:
    """What a view answers to somebody who may watch these links, each by code, id and stream.

    `jackpot.asgi` goes on from there when the view, with its thread and its middleware, is done.
    """
    return HttpResponse(headers={INVITATION: json.dumps([how, keys])})


FEEDS: dict[int, Feed] = {}


def feed(link: str, link_id: int, stream_id: int) -> Feed:
    """The feed of a link in this process."""
    found = FEEDS.get(link_id)
    if found is None:
        found = FEEDS[link_id] = Feed(link, link_id, stream_id)
    return found


class Connection(Protocol):
    """Where a watcher is told."""

    async def write(self, text: bytes) -> None:
        """Send; returns when there is room for more."""

    def write_now(self, text: bytes) -> bool:
        """Send if there is room at once; whether that was done."""

    async def close(self) -> None:
        """Say that this was all."""

    def abort(self) -> None:
        """Break the connection off."""


class Watcher:
    """One who watches: the feeds, how he is told, and how far he has been told of each."""

    def __init__(self, feeds: Sequence[Feed], connection: Connection, how: str) -> None:
        self.feeds = feeds
        self.connection = connection
        self.how = how
        self.places: list[int] = []  # none before it was told the opening
        self.writing: asyncio.Task[None] | None = None
        self.wrote_at = 0.0
        self.comment: asyncio.TimerHandle | None = None
        self.beating: asyncio.Task[None] | None = None
        self.ended = False

    async def open(self, last_event_id: int | None) -> None:
        """Join the feeds and tell what comes first."""
        for each in self.feeds:
            each.join(self)
        openings = [await each.opening(last_event_id) for each in self.feeds]
        texts = [said(events, self.how) for events, _ in openings]
        self.wrote_at = asyncio.get_running_loop().time()
        if self.how != NUMBERED:
            texts.append((await PULSE.event()).encode())
        await self.connection.write(b"retry: 1000\n\n" + b"".join(texts))
        self.places = [place for _, place in openings]
        self._comment_later(self.every)
        self.wake()

    @property
    def every(self) -> float:
        """So many seconds pass at most between two signs of life."""
        return COMMENT_SECONDS if self.how == NUMBERED else BEAT_SECONDS

    def leave(self) -> None:
        """The connection is over."""
        self.ended = True
        for each in self.feeds:
            each.leave(self)
        for pending in (self.comment, self.writing, self.beating):
            if pending is not None:
                pending.cancel()

    def end(self) -> None:
        """Close the connection as soon as what is being written has been; the client asks anew."""
        self.ended = True
        if self.writing is None or self.writing.done():
            self._say(b"")

    def wake(self) -> None:
        """There is something to tell, unless it was told already."""
        # While one thing is written the next waits: a client that reads slowly costs nobody else.
        if self.places and (self.writing is None or self.writing.done()):
            text = self._news()
            if text or self.ended:
                self._say(text)

    def _news(self) -> bytes:
        parts = []
        for index, each in enumerate(self.feeds):
            told = each.since(self.places[index])
            if told is None:
                self.ended = True  # it cannot follow
                return b""
            self.places[index] += len(told)
            parts += [one.text(self.how) for one in told]
        return b"".join(parts)

    def _say(self, text: bytes) -> None:
        self.wrote_at = asyncio.get_running_loop().time()
        if self.ended or not self.connection.write_now(text):
            self.writing = asyncio.create_task(self._write(text))

    async def _write(self, text: bytes) -> None:
        while text:
            await self.connection.write(text)
            text = b"" if self.ended else self._news()
        if self.ended:
            await self.connection.close()

    def _comment_later(self, seconds: float) -> None:
        self.comment = asyncio.get_running_loop().call_later(seconds, self._say_still_here)

    def _say_still_here(self) -> None:
        quiet = asyncio.get_running_loop().time() - self.wrote_at
        if self.writing is not None and not self.writing.done():
            if quiet > STUCK_SECONDS:
                self.connection.abort()
                return
        elif self.how != NUMBERED:
            # A page or a sign is told how old what it shows is, however much happens.
            self.beating = asyncio.create_task(self._beat())
            quiet = 0.0
        elif quiet >= COMMENT_SECONDS:
            self._say(b": still here\n\n")
            quiet = 0.0
        self._comment_later(max(0.5, self.every - quiet))

    async def _beat(self) -> None:
        text = (await PULSE.event()).encode()
        if not self.ended and (self.writing is None or self.writing.done()):
            self._say(text)
