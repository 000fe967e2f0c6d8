"""Natural batching: while one batch is under way the next one gathers, so many requests share one transaction."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from django.db import Error, OperationalError, connection

Asked = TypeVar("Asked")
Told = TypeVar("Told")


class Gatherer(Generic[Asked, Told]):
    """Runs `act` in one thread over whatever was asked while it was last running; each asker gets its own answer."""

    def __init__(self, act: Callable[[list[Asked]], list[Told]], *, name: str, most: int = 2_000) -> None:
        self.act = act
        self.most = most
        self.waiting: list[tuple[Asked, asyncio.Future[Told]]] = []
        self.running = False
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def ask(self, asked: Asked) -> Told:
        """The answer to one question; raises what `act` raised for it."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Told] = loop.create_future()
        self.waiting.append((asked, answer))
        if not self.running:
            self.running = True
            loop.create_task(self._run(loop))  # noqa: RUF006  (it ends when nobody waits)
        return await answer

    async def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while self.waiting:
                batch, self.waiting = self.waiting[: self.most], self.waiting[self.most :]
                await self._answer(loop, batch)
        finally:
            self.running = False

    async def _answer(self, loop: asyncio.AbstractEventLoop, batch: list[tuple[Asked, asyncio.Future[Told]]]) -> None:
        try:
            told = await loop.run_in_executor(self.thread, self._act, [asked for asked, _ in batch])
            if len(told) != len(batch):
                raise AssertionError(f"{len(batch)} asked and {len(told)} were answered")
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, OperationalError):
                # One of them is at fault; the others must not pay for it.
                for one in batch:
                    await self._answer(loop, [one])
                return
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), each in zip(batch, told, strict=True):
            if not answer.done():
                answer.set_result(each)

    def _act(self, asked: list[Asked]) -> list[Told]:
        try:
            return self.act(asked)
        except Error:
            connection.close()  # the next batch begins on a fresh connection
            raise
