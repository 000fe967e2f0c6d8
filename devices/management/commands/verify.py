"""`python3 manage.py verify`: recompute everything from the stored messages and say where it first differs."""

import sys
import time
from argparse import ArgumentParser
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import psycopg
from django.core.management.base import BaseCommand
from django.db import Error, InterfaceError, OperationalError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from accounting.elsewhere import Place, done_elsewhere
from accounting.rules.heads import Signed, Unreadable, from_file
from devices.audit.closings import compare_heads
from devices.audit.side_by_side import WORTH_IT, processes_for
from devices.audit.verification import Difference, ProcessDied, streams, verify


class Command(BaseCommand):
    """Replays every stream; exit 0 when all is as recorded, 1 at the first difference, 2 when it could not be done."""

    help = "Recompute settlements, meters, ledger and hash chains from the stored messages; name the first difference."
    example = "verify --stream ms-mg01"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stream", help="only this link's or table's stream")
        parser.add_argument(
            "--processes",
            type=int,
            metavar="N",
            help=f"default: one a core, from {WORTH_IT:,} events on; 1 is this one",
        )

        parser.add_argument(
            "--heads",
            type=Path,
            metavar="FILE",
            help="signed heads that were taken away before (`manage.py heads`): is all that they sign still there?",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        done_elsewhere(lambda place: self._verify(place, options))

    def _verify(self, place: Place, options: dict[str, Any]) -> None:
        if place.words:
            self.stdout.write(place.words)
        wanted = [stream for stream in streams() if options["stream"] in (None, stream[1])]
        if options["stream"] and not wanted:
            self._give_up(f"no stream {options['stream']}")
        events = sum(stream[2] for stream in wanted)
        processes = options["processes"]
        if processes is None:
            processes = processes_for(events)
        elif processes < 1:
            self._give_up("--processes: one at least")
        heads = self._heads(options["heads"])
        started = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        try:
            with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
                bars = {
                    what: progress.add_task(what, total=total) for what, total in (("events", events), ("inbox", 1))
                }
                counts = verify(
                    [stream_id for stream_id, _, _ in wanted],
                    processes=processes,
                    advance=lambda what, done: progress.advance(bars[what], done),
                )
            compared = compare_heads(heads, stream=options["stream"]) if heads is not None else 0
        except Difference as difference:
            self.stderr.write(f"DIFFERENT {difference}")
            sys.exit(1)
        except (ProcessDied, Error, psycopg.Error) as trouble:
            if place.is_copy and isinstance(trouble, OperationalError | InterfaceError):
                raise  # the house itself will do
            said = (str(trouble).strip() or repr(trouble)).splitlines()[0]
            self._give_up(f"NOT VERIFIED {said}")
        seconds = time.monotonic() - started
        said = ", ".join(f"{getattr(counts, item.name):,} {item.name}" for item in fields(counts))
        self.stdout.write(f"verified: {said}")
        if heads is not None:
            keys = ", ".join(sorted({day.public_key.hex() for day in heads})) or "no key"
            self.stdout.write(f"as signed: {compared:,} heads of {len(heads):,} closed gaming days, by {keys}")
        self.stdout.write(f"no difference; {counts.rounds / seconds:,.0f} rounds a second")

    def _heads(self, file: Path | None) -> list[Signed] | None:
        if file is None:
            return None
        try:
            return from_file(file.read_bytes())
        except (OSError, Unreadable) as trouble:
            self._give_up(f"--heads {file}: {trouble}")

    def _give_up(self, why: str) -> NoReturn:
        self.stderr.write(why)
        sys.exit(2)
