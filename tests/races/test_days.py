"""Gaming days while several streams settle: no round slips into a day that is closed, and nobody waits for another's batch."""

from __future__ import annotations

import threading
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import transaction

from accounting import day_queries
from devices.intake import settling
from tables.services import rounds
from tests.races.together import at_once, beside
from tests.services import auditor
from tests.services.house import (
    ALONE,
    RECEIVED,
    TWIN,
    House,
    message,
    rows,
    royal,
    run,
    verify,
)

DAY = date(2026, 11, 27)
CLOSE = """
    INSERT INTO accounting_gamingday (date, closed_at) VALUES (%s, now())
    ON CONFLICT (date) DO UPDATE SET closed_at = excluded.closed_at
"""
DATED = (
    "SELECT gaming_date, original_date FROM accounting_event WHERE stream_id = %s AND kind = 'round' ORDER BY sequence"
)

THE_DAY = pytest.mark.parametrize(
    ("day", "on_record"),
    [(DAY, False), (DAY, True), (DAY + timedelta(days=3), False)],
    ids=["that day", "that day, with a row of its own", "a later day"],
)
"""It is the property's row that both want, whether a day has a row or not."""


def a_day_on_record(day: date) -> None:
    """A day's row as houses have it that settled before days were only on record once they are closed."""
    run("INSERT INTO accounting_gamingday (date) VALUES (%s)", day)


@THE_DAY
def test_a_close_waits_for_what_is_being_booked(
    day: date, on_record: bool, busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    if on_record:
        a_day_on_record(day)
    busy_house.post(royal("R-1"))
    booking, closed = threading.Event(), threading.Event()
    real = rounds.settle_batch

    def slow(*arguments: Any, **more: Any) -> Any:
        batch = real(*arguments, **more)
        booking.set()
        assert not closed.wait(0.4), "closed while a round of that day was being booked"
        return batch

    def close() -> None:
        assert booking.wait(60)
        run(CLOSE, day)
        closed.set()

    monkeypatch.setattr(rounds, "settle_batch", slow)
    with beside(close):
        busy_house.settle()
    assert closed.is_set()
    monkeypatch.undo()
    busy_house.play(message("R-2"))
    assert rows(DATED, House.stream("ms-mg01")) == [(DAY, None), (day + timedelta(days=1), DAY)]
    auditor.everything_agrees()
    verify()


@THE_DAY
def test_settling_waits_for_a_close_and_books_on_the_next_day(day: date, on_record: bool, busy_house: House) -> None:
    if on_record:
        a_day_on_record(day)
    busy_house.post(message("R-1"))
    closing_now, close = threading.Event(), threading.Event()

    def accountant() -> None:
        with transaction.atomic():
            run(CLOSE, day)
            closing_now.set()
            assert close.wait(60)

    with beside(accountant):
        assert closing_now.wait(60)
        with beside(busy_house.settle) as worker:
            worker.join(0.4)
            assert worker.is_alive(), "booked on a day that is being closed"
            close.set()
    assert rows(DATED, House.stream("ms-mg01")) == [(day + timedelta(days=1), DAY)]
    auditor.everything_agrees()


def test_streams_that_meet_new_days_at_once_book_all_of_them(busy_house: House) -> None:
    for table in ("MS-101", TWIN, ALONE):
        House().post(
            *(message(f"D-{day}", table=table, dealt_at=f"2026-11-{day}T21:00:00-05:00") for day in range(10, 28)),
            at=RECEIVED,
        )
    streams = settling.streams_waiting()
    taken = at_once(3, lambda number: settling.settle_next(streams[number], clock=lambda: RECEIVED))
    assert [each.batch.settled for each in taken] == [18, 18, 18]
    days = [date(2026, 11, day) for day in range(10, 28)]
    for stream in streams:
        assert rows(DATED, stream) == [(day, None) for day in days]
    for before, day, after in zip(days, days[1:], days[2:], strict=False):
        assert day_queries.days_around(day) == (before, after)
    auditor.everything_agrees()
