"""Whoever watches a process from outside learns that it gets on, and that it does not."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psutil
import pytest

from tests.conftest import ROOT, WORKER
from tests.faults.hall import eventually
from tests.faults.house_of_its_own import OwnHouse

pytestmark = [pytest.mark.alone, pytest.mark.timeout(200)]

CELERY = WORKER[:4]
COMMANDS = {
    "settle": WORKER,
    "work": [*CELERY, "worker", "-Q", "work", "-c", "1", "--without-gossip", "--without-mingle", "--loglevel", "ERROR"],
    "beat": [*CELERY, "beat", "-S", "celery.beat:Scheduler", "--pidfile=", "--loglevel", "ERROR"],
}


def gets_on(house: OwnHouse, role: str, within: float) -> bool:
    """What the container's health check is told."""
    look = subprocess.run(
        [sys.executable, "-m", "jackpot.config.alive", role, "--within", str(within)],
        cwd=ROOT, env=house.environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert (look.returncode, bool(look.stderr)) in ((0, False), (1, True)), look.stderr
    assert "Traceback" not in look.stderr
    return look.returncode == 0


@contextmanager
def at_work(house: OwnHouse, role: str, **more: str) -> Iterator[psutil.Process]:
    process = psutil.Popen([sys.executable, *COMMANDS[role]], cwd=ROOT, env=house.environment(role, **more))
    try:
        yield process
    finally:
        for each in [process, *process.children(recursive=True)]:
            each.kill()
        process.wait()


def test_a_process_that_stands_still_is_told_from_one_that_gets_on(own_house: OwnHouse) -> None:
    house = own_house
    with ExitStack() as processes:
        assert not any(gets_on(house, role, 60) for role in COMMANDS), "nobody was ever there"
        running = {role: processes.enter_context(at_work(house, role)) for role in COMMANDS}
        for role in COMMANDS:
            eventually(lambda role=role: gets_on(house, role, 8), f"{role} is not seen", 60)  # type: ignore[misc]
        stopped = [each for process in running.values() for each in [process, *process.children(recursive=True)]]
        for each in stopped:
            each.send_signal(signal.SIGSTOP)
        time.sleep(5)
        assert [role for role in COMMANDS if gets_on(house, role, 4)] == []
        for each in stopped:
            each.send_signal(signal.SIGCONT)
        for role in COMMANDS:
            eventually(lambda role=role: gets_on(house, role, 3), f"{role} is not seen again", 60)  # type: ignore[misc]
