"""Waking the settling workers: at most one broker message per 50 ms and stream, on the trailing edge.

A wake that cannot be sent costs nothing: the sweep looks at every queue once a second.
"""

import threading
import time
from collections.abc import Callable, Iterable

import structlog
from celery import current_app

log = structlog.get_logger()

THROTTLE_SECONDS = 0.05


class Waker:
    """Collects streams to wake and hands each to `send`, from a thread of its own, not too often."""

    def __init__(self, send: Callable[[int], None], throttle: float = THROTTLE_SECONDS) -> None:
        self.send = send
        self.throttle = throttle
        self.due: dict[int, float] = {}
        self.last: dict[int, float] = {}
        self.changed = threading.Condition()
        self.thread: threading.Thread | None = None

    def wake(self, streams: Iterable[int]) -> None:
        """Have these streams looked at: at once, or when their last wake is 50 ms old."""
        now = time.monotonic()
        with self.changed:
            for stream in streams:
                self.due.setdefault(stream, max(now, self.last.get(stream, 0.0) + self.throttle))
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="waker", daemon=True)
                self.thread.start()
            self.changed.notify()

    def _run(self) -> None:
        while True:
            with self.changed:
                while not self.due:
                    self.changed.wait()
                stream, at = min(self.due.items(), key=lambda item: item[1])
                pause = at - time.monotonic()
                if pause > 0:
                    self.changed.wait(pause)
                    continue
                del self.due[stream]
                self.last[stream] = time.monotonic()
            try:
                self.send(stream)
            except Exception as error:  # whatever the broker's client raises: the sweep will come
                log.warning("wake_not_sent", stream=stream, error=str(error))


def _publish(stream: int) -> None:
    # By name: intake does not import tasks, which call it.
    current_app.send_task("devices.tasks.settle", [stream])


WAKER = Waker(_publish)
wake = WAKER.wake
