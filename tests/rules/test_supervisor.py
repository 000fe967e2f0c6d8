"""Children under watch: who dies is started again, at once the first time, then more slowly; so is the embedded server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jackpot.config.embedded_postgres import DatabaseProblem
from jackpot.config.supervisor import Supervisor


@dataclass
class Began:
    """A process that was started."""

    pid: int


@dataclass
class Fake:
    """A child that dies when it is told to."""

    name: str
    once: bool = False
    log: Path = Path("log")
    starts: int = 0
    dies: str | None = None
    trimmed: int = 0

    def start(self) -> Began:
        self.starts += 1
        self.dies = None
        return Began(self.starts)

    def death(self) -> str | None:
        return self.dies

    def trim_log(self) -> None:
        self.trimmed += 1


@dataclass
class Server:
    """An embedded server: whether it runs, and how often it will not start."""

    runs: bool = True
    refuses: int = 0
    tried: list[float] = field(default_factory=list)
    clock: Any = None

    def process(self) -> Began | None:
        return Began(7) if self.runs else None

    def start(self) -> bool:
        self.tried.append(self.clock.now)
        if self.refuses:
            self.refuses -= 1
            raise DatabaseProblem("its memory is in use")
        self.runs = True
        return True


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr("jackpot.config.supervisor.time.monotonic", found.monotonic)
    return found


def watching(*children: Fake, server: Server | None = None) -> tuple[Supervisor, list[str]]:
    said: list[str] = []
    watch = Supervisor(server, said.append, lambda state: None)  # type: ignore[arg-type]
    for child in children:
        watch.add(child)  # type: ignore[arg-type]
    return watch, said


def look_for(watch: Supervisor, clock: Clock, seconds: float) -> None:
    """Look every quarter of a second."""
    for _ in range(round(seconds * 4)):
        watch.look()
        clock.now += 0.25


def test_who_dies_is_started_again_more_slowly_each_time(clock: Clock) -> None:
    child = Fake("web")
    watch, said = watching(child)
    pauses: list[float] = []
    for _ in range(6):
        child.dies = "was killed by SIGKILL"
        died = clock.now
        starts = child.starts
        while child.starts == starts:
            watch.look()
            clock.now += 0.25
        pauses.append(clock.now - 0.25 - died)
    # A look finds it dead, the next one at which its pause is over starts it: half a second, doubled each time, at most eight.
    assert pauses == [0.5, 1.5, 3.5, 7.5, 8.0, 8.0]
    assert id(watch.failing()) == id(child)
    assert sum("is started again as process" in line for line in said) == 6
    assert "web was killed by SIGKILL; again in 0.5 s, see log" in said


def test_who_waits_to_be_started_again_does_not_die_a_second_time(clock: Clock) -> None:
    child = Fake("settle")
    watch, said = watching(child)
    for _ in range(2):
        child.dies = "ended with exit code 1"
        look_for(watch, clock, 2.0)
    assert child.starts == 3
    assert sum("ended with exit code 1" in line for line in said) == 2


def test_who_lived_long_enough_starts_with_a_clean_record_and_at_once(clock: Clock) -> None:
    child = Fake("beat")
    watch, said = watching(child)
    child.dies = "ended with exit code 1"
    look_for(watch, clock, 31.0)
    child.dies = "ended with exit code 1"
    look_for(watch, clock, 0.5)
    assert child.starts == 3 and watch.failing() is None
    assert said[-2] == "beat ended with exit code 1", "no pause is told of"


def test_who_has_finished_is_let_go_and_the_others_are_watched(clock: Clock) -> None:
    once, web = Fake("load", once=True), Fake("web")
    watch, said = watching(once, web)
    once.dies = "ended with exit code 0"
    web.dies = "ended with exit code 0"
    look_for(watch, clock, 3.0)
    assert said[0] == "load has finished"
    assert (once.starts, web.starts) == (1, 2)
    assert set(watch.state.children) == {"web"}
    failed = Fake("load", once=True)
    watch, said = watching(failed)
    failed.dies = "ended with exit code 2"
    look_for(watch, clock, 3.0)
    assert failed.starts == 2


def test_logs_are_looked_at_every_minute(clock: Clock) -> None:
    child = Fake("web")
    watch, _ = watching(child)
    look_for(watch, clock, 120.0)
    assert child.trimmed == 2
    look_for(watch, clock, 0.25)
    assert child.trimmed == 3, "two minutes after the first look, to the second"


def test_a_server_that_does_not_start_is_tried_again_and_again_less_and_less_often(clock: Clock) -> None:
    server = Server(runs=False, refuses=6, clock=clock)
    watch, said = watching(server=server)
    look_for(watch, clock, 60.0)
    assert server.runs
    assert [after - before for before, after in zip(server.tried, server.tried[1:], strict=False)] == [
        1.0, 2.0, 4.0, 8.0, 8.0, 8.0,
    ]  # fmt: skip
    assert said[-1] == "postgres is started again as process 7"
    assert watch.server_failures == 0
    server.runs = False
    look_for(watch, clock, 0.5)
    assert server.runs, "once it ran it is tried at once"
