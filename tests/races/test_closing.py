"""Closing a day beside settling: no round slips in, and settling waits for it less than anybody would notice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from statistics import median
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction

from accounting.rules.acts import ActRefused
from accounting.services import closed_days, ledger
from devices.audit.side_by_side import Processes
from devices.intake import settling
from tables.services import days, floors
from tests.services.house import FLOOR, OPENED, RECEIVED, House, message, rows, run, value, verify

LONELY = FLOOR[FLOOR.index('[[tables]]\ncode = "VIP-7"') :]
MANY = 60
MORNING = RECEIVED + timedelta(hours=12)
LATER = MORNING + timedelta(days=5)
CLOSINGS = 10
STATEMENTS_HELD = 18
"""Statements sent while every stream is held, the COPY of rows among them: each is a way to the server and back."""
AT_MOST = 0.100
"""Seconds that settling may wait for a close (ARCHITECTURE §4.10)."""


def close_day(day: str, looked: dict[str, int]) -> None:
    """Close a day in a process of one's own."""
    House().close_day(day, at=LATER, looked=looked)


def closing(work: Callable[[], None]) -> Callable[[], None]:
    """A thread's work, and then its connection's end."""

    def wrapped() -> None:
        try:
            work()
        finally:
            connection.close()

    return wrapped


@pytest.mark.alone
def test_settling_waits_for_a_close_less_than_a_tenth_of_a_second(
    busy_house: House, record_property: Callable[[str, object], None]
) -> None:
    """Of several closings the least hindered counts: what else the machine has to do can only make a wait longer."""
    more = "\n".join(LONELY.replace("VIP-7", f"VIP-{number}") for number in range(100, 100 + MANY))
    floors.install(FLOOR + more, at=OPENED)
    streams = value("SELECT count(*) FROM accounting_stream")
    assert streams > MANY
    stream_id = busy_house.stream("ms-mg01")
    usual: list[float] = []
    waited: list[float] = []
    number = 0

    def settle_one(into: list[float]) -> None:
        nonlocal number
        number += 1
        busy_house.post(message(f"R-{number}", dealt_at="2026-11-30T21:14:05-05:00"), at=LATER)
        began = time.perf_counter()
        while not settling.settle_next(stream_id, clock=lambda: LATER).batch.dealt_with:
            time.sleep(0.005)
        into.append(time.perf_counter() - began)

    opened = {code: 0 for (code,) in rows("SELECT code FROM accounting_stream")}
    for _ in range(20):
        settle_one(usual)
    with Processes(1) as jobs:  # whoever closes is another process, as in a running house
        jobs.submit(close_day, "2026-11-18", opened)()
        for closed in range(CLOSINGS):
            done = threading.Event()
            answer = jobs.submit(close_day, f"2026-11-{19 + closed}", opened)

            def wait(answer: Callable[[], None], done: threading.Event) -> None:
                try:
                    answer()
                finally:
                    done.set()

            accountant = threading.Thread(target=wait, args=(answer, done))
            accountant.start()
            during: list[float] = []
            while not done.is_set():
                settle_one(during)
            accountant.join(60)
            waited.append(max(during) - median(usual))
    assert value("SELECT count(*) FROM accounting_closedday") == CLOSINGS + 1
    assert value("SELECT count(*) FROM accounting_closedhead") == (CLOSINGS + 1) * streams
    record_property("waited_ms", [round(1000 * seconds) for seconds in waited])
    print(f"{streams} streams; settling alone {1000 * median(usual):.0f} ms a round;",
          f"more beside a close: {', '.join(f'{1000 * each:.0f}' for each in sorted(waited))} ms")  # fmt: skip
    assert min(waited) < AT_MOST
    verify()


def test_what_is_done_while_streams_are_held_does_not_grow_with_the_house(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many statements, however many streams there are; what levels come to is added up before and only brought up to date."""
    sent: list[str] = []
    is_held = False

    def counted(name: str) -> None:
        plain = getattr(psycopg.Cursor, name)

        def call(cursor: Any, query: Any, *rest: Any, **more: Any) -> Any:
            if is_held:
                sent.append(str(query))
            return plain(cursor, query, *rest, **more)

        monkeypatch.setattr(psycopg.Cursor, name, call)

    def holding() -> Any:
        nonlocal is_held
        is_held = True
        return hold()

    hold = closed_days.hold_streams
    monkeypatch.setattr(closed_days, "hold_streams", holding)
    for name in ("execute", "copy"):
        counted(name)

    def close(day: str) -> list[str]:
        nonlocal is_held
        sent.clear()
        house.close_day(day, at=LATER, looked={code: 0 for (code,) in rows("SELECT code FROM accounting_stream")})
        is_held = False
        return list(sent)

    close("2026-11-17")  # the gaming day that it is now has no row before
    few = close("2026-11-18")
    more = "\n".join(LONELY.replace("VIP-7", f"VIP-{number}") for number in range(100, 100 + MANY))
    floors.install(FLOOR + more, at=OPENED)
    many = close("2026-11-19")
    assert len(many) == len(few) <= STATEMENTS_HELD, "\n".join(many)
    assert not [statement for statement in many if "accounting_total" in statement], (
        "that grows with every day and table"
    )


def test_a_close_gives_way_to_a_long_batch_and_comes_after_it(busy_house: House) -> None:
    """While one stream is held for longer than the close has patience, no other stream is kept by it for as long."""
    busy_house.play(message("R-1"))
    holds, release, longest = threading.Event(), threading.Event(), [0.0]

    def batch() -> None:
        with transaction.atomic():
            ledger.lock_stream(busy_house.stream("twin"))
            holds.set()
            assert release.wait(60)

    def other() -> None:
        first = busy_house.stream("ms-mg01")  # held by a close that waits for the one behind it
        while not release.is_set():
            began = time.perf_counter()
            with transaction.atomic():
                run("SELECT FROM accounting_stream WHERE id = %s FOR NO KEY UPDATE", first)
            longest[0] = max(longest[0], time.perf_counter() - began)
            time.sleep(0.01)

    def close() -> None:
        busy_house.close_day("2026-11-27", at=MORNING)

    threads = [threading.Thread(target=closing(each)) for each in (batch, other, close)]
    threads[0].start()
    assert holds.wait(60)
    for thread in threads[1:]:
        thread.start()
    threads[2].join(1.5)
    assert threads[2].is_alive(), "closed while a batch of another stream was under way"
    release.set()
    for thread in threads:
        thread.join(60)
    assert value("SELECT count(*) FROM accounting_closedhead") == 3
    assert longest[0] < 1.0, "a stream was kept from its work for as long as the batch of another took"
    verify()


def test_a_house_without_a_pause_is_told_so(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []
    monkeypatch.setattr(days, "ATTEMPTS", 4)
    monkeypatch.setattr(days, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(days, "time", SimpleNamespace(sleep=paused.append))
    holds, release = threading.Event(), threading.Event()

    def batch() -> None:
        with transaction.atomic():
            ledger.lock_stream(busy_house.stream("twin"))
            holds.set()
            assert release.wait(60)

    worker = threading.Thread(target=closing(batch))
    worker.start()
    assert holds.wait(60)
    with pytest.raises(ActRefused) as refusal:
        busy_house.close_day("2026-11-27", at=MORNING)
    assert refusal.value.code == "busy"
    assert paused == [0.01, 0.02, 0.03, 0.01], "out of step with whoever keeps a stream busy"
    assert rows("SELECT closed_through FROM accounting_property") == [(None,)]
    release.set()
    worker.join(60)
    busy_house.close_day("2026-11-27", at=MORNING)
