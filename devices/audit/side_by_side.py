"""Jobs done one after the other in this process, or side by side in processes of their own.

A process of its own starts from a clean interpreter and sets Django up by itself, so it has its own connection to the
database that this process is connected to; nothing is inherited. It ends when this process does, however that ends.
"""

import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import django
from django.db import connection, connections

from devices.audit.findings import ProcessDied

Result = TypeVar("Result")
WORTH_IT = 10_000
"""Events from which on the start of further processes, half a second each, is soon made up for."""
WHERE = ("NAME", "HOST", "PORT", "USER", "PASSWORD")


class Jobs(Protocol):
    """Takes jobs in the order in which their results are wanted."""

    def submit(self, job: Callable[..., Result], *values: Any) -> Callable[[], Result]:
        """Have a job done with these values; what is returned gives its result or raises what it raised, once asked."""


def in_processes(count: int) -> AbstractContextManager[Jobs]:
    """Who does jobs: this process where it is one, else so many of their own while the block lasts."""
    return nullcontext(InThisProcess()) if count == 1 else Processes(count)


def processes_for(events: int) -> int:
    """How many processes are worth their start."""
    return cores() if events >= WORTH_IT else 1


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InThisProcess:
    """Does a job when its result is asked for."""

    def submit(self, job: Callable[..., Result], *values: Any) -> Callable[[], Result]:
        """Put the job down."""
        return partial(job, *values)


class Processes:
    """Does jobs in so many processes, begun in the order in which they were submitted; given up when the block fails.

    Jobs are functions of modules, and values, results and errors are sent between processes.
    """

    def __init__(self, count: int) -> None:
        context = get_context("spawn")
        self._ending, self._alive = context.Pipe(duplex=False)
        where = {name: connection.settings_dict[name] for name in WHERE}
        self._pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(self._ending, where))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._alive.close()  # whoever is at work ends at once
        self._pool.shutdown(cancel_futures=True)
        self._alive.close()
        self._ending.close()

    def submit(self, job: Callable[..., Result], *values: Any) -> Callable[[], Result]:
        """Have the job done as soon as a process is free."""
        try:
            return partial(_result, self._pool.submit(job, *values))
        except BrokenProcessPool:
            raise ProcessDied("a process ended before its job was done") from None


def _result(future: Future[Result]) -> Result:
    try:
        return future.result()
    except BrokenProcessPool:
        raise ProcessDied("a process ended before its job was done") from None


def _begin(alive: Connection, where: dict[str, Any]) -> None:
    """The first thing that a process of its own does; `alive` ends when the process that wants its jobs does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of us; the one that was called says so
    Thread(target=_end_with, args=[alive], daemon=True).start()
    django.setup()
    connections["default"].settings_dict.update(where)


def _end_with(alive: Connection) -> None:
    try:
        alive.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
