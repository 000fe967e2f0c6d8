"""`python3 manage.py verify`: recompute everything from the stored messages and say where it first differs."""

import sys
import time
from argparse import ArgumentParser
from dataclasses import fields
from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from devices.services.inbox_check import verify_inbox
from devices.services.verification import Counts, Difference, streams, verify_stream


class Command(BaseCommand):
    """Replays every stream; exit 0 when all is as recorded, 1 at the first difference."""

    help = "Recompute settlements, meters, ledger and hash chains from the stored messages; name the first difference."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stream", help="only this link's or table's stream")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = [stream for stream in streams() if options["stream"] in (None, stream[1])]
        if options["stream"] and not wanted:
            self.stderr.write(f"no stream {options['stream']}")
            sys.exit(2)
        started = time.monotonic()
        counts = Counts()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        try:
            with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
                for stream_id, code, events in wanted:
                    task = progress.add_task(code, total=events)
                    counts.add(verify_stream(stream_id, lambda done, task=task: progress.advance(task, done)))  # type: ignore[misc]
                task = progress.add_task("inbox", total=1)
                counts.add(verify_inbox())
                progress.advance(task)
        except Difference as difference:
            self.stderr.write(f"DIFFERENT {difference}")
            sys.exit(1)
        seconds = time.monotonic() - started
        said = ", ".join(f"{getattr(counts, item.name):,} {item.name}" for item in fields(counts))
        self.stdout.write(f"verified: {said}")
        self.stdout.write(f"no difference; {counts.rounds / seconds:,.0f} rounds a second")
