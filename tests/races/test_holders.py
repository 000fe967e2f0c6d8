"""Who holds a stream and is silent is ended; who is at work is not, however long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection

from accounting import connecting
from accounting.services.holders import END, SILENT_SECONDS, Watch
from accounting.statements import execute
from devices.queries import ATTEMPTING, ATTEMPTING_CLASS
from tests.services.house import House, rows, value

pytestmark = pytest.mark.django_db(transaction=True)

LINK = "ms-mg01"
LOCK = "SELECT FROM accounting_stream WHERE id = %s FOR NO KEY UPDATE"
UNDONE = "INSERT INTO devices_heartbeat (name, seen_at) VALUES ('undone', now())"
COPY = b"COPY devices_heartbeat FROM STDIN"


class Clock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def looking(busy_house: House) -> Callable[..., list[int]]:
    """A look a second for so many seconds; whom they ended. `between` is done before each."""

    def look(seconds: float = SILENT_SECONDS, between: Callable[[], None] = lambda: None) -> list[int]:
        clock = Clock()
        watch = Watch(clock, attempting=ATTEMPTING_CLASS)
        ended = watch.look()
        for _ in range(int(seconds)):
            clock.now += 1
            between()
            ended += watch.look()
        return ended

    return look


@contextmanager
def session(role: str | None = None) -> Iterator[psycopg.Connection[Any]]:
    """Another session, as the same role or as another."""
    with psycopg.connect(**{**connecting.parameters(), **({"user": role} if role else {})}) as other:
        try:
            yield other
        finally:
            other.close()


def waits_for_its_client(pid: int) -> None:
    """What was sent has arrived, and the server has had nothing to do for it for a while."""
    give_up, since, before = time.monotonic() + 30, 0.0, None
    while not since or time.monotonic() - since < 0.3:
        assert time.monotonic() < give_up
        (now,) = rows(
            "SELECT wait_event_type, wait_event, state, state_change FROM pg_stat_activity WHERE pid = %s", pid
        )
        since = (since or time.monotonic()) if now == before and now[0] == "Client" else 0.0
        before = now
        time.sleep(0.02)


def in_a_transaction(other: psycopg.Connection[Any], stream: int) -> None:
    other.execute(UNDONE)
    other.execute(LOCK, [stream])


def between_transactions(other: psycopg.Connection[Any], stream: int) -> None:
    other.execute("SELECT pg_advisory_lock(%s)", [ATTEMPTING + stream])
    other.commit()


def in_a_copy(other: psycopg.Connection[Any], stream: int) -> None:
    in_a_transaction(other, stream)
    other.pgconn.send_query(COPY)
    assert other.pgconn.get_result().status == psycopg.pq.ExecStatus.COPY_IN  # type: ignore[union-attr]
    other.pgconn.put_copy_data(b"silent")
    other.pgconn.flush()


def in_an_answer(other: psycopg.Connection[Any], stream: int) -> None:
    """The server speaks, and nobody listens."""
    in_a_transaction(other, stream)
    other.pgconn.send_query(b"SELECT repeat('x', 1000000) FROM generate_series(1, 100)")


@pytest.mark.parametrize("phase", [in_a_transaction, between_transactions, in_a_copy, in_an_answer])
def test_who_is_silent_in_any_phase_is_ended_and_can_commit_nothing(
    phase: Callable[..., None], busy_house: House, looking: Callable[..., list[int]]
) -> None:
    stream = busy_house.stream(LINK)
    with session() as other:
        phase(other, stream)
        pid = other.info.backend_pid
        waits_for_its_client(pid)
        assert looking(SILENT_SECONDS - 1) == []
        assert looking() == [pid]
        with pytest.raises(psycopg.OperationalError):
            other.pgconn.finish() if phase is in_an_answer else other.commit()
            other.execute("SELECT 1")
    with session() as next_one:
        next_one.execute(f"{LOCK} NOWAIT", [stream])
        assert value("SELECT count(*) FROM devices_heartbeat WHERE name = 'undone'") == 0
        assert next_one.execute("SELECT pg_try_advisory_lock(%s)", [ATTEMPTING + stream]).fetchone() == (True,)


def test_who_sends_rows_says_something_or_holds_no_stream_is_left_alone(
    busy_house: House, looking: Callable[..., list[int]]
) -> None:
    stream = busy_house.stream(LINK)
    with ExitStack() as stack:
        slow, talking, elsewhere = (stack.enter_context(session()) for _ in range(3))
        in_a_copy(slow, stream)
        talking.execute("SELECT pg_advisory_lock(%s)", [ATTEMPTING + stream])
        elsewhere.execute("SELECT FROM accounting_property FOR UPDATE")

        def a_little() -> None:
            slow.pgconn.put_copy_data(b"y")
            slow.pgconn.flush()
            talking.execute("SELECT 1")
            time.sleep(0.02)

        assert looking(3 * SILENT_SECONDS, a_little) == []


def test_who_computes_or_waits_for_a_lock_is_left_alone(busy_house: House, looking: Callable[..., list[int]]) -> None:
    stream = busy_house.stream(LINK)
    with ExitStack() as stack:
        at_work, waiting, owner = (stack.enter_context(session()) for _ in range(3))
        in_a_transaction(at_work, stream)
        at_work.pgconn.send_query(b"SELECT pg_sleep(60)")
        owner.execute("SELECT FROM accounting_property FOR UPDATE")
        owner.pgconn.send_query(b"SELECT pg_sleep(60)")
        waiting.execute("SELECT pg_advisory_lock(%s)", [ATTEMPTING + stream])
        waiting.pgconn.send_query(b"SELECT FROM accounting_property FOR UPDATE")
        time.sleep(0.2)
        assert looking(3 * SILENT_SECONDS) == []
        for each in (at_work, waiting, owner):
            value("SELECT pg_terminate_backend(%s)", each.info.backend_pid)


def test_who_has_gone_on_since_the_look_is_not_ended(busy_house: House) -> None:
    """What was seen of it may be as it was, and the server waits for it no more."""
    with session() as other:
        pid = other.info.backend_pid
        other.pgconn.send_query(b"SELECT pg_sleep(60)")
        give_up = time.monotonic() + 30
        while value("SELECT coalesce(wait_event_type, '') FROM pg_stat_activity WHERE pid = %s", pid) != "Timeout":
            assert time.monotonic() < give_up
        ((born, changed),) = rows("SELECT backend_start, state_change FROM pg_stat_activity WHERE pid = %s", pid)
        assert execute(END, [pid, born, changed]) == []
        value("SELECT pg_terminate_backend(%s)", pid)


def test_who_keeps_somebody_waiting_is_ended_whatever_it_holds(
    busy_house: House, looking: Callable[..., list[int]]
) -> None:
    """Somebody who closes a day holds what every batch must hold, before any stream."""
    with ExitStack() as stack:
        silent, waiting = (stack.enter_context(session()) for _ in range(2))
        silent.execute("SELECT FROM accounting_property FOR UPDATE")
        waiting.pgconn.send_query(b"SELECT FROM accounting_property FOR SHARE")
        give_up = time.monotonic() + 30
        while not value("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = %s", waiting.info.backend_pid):
            assert time.monotonic() < give_up
            time.sleep(0.01)
        assert looking() == [silent.info.backend_pid]
        assert waiting.pgconn.get_result().ntuples == 1  # type: ignore[union-attr]


def test_each_role_ends_its_own_only(busy_house: House, looking: Callable[..., list[int]]) -> None:
    stream = busy_house.stream(LINK)
    with session("jackpot_service") as web:
        in_a_transaction(web, stream)
        waits_for_its_client(web.info.backend_pid)
        assert looking() == []
        connection.cursor().execute("SET ROLE jackpot_service")
        try:
            assert looking() == [web.info.backend_pid]
        finally:
            connection.cursor().execute("RESET ROLE")
