"""From a message's way in to its settlement and to a browser's screen, at a steady pace."""

import asyncio
import bisect
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

import psycopg
import uvloop

from jackpot.config.embedded_postgres import DATABASE, OWNER
from tests.benchmarks import floor
from tests.benchmarks.clients import Connection, connected, percentile, request, steadily
from tests.benchmarks.intake import ROUTE
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import Hall, Product, product

CONNECTIONS = 32
LINK = "L-000"


@dataclass(slots=True)
class Heard:
    """When something first stood at a sequence: both lists grow together."""

    sequences: list[int] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    ready: bool = False

    def add(self, sequence: int) -> None:
        """Now, if it is news."""
        if not self.sequences or sequence > self.sequences[-1]:
            self.sequences.append(sequence)
            self.moments.append(time.perf_counter())

    def when(self, sequence: int) -> float:
        """When this sequence was reached; infinity if never."""
        at = bisect.bisect_left(self.sequences, sequence)
        return self.moments[at] if at < len(self.moments) else inf


def run(place: Hall, *, rates: tuple[int, ...] = (20, 100, 500), seconds: float = 15.0) -> list[Figures]:
    """Each pace for so many seconds."""
    figures = Figures(
        "latency: milliseconds at a steady pace",
        ("", *(f"{what} {share}" for what in ("answered", "settled", "seen") for share in ("p50", "p95", "p99"))),
    )
    text = floor.floor_text(tables=20)
    ours = product(place, text)
    uvloop.run(_pace(ours, text, rate=50, seconds=2.0))  # warm
    for rate in rates:
        found = uvloop.run(_pace(ours, text, rate=rate, seconds=seconds))
        cells = [percentile(column, share) * 1000 for column in found for share in (50, 95, 99)]
        figures.add(f"{rate} rounds/s", *cells)
    figures.note("answered: from the request to its 202. settled: from the 202 to the notification after the commit;"
                 " seen: from the 202 to the meter event of that round on the link's event stream.")  # fmt: skip
    figures.note("The clients, the listening browser and the service share the same cores.")
    return [figures]


async def _pace(ours: Product, text: str, *, rate: int, seconds: float) -> list[list[float]]:
    count = int(rate * seconds)
    messages = floor.rounds(text, count, prefix=f"r{rate}x{time.time():.0f}")
    raws = [request(ROUTE, each.body, key=ours.keys[each.table]).raw for each in messages]
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        free.put_nowait(await connected(ours.port))
    settled, seen = Heard(), Heard()
    watching = [asyncio.create_task(_listen(ours, settled)), asyncio.create_task(_browse(ours, seen))]
    await _within(lambda: settled.ready and seen.ready, "nobody listens")
    sent, answered = [0.0] * count, [0.0] * count

    async def post(number: int) -> None:
        connection = await free.get()
        sent[number] = time.perf_counter()
        status = await connection.post(raws[number])
        assert status == 202, status
        answered[number] = time.perf_counter()
        free.put_nowait(connection)

    await steadily(post, count=count, rate=rate)
    with ours.hall.connect() as server:
        await _within(ours.queue_is_empty, "the rounds were not settled")
        known = dict(server.execute(
            "SELECT reference, sequence FROM tables_round WHERE reference = ANY(%s)", [[each.reference for each in messages]]
        ).fetchall())  # fmt: skip
    assert len(known) == count, f"{count - len(known)} rounds were not settled"
    sequences = [known[each.reference] for each in messages]
    last = max(sequences)
    await _within(lambda: settled.when(last) < inf and seen.when(last) < inf, f"{last} was not heard of")
    for task in watching:
        task.cancel()
    await asyncio.gather(*watching, return_exceptions=True)
    return [
        [after - before for before, after in zip(sent, answered, strict=True)],
        [max(0.0, settled.when(each) - at) for each, at in zip(sequences, answered, strict=True)],
        [max(0.0, seen.when(each) - at) for each, at in zip(sequences, answered, strict=True)],
    ]


async def _within(holds: Callable[[], bool], complaint: str, patience: float = 60.0) -> None:
    """Wait until it holds: a machine that is behind is to show in the figures, not to break them."""
    give_up = time.perf_counter() + patience
    while not holds():
        assert time.perf_counter() < give_up, complaint
        await asyncio.sleep(0.01)


async def _listen(ours: Product, heard: Heard) -> None:
    socket = str(ours.hall.postgres.socket)
    async with await psycopg.AsyncConnection.connect(
        host=socket, user=OWNER, dbname=DATABASE, autocommit=True
    ) as listener:
        await listener.execute("LISTEN settled")
        heard.ready = True
        async for notice in listener.notifies():
            heard.add(int(notice.payload.split(":")[1]))


async def _browse(ours: Product, heard: Heard) -> None:
    key = next(iter(ours.keys.values()))
    reader, writer = await asyncio.open_connection("127.0.0.1", ours.port)
    writer.write(
        f"GET /api/v1/links/{LINK}/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Api-Key {key}\r\n"
        "accept: text/event-stream\r\n\r\n".encode()
    )
    sequence = 0
    while line := await reader.readline():
        if line.startswith(b"id: "):
            sequence = int(line[4:])
        elif line.startswith(b"event: meter"):
            heard.add(sequence)
            heard.ready = True
