"""What a post costs while thousands watch: `manage.py bench watchers`.

The watchers live in a process of their own, which reads and counts; they share the machine's cores with everybody else.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from typing import cast

import uvloop

from jackpot.config.data_folder import ROOT
from tests.benchmarks import floor
from tests.benchmarks.clients import Connection, connected, percentile, request, steadily
from tests.benchmarks.intake import ROUTE
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import Hall, Product, product

CONNECTIONS = 32
LINK = "L-000"
AT_ONCE = 100  # connections that are opened together


def run(place: Hall, *, watchers: int = 2_000, rate: int = 50, seconds: float = 10.0, turns: int = 5) -> list[Figures]:
    """Post at a steady pace, in turns with nobody watching and with so many signs of the link that is played."""
    figures = Figures(
        f"watchers: milliseconds from a post to its 202, at {rate} rounds/s",
        ("", "p50", "p95", "p99", "threads", "events a second", "MB resident"),
    )
    text = floor.floor_text(tables=20)
    ours = product(place, text)
    uvloop.run(_pace(ours, text, rate=50, seconds=2.0))  # warm
    alone, watched = [], []
    for _ in range(turns):
        alone.append(_turn(ours, text, rate=rate, seconds=seconds, watchers=0))
        watched.append(_turn(ours, text, rate=rate, seconds=seconds, watchers=watchers))
    for who, found in (("nobody watches", alone), (f"{watchers:,} signs watch", watched)):
        figures.add(who, *(statistics.median(column) for column in zip(*found, strict=True)))
    figures.note(f"Medians of {turns} turns. Every sign hears each change of its link; the more there are, the fewer"
                 " changes a second are told.")  # fmt: skip
    return [figures]


def _turn(ours: Product, text: str, *, rate: int, seconds: float, watchers: int) -> list[float]:
    """One row: what posts took, and what the web process was like meanwhile."""
    web = ours.children["web"]
    if not watchers:
        found = _figures(uvloop.run(_pace(ours, text, rate=rate, seconds=seconds)))
        return [*found, web.num_threads(), 0.0, web.memory_info().rss / 2**20]
    command = [sys.executable, "-m", "tests.benchmarks.watchers", str(ours.port), str(watchers)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as crowd:
        assert crowd.stdin is not None and crowd.stdout is not None
        opened = crowd.stdout.readline()
        assert opened.startswith("watching"), opened
        began = time.monotonic()
        found = _figures(uvloop.run(_pace(ours, text, rate=rate, seconds=seconds)))
        lasted = time.monotonic() - began
        threads, resident = web.num_threads(), web.memory_info().rss / 2**20
        events = int(crowd.communicate("over\n")[0]) / lasted
    return [*found, threads, events, resident]


def _figures(latencies: list[float]) -> list[float]:
    return [percentile(latencies, share) * 1000 for share in (50, 95, 99)]


async def _pace(ours: Product, text: str, *, rate: int, seconds: float) -> list[float]:
    count = int(rate * seconds)
    messages = floor.rounds(text, count, prefix=f"w{time.time():.0f}")
    raws = [request(ROUTE, each.body, key=ours.keys[each.table]).raw for each in messages]
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        free.put_nowait(await connected(ours.port))
    took: list[float] = []

    async def post(number: int) -> None:
        began = time.perf_counter()
        connection = await free.get()
        status = await connection.post(raws[number])
        assert status == 202, status
        took.append(time.perf_counter() - began)
        free.put_nowait(connection)

    await steadily(post, count=count, rate=rate)
    return took


class Sign(asyncio.Protocol):
    """Counts what it hears."""

    events = 0
    opened = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask to watch."""
        cast(asyncio.Transport, transport).write(
            f"GET /sign/{LINK}/stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Count."""
        Sign.events += data.count(b"event: meter")
        if data.startswith(b"HTTP/1.1 "):
            assert data.startswith(b"HTTP/1.1 200"), data[:200]
            Sign.opened += 1

    def connection_lost(self, error: Exception | None) -> None:
        """Nobody closes a sign's stream."""
        if Sign.opened >= 0:
            raise SystemExit("a stream ended")


async def _watch(port: int, count: int) -> None:
    loop = asyncio.get_running_loop()
    transports = []
    for first in range(0, count, AT_ONCE):
        opening = [loop.create_connection(Sign, "127.0.0.1", port) for _ in range(min(AT_ONCE, count - first))]
        transports += [transport for transport, _ in await asyncio.gather(*opening)]
    async with asyncio.timeout(60):
        while Sign.opened < count:
            await asyncio.sleep(0.05)
    await asyncio.sleep(1.0)  # the house is quiet again
    before = Sign.events
    print("watching", flush=True)
    await loop.run_in_executor(None, sys.stdin.readline)
    print(Sign.events - before, flush=True)
    Sign.opened = -1
    for transport in transports:
        transport.abort()


if __name__ == "__main__":
    uvloop.run(_watch(int(sys.argv[1]), int(sys.argv[2])))
