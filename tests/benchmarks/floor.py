"""Floors to measure on, and the rounds that are played on them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from devices.simulator.floor import Play
from devices.simulator.irregularities import Rates
from devices.simulator.run import RUSH_PACE_SECONDS
from tables.rules.floor import read_floor

PROPERTY = """
[property]
code = "BENCH"
name = "Benchmark Hall"
time_zone = "America/New_York"
gaming_day_starts = "06:00"
jurisdiction = "MA"
"""
LINK = """
[[links]]
code = "{link}"
name = "Link {link}"
paytable = "ms-mg-01"
decks = 1
[[links.levels]]
code = "major"
reset_cents = 1000000
rate_ppm = 170000
reserve_ppm = 30000
limit_cents = 50000000
"""
TABLE = """
[[tables]]
code = "{table}"
game = "mississippi-stud"
seats = 6
decks = 1
minimum_cents = 1000
maximum_cents = 50000
link = "{link}"
paytables = {{ base = "ms-base", three_card_bonus = "3cs-01", cover_all = "ms-cover-all" }}
"""

encode = msgspec.json.Encoder().encode


def floor_text(*, tables: int, links: int = 1) -> str:
    """A floor file of Mississippi Stud tables, spread evenly over the links."""
    parts = [PROPERTY]
    parts += [LINK.format(link=f"L-{number:03}") for number in range(links)]
    parts += [TABLE.format(table=f"MS-{number:03}", link=f"L-{number % links:03}") for number in range(tables)]
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Posted:
    """One message to be posted: its table, its reference and its JSON."""

    table: str
    reference: str
    body: bytes


def rounds(floor: str, count: int, *, prefix: str, start: datetime | None = None) -> list[Posted]:
    """Rounds of four or five seats in the order dealt; dealt faster than any service takes them, from now on.

    None is irregular: the peer refuses what the product would void or hold.
    """
    play = Play(
        read_floor(floor).tables,
        seed="bench",
        prefix=prefix,
        start=start or datetime.now(UTC),
        pace_seconds=RUSH_PACE_SECONDS,
        rates=Rates(times=0.0),
    )
    found: list[Posted] = []
    for message in play:
        if 4 <= len(message["seats"]) <= 5:
            found.append(Posted(message["table"], message["round"], encode(message)))
            if len(found) == count:
                break
    return found


def arrays(messages: Iterable[Posted], size: int) -> Iterator[tuple[str, bytes, int]]:
    """The same messages as arrays of `size`, each of one table, as a gateway sends what gathered in an outage."""
    waiting: defaultdict[str, list[bytes]] = defaultdict(list)
    for message in messages:
        gathered = waiting[message.table]
        gathered.append(message.body)
        if len(gathered) == size:
            yield message.table, _array(gathered), size
            gathered.clear()
    for table, gathered in waiting.items():
        if gathered:
            yield table, _array(gathered), len(gathered)


def _array(bodies: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(bodies) + b"]"
