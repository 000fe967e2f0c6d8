"""The Celery application: `celery -A jackpot.config.celery worker -Q settle`. Tasks live in each app's tasks.py."""

import os
from typing import Any

from celery import Celery
from celery.exceptions import WorkerShutdown
from celery.signals import beat_init, worker_init, worker_shutting_down
from celery.worker import state
from kombu.transport import TRANSPORT_ALIASES

from jackpot.config import alive
from jackpot.config.reconnecting import Amqp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")

TRANSPORT_ALIASES["pgmq"] = "jackpot.config.broker:Transport"

app = Celery("jackpot", amqp=Amqp)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
alive.watch(os.environ.get("JACKPOT_ROLE", ""))


@worker_init.connect
@beat_init.connect
def wait_for_a_database_that_fits(**kwargs: Any) -> None:
    """Before anything else is begun."""
    from jackpot.config.database import serve_when_it_fits

    serve_when_it_fits()


@worker_shutting_down.connect
def stop_at_once_when_idle(**kwargs: Any) -> None:
    """Leave the wait for messages, which would else go on for seconds; a task that runs is waited for as ever."""
    if not state.active_requests:
        raise WorkerShutdown(0)
