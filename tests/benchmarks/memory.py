"""What each process needs at rest and under load."""

import contextlib
import threading
from collections import defaultdict

import psutil

from tests.benchmarks import floor
from tests.benchmarks.clients import post_all, request
from tests.benchmarks.intake import ROUTE
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import Hall, Product, product

MIB = 2**20


def run(place: Hall, *, rounds: int = 40_000) -> list[Figures]:
    """Post arrays of 1,000 and single messages, looking at every process all the while."""
    text = floor.floor_text(tables=20)
    ours = product(place, text)
    with place.connect() as watching:
        rest = _sizes(ours)
        most: defaultdict[str, float] = defaultdict(float)
        done = threading.Event()

        def look() -> None:
            while not done.wait(0.1):
                for name, size in _sizes(ours).items():
                    most[name] = max(most[name], size)

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            messages = floor.rounds(text, rounds, prefix="memory")
            posts = [request(ROUTE, body, key=ours.keys[table], messages=count)
                     for table, body, count in floor.arrays(messages, 1_000)]  # fmt: skip
            post_all(ours.port, posts, clients=8)
            ours.wait_until_settled(watching)
            single = floor.rounds(text, rounds // 10, prefix="single")
            post_all(ours.port, [request(ROUTE, each.body, key=ours.keys[each.table]) for each in single], clients=64)
            ours.wait_until_settled(watching)
        finally:
            done.set()
            watcher.join()
        after = _sizes(ours)
    figures = Figures("memory: MiB of each process", ("", "at rest", "most under load", "afterwards"))
    for name in rest:
        figures.add(name, rest[name], most[name], after[name])
    figures.note(
        "Resident size; for PostgreSQL the proportional size of all its processes, shared buffers counted once."
    )
    return [figures]


def _sizes(ours: Product) -> dict[str, float]:
    found = {name: _resident(process) for name, process in ours.children.items()}
    server = ours.hall.postgres.process()
    if server is not None:
        found["PostgreSQL"] = sum(_proportional(one) for one in [server, *server.children()])
    return found


def _resident(process: psutil.Process) -> float:
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            total += one.memory_info().rss / MIB
    return total


def _proportional(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        return float(process.memory_full_info().pss) / MIB
    return 0.0
