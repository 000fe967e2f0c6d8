"""How fast a stream is verified from its opening: `manage.py verify` as people call it, its start included."""

import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

from jackpot.config.data_folder import ROOT
from tests.benchmarks import floor
from tests.benchmarks.report import Figures, median, spread
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write


def run(place: Hall, *, rounds: int = 100_000, times: int = 3) -> list[Figures]:
    """Verify the same stream in one process and in one a core, in turn, `times` times."""
    text = floor.floor_text(tables=20)
    place.quiet()
    place.prepare("replayed", text)
    file = write(place, floor.rounds(text, rounds, prefix="replay"))
    place.inside("replayed", ("accept", {"file": str(file)}), ("drain", {}))
    with place.connect("replayed") as server:
        server.execute("VACUUM ANALYZE")  # as it is long before anybody replays it
    figures = Figures(
        f"replay: `verify` of {rounds:,} rounds on one link",
        ("processes", "rounds/s", "runs", "rounds/s with the start", "CPU µs/round", "Python", "PostgreSQL"),
    )
    all_cores = os.cpu_count() or 1
    found: dict[int, list[Verified]] = {count: [] for count in sorted({1, all_cores})}
    for _ in range(times):
        for count, runs in found.items():
            runs.append(_verify(place, count))
    for count, runs in found.items():
        python, server_cpu = (
            median(getattr(each, who) for each in runs) / rounds * 1e6 for who in ("python", "postgres")
        )
        rates = [each.said for each in runs]
        figures.add(
            count, median(rates), spread(rates), rounds / median(each.wall for each in runs), python + server_cpu, python,
            server_cpu,
        )  # fmt: skip
    return [figures]


@dataclass(frozen=True, slots=True)
class Verified:
    """One run: the rounds a second that it said, and seconds of wall and CPU time from its call to its end."""

    said: float
    wall: float
    python: float
    postgres: float


def _verify(place: Hall, processes: int) -> Verified:
    server, python, began = place.cpu_seconds(), _ended_children(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "manage.py", "verify", "--processes", str(processes)],
        cwd=ROOT, env=place.environment("replayed"), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    wall = time.perf_counter() - began
    said = re.search(r"no difference; ([\d,]+) rounds a second", done.stdout)
    assert said is not None, done.stdout
    return Verified(
        float(said[1].replace(",", "")), wall, _ended_children() - python, place.cpu_seconds() - server
    )  # fmt: skip


def _ended_children() -> float:
    """CPU seconds of this process's children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
