"""How long a round waits for a gaming day that is closed beside it: every stream is held for its event (SPEC §10)."""

import os
from dataclasses import dataclass

from tests.benchmarks import floor
from tests.benchmarks.clients import percentile
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import write

LONE = """
[[tables]]
code = "LN-{number:03}"
game = "mississippi-stud"
seats = 6
decks = 1
minimum_cents = 1000
maximum_cents = 50000
paytables = {{ base = "ms-base" }}
"""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took from one moment to another, in seconds since 1970."""

    began: float
    ended: float

    @property
    def ms(self) -> float:
        """How long."""
        return 1000 * (self.ended - self.began)

    def meets(self, other: "Span") -> bool:
        """Whether both were under way at a moment."""
        return self.began < other.ended and other.began < self.ended


def run(place: Hall, *, streams: int = 60, closes: int = 60, rounds: int = 20_000) -> list[Figures]:
    """Settle rounds of one link without a pause, one by one, while another process closes one day after the other."""
    text = floor.floor_text(tables=20) + "".join(LONE.format(number=number) for number in range(streams - 1))
    place.quiet()
    place.prepare("closing", text)
    file = write(place, floor.rounds(floor.floor_text(tables=20), rounds, prefix="closing"))
    over = place.data.path / "closing-is-over"
    over.unlink(missing_ok=True)
    settling = place.start_inside("closing", ("settle_until", {"file": str(file), "over": str(over)}))
    closed = place.inside("closing", ("close_days", {"closes": closes}))[0]
    over.touch()
    settled = [Span(*each) for each in place.finish_inside(settling)[0]["spans"]]
    held = [Span(*each) for each in closed["held"]]
    longest = [max((one.ms for one in settled if one.meets(each)), default=0.0) for each in held]
    alone = [one.ms for one in settled if not any(one.meets(each) for each in held)]
    usual = percentile(alone, 50)
    figures = Figures(
        f"closing: {closes} gaming days closed over {streams} streams, beside rounds settled one by one",
        ("milliseconds", "p50", "p90", "p99", "most"),
    )
    for what, took in (
        ("every stream is held", [each.ms for each in held]),
        ("the longest round beside each close", longest),
        ("so much longer than usual", [max(0.0, each - usual) for each in longest]),
        ("a round with no close beside it", alone),
    ):
        figures.add(what, *(percentile(took, share) for share in (50, 90, 99)), max(took))
    figures.note(f"{len(settled):,} rounds; load average of the last minute: {os.getloadavg()[0]:.1f}")
    return [figures]
