"""What workers are sent by the broker, wakes for those who settle and what may wait, and what they do without one."""

from functools import partial
from typing import Any

from celery import shared_task
from celery.signals import worker_init
from django.conf import settings
from django.utils import timezone

from devices.intake import deals, lost_locks
from devices.intake.lookout import LOOKOUTS
from devices.intake.settler import SETTLER, TURN_SECONDS, empty, safely


@shared_task
def settle(stream_id: int) -> int:
    """Empty one stream's queue, for a turn; the number of messages dealt with. What another worker is at is left to it."""
    return SETTLER.do(lambda: safely(partial(empty, stream_id, clock=timezone.now, turn=TURN_SECONDS)))


@shared_task
def look_at_deals() -> int:
    """Look for deals that came under a second reference; how many there were. Settling never waits for this."""
    return safely(lambda: deals.look(at=timezone.now()))


@shared_task
def look_at_locks() -> int:
    """Look for locks whose results are overdue; how many there were that nobody had been told of."""
    return safely(lambda: lost_locks.look(at=timezone.now()))


@worker_init.connect
def look_whatever_the_broker_does(**kwargs: Any) -> None:
    """Before the broker is looked for: it may be away when a worker starts."""
    if settings.ROLE == "settle":
        SETTLER.start()
    elif settings.ROLE == "work":
        for lookout in LOOKOUTS:
            lookout.start()
