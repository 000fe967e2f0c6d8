"""Posting over HTTP: one message a request at 1, 8 and 64 clients, and arrays of 100 and 1,000; product and peer in turn."""

import time
from collections.abc import Sequence

import psycopg

from tests.benchmarks import floor
from tests.benchmarks.clients import Answers, Request, post_all, request
from tests.benchmarks.report import Figures, median
from tests.benchmarks.servers import Hall, Peer, Product, peer, product

TABLES = 20
CLIENTS = (1, 8, 64)
ARRAYS = (100, 1_000)


def run(
    place: Hall, *, single: int = 4_000, peer_single: int = 600, arrays: int = 20_000, times: int = 3
) -> list[Figures]:
    """Every way of posting `times` times, product and peer in turn."""
    text = floor.floor_text(tables=TABLES)
    figures = Figures(
        "intake: accepted and settled, over HTTP",
        (
            "",
            "accepted/s",
            "settled/s",
            "p50 ms",
            "p99 ms",
            "CPU ms/round",
            "peer rounds/s",
            "peer p99 ms",
            "peer CPU ms",
            "ratio",
        ),
    )
    ours = product(place, text)
    naive = peer(place, sorted(ours.keys))
    with place.connect() as watching:
        _warm(ours, naive, text, watching)
        for clients in CLIENTS:
            runs: list[Run] = []
            count = single if clients > 1 else single // 4
            for turn in range(times):
                messages = floor.rounds(text, count, prefix=f"c{clients}t{turn}")
                posts = [request(ROUTE, each.body, key=ours.keys[each.table]) for each in messages]
                mine = _post(ours, posts, clients, watching)
                theirs = _peer(naive, messages[: peer_single if clients > 1 else peer_single // 2], clients)
                runs.append((*mine, *theirs))
            _row(figures, f"1 a request, {clients} client{'s' if clients > 1 else ''}", runs)
        for size in ARRAYS:
            runs = []
            for turn in range(times):
                messages = floor.rounds(text, arrays, prefix=f"a{size}t{turn}")
                posts = [
                    request(ROUTE, body, key=ours.keys[table], messages=count)
                    for table, body, count in floor.arrays(messages, size)
                ]
                runs.append((*_post(ours, posts, 4, watching), None, 0.0))
            _row(figures, f"{size:,} a request, 4 clients", runs)
    figures.note(
        "settled/s counts from the first request to the moment the queue is empty; the clients run on the same cores."
    )
    figures.note("CPU counts web, workers and PostgreSQL (peer: gunicorn and PostgreSQL), not the clients.")
    figures.note("The peer takes no arrays.")
    return [figures]


ROUTE = "/api/v1/rounds"
Run = tuple[Answers, float, float, Answers | None, float]


def _warm(ours: Product, naive: Peer, text: str, watching: psycopg.Connection[object]) -> None:
    messages = floor.rounds(text, 200, prefix="warm")
    _post(ours, [request(ROUTE, each.body, key=ours.keys[each.table]) for each in messages], 4, watching)
    _peer(naive, messages, 8)


def _post(
    ours: Product, posts: Sequence[Request], clients: int, watching: psycopg.Connection[object]
) -> tuple[Answers, float, float]:
    """Answers, seconds until everything was settled, CPU seconds."""
    cpu = ours.cpu_seconds()
    began = time.perf_counter()
    answers = post_all(ours.port, posts, clients=clients)
    assert set(answers.statuses) == {202}, answers.statuses
    ours.wait_until_settled(watching)
    return answers, time.perf_counter() - began, ours.cpu_seconds() - cpu


def _peer(naive: Peer, messages: Sequence[floor.Posted], clients: int) -> tuple[Answers, float]:
    cpu = naive.cpu_seconds()
    answers = post_all(naive.port, [request("/rounds", each.body) for each in messages], clients=clients)
    assert set(answers.statuses) == {201}, answers.statuses
    return answers, naive.cpu_seconds() - cpu


def _row(figures: Figures, name: str, runs: Sequence[Run]) -> None:
    accepted = median(mine.rate for mine, *_ in runs)
    settled = median(mine.messages / seconds for mine, seconds, *_ in runs)
    row = [
        name,
        accepted,
        settled,
        median(mine.milliseconds(50) for mine, *_ in runs),
        median(mine.milliseconds(99) for mine, *_ in runs),
        median(cpu / mine.messages * 1000 for mine, _, cpu, *_ in runs),
    ]
    theirs = [(answers, cpu) for *_, answers, cpu in runs if answers is not None]
    if theirs:
        rate = median(answers.rate for answers, _ in theirs)
        p99 = median(answers.milliseconds(99) for answers, _ in theirs)
        used = median(cpu / answers.messages * 1000 for answers, cpu in theirs)
        row += [rate, p99, used, f"{settled / rate:.1f} ×"]
    else:
        row += [None, None, None, None]
    figures.add(*row)
