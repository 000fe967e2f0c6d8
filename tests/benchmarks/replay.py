"""How fast a stream is verified from its opening."""

from tests.benchmarks import floor
from tests.benchmarks.report import Figures, median
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write


def run(place: Hall, *, rounds: int = 20_000, times: int = 3) -> list[Figures]:
    """Verify the same stream several times."""
    text = floor.floor_text(tables=20)
    place.quiet()
    place.prepare("replayed", text)
    file = write(place, floor.rounds(text, rounds, prefix="replay"))
    _, _, *runs = place.inside("replayed", ("accept", {"file": str(file)}), ("drain", {}), *([("replay", {})] * times))
    figures = Figures(f"replay: verifying {rounds:,} rounds", ("", "rounds/s", "CPU µs/round", "Python", "PostgreSQL"))
    python, server = (median(run[who] / run["rounds"] * 1e6 for run in runs) for who in ("python", "postgres"))
    figures.add(
        "verify, one process", median(run["rounds"] / run["wall"] for run in runs), python + server, python, server
    )
    return [figures]
