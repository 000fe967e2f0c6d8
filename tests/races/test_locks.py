"""The locks of a stream, one by one: a batch is held open, or the stream is, and everybody else meets it there.

Each of these fails when its lock is taken away: the batch's own, its SKIP LOCKED, that of whoever changes terms, that of an
attempt, and the one that a session keeps between the two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from accounting.services import ledger
from devices.intake import settling
from devices.intake.settling import Taken
from jackpot.services import links
from tables.services import floors, rounds
from tests.races.together import closing
from tests.services import auditor
from tests.services.house import DEALT, FLOOR, RECEIVED, House, message, rows, royal, value, verify

LINK = "ms-mg01"
A_MOMENT = 0.4
LONG = 60.0


class Doing:
    """Something done in a thread with a connection of its own, with what came of it."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.answer: Any = None
        self.error: BaseException | None = None
        self._act = act
        self._thread = threading.Thread(target=closing(self._run))
        self._thread.start()

    def _run(self) -> None:
        try:
            self.answer = self._act()
        except BaseException as error:
            self.error = error

    def waits(self) -> bool:
        """Whether it is still at it after a moment."""
        self._thread.join(A_MOMENT)
        return self._thread.is_alive()

    def done(self) -> Any:
        """What came of it, or its error."""
        self._thread.join(LONG)
        assert not self._thread.is_alive(), "it waits for ever"
        if self.error is not None:
            raise self.error
        return self.answer


def settle(house: House) -> Taken:
    return settling.settle_next(house.stream(LINK), clock=lambda: RECEIVED)


