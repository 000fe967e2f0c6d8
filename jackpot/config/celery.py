"""The Celery application: `celery -A jackpot.config.celery worker -Q settle`. Tasks live in each app's tasks.py."""

import os
from typing import Any

from celery import Celery
from celery.exceptions import WorkerShutdown
from celery.signals import worker_init, worker_shutting_down
from celery.worker import state
from kombu.transport import TRANSPORT_ALIASES

from jackpot.config import alive

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")

TRANSPORT_ALIASES["pgmq"] = "jackpot.config.broker:Transport"

app = Celery("jackpot")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
alive.watch(os.environ.get("JACKPOT_ROLE", ""))


@worker_init.connect
def refuse_a_database_that_does_not_fit(**kwargs: Any) -> None:
    """Whoever settles needs sessions of its own."""
    from jackpot.config.database import refuse_at_start

    refuse_at_start(sessions=os.environ.get("JACKPOT_ROLE") == "settle")


@worker_shutting_down.connect
def stop_at_once_when_idle(**kwargs: Any) -> None:
    """Leave the wait for messages, which would else go on for seconds; a task that runs is waited for as ever."""
    if not state.active_requests:
        raise WorkerShutdown(0)
