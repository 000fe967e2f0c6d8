"""Settling workers as processes: several at one stream, one that a message kills, clocks that jump, a database in trouble."""

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection

from devices.intake import settling
from tables.services import rounds
from tests.conftest import ROOT, running, service_environment
from tests.faults.poisoned import DEAD
from tests.services import auditor
from tests.services.house import LINKED, NEIGHBOUR, RECEIVED, House, message, rows, royal, run, value, verify

pytestmark = [pytest.mark.alone, pytest.mark.timeout(120)]

LINK = "ms-mg01"
MOST_HEAPS = 40  # how the machine shares itself out among the contenders is its own affair


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_that_fight_for_one_stream_settle_each_round_once_in_one_order(busy_house: House, workers: int) -> None:
    command = [sys.executable, "-m", "tests.faults.contender", str(House.stream(LINK)), "10"]
    with ExitStack() as stack:
        contenders = [
            stack.enter_context(
                subprocess.Popen(
                    command, cwd=ROOT, env=service_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            )
            for _ in range(workers)
        ]
        for contender in contenders:
            assert contender.stdout is not None and contender.stdout.readline() == b"ready\n"
        posted = 0
        for _ in range(MOST_HEAPS):
            busy_house.post(
                *(message(f"R-{posted + n}", table=(LINKED, NEIGHBOUR)[n % 2]) for n in range(99)),
                royal(f"R-{posted}-won"),
            )
            posted += 100
            if posted >= 600 and all_have_fought(so_far := [said(contender) for contender in contenders]):
                break
        else:
            raise AssertionError(f"one did nothing, or they never met: {so_far}")
        while busy_house.waiting():
            time.sleep(0.05)
        done = [json.loads(contender.communicate(timeout=60)[0]) for contender in contenders]
    assert sum(each["settled"] for each in done) == posted
    assert busy_house.order() == [sent["round"] for sent in busy_house.posted]
    auditor.everything_agrees()
    assert verify().rounds == posted


def said(contender: subprocess.Popen[bytes]) -> dict[str, int]:
    """What it has done so far."""
    assert contender.stdin is not None and contender.stdout is not None
    contender.stdin.write(b"\n")
    contender.stdin.flush()
    return dict(json.loads(contender.stdout.readline()))


def all_have_fought(done: list[dict[str, int]]) -> bool:
    """Each has settled, and some have met."""
    return all(each.get("batches") for each in done) and any(each.get("busy") for each in done)


def test_a_message_that_kills_its_worker_and_one_that_crashes_cost_themselves_only(busy_house: House) -> None:
    """The worker is a real one, started again after each death; nothing of it runs in this process."""
    sent = [message("KILL"), *(message(f"R-{n}") for n in range(3)), royal("CRASH"), royal("R-3"), message("R-4")]
    busy_house.post(*sent)
    deaths = 0
    while busy_house.waiting():
        with running(["-m", "tests.faults.poisoned"], "settle") as worker:
            while busy_house.waiting() and worker.poll() is None:
                time.sleep(0.05)
            if worker.poll() is not None:
                assert worker.returncode == DEAD
                deaths += 1
                assert deaths <= 8, "it never ends"
    assert deaths >= 3, "the batch was tried as a whole, in halves and alone"
    held = dict(rows("SELECT reference, error FROM tables_hold WHERE 'processing_error' = ANY (reasons)"))
    assert held.keys() == {"KILL", "CRASH"}
    assert f"tried {deaths} times and never finished" in held["KILL"]
    assert "ZeroDivisionError: cannot divide this pot" in held["CRASH"]
    assert busy_house.order() == ["R-0", "R-1", "R-2", "R-3", "R-4"]
    auditor.everything_agrees()
    verify()


def test_a_clock_that_jumps_back_and_forth_between_batches_changes_no_order(busy_house: House) -> None:
    jumps = [timedelta(0), timedelta(days=-3), timedelta(hours=2), timedelta(seconds=-1), timedelta(days=-400)]
    for number, jump in enumerate(jumps):
        # Receipt and settling are dated by the clock as it then is; the deal by the table's own.
        busy_house.post(royal(f"R-{number}-won"), message(f"R-{number}"), at=RECEIVED + jump)
        taken = settling.settle_next(House.stream(LINK), clock=lambda jump=jump: RECEIVED + jump)  # type: ignore[misc]
        assert taken.batch.settled == 2
    assert busy_house.order() == [sent["round"] for sent in busy_house.posted]
    recorded = [at for (at,) in rows("SELECT recorded_at FROM accounting_event WHERE sequence > 0 ORDER BY sequence")]
    assert recorded == [RECEIVED + jump for jump in jumps for _ in range(2)]
    assert [hit for (hit,) in rows("SELECT number FROM jackpot_hit ORDER BY sequence")] == [1, 2, 3, 4, 5]
    auditor.everything_agrees()
    verify()


def test_a_database_in_trouble_for_long_is_no_evidence_against_a_message(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends the worker's connection again and again in the middle of the same batch."""
    busy_house.post(*(message(f"R-{number}") for number in range(20)))
    real = rounds.settle_batch

    def cut_off(*args: Any, **more: Any) -> Any:
        real(*args, **more)
        run("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(rounds, "settle_batch", cut_off)
    for _ in range(15):
        with pytest.raises(OperationalError):
            busy_house.settle()
        connection.close()
    monkeypatch.undo()
    assert busy_house.settle() == 20
    assert value("SELECT count(*) FROM tables_hold") == 0
    auditor.everything_agrees()
    verify()
