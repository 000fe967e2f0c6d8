"""What the settling worker does: woken for one stream, or sweeping over all of them."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from celery import shared_task
from celery.signals import worker_ready
from django.db import OperationalError, close_old_connections, connection
from django.utils import timezone

from devices.intake import contact, deals, lost_locks, settling
from jackpot.services import listening
from tables.services import terms

Done = TypeVar("Done")


@shared_task
def settle(stream_id: int) -> int:
    """Empty one stream's queue; the number of messages dealt with. What another worker is at is left to it."""
    return _safely(lambda: empty(stream_id, clock=timezone.now))


@shared_task
def sweep() -> int:
    """Empty every queue that nobody was woken for, and leave a sign of life.

    A stream that cannot be settled does not keep the others waiting; its error is raised when they are done.
    """

    def look() -> list[int]:
        settling.beat("sweep", timezone.now())
        return settling.streams_waiting()

    dealt_with, errors = 0, []
    for stream in _safely(look):
        try:
            dealt_with += _safely(partial(empty, stream, clock=timezone.now))
        except Exception as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return dealt_with


@shared_task
def look_at_deals() -> int:
    """Look for deals that came under a second reference; how many there were. Settling never waits for this."""
    return _safely(lambda: deals.look(at=timezone.now()))


@shared_task
def look_at_locks() -> int:
    """Look for locks whose results are overdue; how many there were that nobody had been told of."""
    return _safely(lambda: lost_locks.look(at=timezone.now()))


@shared_task
def listen_for_devices() -> int:
    """Close the progressives of tables that fell silent, open those that are heard of again; how many there were."""
    return _safely(lambda: len(contact.watch(at=timezone.now())))


def empty(stream_id: int, *, clock: Callable[[], datetime]) -> int:
    """Settle batch after batch until the stream's queue is empty, telling whoever listens after each commit."""
    dealt_with = 0
    while True:
        taken = settling.settle_next(stream_id, clock=clock)
        if done := taken.batch.dealt_with:
            dealt_with += done
            listening.tell(stream_id, taken.batch.last_sequence)
        elif not taken.more:
            # Whatever came while the last batch committed was seen by this last look.
            return dealt_with


def _safely(act: Callable[[], Done]) -> Done:
    """Start from a live connection and drop every kept state after an error: nothing half-known survives."""
    close_old_connections()
    try:
        return act()
    except Exception as error:
        terms.forget()
        if isinstance(error, OperationalError):
            connection.close()
        raise


@worker_ready.connect
def look_at_once(sender: Any, **kwargs: Any) -> None:
    """A worker that starts does not wait for a wake: messages may have waited for it."""
    if "settle" in {queue.name for queue in sender.task_consumer.queues}:
        sweep.delay()
