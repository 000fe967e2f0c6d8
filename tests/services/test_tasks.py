"""Waking, sweeping and telling: what the settling worker does between the queue and whoever waits (ARCHITECTURE §3)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from structlog.testing import capture_logs

from devices import tasks
from devices.intake import settler, settling
from devices.intake.lookout import Lookout
from devices.intake.wakes import Waker
from jackpot.services import listening
from tables.services import terms
from tests.services.house import ALONE, TWIN, House, message, rows, royal, value


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """What listeners are told, beside really telling them."""
    heard: list[tuple[int, int]] = []
    real = listening.tell

    def tell(stream_id: int, sequence: int) -> None:
        heard.append((stream_id, sequence))
        real(stream_id, sequence)

    monkeypatch.setattr(listening, "tell", tell)
    return heard


def test_a_wake_empties_its_stream_and_no_other(busy_house: House, told: list[tuple[int, int]]) -> None:
    busy_house.post(message("R-1"), message("R-2"), royal("R-1", table=TWIN))
    stream = busy_house.stream("ms-mg01")
    assert tasks.settle(stream) == 2
    assert busy_house.order() == ["R-1", "R-2"]
    assert busy_house.waiting() == 1
    assert told == [(stream, 2)]
    assert tasks.settle(stream) == 0
    assert told == [(stream, 2)], "nobody is told of nothing"


def test_a_held_round_is_told_too_for_somebody_may_wait_for_it(busy_house: House, told: list[tuple[int, int]]) -> None:
    busy_house.post(message("R-1", community="2c 2c Kd"))
    assert tasks.settle(busy_house.stream("ms-mg01")) == 1
    assert told == [(busy_house.stream("ms-mg01"), 0)]


def test_what_comes_while_a_batch_commits_is_seen_by_the_last_look(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that arrives too late for the batch and too early for another wake is not left to the sweep."""
    real = settling.settle_next
    late = [message("late")]

    def settle_next(stream_id: int, **more: Any) -> settling.Taken:
        taken = real(stream_id, **more)
        if late:
            busy_house.post(late.pop())
        return taken

    monkeypatch.setattr(settling, "settle_next", settle_next)
    busy_house.post(message("R-1"))
    assert tasks.settle(busy_house.stream("ms-mg01")) == 2
    assert busy_house.order() == ["R-1", "late"]


def test_the_sweep_empties_every_queue_and_leaves_a_sign_of_life(busy_house: House) -> None:
    busy_house.post(message("R-1"), royal("R-1", table=TWIN), message("R-1", table=ALONE))
    before = timezone.now()
    assert settler.sweep() == 3
    assert busy_house.waiting() == 0
    (seen,) = (at for name, at in rows("SELECT name, seen_at FROM devices_heartbeat") if name == "sweep")
    assert before <= seen <= timezone.now()


