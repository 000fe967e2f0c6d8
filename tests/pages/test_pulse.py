"""The pulse that live pages hear: how old the last look at the record is, and when settling was last seen at work."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError

from jackpot import feeds, pulse
from jackpot.feeds import DISPLAYED, NUMBERED, UNNUMBERED, Watcher
from jackpot.pulse import Pulse


def ages(event: str) -> dict[str, Any]:
    """What a beat says."""
    assert event.startswith("event: beat\ndata: ")
    assert event.endswith("\n\n")
    found: dict[str, Any] = json.loads(event.partition("data: ")[2])
    return found


def felt(beating: Pulse, *, after: float = 0.0) -> dict[str, Any]:
    """One beat, some seconds after the pulse was made."""
    beating._looked -= after
    return ages(asyncio.run(beating.event()))


def test_a_beat_tells_both_ages() -> None:
    beating = Pulse()
    beating.settled_at = lambda: datetime.now(UTC) - timedelta(seconds=7)
    told = felt(beating, after=30)
    assert told["read"] < 2
    assert 6.9 <= told["settling"] <= 9


def test_settling_that_was_never_seen_has_no_age() -> None:
    beating = Pulse()
    beating.settled_at = lambda: None
    assert felt(beating, after=30)["settling"] is None


def test_a_database_that_fails_or_stands_still_lets_the_age_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "PATIENCE_SECONDS", 0.1)

    def fails() -> datetime | None:
        raise OperationalError("gone")

    beating = Pulse()
    beating.settled_at = fails
    assert 29 <= felt(beating, after=30)["read"] <= 33

    def hangs() -> datetime | None:
        time.sleep(1)
        return None

    slow = Pulse()
    slow.settled_at = hangs
    assert 29 <= felt(slow, after=30)["read"] <= 33


def test_the_record_is_looked_at_once_a_second_however_many_ask() -> None:
    looks: list[int] = []

    def look() -> datetime:
        looks.append(1)
        return datetime.now(UTC)

    beating = Pulse()
    beating.settled_at = look
    beating._looked -= 30

    async def many() -> None:
        await asyncio.gather(*(beating.event() for _ in range(50)))

    asyncio.run(many())
    assert len(looks) == 1


class Listener:
    """A connection that takes everything at once and keeps it."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def write(self, text: bytes) -> None:
        self.heard.append(text.decode())

    def write_now(self, text: bytes) -> bool:
        self.heard.append(text.decode())
        return True

    async def close(self) -> None:
        raise AssertionError("nobody ended it")

    def abort(self) -> None:
        raise AssertionError("it is not stuck")


@pytest.mark.parametrize(
    ("how", "said"), [(UNNUMBERED, "event: beat\n"), (DISPLAYED, "event: beat\n"), (NUMBERED, ": still here\n\n")]
)
def test_pages_and_signs_feel_the_pulse_at_once_and_in_silence_and_others_hear_that_the_stream_lives(
    how: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "COMMENT_SECONDS", 0.1)
    listener = Listener()

    async def listen() -> None:
        watcher = Watcher([], listener, how)
        await watcher.open(None)
        await asyncio.sleep(1.5)
        watcher.leave()

    asyncio.run(listen())
    assert ("event: beat" in listener.heard[0]) is (how != NUMBERED)
    assert len(listener.heard) >= 3
    assert all(text.startswith(said) for text in listener.heard[1:])
