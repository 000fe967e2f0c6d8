"""A settling process at work: one thread settles, woken through the broker or by its own clock.

Everything that is needed to settle is in the database. The broker's client runs beside this thread and may wait for its broker
as long as it likes: what waits in the queues is looked for once a second all the same. A wake is only faster.
"""

import atexit
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import structlog
from django.db import OperationalError, close_old_connections, connection
from django.utils import timezone

from accounting.services import holders
from devices.intake import settling
from devices.queries import ATTEMPTING_CLASS
from jackpot.services import listening
from tables.services import terms

log = structlog.get_logger()

SWEEP_SECONDS = 1.0
TURN_SECONDS = 1.0  # so long one stream keeps the others of the same process waiting
STOP_SECONDS = 8.0  # `up` waits for ten

ENDED_SECONDS = 0.1

Done = TypeVar("Done")
WATCH = holders.Watch(time.monotonic, attempting=ATTEMPTING_CLASS)


def empty(stream_id: int, *, clock: Callable[[], datetime], turn: float | None = None) -> int:
    """Settle batch after batch until the stream's queue is empty, telling whoever listens after each commit.

    With `turn` it ends after so many seconds as well, whatever still waits.
    """
    dealt_with, began = 0, time.monotonic()
    while True:
        taken = settling.settle_next(stream_id, clock=clock)
        if done := taken.batch.dealt_with:
            dealt_with += done
            listening.tell(stream_id, taken.batch.last_sequence)
        elif not taken.more:
            # Whatever came while the last batch committed was seen by this last look.
            return dealt_with
        if turn is not None and time.monotonic() - began > turn:
            return dealt_with


def sweep() -> int:
    """End who holds a stream and is silent, empty every queue that nobody was woken for, a turn each, and leave a sign of life.

    A stream that cannot be settled does not keep the others waiting; its error is raised when they are done.
    """

    def look() -> list[int]:
        settling.beat("sweep", timezone.now())
        return settling.streams_waiting()

    def visit(stream: int) -> int:
        if time.monotonic() - seen > SWEEP_SECONDS:
            settling.beat("sweep", timezone.now())
        return empty(stream, clock=timezone.now, turn=TURN_SECONDS)

    dealt_with, errors, seen = 0, [], time.monotonic()
    if safely(WATCH.look):
        time.sleep(ENDED_SECONDS)  # what they held is free as soon as the server has undone it
    for stream in safely(look):
        try:
            dealt_with += safely(partial(visit, stream))
        except Exception as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return dealt_with


def safely(act: Callable[[], Done]) -> Done:
    """Start from a live connection and drop every kept state after an error: nothing half-known survives."""
    close_old_connections()
    try:
        return act()
    except Exception as error:
        terms.forget()
        if isinstance(error, OperationalError):
            connection.close()
        raise


class Settler:
    """The one thread of a process that settles. What it is asked for is done between two sweeps; without it, by whoever asks."""

    def __init__(self, look: Callable[[], int], *, every: float = SWEEP_SECONDS) -> None:
        self.look = look
        self.every = every
        self.asked: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Sweep from now on, at once the first time: messages may have waited for this process."""
        assert self.thread is None, "one thread settles"
        self.thread = threading.Thread(target=self._run, name="settler", daemon=True)
        self.thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """End after the batch at hand. One that takes too long is given up with its process, and nothing of it is stored."""
        if self.thread is not None:
            self.asked.put(None)
            self.thread.join(STOP_SECONDS)
            self.thread = None

    def do(self, act: Callable[[], Done]) -> Done:
        """Have it done by that thread, whose session is warm; what it returned or raised."""
        if self.thread is None:
            return act()
        done: Future[Done] = Future()
        self.asked.put((act, done))
        return done.result()

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            try:
                asked = self.asked.get(timeout=max(0.0, due - time.monotonic()))
            except queue.Empty:
                due = time.monotonic() + self.every  # from its beginning, however long it takes
                self._sweep()
                continue
            if asked is None:
                connection.close()
                return
            act, done = asked
            try:
                done.set_result(act())
            except Exception as error:
                done.set_exception(error)
            if time.monotonic() >= due:
                due = time.monotonic() + self.every
                self._sweep()

    def _sweep(self) -> None:
        try:
            self.look()
        except OperationalError as error:  # the database is away, or it ended this session
            log.warning("not_swept", error=str(error).strip())
        except Exception:  # put on record where that is possible; it is tried again as ever
            log.exception("not_swept")


SETTLER = Settler(sweep)
