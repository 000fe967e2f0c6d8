"""The pulse that live pages hear: how old the last look at the record is, and when settling was last seen at work."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError

from jackpot import pulse
from jackpot.pulse import Pulse


def ages(event: str) -> dict[str, Any]:
    """What a beat says."""
    assert event.startswith("event: beat\ndata: ")
    assert event.endswith("\n\n")
    found: dict[str, Any] = json.loads(event.partition("data: ")[2])
    return found


def felt(beating: Pulse, *, after: float = 0.0) -> dict[str, Any]:
    """One beat, some seconds after the pulse was made."""
    beating._looked = time.monotonic() - after
    return ages(asyncio.run(beating.event()))


def test_a_beat_tells_both_ages() -> None:
    beating = Pulse()
    beating.settled_at = lambda: datetime.now(UTC) - timedelta(seconds=7)
    told = felt(beating, after=30)
    assert told["read"] < 2
    assert 6.9 <= told["settling"] <= 9


def test_before_the_first_look_nothing_is_said_of_its_age() -> None:
    async def at_once() -> str:
        return Pulse().told()

    assert ages(asyncio.run(at_once())) == {"read": None, "settling": None}


def test_the_looking_goes_on_while_somebody_asks_and_ends_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "LOOK_AGAIN_SECONDS", 0.02)
    monkeypatch.setattr(pulse, "NOBODY_SECONDS", 0.1)
    looks: list[datetime] = []

    def seen() -> datetime:
        looks.append(datetime.now(UTC))
        return looks[-1]

    beating = Pulse()
    beating.settled_at = seen

    async def watch() -> tuple[int, int]:
        for _ in range(10):
            beating.told()
            await asyncio.sleep(0.05)
        during = len(looks)
        await asyncio.sleep(0.5)
        after = len(looks)
        await asyncio.sleep(0.3)
        assert len(looks) == after
        return during, after

    during, after = asyncio.run(watch())
    assert during > 5
    assert after - during < 15
    assert beating._looked is None


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
    looks: list[datetime] = []

    def seen() -> datetime:
        looks.append(datetime.now(UTC))
        return looks[-1]

    beating = Pulse()
    beating.settled_at = seen

    async def many() -> None:
        await asyncio.gather(*(beating.event() for _ in range(50)))

    asyncio.run(many())
    assert len(looks) == 1
