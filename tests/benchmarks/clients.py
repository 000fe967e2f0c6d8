"""Clients that post over HTTP/1.1 and keep their connection: as little of their own work as can be, on the same cores."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import uvloop


@dataclass(frozen=True, slots=True)
class Request:
    """The bytes of one request and how many messages it carries."""

    raw: bytes
    messages: int = 1


def request(path: str, body: bytes, *, key: str | None = None, messages: int = 1) -> Request:
    """A POST of JSON with a demo key."""
    authorization = f"authorization: Api-Key {key}\r\n" if key else ""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{authorization}content-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return Request(head.encode() + body, messages)


@dataclass(slots=True)
class Answers:
    """What a run of posting measured: seconds per request, messages taken, statuses."""

    seconds: float = 0.0
    messages: int = 0
    latencies: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Messages answered a second."""
        return self.messages / self.seconds

    def milliseconds(self, per_cent: float) -> float:
        """The latency that this share of the requests stayed under."""
        return percentile(self.latencies, per_cent) * 1000


def percentile(values: Sequence[float], per_cent: float) -> float:
    """The value below which `per_cent` of the values lie; 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * per_cent / 100))]


class Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.answer: asyncio.Future[int] | None = None
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Collect an answer until it is whole: as long as it says, or to the last chunk."""
        self.buffer += data
        head, found, body = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        lowered = head.lower()
        at = lowered.find(b"content-length:")
        if at >= 0:
            whole = len(body) >= int(lowered[at + 15 :].split(b"\r\n", 1)[0])
        else:
            whole = body.endswith(b"0\r\n\r\n")  # chunked
        if whole and self.answer is not None and not self.answer.done():
            self.buffer = b""
            self.answer.set_result(int(head[9:12]))

    def connection_lost(self, error: Exception | None) -> None:
        """An answer that was still awaited will not come."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(error or ConnectionResetError("the server closed the connection"))

    async def post(self, raw: bytes) -> int:
        """Send a request and return the status of its answer."""
        assert self.transport is not None
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(raw)
        return await self.answer


async def connected(port: int) -> Connection:
    """A connection to a server on this machine."""
    _, protocol = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return protocol


def post_all(port: int, requests: Sequence[Request], *, clients: int) -> Answers:
    """Post every request once, `clients` at a time, each client as soon as it has its answer."""
    answers = Answers()

    async def client(waiting: Iterator[Request]) -> None:
        connection = await connected(port)
        for each in waiting:
            began = time.perf_counter()
            status = await connection.post(each.raw)
            answers.latencies.append(time.perf_counter() - began)
            answers.statuses[status] = answers.statuses.get(status, 0) + 1
            if status < 300:
                answers.messages += each.messages
        assert connection.transport is not None
        connection.transport.close()

    async def run() -> None:
        waiting = iter(requests)
        began = time.perf_counter()
        await asyncio.gather(*(client(waiting) for _ in range(clients)))
        answers.seconds = time.perf_counter() - began

    uvloop.run(run())
    return answers


async def steadily(act: Callable[[int], Awaitable[None]], *, count: int, rate: float) -> None:
    """Start `act(n)` at its due time whatever the others do: a floor does not wait for the service."""
    began = time.perf_counter()
    running = set()
    for number in range(count):
        due = began + number / rate
        pause = due - time.perf_counter()
        if pause > 0:
            await asyncio.sleep(pause)
        task = asyncio.ensure_future(act(number))
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
