"""Several workers, posters and a closing accountant at once, all committing: nothing lost, nothing doubled, nothing stuck."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from accounting import statements
from devices.audit import verification
from devices.audit.verification import verify_stream
from devices.intake import inbox, settler, settling
from devices.simulator.floor import FIRST_DEAL, Play
from devices.simulator.irregularities import Rates
from jackpot.services import listening
from tables.rules.floor import read_floor
from tests.races.together import LAST, at_once, closing, workers
from tests.services import auditor
from tests.services.house import (
    ALONE,
    DEALT,
    FLOOR,
    RECEIVED,
    TWIN,
    House,
    message,
    rows,
    royal,
    run,
    two_hits,
    value,
    verify,
)


def test_four_workers_on_one_stream(busy_house: House) -> None:
    """Whoever has the lock settles, the others leave it alone: one order, one meter, every message once."""
    sent = [two_hits(f"R-{number:03d}") if number % 9 == 0 else message(f"R-{number:03d}") for number in range(200)]
    busy_house.post(*sent, at=LAST)
    with workers(4, limit=7) as done:
        pass
    assert sum(done.values()) == 200
    assert busy_house.order() == [each["round"] for each in sent]
    assert (
        value("SELECT wagers FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE code = 'major'")
        == 200 + 2 * 23
    )
    auditor.everything_agrees()
    verify()


def test_four_workers_on_three_streams_while_gateways_post(busy_house: House) -> None:
    """A whole floor in play: four gateways post and resend while four workers settle."""
    tables = read_floor(FLOOR).tables
    messages = Play(tables, seed=11, rates=Rates(times=20), start=FIRST_DEAL).first(360)

    def gateway(number: int) -> None:
        rng = random.Random(number)
        mine = [each for place, each in enumerate(messages) if place % 4 == number]
        while mine:
            size = rng.choice((1, 5, 20))
            House().post(*mine[:size], at=LAST)
            if rng.random() < 0.4:  # the answer was lost: the same again
                House().post(*mine[:size], at=LAST)
            del mine[:size]

    with workers(4) as done:
        at_once(4, gateway)
    assert sum(done.values()) == 360
    assert busy_house.waiting() == 0
    assert value("SELECT count(*) FROM tables_round") + value("SELECT count(*) FROM tables_hold") == 360
    auditor.everything_agrees()
    counts = verify()
    assert (counts.streams, counts.messages) == (3, 360)


def test_streams_do_not_wait_for_each_other(busy_house: House) -> None:
    """A worker that sits on one link keeps nobody from settling the others."""
    busy_house.post(royal("R-1"), royal("R-1", table=TWIN), message("R-1", table=ALONE))
    locked, done = threading.Event(), threading.Event()

    def sitting() -> None:
        with transaction.atomic():
            run("SELECT FROM accounting_stream WHERE code = 'twin' FOR NO KEY UPDATE")
            locked.set()
            assert done.wait(60)

    thread = threading.Thread(target=closing(sitting))
    thread.start()
    assert locked.wait(60)
    assert busy_house.settle() == 2  # it would never end: whoever sits is told to go only afterwards
    done.set()
    thread.join(60)
    assert busy_house.settle() == 1


def test_overlapping_arrays_in_opposite_orders_do_not_deadlock(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four gateways resend the same rounds forwards and backwards: nobody hears of a deadlock, and none even happens."""
    retried: list[str] = []
    real = inbox._accept_once

    def watched(arrivals: Any) -> Any:
        try:
            return real(arrivals)
        except Exception as error:
            retried.append(repr(error))
            raise

    monkeypatch.setattr(inbox, "_accept_once", watched)
    run("""
        CREATE FUNCTION take_your_time() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END $$;
        CREATE TRIGGER slowly BEFORE INSERT ON devices_reference FOR EACH ROW EXECUTE FUNCTION take_your_time();
    """)  # so that posts meet in the middle
    for turn in range(2):
        sent = [
            message(f"R-{turn}-{number:02d}", table=table) for number in range(30) for table in ("MS-101", TWIN, ALONE)
        ]

        def gateway(number: int, sent: list[dict[str, Any]] = sent) -> list[str]:
            mine = sent if number % 2 else sent[::-1]
            return [verdict.status for verdict in House().post(*mine)]

        answers = at_once(4, gateway)
        assert Counter(status for statuses in answers for status in statuses) == {"accepted": 90, "duplicate": 3 * 90}
    assert retried == []
    assert busy_house.settle() == 180
    auditor.everything_agrees()


