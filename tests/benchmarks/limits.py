"""How far one link goes: what each stage costs is measured, and a queueing simulation says what comes of that.

`measure` times batches of several sizes through the inbox and through settling: a batch of n costs so much at once and so much a
message. `simulate` plays a day's traffic of many houses on one link through those two stages, as the service does it: a web
process stores what gathered while it stored what came before, a wake goes out at most every 50 ms, one worker settles up to a
thousand at a time and looks again. Everything random follows the seed.
"""

import heapq
import random
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from devices.intake.settling import BATCH
from devices.intake.wakes import THROTTLE_SECONDS
from tests.benchmarks import floor
from tests.benchmarks.clients import percentile
from tests.benchmarks.report import Figures
from tests.benchmarks.servers import Hall
from tests.benchmarks.settle import TABLES, write

SIZES = (1, 10, 100, 1_000)
HOUSES = (10, 100, 1_000)
PER_HOUSE = 1.0
"""Rounds a second of one house: 50 tables, a round each in 50 seconds, all of them open."""
WAKE_SECONDS = 0.004
"""From a post's commit until a worker that waits has the wake."""
FLUSH_SECONDS = 0.001
"""What a commit waits for its disk: assumed, a flash drive's."""
RATES = (20, 100, 500, 1_000, 2_000, 4_000, 5_000, 6_000, 7_000)
CUT_OFF_SECONDS = 600.0
BYTES_A_ROUND = 4_100  # with indexes (docs/benchmarks.md)
STANDBYS = {"none": 0.0, "in the next building, 1 ms": 0.001, "in the next state, 30 ms": 0.03}


class Cost(NamedTuple):
    """Seconds that a batch costs at once, and for each message in it."""

    batch: float
    message: float

    def of(self, messages: int) -> float:
        """Seconds for a batch of so many."""
        return self.batch + self.message * messages

    def each(self, messages: float) -> float:
        """Seconds for each message in batches of so many."""
        return self.batch / messages + self.message


@dataclass(frozen=True, slots=True)
class Costs:
    """What the stages cost in CPU; `commit` is what every commit waits for besides: the disk, a synchronous standby."""

    accept: Cost
    settle: Cost
    commit: float

    def limit(self) -> float:
        """The most rounds a second that one worker settles on one link."""
        return BATCH / (self.settle.of(BATCH) + self.commit)


@dataclass(frozen=True, slots=True)
class Came:
    """What became of some traffic: seconds from each post to its settlement, and how busy the link's one worker was.

    `stored` and `batch` are how many messages the inbox and the worker took at a time.
    """

    waits: list[float]
    busy: float
    batch: float
    stored: float

    def ms(self, share: float) -> float:
        """The wait that so many per cent do not exceed, in milliseconds."""
        return percentile(self.waits, share) * 1000


def run(
    place: Hall,
    *,
    rounds: int = 20_000,
    seconds: float = 60.0,
    times: int = 3,
    sizes: tuple[int, ...] = SIZES,
    numbers: tuple[int, ...] = HOUSES,
) -> list[Figures]:
    """Measure, then simulate."""
    measured, costs = measure(place, rounds=rounds, times=times, sizes=sizes)
    return [
        measured,
        paces(costs, seconds),
        houses(costs, seconds, numbers),
        bursts(costs, numbers),
        standbys(costs, seconds),
        servers(costs, seconds, numbers),
    ]


