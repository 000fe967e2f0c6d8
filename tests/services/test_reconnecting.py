"""Celery comes back to its broker by itself: how long it waits between two tries, and what beat does with a broken connection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from celery import Celery, beat
from kombu import connection as kombus
from kombu.exceptions import OperationalError

from jackpot.config import celery as ours
from jackpot.config.reconnecting import LONGEST_WAIT_SECONDS, Amqp, Scheduler


def test_a_broker_that_is_away_is_tried_again_after_two_seconds_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a worker asks (for ever, with a callback), as a publisher does (by its default channel), as beat does."""
    asked: list[tuple[float, ...]] = []

    def retried(fun: Any, catch: Any, args: Any, kwargs: Any, errback: Any, retries: Any, *waits: Any, **_: Any) -> Any:
        asked.append(waits[:3])
        raise OperationalError("it stays away")

    monkeypatch.setattr(kombus, "retry_over_time", retried)
    ways: list[Callable[[Any], Any]] = [
        lambda known: known.ensure_connection(lambda *_: None, None, callback=lambda: None),
        lambda known: known.default_channel,
        lambda known: known.ensure_connection(lambda *_: None, None),
    ]
    for ask in ways:
        with ours.app.connection_for_write() as known, pytest.raises(OperationalError):
            ask(known)
    assert len(asked) == 3
    assert all(0 < step <= longest == LONGEST_WAIT_SECONDS for _, step, longest in asked)
    with ours.app.connection_for_write() as known, pytest.raises(OperationalError):
        known.ensure_connection(interval_start=7, interval_max=9)
    assert asked[-1][0] == 7 and asked[-1][2] == 9, "unless somebody says otherwise"


def test_beat_begins_anew_with_its_broker_when_something_could_not_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)  # which Celery would take before anything else
    app = Celery("beat", amqp=Amqp, broker="memory://", set_as_current=False)
    app.conf.task_publish_retry = False

    @app.task(name="due")
    def due() -> None:
        """Nothing."""

    scheduler = Scheduler(app=app, lazy=True)
    entry = scheduler.Entry(name="due", task="due", schedule=1.0, app=app)
    first = scheduler.producer
    monkeypatch.setattr(first, "publish", lambda *_, **__: (_ for _ in ()).throw(ConnectionError("it closed")))
    given_up: list[dict[str, Any]] = []
    monkeypatch.setattr(first.connection, "collect", lambda **how: given_up.append(how))
    for _ in range(2):  # with the producer that broke, however often
        with pytest.raises(beat.SchedulingError, match="it closed"):
            scheduler.apply_async(entry, producer=first)
    assert given_up == [{"socket_timeout": 1}], "a connection that does not close holds beat up for a second, once"
    again = scheduler.producer
    assert again is not first and again.connection is not first.connection
    assert scheduler.apply_async(entry, producer=again) is not None