@contextmanager
def stopped_before(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, act: Callable[[], Any]) -> Iterator[Doing]:
    """Something under way that stands before a function of a module while the block lasts, and goes on afterwards."""
    there, go_on = threading.Event(), threading.Event()
    real = getattr(place, name)

    def waiting(*arguments: Any, **more: Any) -> Any:
        there.set()
        assert go_on.wait(LONG)
        return real(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(place, name, waiting)
        doing = Doing(act)
        try:
            assert there.wait(LONG)
            patched.undo()
            yield doing
        finally:
            go_on.set()


@contextmanager
def holding(act: Callable[[], Any]) -> Iterator[None]:
    """Somebody's transaction that has done something and is not over while the block lasts."""
    there, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            act()
            there.set()
            assert go_on.wait(LONG)

    somebody = Doing(hold)
    try:
        assert there.wait(LONG)
        yield
    finally:
        go_on.set()
        somebody.done()


def terms_changed() -> None:
    """Close a table, since before the deals of these tests."""
    House().act("table.close", "MS-101", at=DEALT - timedelta(minutes=1))


def grown() -> floors.Installed:
    """Put another table on the link."""
    at = FLOOR.index('[[tables]]\ncode = "MS-102"')
    added = FLOOR[at : FLOOR.index('[[tables]]\ncode = "TW-201"')].replace("MS-102", "MS-103")
    return floors.install(FLOOR + added, at=RECEIVED)


@pytest.mark.parametrize("change", [terms_changed, grown], ids=["terms", "a table more"])
def test_whoever_changes_terms_waits_for_the_batch_that_is_open(
    change: Callable[[], Any], busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch has read the terms and written nothing yet: its lock alone keeps them as they are."""
    busy_house.post(royal("R-1"), message("R-2"))
    with stopped_before(monkeypatch, rounds, "settle_batch", lambda: settle(busy_house)) as batch:
        changing = Doing(change)
        assert changing.waits(), "terms changed under a batch that is being settled by them"
    assert batch.done().batch.settled == 2
    changing.done()
    assert busy_house.order() == ["R-1", "R-2"]
    auditor.everything_agrees()
    verify()


def test_a_batch_is_not_begun_while_terms_are_changed(busy_house: House) -> None:
    """The worker does not wait either: it says busy, and comes back when all is as it will be."""
    busy_house.play(message("R-0"))
    busy_house.post(message("R-1"))
    with holding(terms_changed):
        worker = Doing(lambda: settle(busy_house))
        assert not worker.waits(), "a worker must never wait for a stream: others need it"
        assert worker.done().busy
        assert busy_house.waiting() == 1
    settle(busy_house)
    assert rows("SELECT reference, reasons FROM tables_hold") == [("R-1", ["table_closed"])]


def test_whoever_changes_terms_waits_for_who_does_already(busy_house: House) -> None:
    before = value("SELECT terms_version FROM accounting_stream WHERE code = %s", LINK)
    with holding(lambda: links.locked(LINK)):
        other = Doing(terms_changed)
        assert other.waits(), "two change terms at once"
    other.done()
    assert value("SELECT terms_version FROM accounting_stream WHERE code = %s", LINK) == before + 1


def test_nothing_changes_a_stream_between_the_lock_and_the_commit(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody takes the stream between a worker's attempt and its batch: the worker leaves it to them, without waiting.

    However often they do, the message at the front has killed nobody and is no suspect.
    """
    busy_house.post(message("R-1"))
    real = settling._attempt

    def attempt(stream_id: int) -> int | None:
        tries = real(stream_id)
        held[-1].__enter__()
        return tries

    held: list[AbstractContextManager[None]] = []
    for _ in range(5):
        held.append(holding(lambda: ledger.lock_stream(busy_house.stream(LINK))))
        with monkeypatch.context() as patched:
            patched.setattr(settling, "_attempt", attempt)
            worker = Doing(lambda: settle(busy_house))
            waited = worker.waits()
            held[-1].__exit__(None, None, None)
        assert not waited, "a worker must never wait for a stream: others need it"
        assert worker.done().busy
        assert (busy_house.order(), busy_house.waiting()) == ([], 1)
        assert rows("SELECT attempts FROM devices_attempt") == [(0,)]
    assert settle(busy_house).batch.settled == 1
    assert value("SELECT count(*) FROM tables_hold") == 0


@pytest.mark.parametrize("place", ["before its batch", "in its batch"])
def test_a_second_worker_says_busy_and_counts_nothing(
    place: str, busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tries without an end are a suspicion: those of others who only found somebody at work are none."""
    busy_house.post(royal("R-1"), message("R-2"))
    module, name = (settling, "_settle") if place == "before its batch" else (rounds, "settle_batch")
    with stopped_before(monkeypatch, module, name, lambda: settle(busy_house)) as first:
        for _ in range(5):
            second = Doing(lambda: settle(busy_house))
            assert not second.waits(), "a second worker waits for the first"
            taken = second.done()
            assert (taken.busy, taken.batch.settled, taken.batch.held) == (True, 0, 0)
        assert rows("SELECT attempts FROM devices_attempt") == [(1,)]
    assert first.done().batch.settled == 2
    assert value("SELECT count(*) FROM tables_hold") == 0
    auditor.everything_agrees()


def test_tries_are_not_counted_while_somebody_else_holds_the_stream(busy_house: House) -> None:
    """Terms that take long to change make no message suspicious."""
    busy_house.post(message("R-1"), message("R-2"))
    with holding(lambda: ledger.lock_stream(busy_house.stream(LINK))):
        for _ in range(5):
            worker = Doing(lambda: settle(busy_house))
            assert not worker.waits(), "a worker must never wait for a stream: others need it"
            assert worker.done().busy
        assert rows("SELECT attempts FROM devices_attempt") == []
    assert settle(busy_house).batch.settled == 2


def test_other_streams_are_held_by_none_of_it(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    busy_house.post(message("R-1"), message("R-1", table="VIP-7"))
    with stopped_before(monkeypatch, rounds, "settle_batch", lambda: settle(busy_house)) as batch:
        other = Doing(lambda: settling.settle_next(busy_house.stream("VIP-7"), clock=lambda: RECEIVED).batch.settled)
        assert other.done() == 1
    assert batch.done().batch.settled == 1
