"""A lock whose result does not come is an exception after a term, told once and shown until it comes (SPEC §6.7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from devices import tasks
from devices.intake import lost_locks, settling
from tests.services.house import LINKED, NEIGHBOUR, RECEIVED, TWIN, House, locked, message, rows, run, seat


@pytest.fixture(autouse=True)
def ten_minutes(settings: Any) -> None:
    settings.LOCK_SECONDS = 600.0


LATER = RECEIVED + timedelta(seconds=601)


def test_it_is_told_once_after_the_term(house: House) -> None:
    house.play(locked("R-1"), locked("R-2", table=NEIGHBOUR))
    assert lost_locks.look(at=RECEIVED + timedelta(seconds=600)) == 0, "the term is over when it has passed"
    assert lost_locks.look(at=LATER) == 2
    assert lost_locks.look(at=LATER + timedelta(hours=1)) == 0
    first, second = house.significant("lock_without_result")
    assert (first["round"], second["round"]) == ("R-1", "R-2")
    assert [(lock.table, lock.round) for lock in lost_locks.lost(LATER)] == [(LINKED, "R-1"), (NEIGHBOUR, "R-2")]


def test_the_device_that_sent_it_is_told_where_there_is_one(house: House) -> None:
    house.play(locked("R-1"))
    assert lost_locks.look(at=LATER) == 1
    run("INSERT INTO devices_device (id, code, enrolled_at) VALUES (1, 'GW-7', now())")  # which posts in these tests
    house.play(locked("R-2"))
    assert lost_locks.look(at=LATER) == 1
    assert rows("SELECT device FROM devices_significantevent ORDER BY id") == [("",), ("GW-7",)]


def test_one_that_comes_after_others_were_told_is_told_too(house: House) -> None:
    house.play(locked("R-1"))
    assert lost_locks.look(at=LATER) == 1
    house.play(locked("R-2"))
    assert lost_locks.look(at=LATER) == 1


def test_the_oldest_is_told_first_and_the_next_look_goes_on(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """By when each was recorded, whatever the order of their messages and of their rows."""
    house.post(locked("R-1"), locked("R-2"), locked("T-1", table=TWIN))
    for stream, seconds in (("ms-mg01", 60), ("twin", 0)):
        at = RECEIVED + timedelta(seconds=seconds)
        assert settling.settle_next(house.stream(stream), clock=[at, at].pop).batch.locked
    later = LATER + timedelta(minutes=1)
    assert [lock.round for lock in lost_locks.lost(later)] == ["T-1", "R-1", "R-2"]
    monkeypatch.setattr(lost_locks, "MOST", 2)
    assert [lost_locks.look(at=later) for _ in range(3)] == [2, 1, 0]
    assert [told["round"] for told in house.significant("lock_without_result")] == ["T-1", "R-1", "R-2"]


def test_whose_result_came_is_not_lost(house: House) -> None:
    """However it came: settled, held, or still in the queue."""
    house.play(locked("R-1"), locked("R-2"), locked("R-3"), locked("R-4"))
    house.play(message("R-1"), message("R-2", seat(1, "3s 3s", progressive=100)))
    house.post(message("R-3"))
    house.act("lock.void", f"{LINKED}/R-4")
    assert lost_locks.lost(LATER) == []
    assert lost_locks.look(at=LATER) == 0


def test_a_lock_that_was_set_aside_waits_for_nothing(house: House) -> None:
    house.play(locked("R-1", progressive=200))
    assert lost_locks.look(at=LATER) == 0


def test_beat_has_it_looked_for(busy_house: House, settings: Any) -> None:
    assert settings.CELERY_BEAT_SCHEDULE["locks"]["task"] == tasks.look_at_locks.name
    busy_house.play(locked("R-1"))
    assert tasks.look_at_locks() == 1
