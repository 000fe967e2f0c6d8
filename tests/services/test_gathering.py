"""Natural batching: what comes while one batch is under way shares the next; each asker gets its own answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DataError, Error, InterfaceError, OperationalError, connection, connections
from pytest_django import DjangoDbBlocker

from devices.gathering import Gatherer
from tests.services.house import House, run, value


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


def asked_meanwhile(act: Callable[[list[int]], list[int]], questions: list[int], **more: Any) -> list[Any]:
    """Ask the first, and the others only when its answer is under way; let it go on when all have been asked."""
    under_way, all_asked = threading.Event(), threading.Event()

    def slowly(asked: list[int]) -> list[int]:
        if not under_way.is_set():
            under_way.set()
            assert all_asked.wait(30)
        return act(asked)

    async def ask() -> list[Any]:
        gatherer: Gatherer[int, int] = Gatherer(slowly, name="test", **more)
        answers = [asyncio.create_task(gatherer.ask(questions[0]))]
        await asyncio.to_thread(under_way.wait, 30)
        for question in questions[1:]:
            answers.append(asyncio.create_task(gatherer.ask(question)))
            await asyncio.sleep(0)
        all_asked.set()
        return await asyncio.gather(*answers, return_exceptions=True)

    return asyncio.run(ask())


def test_what_comes_meanwhile_is_one_batch_and_everybody_gets_his_own_answer() -> None:
    batches: list[list[int]] = []

    def act(asked: list[int]) -> list[int]:
        batches.append(asked)
        return [10 * each for each in asked]

    assert asked_meanwhile(act, list(range(50))) == [10 * each for each in range(50)]
    assert batches == [[0], list(range(1, 50))], "in the order they came, and no more often than need be"


def test_what_comes_meanwhile_is_shared_out_where_there_is_too_much_of_it() -> None:
    batches: list[list[int]] = []

    def act(asked: list[int]) -> list[int]:
        batches.append(asked)
        return asked

    assert asked_meanwhile(act, list(range(25)), most=10) == list(range(25))
    assert [len(batch) for batch in batches] == [1, 10, 10, 4]


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


@pytest.mark.parametrize("error", [None, DataError("out of range"), OperationalError("no database")])
def test_who_has_gone_away_meanwhile_costs_nobody_else_an_answer(error: Exception | None) -> None:
    under_way, gone = threading.Event(), threading.Event()

    def act(asked: list[int]) -> list[int]:
        if 0 in asked:
            under_way.set()
            assert gone.wait(30)
            if error is not None:
                raise error
        return asked

    async def ask() -> int:
        gatherer: Gatherer[int, int] = Gatherer(act, name="test")
        leaving = asyncio.create_task(gatherer.ask(0))
        await asyncio.to_thread(under_way.wait, 30)
        waiting = asyncio.create_task(gatherer.ask(1))
        leaving.cancel()
        await asyncio.sleep(0)
        gone.set()
        return await asyncio.wait_for(waiting, 10)

    assert asyncio.run(ask()) == 1


def backends(asked: list[int]) -> list[int]:
    """The server process that answers, once for each who asks."""
    return [int(value("SELECT pg_backend_pid()")) for _ in asked]


@pytest.mark.parametrize("how", ["ended by the server", "broken on our side", "closed behind our back"])
def test_after_an_error_the_next_batch_has_a_connection_that_lives(how: str, busy_house: House) -> None:
    """The thread keeps its connection from batch to batch; one that died must not be asked again and again."""

    def act(asked: list[int]) -> list[int]:
        found = backends(asked)
        if asked == [2]:
            if how == "ended by the server":
                run("SELECT pg_terminate_backend(pg_backend_pid())")
            elif how == "broken on our side":
                connection.connection.pgconn.finish()
                value("SELECT 1")
            else:
                raise InterfaceError("the connection is closed")
        return found

    async def ask() -> tuple[int, int, int]:
        gatherer: Gatherer[int, int] = Gatherer(act, name="test")
        first, again = await gatherer.ask(1), await gatherer.ask(1)
        assert first == again, "one connection, kept"
        with pytest.raises(Error):
            await gatherer.ask(2)
        after = await gatherer.ask(3), await gatherer.ask(3)
        gatherer.thread.submit(connections.close_all).result(30)
        return first, *after

    first, second, third = asyncio.run(ask())
    assert first != second == third


def test_an_act_that_answers_too_few_leaves_nobody_waiting() -> None:
    answers = asked_meanwhile(lambda asked: asked[:1], [0, 1, 2])
    assert answers == [0, 1, 2], "asked one by one, each is answered"
    assert all(isinstance(answer, AssertionError) for answer in asked_meanwhile(lambda asked: [], [0, 1]))


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
