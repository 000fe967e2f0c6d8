"""How fast a link's record is replayed under proposed terms: `manage.py foresee` as people call it, its start left out.

The record is one that was really settled, copied by SQL under new keys: what is replayed of it costs what it would cost, but
the side as it was means nothing.
"""

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from jackpot.config.data_folder import ROOT
from tests.benchmarks import floor
from tests.benchmarks.fill import fill
from tests.benchmarks.report import Figures, median, spread
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write

TERMS = {"levels": [{"code": "major", "reset_cents": 2_500_000, "rate_ppm": 150_000, "reserve_ppm": 50_000}]}


def prepared(place: Hall, rounds: int, base: int) -> Path:
    """A database `foreseen` whose one link has so many rounds on record; a file of terms for it."""
    text = floor.floor_text(tables=20)
    place.quiet()
    place.prepare("foreseen", text)
    file = write(place, floor.rounds(text, min(base, rounds), prefix="foresee"))
    place.inside("foreseen", ("accept", {"file": str(file)}), ("drain", {}))
    with place.connect("foreseen") as server:
        fill(server, rounds=rounds)
    terms = place.data.path / "foreseen.json"
    terms.write_text(json.dumps(TERMS))
    return terms


def run(place: Hall, *, rounds: int = 100_000, base: int = 10_000, times: int = 3) -> list[Figures]:
    """Replay the same record `times` times, with as many processes as there are cores."""
    terms = prepared(place, rounds, base)
    figures = Figures(
        f"foresee: {rounds:,} recorded rounds of one link replayed under other terms",
        ("processes", "s", "runs", "rounds/s", "CPU µs/round", "Python", "PostgreSQL"),
    )
    found: list[Spent] = []
    for _ in range(times):
        without = _foreseen(place, terms, "--no-replay")
        found.append(_foreseen(place, terms) - without)
    walls = [each.wall for each in found]
    python, server = (median(getattr(each, who) for each in found) / rounds * 1e6 for who in ("python", "postgres"))
    figures.add(
        os.cpu_count() or 1, median(walls), spread(walls), rounds / median(walls), python + server, python, server
    )
    figures.note("The record is copied; the same call with --no-replay is taken off.")
    return [figures]


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of wall and CPU time of one call."""

    wall: float
    python: float
    postgres: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.wall - other.wall, self.python - other.python, self.postgres - other.postgres)


def _foreseen(place: Hall, terms: Path, *more: str) -> Spent:
    server, python, began = place.cpu_seconds(), _ended_children(), time.perf_counter()
    subprocess.run(
        [sys.executable, "manage.py", "foresee", "L-000", str(terms), "--wagers", "100000", *more],
        cwd=ROOT, env=place.environment("foreseen"), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return Spent(time.perf_counter() - began, _ended_children() - python, place.cpu_seconds() - server)


def _ended_children() -> float:
    """CPU seconds of this process's children that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
