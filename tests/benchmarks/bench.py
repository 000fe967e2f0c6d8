"""`manage.py bench`: run the subjects asked for and show their tables."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.benchmarks import intake, report, settle
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import hall

SUBJECTS: dict[str, Callable[..., list[Figures]]] = {
    "settle": settle.run,
    "intake": intake.run,
}
SHORT: dict[str, dict[str, Any]] = {
    "settle": {"rounds": 2_000, "peer_rounds": 60, "times": 1},
    "intake": {"single": 200, "peer_single": 40, "arrays": 1_000, "times": 1},
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `manage.py bench`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SUBJECTS)}; default all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure into a file")
    parser.add_argument("--short", action="store_true", help="a minute's worth: shows that it works, not how fast it is")


def run(names: list[str], *, file: Path | None = None, short: bool = False) -> list[Figures]:
    """Run subjects, one after the other; each table is shown as soon as it is there."""
    for name in names:
        if name not in SUBJECTS:
            raise SystemExit(f"{name}: there is {', '.join(SUBJECTS)}")
    console = Console()
    if console.width < 130:
        console = Console(width=130)  # a table that is folded cannot be read
    about = {"machine": report.machine()}
    with hall() as place, place.connect("postgres") as server:
        about["server"] = report.server_settings(server)
    for title, facts in about.items():
        report.describe(console, title, facts)
    found: list[Figures] = []
    for name in names or SUBJECTS:
        for figures in SUBJECTS[name](**(SHORT[name] if short else {})):
            found.append(figures)
            console.print(figures.shown())
    if file is not None:
        report.write(file, found, about)
    return found
