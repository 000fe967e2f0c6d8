"""Celery's connections to the broker come back by themselves, whichever broker it is, and soon.

As they come, worker and publisher wait longer each time, up to half a minute, and beat keeps for ever the channel that its
broker has closed.
"""

from contextlib import suppress
from typing import Any

from celery import beat
from celery.app.amqp import AMQP
from kombu.connection import Connection as Plain

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 2.0


class Connection(Plain):
    """A connection that is tried again every two seconds at most, for as long as its broker is away."""

    def _ensure_connection(self, *args: Any, **said: Any) -> Any:
        """Unless somebody says otherwise; `interval_start` and those after it are said by name only."""
        waits = {
            "interval_start": FIRST_WAIT_SECONDS,
            "interval_step": FIRST_WAIT_SECONDS,
            "interval_max": LONGEST_WAIT_SECONDS,
        }
        return super()._ensure_connection(*args, **{**waits, **said})  # type: ignore[no-untyped-call]


class Amqp(AMQP):
    """What Celery makes its connections with."""

    Connection = Connection


class Scheduler(beat.Scheduler):
    """Beat without a file, which begins anew with its broker when something could not be sent."""

    def apply_async(self, *args: Any, **kwargs: Any) -> Any:
        """Send what is due. What could not be sent is due again at its next time."""
        try:
            return super().apply_async(*args, **kwargs)
        except beat.SchedulingError:
            self.__dict__.pop("producer", None)
            if (broken := self.__dict__.pop("connection", None)) is not None:
                with suppress(Exception):  # it may be as broken as it likes
                    broken.collect(socket_timeout=1)
            raise
