"""Random histories on the running house under every policy of SPEC §6, by command.

    python3 -m tests.scenarios.histories [--count 10000] [--seed 1] [--folder DIR]
    python3 -m tests.scenarios.histories --replay LINES.ndjson

Each is a few dozen lines for three links: rounds, locks, voids, corrections, hits and what becomes of them, adjustments,
transfers, suspensions, terms, tables that move, late arrivals, and what must be refused. It goes on where it was stopped. Of a
history that fails it prints the number and the fewest lines that still fail, kept beside for `--replay`, and exits 1.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from jackpot.config.embedded_postgres import DATABASE, EmbeddedPostgres
from tests.rules.checked import Line
from tests.rules.histories import History
from tests.rules.stages import EVERY_POLICY, Stage

LINES: Final = 18
LONG: Final = 90
EVERY: Final = 25
"""So many histories on end have one floor; the first of them is a long one."""


class Failed(Exception):
    """A history that the house, `settle` or its own books do not agree on, with its lines."""

    def __init__(self, number: int, lines: Sequence[Line], why: str) -> None:
        super().__init__(f"history {number}, {len(lines)} lines: {why}")
        self.lines = list(lines)
        self.why = why


def stage_of(number: int) -> Stage:
    """The floor of a history."""
    return EVERY_POLICY[number // EVERY % len(EVERY_POLICY)]


def history(number: int) -> History:
    """The history of this number: its lines, not yet played anywhere; Failed where its own books do not close."""
    found = History(number, stage_of(number))
    try:
        found.play(LINES if number % EVERY else LONG)
    except Exception as fault:
        raise Failed(number, found.lines, repr(fault)) from fault
    return found


def fault_of(stage: Stage, lines: Sequence[Line], *, anew: bool = True) -> Exception | None:
    """What goes wrong when these lines are played on the database in hand, which has that floor; None when nothing does."""
    from tests.scenarios.lived import Lived, undone

    try:
        with undone(anew=anew):
            Lived(stage.floor, all_streams=anew).play(lines)
    except Exception as fault:
        return fault
    return None


def played(number: int) -> Counter[str]:
    """Play a history on the database in hand, which has its floor; what its lines came to. Failed with the lines."""
    found = history(number)
    if (fault := fault_of(stage_of(number), found.lines, anew=number % 5 == 0)) is not None:
        raise Failed(number, found.lines, f"{type(fault).__name__}: {fault}") from fault
    return found.outcomes


def fewest(stage: Stage, lines: Sequence[Line]) -> list[Line]:
    """The fewest of these lines that still go wrong in the same way: halves, quarters, and at last single lines left out."""
    kept = list(lines)
    kind = type(fault_of(stage, kept))
    size = max(1, len(kept) // 2)
    while True:
        place, shorter = 0, False
        while place < len(kept):
            fewer = kept[:place] + kept[place + size :]
            if fewer and type(fault_of(stage, fewer)) is kind:
                kept, shorter = fewer, True
            else:
                place += size
        if size == 1 and not shorter:
            return kept
        size = max(1, size // 2)


@contextmanager
def server(folder: Path) -> Iterator[None]:
    """A server in this folder with a database for each floor; they are made once."""
    folder.mkdir(exist_ok=True, parents=True)
    folder.chmod(0o711)  # the database's user must reach its files
    postgres = EmbeddedPostgres(folder / "postgres", durable=False)
    postgres.start()
    try:
        os.environ |= {"DATABASE_URL": postgres.database_url, "DJANGO_SETTINGS_MODULE": "jackpot.config.settings"}
        os.environ |= {"CELERY_BROKER_URL": postgres.broker_url, "JACKPOT_DATA": str(folder), "JACKPOT_DEMO": "1"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield
    finally:
        postgres.stop()


def enter(stage: Stage) -> None:
    """Go over to the database of a floor, a copy of the migrated one."""
    from django.db import connections

    from tables.services import floors
    from tests.scenarios.lived import everything_forgotten
    from tests.services.house import OPENED

    name = f"floor_{EVERY_POLICY.index(stage)}"
    settings = connections.settings["default"]
    if settings["NAME"] == name:
        return
    connections.close_all()
    settings["NAME"] = "postgres"
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT FROM pg_database WHERE datname = %s", [name])
        if cursor.fetchone() is None:
            cursor.execute(f"CREATE DATABASE {name} TEMPLATE {DATABASE}")
    connections.close_all()
    settings["NAME"] = name
    everything_forgotten()
    floors.install(stage.text, at=OPENED)


def run(count: int, seed: int, folder: Path) -> int:
    """Play so many from this number on, less those that were; 1 with the first that fails."""
    progress = folder / f"from-{seed}.json"
    kept: dict[str, Any] = json.loads(progress.read_text("utf-8")) if progress.exists() else {"done": 0, "seen": {}}
    done: int = kept["done"]
    outcomes: Counter[str] = Counter(kept["seen"])
    began = time.monotonic()
    for number in range(seed + done, seed + count):
        enter(stage_of(number))
        try:
            outcomes.update(played(number))
        except Failed as failed:
            print(f"FAILED {failed}", flush=True)
            lines = fewest(stage_of(number), failed.lines)
            file = folder / f"floor-{EVERY_POLICY.index(stage_of(number))}-history-{number}.ndjson"
            file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
            print(f"the fewest lines that fail so, in {file}:\n{file.read_text('utf-8')}", flush=True)
            return 1
        done += 1
        if done % 50 == 0 or done == count:
            progress.write_text(json.dumps({"done": done, "seen": outcomes}), "utf-8")
            print(f"{done:,} of {count:,} in {time.monotonic() - began:,.0f} s", flush=True)
    for outcome, times in sorted(outcomes.items()):
        print(f"{times:10,}  {outcome}")
    print(f"{done:,} histories, {sum(n for what, n in outcomes.items() if ':' not in what):,} lines: nothing differs")
    return 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.scenarios.histories",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the number of the first (1)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="play these lines and nothing else")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "jackpot-histories")
    chosen = parser.parse_args()
    with server(chosen.folder):
        if chosen.replay is None:
            return run(chosen.count, chosen.seed, chosen.folder)
        stage = EVERY_POLICY[int(chosen.replay.name.split("-")[1])]
        enter(stage)
        lines = [json.loads(line) for line in chosen.replay.read_text("utf-8").splitlines()]
        if (fault := fault_of(stage, lines)) is not None:
            raise fault
        print("nothing differs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
