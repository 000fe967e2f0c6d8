"""A link's feed from inside the process: what watchers share, who comes and goes, who does not read, what fails."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.db import OperationalError, connections

from jackpot import feeds
from jackpot.services.listening import HUB, tell
from tests.api.conftest import Api
from tests.api.test_stream import GIVE_UP_SECONDS, won
from tests.services.house import LINKED, TWIN, Message, rows, royal


class Listening:
    """A browser inside this process."""

    def __init__(self) -> None:
        self.text = ""
        self.closed = False
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.heard = asyncio.Event()

    async def write(self, text: bytes) -> None:
        """Take it, as soon as this browser reads."""
        await self.may_read.wait()
        self.text += text.decode()
        self.heard.set()

    def write_now(self, text: bytes) -> bool:
        """It always has to be waited for."""
        return False

    async def close(self) -> None:
        """It is over."""
        self.closed = True
        self.heard.set()

    def abort(self) -> None:
        """It is over at once."""
        self.closed = True

    def events(self) -> list[str]:
        """What was heard, without comments."""
        return [event for event in self.text.split("\n\n") if "event: " in event]

    async def hears(self, words: str) -> None:
        """Wait until a meter was told after these words."""
        async with asyncio.timeout(GIVE_UP_SECONDS):
            while "event: meter" not in self.text.partition(words)[2]:
                self.heard.clear()
                await self.heard.wait()


async def stopped(feed: feeds.Feed) -> None:
    """End what a feed has running in this process."""
    tasks = [task for task in (feed.task, HUB.task) if task is not None]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    HUB.task = None


def in_this_process(api: Api, watch: Callable[[feeds.Feed], Coroutine[Any, Any, Any]]) -> Any:
    """Watch the link of two levels from an event loop in this process; whatever is left running ends with it."""
    ((link_id, stream_id),) = rows("SELECT id, stream_id FROM jackpot_link WHERE code = 'twin'")

    async def run() -> Any:
        feed = feeds.Feed("twin", link_id, stream_id)
        try:
            async with asyncio.timeout(2 * GIVE_UP_SECONDS):
                return await watch(feed)
        finally:
            await stopped(feed)

    return asyncio.run(run())


def playing(api: Api, *sent: Message) -> list[Message]:
    """Play in a thread of its own, beside an event loop."""
    try:
        return api.play(*sent)
    finally:
        connections.close_all()


@asynccontextmanager
async def listening(feed: feeds.Feed, last: int | None = None, how: str = feeds.NUMBERED) -> AsyncIterator[Listening]:
    """A browser in this process for the time of the block."""
    browser = Listening()
    watcher = feeds.Watcher([feed], browser, how)
    try:
        await watcher.open(last)
        yield browser
    finally:
        watcher.leave()


def test_a_feed_lives_again_after_its_last_watcher_left_and_the_next_came(api: Api) -> None:
    async def watch(feed: feeds.Feed) -> None:
        async with listening(feed) as first:
            await first.hears("retry")
            following = feed.task
        assert following is not None
        await asyncio.wait([following], timeout=GIVE_UP_SECONDS)
        assert following.done(), "nobody watches, and it goes on reading"
        assert following.exception() is None
        assert feed.stream_id not in HUB.waiting, "nobody watches, and it is told all the same"
        (missed,) = await asyncio.to_thread(playing, api, won(royal))
        async with listening(feed) as second:
            await second.hears("retry")
            assert f"id: {missed['sequence']}\n" in second.text, "it begins with what is now, not with what was"
            assert missed["round"] not in second.text
            (shown,) = await asyncio.to_thread(playing, api, won(royal))
            await second.hears(shown["round"])
        # One comes while the last is leaving: the feed goes on.
        async with listening(feed) as third:
            following = feed.task
        async with listening(feed) as fourth:
            (shown,) = await asyncio.to_thread(playing, api, won(royal))
            await fourth.hears(shown["round"])
            assert feed.task is following
        assert not third.closed

    in_this_process(api, watch)


@pytest.mark.parametrize("how", [feeds.UNNUMBERED, feeds.DISPLAYED])
def test_pages_and_signs_are_told_how_old_they_are_at_once_and_however_much_happens(
    api: Api, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "COMMENT_SECONDS", 0.5)

    async def watch(feed: feeds.Feed) -> None:
        async with listening(feed, how=how) as browser:
            assert browser.text.count("event: beat") == 1
            async with asyncio.timeout(GIVE_UP_SECONDS):
                while browser.text.count("event: beat") < 4:
                    await asyncio.to_thread(playing, api, won(royal))
            assert ": still here" not in browser.text
        async with listening(feed) as device:
            await asyncio.sleep(1.2)
            assert "event: beat" not in device.text, "what CONTRACT §5 promises, and no more"
            assert ": still here" in device.text

    in_this_process(api, watch)


def test_changes_on_the_heels_of_each_other_are_told_together(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast a link moves, it is read and told ten times a second; every award is told all the same."""
    readings: list[float] = []
    real = feeds.read_link

    async def read(link_id: int, after: int) -> Any:
        readings.append(time.monotonic())
        return await real(link_id, after)

    monkeypatch.setattr(feeds, "read_link", read)

    tellings = 0

    def busy(feed: feeds.Feed) -> list[Message]:
        """Rounds for two seconds, and word of movement many times over."""
        nonlocal tellings
        shown: list[Message] = []
        began = time.monotonic()
        while time.monotonic() - began < 2:
            shown += playing(api, won(royal))
            for _ in range(10):
                tell(feed.stream_id, 0)
                tellings += 1
        connections.close_all()
        return shown

    async def watch(feed: feeds.Feed) -> None:
        async with listening(feed) as browser:
            began = time.monotonic()
            shown = await asyncio.to_thread(busy, feed)
            await browser.hears(shown[-1]["round"])
            lasted = time.monotonic() - began
        assert len(readings) <= lasted / feeds.COALESCE_SECONDS + 4
        assert len(readings) < tellings
        hits = [
            json.loads(event.partition("data: ")[2])["round"] for event in browser.events() if "event: hit" in event
        ]
        assert hits == [each["round"] for each in shown]

    in_this_process(api, watch)