def test_one_reference_with_two_contents_at_the_same_moment(busy_house: House) -> None:
    """One wins and stands; everybody with the other content is refused, whoever was first."""
    contents = [message("R-1"), message("R-1", community="2d 9h Kd")]
    answers = at_once(8, lambda number: House().post(contents[number % 2])[0])
    accepted = [number for number, verdict in enumerate(answers) if verdict.status == "accepted"]
    assert len(accepted) == 1
    for number, verdict in enumerate(answers):
        if number not in accepted:
            assert verdict.status == ("duplicate" if number % 2 == accepted[0] % 2 else "reused")
    assert len({verdict.message_id for verdict in answers}) == 1
    busy_house.settle()
    assert value("SELECT count(*) FROM tables_round") == 1


@pytest.mark.parametrize(("before", "others"), [(0, 1), (1, 3)])
def test_a_post_that_commits_late_is_not_swept_away_with_those_that_overtook_it(
    before: int, others: int, busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the lower receipt and was stored while the later ones were being settled: it stays queued, and is settled.

    It may lie among those that are settled: some of them were there `before`.
    """
    from tables.services import rounds

    begun, under_way, stored = threading.Event(), threading.Event(), threading.Event()

    def slow_gateway() -> None:
        with transaction.atomic():
            House().post(message("slow-1"), message("slow-2"))
            begun.set()
            assert under_way.wait(60)
        stored.set()

    real = rounds.settle_batch

    def settle_batch(*arguments: Any, **more: Any) -> Any:
        under_way.set()
        assert stored.wait(60)
        return real(*arguments, **more)

    fast = [message(f"fast-{number}") for number in range(others)]
    for sent in fast[:before]:
        busy_house.post(sent)
    gateway = threading.Thread(target=closing(slow_gateway))
    gateway.start()
    assert begun.wait(60)
    for sent in fast[before:]:
        busy_house.post(sent)
    monkeypatch.setattr(rounds, "settle_batch", settle_batch)
    taken = settling.settle_next(busy_house.stream("ms-mg01"), clock=lambda: RECEIVED)
    gateway.join(60)
    monkeypatch.undo()
    assert taken.batch.settled == others
    assert busy_house.waiting() == 2
    auditor.everything_agrees()
    assert busy_house.settle() == 2
    assert busy_house.order() == [*(f"fast-{number}" for number in range(others)), "slow-1", "slow-2"]
    auditor.everything_agrees()
    verify()


# ── the lock that a session holds from the attempt until it is over ─────────────────────────────────────────────
def locks_of_sessions() -> int:
    """How many advisory locks anybody holds in this database."""
    found: int = value(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database ="
        " (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return found


def nobody_holds_one() -> bool:
    """A session that ends takes a moment."""
    give_up = time.monotonic() + 10
    while locks_of_sessions():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize("fault", ["refused", "lost"])
def test_a_lock_that_cannot_be_given_back_ends_with_its_session(
    fault: str, busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept, it would hide the stream from every other worker for as long as the process lives."""
    busy_house.post(message("R-1"))
    backend = value("SELECT pg_backend_pid()")
    real = statements.execute

    def failing(statement: Any, *values: Any, **more: Any) -> Any:
        if statement == settling.OVER:
            if fault == "refused":
                raise OperationalError("canceling statement due to user request")
            return [(False,)]  # a pooler has handed us another session, which never had it
        return real(statement, *values, **more)

    with monkeypatch.context() as broken:
        broken.setattr(settling, "execute", failing)
        assert settling.settle_next(busy_house.stream("ms-mg01"), clock=lambda: RECEIVED).batch.settled == 1
    assert nobody_holds_one()
    assert value("SELECT pg_backend_pid()") != backend
    busy_house.post(message("R-2"))
    taken = at_once(1, lambda _: settling.settle_next(busy_house.stream("ms-mg01"), clock=lambda: RECEIVED))
    assert [each.batch.settled for each in taken] == [1]


def test_an_attempt_that_is_over_leaves_no_lock_and_keeps_its_session(busy_house: House) -> None:
    backend = value("SELECT pg_backend_pid()")
    busy_house.play(message("R-1"), message("R-1", table=TWIN))
    busy_house.post(message("R-2"))
    busy_house.play(message("R-3"))
    assert locks_of_sessions() == 0
    assert value("SELECT pg_backend_pid()") == backend


# ── terms, floors and telling ───────────────────────────────────────────────────────────────────────────────────
def test_a_table_that_is_closed_while_its_link_is_settled(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms change under the stream's lock: each round is judged by what stood when its batch took the lock."""
    from tables.services import rounds

    real = rounds.settle_batch

    def slow(*arguments: Any, **more: Any) -> Any:
        time.sleep(0.02)  # forty batches: none can be the last before the table is closed
        return real(*arguments, **more)

    monkeypatch.setattr(rounds, "settle_batch", slow)
    sent = [message(f"R-{number:03d}") for number in range(120)]
    busy_house.post(*sent)
    with workers(3, limit=3):
        while not value("SELECT count(*) FROM tables_round"):
            time.sleep(0.005)
        House().act("table.close", "MS-101", at=DEALT - timedelta(minutes=1))
    assert rows("SELECT DISTINCT reasons FROM tables_hold") == [(["table_closed"],)]
    settled = busy_house.order()
    assert settled == [each["round"] for each in sent][: len(settled)], "after the first held round none is settled"
    assert settled
    auditor.everything_agrees()
    # Kept terms of every thread's process are the same: what comes now is held.
    busy_house.play(last := message("R-last"))
    assert busy_house.outcome(last) == ("held", ["table_closed"])


def test_two_installations_of_one_floor(busy_house: House) -> None:
    from tables.services import floors

    grown = FLOOR + FLOOR[
        FLOOR.index('[[tables]]\ncode = "MS-101"') : FLOOR.index('[[tables]]\ncode = "MS-102"')
    ].replace("MS-101", "MS-103")
    installed = at_once(4, lambda _: floors.install(grown, at=RECEIVED))
    assert sorted(each.tables for each in installed) == [(), (), (), ("MS-103",)]
    auditor.everything_agrees()


def test_every_settled_batch_is_told_after_its_commit(busy_house: House) -> None:
    """Whoever hears that a stream stands at a sequence finds it there."""
    where = connection.get_connection_params()
    heard: list[tuple[int, int]] = []
    with psycopg.connect(
        **{key: where[key] for key in ("host", "user", "dbname") if key in where}, autocommit=True
    ) as listener:
        listener.execute(f"LISTEN {listening.CHANNEL}")
        streams = [busy_house.stream("ms-mg01"), busy_house.stream("twin")]
        for number in range(5):
            busy_house.post(message(f"R-{number}"), royal(f"R-{number}", table=TWIN))
            at_once(2, lambda place: settler.empty(streams[place], clock=lambda: RECEIVED))
        for notice in listener.notifies(timeout=60, stop_after=10):
            stream_id, _, sequence = notice.payload.partition(":")
            heard.append((int(stream_id), int(sequence)))
            stands = value("SELECT next_sequence - 1 FROM accounting_stream WHERE id = %s", int(stream_id))
            assert stands >= int(sequence), "told before it was there"
    for stream in streams:
        assert [told for each, told in heard if each == stream] == [1, 2, 3, 4, 5]


def test_verification_is_not_disturbed_by_settling(busy_house: House) -> None:
    """A stream is verified as it stood while the house goes on playing."""
    busy_house.post(*(message(f"A-{number:03d}") for number in range(60)), at=LAST)
    busy_house.settle(LAST)
    with workers(2, limit=5):
        for number in range(15):
            busy_house.post(*(royal(f"B-{number}-{each}") for each in range(4)), at=LAST)
            counts = verify_stream(busy_house.stream("ms-mg01"))
            assert counts.rounds >= 60
            if number % 5 == 0:
                side_by_side = verification.verify([busy_house.stream("ms-mg01")], processes=2, size=25)
                assert side_by_side.rounds >= counts.rounds
    verify()
    auditor.everything_agrees()


def test_the_moment_of_a_batch_is_read_while_its_stream_is_locked(busy_house: House) -> None:
    """A clock that looks finds the stream's row locked: no other batch can have been recorded since it was read."""
    busy_house.post(message("R-1"))
    free: list[bool] = []

    def clock() -> datetime:
        def look() -> None:
            try:
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(
                        "SELECT id FROM accounting_stream WHERE code = 'ms-mg01' FOR NO KEY UPDATE SKIP LOCKED"
                    )
                    free.append(cursor.fetchone() is not None)
            finally:
                connection.close()

        looking = threading.Thread(target=look)
        looking.start()
        looking.join()
        return RECEIVED

    settling.settle_next(busy_house.stream("ms-mg01"), clock=clock)
    assert free == [False]
    assert busy_house.outcome(busy_house.posted[0]) == ("settled", [])
