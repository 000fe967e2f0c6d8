"""Natural batching: what comes while one batch is under way shares the next; each asker gets its own answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DataError, OperationalError
from pytest_django import DjangoDbBlocker

from devices.gathering import Gatherer


@pytest.fixture(autouse=True)
def _may_close_connections(django_db_blocker: DjangoDbBlocker) -> Any:
    with django_db_blocker.unblock():
        yield


def asked_at_once(act: Callable[[list[int]], list[int]], questions: list[int], **more: Any) -> list[Any]:
    """Ask everything while the first question is still being answered."""

    async def ask() -> list[Any]:
        gatherer: Gatherer[int, int] = Gatherer(act, name="test", **more)
        return await asyncio.gather(*(gatherer.ask(question) for question in questions), return_exceptions=True)

    return asyncio.run(ask())


def test_what_comes_meanwhile_is_one_batch_and_everybody_gets_his_own_answer() -> None:
    batches: list[list[int]] = []
    first = threading.Event()

    def act(asked: list[int]) -> list[int]:
        batches.append(asked)
        first.wait(0.1)
        return [10 * each for each in asked]

    assert asked_at_once(act, list(range(50))) == [10 * each for each in range(50)]
    assert [each for batch in batches for each in batch] == list(range(50)), "in the order they came"
    assert len(batches) <= 3


def test_a_batch_takes_no_more_than_it_may() -> None:
    sizes: list[int] = []

    def act(asked: list[int]) -> list[int]:
        sizes.append(len(asked))
        return asked

    assert asked_at_once(act, list(range(25)), most=10) == list(range(25))
    assert max(sizes) <= 10


def test_one_that_is_at_fault_costs_itself_only() -> None:
    def act(asked: list[int]) -> list[int]:
        if 13 in asked:
            raise DataError("thirteen is out of range")
        return asked

    answers = asked_at_once(act, list(range(20)))
    assert [answer for answer in answers if not isinstance(answer, Exception)] == [
        each for each in range(20) if each != 13
    ]
    assert isinstance(answers[13], DataError)


def test_the_database_s_own_trouble_is_everybody_s_and_not_asked_twenty_times() -> None:
    tries: list[int] = []

    def act(asked: list[int]) -> list[int]:
        tries.append(len(asked))
        raise OperationalError("no database")

    answers = asked_at_once(act, list(range(20)))
    assert all(isinstance(answer, OperationalError) for answer in answers)
    assert len(tries) <= 2


def test_after_an_error_the_next_is_answered() -> None:
    calls: list[int] = []

    def act(asked: list[int]) -> list[int]:
        calls.append(len(asked))
        if len(calls) == 1:
            raise OperationalError("a moment")
        return asked

    async def ask() -> int:
        gatherer: Gatherer[int, int] = Gatherer(act, name="test")
        with pytest.raises(OperationalError):
            await gatherer.ask(1)
        return await gatherer.ask(2)

    assert asyncio.run(ask()) == 2