def test_a_stream_that_cannot_be_settled_does_not_keep_the_others_waiting(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy_house.post(message("R-1"))
    busy_house.post(royal("R-1", table=TWIN), message("R-1", table=ALONE))
    broken = busy_house.stream("ms-mg01")
    real = settling.settle_next

    def settle_next(stream_id: int, **more: Any) -> settling.Taken:
        if stream_id == broken:
            raise RuntimeError("this stream is beyond help")
        return real(stream_id, **more)

    monkeypatch.setattr(settling, "settle_next", settle_next)
    with pytest.raises(RuntimeError, match="beyond help"):
        settler.sweep()
    assert rows("SELECT DISTINCT stream_id FROM devices_queued") == [(broken,)]


def test_nothing_is_kept_after_an_error(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    busy_house.play(message("R-1"))
    assert terms._KEPT

    def broken(stream_id: int, **more: Any) -> settling.Taken:
        raise RuntimeError("half-known")

    monkeypatch.setattr(settling, "settle_next", broken)
    with pytest.raises(RuntimeError):
        tasks.settle(busy_house.stream("ms-mg01"))
    assert not terms._KEPT


@pytest.mark.parametrize(
    ("role", "started"), [("settle", ["settler"]), ("work", ["lookout"]), ("beat", []), ("web", []), ("command", [])]
)
def test_a_worker_begins_with_what_its_role_is_for(
    role: str, started: list[str], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    for name in ("settler", "lookout"):
        part = SimpleNamespace(start=lambda name=name: begun.append(name))
        monkeypatch.setattr(tasks, *(("SETTLER", part) if name == "settler" else ("LOOKOUTS", [part])))
    settings.ROLE = role
    tasks.look_whatever_the_broker_does()
    assert begun == started


@pytest.mark.parametrize(("sweep_seconds", "beats"), [(60.0, 1), (-1.0, 4)])
def test_a_sweep_that_takes_long_gives_signs_of_life_between_two_streams(
    sweep_seconds: float, beats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one otherwise, at its beginning."""
    seen: list[str] = []
    monkeypatch.setattr(settler, "SWEEP_SECONDS", sweep_seconds)
    monkeypatch.setattr(settler.WATCH, "look", lambda: False)
    monkeypatch.setattr(settler, "empty", lambda stream, **more: stream)
    monkeypatch.setattr(settling, "streams_waiting", lambda: [1, 2, 3])
    monkeypatch.setattr(settling, "beat", lambda name, at: seen.append(name))
    assert settler.sweep() == 6
    assert seen == ["sweep"] * beats


def test_the_thread_that_settles_goes_on_whatever_goes_wrong() -> None:
    """By itself, and with what it is asked for between two sweeps."""
    looks: list[int] = []
    thrice = threading.Event()

    def look() -> int:
        looks.append(len(looks))
        if len(looks) == 3:
            thrice.set()
        raise (OperationalError("no database"), RuntimeError("beyond help"))[len(looks) % 2]

    here = settler.Settler(look, every=0.01)
    assert here.do(threading.get_ident) == threading.get_ident(), "by whoever asks, as long as there is no thread"
    with capture_logs() as logged:
        here.start()
        assert thrice.wait(30), "one error and it sweeps no more"
        assert here.do(threading.get_ident) != threading.get_ident()
        with pytest.raises(ZeroDivisionError):
            here.do(lambda: 1 // 0)
        here.stop()
    assert [(line["event"], line["log_level"]) for line in logged][:3] == [
        ("not_swept", "error"), ("not_swept", "warning"), ("not_swept", "error"),
    ]  # fmt: skip


def test_a_lookout_says_why_it_has_not_looked_and_looks_again() -> None:
    """In a word where the database is away, with all that there is to it where nobody knows why."""
    over = threading.Event()
    errors: list[Exception] = [OperationalError("no database\n"), RuntimeError("beyond help")]

    def look() -> None:
        if errors:
            raise errors.pop(0)
        over.set()

    here = Lookout("tower", look, every=0.01)
    with capture_logs() as logged:
        here.start()
        assert over.wait(30), "one error and it looks no more"
        here.stop()
    assert [(line["event"], line["at"], line["log_level"]) for line in logged] == [
        ("not_looked", "tower", "warning"), ("not_looked", "tower", "error"),
    ]  # fmt: skip
    assert logged[0]["error"] == "no database" and logged[1]["exc_info"]


def test_the_clock_is_the_worker_s(busy_house: House) -> None:
    busy_house.post(message("R-1"))
    before = timezone.now()
    tasks.settle(busy_house.stream("ms-mg01"))
    recorded: datetime = value("SELECT recorded_at FROM accounting_event WHERE sequence = 1")
    assert before <= recorded <= timezone.now() + timedelta(seconds=1)


class Broker:
    """Takes wakes and writes down when."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, float]] = []
        self.came = threading.Event()

    def send(self, stream: int) -> None:
        self.sent.append((stream, time.monotonic()))
        self.came.set()


def comes(what: Callable[[], bool], complaint: str) -> None:
    """Wait for it."""
    give_up = time.monotonic() + 30
    while not what():
        assert time.monotonic() < give_up, complaint
        time.sleep(0.001)


def test_the_first_wake_goes_out_at_once_and_the_last_is_never_swallowed() -> None:
    """At most one message per 50 ms and stream, on the trailing edge: after the last wake there is always a look."""
    broker = Broker()
    waker = Waker(broker.send)
    began = time.monotonic()
    waker.wake([7])
    assert broker.came.wait(30)
    last = began
    while time.monotonic() - began < 0.4:
        waker.wake([7])
        last = time.monotonic()
        time.sleep(0.001)
    comes(lambda: broker.sent[-1][1] >= last, "the last wake was swallowed")
    time.sleep(0.15)
    times = [at for _, at in broker.sent]
    # Not each gap by itself: it is written down a little after it was sent, or much, on a busy machine.
    assert 3 <= len(times) <= (times[-1] - began) / 0.05 + 2


def test_streams_are_throttled_each_for_itself() -> None:
    broker = Broker()
    waker = Waker(broker.send)
    began = time.monotonic()
    for wakes in (3, 6):
        waker.wake([1, 2, 3])
        comes(lambda wakes=wakes: len(broker.sent) >= wakes, "a stream is not woken")  # type: ignore[misc]
    assert sorted(stream for stream, _ in broker.sent) == [1, 1, 2, 2, 3, 3]
    for stream in (1, 2, 3):
        first, second = (at for each, at in broker.sent if each == stream)
        assert first < second and second - began >= 0.049


def test_a_wake_that_cannot_be_sent_costs_nothing() -> None:
    sent: list[int] = []
    done = threading.Event()

    def send(stream: int) -> None:
        if stream == 1:
            raise ConnectionError("no broker")
        sent.append(stream)
        done.set()

    waker = Waker(send)
    waker.wake([1])
    waker.wake([2])
    assert done.wait(30)
    assert sent == [2]
