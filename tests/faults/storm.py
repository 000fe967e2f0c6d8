"""Faults at random while rounds are played: processes and the database killed, the broker emptied or cut off, workers frozen."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from random import Random

import psycopg

from tests.faults.hall import WRITING, Hall

WRITING_WITHIN_SECONDS = 0.5


class Storm:
    """Strikes a hall again and again, from a thread of its own, until it is told to stop.

    What comes when is decided by the seed; what it meets is not, for the processes have a pace of their own. A fault
    counts only when it has hit somebody. Every kind comes once before any comes twice.
    """

    def __init__(
        self, hall: Hall, *, seed: int, pause_seconds: float, most: int | None = None, seconds: float = 86_400
    ) -> None:
        self.hall = hall
        self.rng = Random(f"{seed}/storm")
        self.pause_seconds = pause_seconds
        self.most = most  # strikes; it ends by itself after them, or after so many seconds
        self.seconds = seconds
        self.struck: Counter[str] = Counter()
        self.error: BaseException | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._rage, name="storm")
        faults: dict[str, tuple[int, Callable[[], bool]]] = {
            "settling worker killed": (6, self._kill_settler),
            "web killed": (3, lambda: hall.strike("web")),
            "worker killed": (1, lambda: hall.strike("worker")),
            "beat killed": (1, lambda: hall.strike("beat")),
            "database stopped at once": (2, lambda: hall.strike_database(signal.SIGQUIT)),
            "database killed": (2, lambda: hall.strike_database(signal.SIGKILL)),
            "broker emptied": (1, self._empty_broker),
            "broker unreachable": (1, self._cut_broker_off),
            "settling worker frozen": (1, self._freeze_settler),
        }
        self._names = [name for name, (often, _) in faults.items() for _ in range(often)]
        self._acts = {name: act for name, (_, act) in faults.items()}

    @property
    def over(self) -> bool:
        """Whether all blows that it was to deal are dealt, or something went wrong; one without a number needs no more rounds."""
        return self.most is None or not self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and say what went wrong in the storm itself, if anything did."""
        self._stopping.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _rage(self) -> None:
        try:
            ends = time.monotonic() + self.seconds
            turns = sorted(self._acts)
            self.rng.shuffle(turns)
            while not self._stopping.wait(self.rng.uniform(0.2, 1.8) * self.pause_seconds):
                if time.monotonic() > ends or (self.most is not None and self.struck.total() >= self.most):
                    return
                if not turns:  # from now on each has its share in every round of turns
                    turns = self._names.copy()
                    self.rng.shuffle(turns)
                name = turns.pop()
                self.struck[name] += self._acts[name]()
        except BaseException as error:
            self.error = error

    def _settlers(self) -> list[str]:
        return sorted(name for name in self.hall.children() if name.startswith("settle"))

    def _kill_settler(self) -> bool:
        """In the middle of writing, if that comes within half a second."""
        give_up = time.monotonic() + WRITING_WITHIN_SECONDS
        try:
            with self.hall.server.connect("jackpot") as database:
                while time.monotonic() < give_up and database.execute(WRITING).fetchone() == (0,):
                    pass
        except psycopg.Error:
            pass  # the database is down: dying is possible all the same
        alive = self._settlers()
        return bool(alive) and self.hall.strike(self.rng.choice(alive))

    def _freeze_settler(self) -> bool:
        """Longer than the database waits for a worker that has a stream's lock in hand and falls silent."""
        alive = self._settlers()
        if not alive or not self.hall.strike(name := self.rng.choice(alive), signal.SIGSTOP):
            return False
        self._stopping.wait(2.5)
        self.hall.strike(name, signal.SIGCONT)
        return True

    def _empty_broker(self) -> bool:
        try:
            self.hall.empty_broker()
        except psycopg.Error:
            return False
        return True

    def _cut_broker_off(self) -> bool:
        try:
            with self.hall.broker_unreachable():
                self._stopping.wait(1.5)
        except psycopg.Error:
            return False
        return True