def measure(place: Hall, *, rounds: int, times: int, sizes: tuple[int, ...]) -> tuple[Figures, Costs]:
    """What a batch costs by its size, by the clock and in CPU of this process and its server; a straight line through the CPU.

    What else runs makes the clock's figures longer, by several times, and those of CPU hardly. With cores of its own a batch
    takes no longer than the CPU of both one after the other, for rows are stored while the next rounds are settled.
    """
    text = floor.floor_text(tables=TABLES)
    place.quiet()
    columns = ("messages", "accepted ms", "its CPU", "settled ms", "its CPU ", "PostgreSQL's part")
    figures = Figures("limits: what a batch costs", columns)
    points: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for size in sizes:
        number = min(rounds, max(20, size * 20))
        batches = -(-number // size)
        took: dict[str, list[float]] = defaultdict(list)
        for turn in range(times):
            name = f"limits_{size}_{turn}"
            place.prepare(name, text)
            file = write(place, floor.rounds(text, number, prefix="limits"), f"{name}.ndjson")
            steps = place.inside(name, ("accept", {"file": str(file), "batch": size}), ("drain", {"limit": size}))
            for stage, step in zip(("accept", "settle"), steps, strict=True):
                took[stage].append(step["wall"] / batches)
                took[f"{stage} cpu"].append((step["python"] + step["postgres"]) / batches)
                took[f"{stage} postgres"].append(step["postgres"] / batches)
        best = {name: min(each) for name, each in took.items()}  # whatever else ran only makes it longer
        shown = [best[name] * 1000 for name in ("accept", "accept cpu", "settle", "settle cpu")]
        figures.add(size, *shown, best["settle postgres"] / best["settle cpu"])
        for name, seconds in best.items():
            points[name].append((size, seconds))
    costs = Costs(line(points["accept cpu"]), line(points["settle cpu"]), FLUSH_SECONDS)
    for stage, cost in (("accepted", costs.accept), ("settled", costs.settle)):
        figures.note(f"{stage}: {cost.batch * 1e3:.2f} ms a batch and {cost.message * 1e6:.0f} µs a message")
    return figures, costs


def line(points: Sequence[tuple[int, float]]) -> Cost:
    """What a batch costs at once is what one message costs; what each adds, the dearest batch's share of it."""
    (_, first), (size, last) = points[0], points[-1]
    each = max(0.0, (last - first) / (size - 1))
    return Cost(first - each, each)


def simulate(arrivals: Iterable[float], costs: Costs, *, webs: int = 2) -> Came:
    """Pass posts, by their moments in order, through the inbox of `webs` processes and the link's one worker."""
    stored = sorted(_stored(arrivals, costs, webs))
    waits, busy, batches = [], 0.0, 0
    waiting: deque[float] = deque()
    position, now, last_wake = 0, 0.0, float("-inf")
    while position < len(stored) or waiting:
        if not waiting and stored[position][0] > now:
            # The worker sleeps: the next that is stored wakes it, at once or when the last wake is old enough.
            last_wake = max(stored[position][0], last_wake + THROTTLE_SECONDS)
            now = last_wake + WAKE_SECONDS
        while position < len(stored) and stored[position][0] <= now:
            waiting.append(stored[position][1])
            position += 1
        taken = [waiting.popleft() for _ in range(min(BATCH, len(waiting)))]
        took = costs.settle.of(len(taken)) + costs.commit
        now += took
        busy += took
        batches += 1
        waits += [now - posted for posted in taken]
    began = min(posted for _, posted in stored)
    transactions = len({at for at, _ in stored})
    return Came(waits, busy / (now - began), len(waits) / batches, len(waits) / transactions)


def _stored(arrivals: Iterable[float], costs: Costs, webs: int) -> Iterator[tuple[float, float]]:
    """When each post was stored, and when it came. While a process stores one batch, the next gathers."""
    free = [0.0] * webs
    heapq.heapify(free)
    gathered: list[float] = []
    for posted in arrivals:
        while gathered and free[0] <= posted:
            yield from _store(gathered, free, costs)
        gathered.append(posted)
    while gathered:
        yield from _store(gathered, free, costs)


def _store(gathered: list[float], free: list[float], costs: Costs) -> Iterator[tuple[float, float]]:
    began = max(heapq.heappop(free), gathered[0])
    batch = [posted for posted in gathered[:BATCH] if posted <= began]
    del gathered[: len(batch)]
    ended = began + costs.accept.of(len(batch)) + costs.commit
    heapq.heappush(free, ended)
    for posted in batch:
        yield ended, posted


def steady(rate: float, seconds: float, seed: int) -> list[float]:
    """Moments of posts that come independently of each other, so many a second."""
    chance = random.Random(seed)
    moments, now = [], chance.expovariate(rate)
    while now < seconds:
        moments.append(now)
        now += chance.expovariate(rate)
    return moments


def paces(costs: Costs, seconds: float) -> Figures:
    """From a quiet link to its limit."""
    figures = Figures(
        "limits: one link, one worker (simulated)",
        ("rounds/s", "worker busy", "a batch", "settled p50 ms", "p99", "most"),
    )
    limit = costs.limit()
    for rate in RATES:
        if rate > limit:
            figures.add(rate, "more than it can", None, None, None, None)
            continue
        came = simulate(steady(rate, seconds, seed=rate), costs)
        figures.add(rate, f"{came.busy:.0%}", came.batch, came.ms(50), came.ms(99), came.ms(100))
    figures.note(
        f"In batches of {BATCH:,} a link settles {limit:,.0f} rounds/s. From the post's arrival to the commit of its settlement."
    )
    return figures


def houses(costs: Costs, seconds: float, numbers: tuple[int, ...]) -> Figures:
    """Many houses on one link, all tables open."""
    figures = Figures(
        "limits: houses on one link (simulated)",
        ("houses", "tables", "rounds/s", "worker busy", "settled p50 ms", "p99", "of the limit"),
    )
    limit = costs.limit()
    for number in numbers:
        rate = number * PER_HOUSE
        came = simulate(steady(rate, seconds, seed=number), costs)
        figures.add(number, number * 50, rate, f"{came.busy:.0%}", came.ms(50), came.ms(99), f"{rate / limit:.0%}")
    return figures


def bursts(costs: Costs, numbers: tuple[int, ...]) -> Figures:
    """Some houses were cut off for ten minutes and hand in what they dealt, all at one moment, while the others play."""
    figures = Figures(
        "limits: houses come back after ten minutes (simulated)",
        ("houses", "cut off", "rounds handed in", "settled p50 ms", "p99", "all settled after s"),
    )
    for number in numbers:
        for share in (0.1, 1.0):
            back = 5.0
            playing = steady(max(1.0, number * PER_HOUSE * (1 - share)), 60.0, seed=number)
            playing += [back + each for each in steady(number * PER_HOUSE * share, 55.0, seed=number + 1)]
            heap = int(number * PER_HOUSE * share * CUT_OFF_SECONDS)
            came = simulate(sorted(playing + [back] * heap), costs)
            figures.add(number, f"{share:.0%}", heap, came.ms(50), came.ms(99), max(came.waits))
    return figures


def standbys(costs: Costs, seconds: float) -> Figures:
    """What waiting for a synchronous standby at every commit does to one link."""
    figures = Figures(
        "limits: with a synchronous standby, 1,000 rounds/s (simulated)",
        ("standby", "worker busy", "a batch", "settled p50 ms", "p99", "limit rounds/s"),
    )
    for name, commit in STANDBYS.items():
        slower = replace(costs, commit=costs.commit + commit)
        came = simulate(steady(1_000, seconds, seed=1), slower)
        limit = slower.limit()
        figures.add(name, f"{came.busy:.0%}", came.batch, came.ms(50), came.ms(99), limit)
    return figures


def servers(costs: Costs, seconds: float, numbers: tuple[int, ...]) -> Figures:
    """What the database and those who work on it have to do for so many houses on one link, in batches as they come."""
    columns = ("houses", "rounds/s", "a post's batch", "a worker's batch", "cores in all", "GB a day", "TB a year")
    figures = Figures("limits: one PostgreSQL and who works on it (simulated, in measured CPU)", columns)
    for number in numbers:
        rate = number * PER_HOUSE
        came = simulate(steady(rate, seconds, seed=number), costs)
        cores = sum(
            rate * stage.each(batch) for stage, batch in ((costs.accept, came.stored), (costs.settle, came.batch))
        )
        day = rate * 86_400 * BYTES_A_ROUND
        figures.add(number, rate, came.stored, came.batch, cores, day / 1e9, day * 365 / 1e12)
    figures.note(f"{BYTES_A_ROUND:,} bytes a round with indexes (docs/benchmarks.md); all tables open day and night.")
    return figures
