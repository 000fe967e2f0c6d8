"""Cost of a round as one thing grows at a time: history, tables on a link, links and workers.

The databases that are compared stand side by side on one server and are measured in turn, so that a slow minute of the
machine hits all of them.
"""

from typing import Any

from tests.benchmarks import floor
from tests.benchmarks.fill import fill
from tests.benchmarks.report import Figures, median
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write

FILL_NOTE = (
    "History is filled by copying 10,000 really settled rounds under new keys; triggers are off while it is filled,"
    " on while it is measured."
)


def run(
    place: Hall,
    *,
    history: tuple[int, ...] = (10_000, 1_000_000),
    tables: tuple[int, ...] = (1, 20, 200),
    links: tuple[int, ...] = (1, 10, 100),
    workers: tuple[int, ...] = (1, 2, 4),
    base: int = 10_000,
    rounds: int = 5_000,
    single: int = 300,
    times: int = 3,
) -> list[Figures]:
    """Three tables, one a factor."""
    place.quiet()
    by_history = _by_history(place, history, base, rounds, single, times)
    by_tables = _by_tables(place, tables, rounds, single, times)
    by_links = _by_links(place, links, workers, rounds * 4, max(1, times - 1))
    return [by_history, by_tables, by_links]


def _by_history(place: Hall, sizes: tuple[int, ...], base: int, rounds: int, single: int, times: int) -> Figures:
    text = floor.floor_text(tables=20)
    place.prepare("settled", text)
    place.inside("settled", _accepted(place, text, base, "base"), ("drain", {}))
    names = {}
    for size in sizes:
        names[name := f"history_{size}"] = f"{size:,} rounds of history"
        place.clone("settled", name)
        with place.connect(name) as connection:
            fill(connection, rounds=size)
    figures = _measured(place, "growth: history", names, dict.fromkeys(names, text), rounds, single, times)
    figures.note(FILL_NOTE)
    for name in names:
        place.drop(name)
    return figures


def _by_tables(place: Hall, counts: tuple[int, ...], rounds: int, single: int, times: int) -> Figures:
    texts = {f"tables_{count}": floor.floor_text(tables=count) for count in counts}
    for name, text in texts.items():
        place.prepare(name, text)
    names = {f"tables_{count}": f"{count} table{'s' if count > 1 else ''} on one link" for count in counts}
    return _measured(place, "growth: tables", names, texts, rounds, single, times)


def _measured(
    place: Hall, title: str, names: dict[str, str], texts: dict[str, str], rounds: int, single: int, times: int
) -> Figures:
    figures = Figures(
        title,
        ("", "rounds/s", "CPU µs/round", "Python", "PostgreSQL", "against the first", "one by one p50 ms", "p99 ms"),
    )
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    alone: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for turn in range(times):
        for name in names:
            file = write(place, floor.rounds(texts[name], single, prefix=f"s{turn}"), "single.ndjson")
            accepted = _accepted(place, texts[name], rounds, f"t{turn}")
            _, drained, singly = place.inside(name, accepted, ("drain", {}), ("one_by_one", {"file": str(file)}))
            runs[name].append(drained)
            alone[name].append(singly)
    first = 0.0
    for name, said in names.items():
        python, server = (median(r[who] / r["messages"] * 1e6 for r in runs[name]) for who in ("python", "postgres"))
        first = first or python + server
        figures.add(
            said,
            median(run["messages"] / run["wall"] for run in runs[name]),
            python + server, python, server,
            f"{(python + server) / first - 1:+.0%}",
            *(median(run[p] for run in alone[name]) * 1000 for p in ("p50", "p99")),
        )  # fmt: skip
    figures.note("one by one: read, stored and settled, one message a transaction, without HTTP and without a queue.")
    return figures


def _accepted(place: Hall, text: str, rounds: int, prefix: str) -> tuple[str, dict[str, Any]]:
    return "accept", {"file": str(write(place, floor.rounds(text, rounds, prefix=prefix)))}


def _by_links(place: Hall, links: tuple[int, ...], workers: tuple[int, ...], rounds: int, times: int) -> Figures:
    figures = Figures(
        "growth: links and workers, rounds/s", ("", *(f"{count} worker{'s' * (count > 1)}" for count in workers))
    )
    tables = max(200, *links) if max(links) > 20 else 20
    for count in links:
        text = floor.floor_text(tables=tables, links=count)
        place.prepare("linked", text)
        place.inside("linked", _accepted(place, text, rounds, "links"))
        rates: dict[int, list[float]] = {number: [] for number in workers}
        for _ in range(times):
            for number in workers:
                place.clone("linked", "worked")
                rates[number].append(_together(place, "worked", number))
        figures.add(f"{count} link{'s' * (count > 1)}, {tables} tables", *(median(rates[number]) for number in workers))
    figures.note("One stream is settled by one worker at a time; workers and PostgreSQL share the same cores.")
    return figures


def _together(place: Hall, database: str, workers: int) -> float:
    """Rounds a second of so many workers on one database, from the first start to the last end."""
    running = [place.start_inside(database, ("drain", {})) for _ in range(workers)]
    found = [place.finish_inside(process)[0] for process in running]
    seconds = max(each["ended"] for each in found) - min(each["started"] for each in found)
    return sum(each["messages"] for each in found) / float(seconds)
