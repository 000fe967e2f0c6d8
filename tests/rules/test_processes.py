"""Children of `up`: what is written down of them, how they died, and what is kept of what they said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from jackpot.config.processes import Child, Known, State, end


def test_what_is_written_down_of_them_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "up.json"
    assert State.read(file) == State()
    for up in (None, Known(7, 1_000.5)):
        state = State(up, "http://h:1", {"web": Known(8, 2_000.25), "beat": Known(9, 3_000.0)})
        state.write(file)
        assert State.read(file) == state
    assert file.stat().st_mode & 0o777 == 0o600
    for damaged in ("", "[]", "{}", '{"up": {"pid": 1}, "url": "", "children": {}}'):
        file.write_text(damaged)
        assert State.read(file) == State(), damaged


def test_a_number_that_has_passed_to_another_process_is_not_taken_for_it() -> None:
    known = Known.of(os.getpid())
    assert known.alive() == psutil.Process()
    assert Known(known.pid, known.born - 1).alive() is None and Known(known.pid, known.born + 1).alive() is None
    assert Known(known.pid, known.born - 0.5).alive() == psutil.Process()


@contextmanager
def started(folder: Path, program: str) -> Iterator[Child]:
    """A child that runs this program."""
    child = Child("one", ["-c", program], log=folder / "one.log", role="web")
    assert child.death() is None, "not started yet"
    child.start()
    assert child.process is not None
    try:
        yield child
    finally:
        child.process.kill()
        child.process.wait()


def test_who_is_to_end_is_asked_and_killed_only_where_it_does_not() -> None:
    for on_term, patience, ended_by in (("SIG_DFL", 10, signal.SIGTERM), ("SIG_IGN", 0.1, signal.SIGKILL)):
        program = f"import signal; signal.signal(signal.SIGTERM, signal.{on_term}); print('ready', flush=True); signal.pause()"
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        end([psutil.Process(child.pid)], patience=patience)
        assert child.wait(20) == -ended_by
        child.stdout.close()


@pytest.mark.parametrize(
    ("end", "said"),
    [("0", "ended with exit code 0"), ("3", "ended with exit code 3"), (None, "was killed by SIGKILL")],
)
def test_how_it_died_is_said_and_what_it_said_is_kept(end: str | None, said: str, tmp_path: Path) -> None:
    program = "import os, sys; [print('line', n) for n in range(20)]; print(os.environ['JACKPOT_ROLE']); "
    program += f"sys.exit({end})" if end else "import signal; signal.pause()"
    with started(tmp_path, program) as child:
        assert child.process is not None
        if end is None:
            assert child.death() is None
            os.kill(child.process.pid, signal.SIGKILL)
        child.process.wait(20)
        assert child.death() == said
        if end:
            assert child.last_words() == "\n".join([*(f"line {n}" for n in range(6, 20)), "web"])


def test_a_log_is_set_aside_when_it_is_more_than_its_limit(tmp_path: Path) -> None:
    child = Child("one", [], log=tmp_path / "one.log", role="web")
    assert child.command == [sys.executable] and child.last_words() == "(no log)"
    child.trim_log()
    child.log.write_text("a" * 10)
    child.trim_log(limit=10)
    assert child.log.stat().st_size == 10 and not (tmp_path / "one.log.1").exists()
    child.trim_log(limit=9)
    assert (child.log.stat().st_size, (tmp_path / "one.log.1").read_text()) == (0, "a" * 10)
    os.truncate(child.log, 20_000_000)
    child.trim_log()
    assert child.log.stat().st_size == 20_000_000
