"""Threads that settle, post or close at once, all committing."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import connections

from devices.intake import settling
from devices.simulator.floor import FIRST_DEAL

LAST = FIRST_DEAL + timedelta(days=1)


def closing(act: Callable[..., Any]) -> Callable[..., Any]:
    """Let a thread leave no connection behind."""

    def acted(*arguments: Any) -> Any:
        try:
            return act(*arguments)
        finally:
            connections.close_all()

    return acted


@contextmanager
def beside(act: Callable[[], Any]) -> Iterator[threading.Thread]:
    """Something done in a thread of its own, which has ended when the block has."""
    thread = threading.Thread(target=closing(act))
    thread.start()
    yield thread
    thread.join(60)
    assert not thread.is_alive()


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """Do something in several threads that begin together; an error in one is an error."""
    begin = threading.Barrier(count)

    def begun(number: int) -> Any:
        begin.wait(60)
        return act(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(closing(begun), range(count)))


@contextmanager
def workers(count: int, *, limit: int = 25, clock: Callable[[], datetime] = lambda: LAST) -> Iterator[Counter[int]]:
    """Settling workers that look at every stream until the block ends and nothing waits any more."""
    stop = threading.Event()
    done: Counter[int] = Counter()

    def work(number: int) -> None:
        while True:
            over = stop.is_set()
            worked = 0
            for stream in settling.streams_waiting():
                taken = settling.settle_next(stream, clock=clock, limit=limit)
                worked += taken.batch.settled + taken.batch.held
            done[number] += worked
            if over and not settling.streams_waiting():
                return
            if not worked:
                time.sleep(0.002)

    with ThreadPoolExecutor(count) as threads:
        working = [threads.submit(closing(work), number) for number in range(count)]
        try:
            yield done
        finally:
            stop.set()
        for each in working:
            each.result(120)
