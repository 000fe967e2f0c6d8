"""Whoever stands still in the middle of a batch keeps its stream for six seconds at most, and can do nothing when it wakes up.

The same with the link cut, on machines of their own, is `python3 -m tests.faults.cut_off`.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from tables.services import floors
from tests.conftest import ROOT, WORKER, running, service_environment
from tests.faults.halting import PHASES
from tests.services import auditor
from tests.services.house import FLOOR, OPENED, House, forget, message, rows, seat, value, verify

pytestmark = [pytest.mark.alone, pytest.mark.timeout(170)]

STALL_SECONDS = 6.0
EACH = 300  # a batch of several portions
PATIENCE_SECONDS = 60.0
TRIES = 4


def lone_tables(count: int) -> list[str]:
    """So many tables with no link, each a stream of its own."""
    codes = [f"LONE-{number}" for number in range(1, count + 1)]
    lone = FLOOR[FLOOR.index('[[tables]]\ncode = "VIP-7"') :]
    tables = "".join(lone.replace("VIP-7", code) for code in codes)
    floors.install(FLOOR[: FLOOR.index("[[paytables]]")] + tables, at=OPENED)
    forget()
    return codes


def _first_word(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().decode().partition(" ")[0].strip()


def unsettled() -> list[str]:
    """The streams on which messages wait."""
    found = rows(
        "SELECT DISTINCT code FROM accounting_stream s JOIN devices_queued q ON q.stream_id = s.id ORDER BY code"
    )
    return [code for (code,) in found]


def test_whoever_is_stopped_in_any_phase_keeps_its_stream_for_six_seconds_at_most(busy_house: House) -> None:
    codes = dict(zip(PHASES, lone_tables(len(PHASES)), strict=True))
    for code in codes.values():
        busy_house.post(*(message(f"R-{n}", seat(1, "3s 7d"), table=code) for n in range(EACH)))
    with ExitStack() as stack:
        halted: dict[str, subprocess.Popen[bytes]] = {}

        def settle(phase: str) -> None:
            command = [sys.executable, "-m", "tests.faults.halting", str(House.stream(codes[phase])), phase, "stop"]
            process = subprocess.Popen(command, cwd=ROOT, env=service_environment("settle"), stdout=subprocess.PIPE)
            stack.callback(process.kill)
            halted[phase] = process

        for phase in PHASES:
            settle(phase)
        for phase in PHASES:
            said = [_first_word(halted[phase])]
            while said[-1] != "halted":  # on a busy machine one may be let go of before it came so far
                assert said[-1] == "ended" and len(said) < TRIES, (phase, said)
                settle(phase)
                said.append(_first_word(halted[phase]))
        assert value("SELECT count(*) FROM tables_round") == 2 * EACH, "all but two have written nothing that counts"
        with running(WORKER, "settle"):
            give_up = time.monotonic() + PATIENCE_SECONDS
            while not value("SELECT count(*) FROM devices_heartbeat WHERE name = 'sweep'"):
                assert time.monotonic() < give_up, "the other worker does not come"
                time.sleep(0.02)
            began = time.monotonic()
            while waiting := unsettled():
                assert time.monotonic() - began < PATIENCE_SECONDS, waiting
                time.sleep(0.02)
            stall = time.monotonic() - began
            print(f"the last stream was settled {stall:.1f} s after another worker's first sweep")
            assert stall < STALL_SECONDS
            for process in halted.values():
                process.send_signal(signal.SIGCONT)
            became = {phase: process.communicate(timeout=60)[0].decode().split() for phase, process in halted.items()}
    assert {phase: words[0] for phase, words in became.items()} == {
        **dict.fromkeys(PHASES, "ended"),
        # Its batch was committed; the session that kept the stream from others is gone, and the next one finds nothing.
        "committed": "settled",
        "told": became["told"][0],
    }, became
    assert value("SELECT count(*) FROM tables_round") == len(PHASES) * EACH
    assert value("SELECT count(*) FROM tables_hold") == 0
    auditor.everything_agrees()
    assert verify().rounds == len(PHASES) * EACH
