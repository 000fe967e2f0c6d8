"""What a post costs while thousands watch: `manage.py bench watchers`.

The watchers live in a process of their own, which reads and counts; they share the machine's cores with everybody else.
"""

import asyncio
import subprocess
import sys
import time
from typing import cast

import psutil
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


def run(place: Hall, *, watchers: int = 2_000, rate: int = 50, seconds: float = 20.0, turns: int = 2) -> list[Figures]:
    """Post at a steady pace, in turns with nobody watching and with so many signs of the link that is played."""
    figures = Figures(
        f"watchers: milliseconds from a post to its 202, at {rate} rounds/s",
        ("", "p50", "p95", "p99", "threads", "events a second", "MB resident"),
    )
    text = floor.floor_text(tables=20)
    ours = product(place, text)
    web = ours.children["web"]
    uvloop.run(_pace(ours, text, rate=50, seconds=2.0))  # warm
    for _ in range(turns):
        figures.add(
            "nobody watches", *_figures(uvloop.run(_pace(ours, text, rate=rate, seconds=seconds))), *_cost(web, 0.0)
        )
        command = [sys.executable, "-m", "tests.benchmarks.watchers", str(ours.port), str(watchers)]
        crowd = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert crowd.stdin is not None and crowd.stdout is not None
        opened = crowd.stdout.readline()
        assert opened.startswith("watching"), opened
        began = time.monotonic()
        found = _figures(uvloop.run(_pace(ours, text, rate=rate, seconds=seconds)))
        lasted = time.monotonic() - began
        cost = _cost(web, 0.0)
        events = int(crowd.communicate("over\n")[0]) / lasted
        figures.add(f"{watchers:,} signs watch", *found, cost[0], events, cost[2])
    figures.note("Every sign hears each change of its link; the more there are, the fewer changes a second are told.")
    return [figures]


def _figures(latencies: list[float]) -> list[float]:
    return [percentile(latencies, share) * 1000 for share in (50, 95, 99)]


def _cost(web: psutil.Process, events: float) -> tuple[int, float, float]:
    return web.num_threads(), events, web.memory_info().rss / 2**20


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
