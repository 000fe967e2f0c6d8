"""A host of the house: web, a settling worker, jobs, and on one of them beat, on a machine of its own.

Whatever ends is started again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import httpx

from tests.faults.machines import Machine

NAME = "localhost"  # a name that is not public, and that every machine knows
LOOK_SECONDS = 0.2
AGAIN_SECONDS = 1.0
STOP_SECONDS = 20.0


class Process:
    """One of its processes, of a role; whoever looks after it starts it again a second after it has ended."""

    def __init__(self, role: str, words: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.role, self.words, self.environment, self.log = role, words, dict(environment), log
        self.process: subprocess.Popen[bytes] | None = None
        self.ended_at: float | None = None

    def start(self, machine: Machine) -> None:
        """On its machine."""
        with self.log.open("ab") as log:
            self.process = machine.run(
                self.words[1:], self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.ended_at = None

    def signal(self, number: signal.Signals) -> None:
        """For it and whatever it has started."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


class Host:
    """The machine with its processes."""

    def __init__(self, machine: Machine, processes: list[Process]) -> None:
        self.machine = machine
        self.processes = {process.role: process for process in processes}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, name=machine.name, daemon=True)

    def start(self) -> None:
        """All of them, from now on."""
        for process in self.processes.values():
            process.start(self.machine)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            for each in self.processes.values():
                if each.process is None or each.process.poll() is None:
                    continue
                each.ended_at = each.ended_at or time.monotonic()
                if time.monotonic() - each.ended_at > AGAIN_SECONDS:
                    each.start(self.machine)

    def health(self) -> httpx.Response:
        """What its web process says of the house, asked as the proxy asks."""
        headers = {"Host": NAME, "X-Forwarded-Proto": "https"}
        address = f"http://{self.machine.address}:8000/api/v1/health?strict"
        return httpx.get(address, headers=headers, timeout=5, trust_env=False)

    def told_to_end(self) -> None:
        """Every process ends in its own time, and is started anew by whoever looks after it: with another environment, maybe."""
        for process in self.processes.values():
            process.signal(signal.SIGTERM)

    def stop(self) -> None:
        """For good."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        for process in self.processes.values():
            if process.process is not None:
                process.signal(signal.SIGCONT)
                process.signal(signal.SIGTERM)
        give_up = time.monotonic() + STOP_SECONDS
        for process in self.processes.values():
            if process.process is not None:
                with suppress(subprocess.TimeoutExpired):
                    process.process.wait(max(0.1, give_up - time.monotonic()))
                process.signal(signal.SIGKILL)
                process.process.wait()
