"""A long simulated run on a real service that is struck again and again, and a full account afterwards.

    .venv/bin/python -m tests.faults.soak [--rounds 20000] [--kills 3] [--tables 8] [--seed 1]
    python3 manage.py soak --minutes 15 [--seed 1]

Everything is real: `manage.py up` in a folder of its own, rounds through HTTP from gateways that lose lines and send
twice. The first form kills the settling worker while it has written inside a transaction; the second is a storm over
everybody (tests/faults/storm.py). The account looks from outside: what the API lists is what was dealt, each round once,
in an order that `manage.py settle` gives the same settlements for; then the one check of tests/faults/account.py.
tests/faults/test_soak.py and test_faults.py run short forms.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from devices.simulator import rig
from devices.simulator.floor import PACE_SECONDS
from devices.simulator.gateway import Weather
from devices.simulator.run import RUSH, Plan, Run, default_prefix, load_floor
from devices.simulator.table import Dealt
from devices.simulator.tally import Tally
from tests.faults.account import Books, account
from tests.faults.hall import BACK_WITHIN_SECONDS, MISHAPS, QUEUED, RECORDED, WRITING, Hall
from tests.faults.replayed import compare
from tests.faults.storm import Storm

PLAYED_ON_SECONDS = 90.0
STORM = Weather(outage=1 / 60, late=1 / 60, again=1 / 40, drop=1 / 80)
JACKPOTS = ((8, "straight_flush"), (20, "royal"), (45, "straight_flush"), (50, "royal"), (75, "royal"), (76, "royal"))
"""When jackpots fall, in percent of the way, and which."""


def speed_for(rounds_a_second: float, tables: int) -> float:
    """The simulator's speed at which so many tables together deal so many rounds a second."""
    return rounds_a_second * PACE_SECONDS / tables


class Trouble(Protocol):
    """What happens to the service while rounds are played."""

    struck: Counter[str]

    @property
    def over(self) -> bool:
        """Whether it needs no more rounds."""

    def start(self) -> None:
        """Begin, in a thread of its own."""

    def stop(self) -> None:
        """The rounds are played: end. Raises what went wrong."""


