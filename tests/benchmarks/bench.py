"""`manage.py bench`: run the subjects asked for and show their tables."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.benchmarks import (
    closing,
    elsewhere,
    foresee,
    growth,
    history,
    intake,
    latency,
    limits,
    memory,
    partitions,
    replay,
    report,
    settle,
    watchers,
)
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import hall

SUBJECTS: dict[str, Callable[..., list[Figures]]] = {
    "settle": settle.run,
    "growth": growth.run,
    "history": history.run,
    "partitions": partitions.run,
    "replay": replay.run,
    "foresee": foresee.run,
    "intake": intake.run,
    "latency": latency.run,
    "memory": memory.run,
    "watchers": watchers.run,
    "limits": limits.run,
    "elsewhere": elsewhere.run,
    "closing": closing.run,
}
FAR: dict[str, dict[str, Any]] = {
    "growth": {"history": (10_000, 1_000_000, 10_000_000)},
    "history": {"payouts": 10_000_000, "export": 10_000_000},
    "foresee": {"rounds": 1_000_000, "times": 1},
    "elsewhere": {"base": 200_000, "rounds": 400_000, "seconds": 600.0, "alone": 200.0},
}
SHORT: dict[str, dict[str, Any]] = {
    "settle": {"rounds": 1_000, "peer_rounds": 40, "times": 1},
    "intake": {"single": 100, "peer_single": 20, "arrays": 400, "times": 1},
    "latency": {"rates": (50,), "seconds": 2.0},
    "growth": {
        "history": (300,),
        "tables": (20,),
        "links": (2,),
        "workers": (2,),
        "base": 300,
        "rounds": 100,
        "single": 10,
        "times": 1,
    },
    "history": {"payouts": 3_000, "base": 500, "pages": 3, "export": 500},
    "partitions": {"rounds": 900, "base": 300, "months": 3, "looks": 3},
    "replay": {"rounds": 500, "times": 1},
    "foresee": {"rounds": 500, "times": 1},
    "memory": {"rounds": 1_000},
    "watchers": {"watchers": 50, "seconds": 2.0, "turns": 1},
    "limits": {"rounds": 100, "seconds": 0.5, "times": 1, "sizes": (1, 100), "numbers": (10,)},
    "elsewhere": {"base": 100, "rounds": 40},
    "closing": {"streams": 5, "closes": 3, "rounds": 500},
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `manage.py bench`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SUBJECTS)}; default all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure into a file")
    parser.add_argument(
        "--far", action="store_true", help="10,000,000 rounds and payouts of history: 45 GB and most of an hour"
    )
    parser.add_argument(
        "--short", action="store_true", help="a minute's worth: shows that it works, not how fast it is"
    )


def run(names: list[str], *, file: Path | None = None, short: bool = False, far: bool = False) -> list[Figures]:
    """Run subjects, one after the other; each table is shown as soon as it is there."""
    for name in names:
        if name not in SUBJECTS:
            raise SystemExit(f"{name}: there is {', '.join(SUBJECTS)}")
    console = Console()
    if console.width < 130:
        console = Console(width=130)  # a table that is folded cannot be read
    about = {"machine": report.machine()}
    found: list[Figures] = []
    with hall() as place:
        with place.connect("postgres") as server:
            about["server"] = report.server_settings(server)
        for title, facts in about.items():
            report.describe(console, title, facts)
        for name in names or SUBJECTS:
            began = time.monotonic()
            chosen = SHORT[name] if short else FAR.get(name, {}) if far else {}
            for figures in SUBJECTS[name](place, **chosen):
                found.append(figures)
                console.print(figures.shown())
            console.print(f"{name}: {time.monotonic() - began:.0f} s\n")
    if file is not None:
        report.write(file, found, about)
    return found