def test_what_was_told_is_kept_for_who_reads_slowly_and_twice_as_much_never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_WAITING", 3)
    feed = feeds.Feed("aa", 1, 1)
    for number in range(1, 20):
        feed._keep(feeds.Told([str(number)]))
        assert feed.place == number and min(number, 3) <= len(feed.told) < 6
        kept = feed.since(feed.forgotten)
        assert kept is not None and [told.events for told in kept] == [
            [str(n)] for n in range(feed.forgotten + 1, number + 1)
        ]
        assert feed.since(feed.forgotten - 1) is None


def test_a_browser_that_does_not_read_keeps_nobody_waiting_and_is_cut_off(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_WAITING", 3)
    monkeypatch.setattr(feeds, "STUCK_SECONDS", 1.0)
    monkeypatch.setattr(feeds, "COMMENT_SECONDS", 0.5)

    async def watch(feed: feeds.Feed) -> None:
        async with listening(feed) as slow, listening(feed) as stuck, listening(feed) as quick:
            slow.may_read.clear()
            stuck.may_read.clear()
            for _ in range(8):
                (shown,) = await asyncio.to_thread(playing, api, won(royal))
                await quick.hears(shown["round"])
            slow.may_read.set()
            for browser in (slow, stuck):
                async with asyncio.timeout(GIVE_UP_SECONDS):
                    while not browser.closed:
                        await asyncio.sleep(0.05)
            assert not quick.closed
            assert len([event for event in slow.events() if "event: hit" in event]) < 8
        # It comes back with the id of the last that it heard, and has lost nothing.
        last = max(int(event.split("\n")[0].removeprefix("id: ")) for event in slow.events())
        async with listening(feed, last) as again:
            await again.hears(shown["round"])

    in_this_process(api, watch)


@pytest.mark.parametrize(
    ("watching", "pauses"), [(39, 0), (40, 1), (99, 2), (2_000, 50), (2_050, 50), (10_000, 50), (10_199, 50)]
)
def test_whoever_tells_many_lets_others_take_their_turn_and_not_too_often(
    watching: int, pauses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every forty, and fifty times at most."""
    monkeypatch.setattr(feeds, "PAUSE_SECONDS", 0)  # the loop goes round once
    told: list[object] = []
    turns: list[object] = []

    class Watching:
        def wake(self) -> None:
            told.append(self)

    async def others() -> None:
        while True:
            turns.append(None)
            await asyncio.sleep(0)

    async def run() -> None:
        feed = feeds.Feed("twin", 1, 1)
        feed.watching = {Watching() for _ in range(watching)}  # type: ignore[misc]
        beside = asyncio.create_task(others())
        await feed._tell()
        beside.cancel()

    asyncio.run(run())
    assert (len(set(told)), len(turns)) == (watching, pauses)


def test_a_reading_that_fails_is_made_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "LOOK_AGAIN_SECONDS", 0.2)
    real = feeds.read_link
    broken = iter([True, False, True, True])

    async def read(link_id: int, after: int) -> Any:
        if next(broken, False):
            raise OperationalError("no database")
        return await real(link_id, after)

    monkeypatch.setattr(feeds, "read_link", read)

    async def watch(feed: feeds.Feed) -> None:
        async with listening(feed) as browser:
            (shown,) = await asyncio.to_thread(playing, api, won(royal))
            await browser.hears(shown["round"])

    in_this_process(api, watch)


def test_what_has_not_moved_is_not_told_again_and_who_is_to_ask_anew_is_let_go(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "LOOK_AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(feeds, "COMMENT_SECONDS", 600.0)
    real, readings = feeds.read_link, 0

    async def read(link_id: int, after: int) -> Any:
        nonlocal readings
        readings += 1
        return await real(link_id, after)

    monkeypatch.setattr(feeds, "read_link", read)

    async def watch(feed: feeds.Feed) -> None:
        async with listening(feed) as browser, asyncio.timeout(GIVE_UP_SECONDS):
            opening, before = browser.events(), readings
            while readings < before + 4:
                await asyncio.sleep(0.01)
            assert browser.events() == opening
            (watcher,) = feed.watching
            watcher.end()
            while not browser.closed:
                await asyncio.sleep(0.01)

    in_this_process(api, watch)


def test_what_is_settled_while_the_first_one_connects_is_not_lost(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading for the browser and the one that changes are told from must not have an award between them."""
    real = feeds.read_link
    committed = asyncio.Event()
    reads = 0
    sent = won(royal)

    async def read(link_id: int, after: int) -> Any:
        nonlocal reads
        reads += 1
        if reads == 1:
            found = await real(link_id, after)
            await asyncio.to_thread(play)
            committed.set()
            return found
        await committed.wait()
        return await real(link_id, after)

    def play() -> None:
        try:
            api.play(sent)
        finally:
            connections.close_all()

    async def watch() -> list[str]:
        ((link_id, stream_id),) = rows("SELECT id, stream_id FROM jackpot_link WHERE code = 'twin'")
        feed = feeds.Feed("twin", link_id, stream_id)
        browser = Listening()
        watcher = feeds.Watcher([feed], browser, feeds.NUMBERED)
        try:
            await watcher.open(None)
            await browser.hears(sent["round"])
        finally:
            watcher.leave()
            await stopped(feed)
        return browser.events()

    monkeypatch.setattr(feeds, "read_link", read)
    heard = asyncio.run(watch())
    hits = [event for event in heard if "event: hit" in event]
    assert len(hits) == 1, heard
    assert sent["round"] in hits[0]
    assert api.shown(sent)["table"] == TWIN != LINKED