def legs(trouble: Trouble) -> Iterator[int]:
    """Numbers for a few more rounds at a time until the trouble is over, which a slow machine takes longer to get over."""
    give_up = time.monotonic() + PLAYED_ON_SECONDS
    leg = 0
    while not trouble.over and time.monotonic() < give_up:
        leg += 1
        yield leg


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill -9: rounds recorded just then, messages waiting, and how long until somebody settled again."""

    recorded: int
    queued: int
    back_after_seconds: float

    def __str__(self) -> str:
        then = f"{self.recorded:,} rounds recorded and {self.queued:,} queued"
        return f"kill -9 with {then}; settling again after {self.back_after_seconds:.1f} s"


class Kills:
    """Kills the one settling worker at equal steps of the way, each time in the middle of a transaction.

    On a machine where the next one is long in coming, all that was to be played may be settled in one go: rounds are
    played until `over`, however many that takes.
    """

    def __init__(self, hall: Hall, *, rounds: int, kills: int) -> None:
        self.hall = hall
        self.rounds = rounds
        self.kills = kills
        self.done: list[Kill] = []
        self.struck: Counter[str] = Counter()
        self.error: BaseException | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kills")

    @property
    def over(self) -> bool:
        """Whether the last killed worker's successor has settled, or something went wrong."""
        return not self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """All kills must have found their moment, and been survived, by now."""
        self._stopping.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            for kill in range(self.kills):
                self._kill(self.rounds * (kill + 1) // (self.kills + 1))
        except BaseException as error:
            self.error = error

    def _kill(self, wanted: int) -> None:
        with self.hall.server.connect("jackpot") as database:

            def number(query: Any) -> int:
                row = database.execute(query).fetchone()
                assert row is not None
                return int(row[0])

            def more_to_come() -> None:
                assert not self._stopping.is_set(), f"no more rounds after {len(self.done)} kills"

            while number(RECORDED) < wanted:
                more_to_come()
                time.sleep(0.02)
            pid = self.hall.settler()
            while not number(WRITING):
                more_to_come()
            os.kill(pid, signal.SIGKILL)
            killed = time.monotonic()
            # The database may still commit what the dead one had asked for: only what comes after its successor counts.
            while self.hall.settler() == pid:
                assert time.monotonic() - killed < BACK_WITHIN_SECONDS, "nobody took its place"
                time.sleep(0.05)
            recorded, queued = number(RECORDED), number(QUEUED)
            while number(RECORDED) == recorded:
                assert time.monotonic() - killed < BACK_WITHIN_SECONDS, "nobody settles any more"
                more_to_come()
                time.sleep(0.05)
            self.done.append(Kill(recorded, queued, time.monotonic() - killed))
            self.struck["settling worker killed"] += 1


@dataclass(slots=True)
class Outcome:
    """What a soak came to."""

    books: Books
    hits: int
    receipts: Counter[str]
    retries: int
    struck: Counter[str]
    seconds: float
    kills: list[Kill] = field(default_factory=list)

    def __str__(self) -> str:
        faults = ", ".join(f"{count} × {name}" for name, count in self.struck.most_common())
        return "\n".join([
            f"{self.struck.total()} faults: {faults}",
            *map(str, self.kills),
            f"{self.hits} hits; receipts {dict(self.receipts)}; {self.retries:,} posts sent again; "
            f"{self.seconds:.1f} s from first deal to empty queue",
            str(self.books),
        ])  # fmt: skip


class Soak:
    """A hall that is played on and struck."""

    def __init__(self, hall: Hall, *, rounds: int, seed: int, speed: float) -> None:
        self.hall = hall
        self.rounds = rounds
        self.seed = seed
        self.speed = speed
        self.tally = Tally()
        self.dealt: dict[str, Dealt] = {}

    def run(self, trouble: Trouble) -> Outcome:
        """Play, strike, wait until all is settled, and account for everything; AssertionError where it does not add up.

        `rounds` are played, and then a few more at a time until the trouble is over.
        """
        tally = self.tally
        began = time.monotonic()
        trouble.start()
        try:
            self._play(self.rounds, JACKPOTS)
            for leg in legs(trouble):
                self._play(max(100, self.rounds // 10), (), leg)
        finally:
            trouble.stop()
        self.hall.settled(120)
        seconds = time.monotonic() - began
        assert set(tally.receipts) <= {"accepted", "duplicate"}, tally.refusals
        self.hall.answered |= {reference: dealt.message for reference, dealt in self.dealt.items()}
        hits = compare(self.hall, self.dealt)
        assert hits >= len(JACKPOTS)
        books = account(self.hall)
        assert books.accepted == len(self.dealt) >= self.rounds
        return Outcome(books, hits, tally.receipts, tally.retries, trouble.struck, seconds)

    def _play(self, rounds: int, jackpots: Sequence[tuple[int, str]], leg: int = 0) -> None:
        start = datetime.now(UTC)
        plan = Plan(
            floor=load_floor(self.hall.floor_file),
            start=start,
            prefix=f"{default_prefix(start)}-{leg}",
            seed=self.seed if not leg else f"{self.seed}-{leg}",
            speed=self.speed,
            rounds=rounds,
            rigs=tuple(rig.read(f"{hand}@{max(1, rounds * at // 100)}") for at, hand in jackpots),
            rates=MISHAPS,
            weather=STORM,
        )
        run = Run(plan, self.hall.service(), tally=self.tally, wait_seconds=0, settles=False, on_dealt=self._note)
        asyncio.run(run.run())

    def _note(self, dealt: Dealt) -> None:
        self.dealt[dealt.message["round"]] = dealt


def killed(folder: Path, *, rounds: int, kills: int, tables: int, seed: int, speed: float = RUSH) -> Outcome:
    """Play so many rounds while the settling worker is killed so often."""
    with Hall(folder, tables=tables).up() as hall:
        trouble = Kills(hall, rounds=rounds, kills=kills)
        outcome = Soak(hall, rounds=rounds, seed=seed, speed=speed).run(trouble)
        outcome.kills = trouble.done
        return outcome


def stormed(
    folder: Path, *, minutes: float, seed: int, rate: float, tables: int, settlers: int, pause_seconds: float
) -> Outcome:
    """Play for so long, at `rate` rounds a second, in a storm over everybody."""
    rounds = max(100, round(minutes * 60 * rate))
    with Hall(folder, tables=tables, settlers=settlers).up() as hall:
        soak = Soak(hall, rounds=rounds, seed=seed, speed=speed_for(rate, tables))
        return soak.run(Storm(hall, seed=seed, pause_seconds=pause_seconds, seconds=minutes * 60))


def soak(minutes: float, *, seed: int, settlers: int = 2) -> Outcome:
    """The long form of `manage.py soak`, in a folder that is thrown away when all went well."""
    folder = Path(tempfile.mkdtemp(prefix="jackpot-soak-"))
    folder.chmod(0o711)  # the database's user must reach its files
    print(f"playing {minutes:g} minutes, seed {seed}, in {folder}", flush=True)
    outcome = stormed(folder, minutes=minutes, seed=seed, rate=40, tables=8, settlers=settlers, pause_seconds=1.2)
    shutil.rmtree(folder)
    return outcome


def main() -> None:
    """Kill the settling worker at chosen moments, from the command line."""
    parser = argparse.ArgumentParser(description="Play, kill the settling worker, and account for every round.")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=RUSH, help="0 is as fast as the service takes it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jackpot-soak-") as folder:
        Path(folder).chmod(0o711)  # the database's user must reach its files
        print(killed(Path(folder), **vars(options)))


if __name__ == "__main__":
    main()
