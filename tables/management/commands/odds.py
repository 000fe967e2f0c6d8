"""`python3 manage.py odds [EDITION …] [--json | --markdown] [--recompute]`: what the paytable editions are worth."""

import json
import sys
import time
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from django.core.management.base import BaseCommand

from tables.odds import calculation, of_edition, record, tables

# These take longest and start first.
SLOWEST = ("mt-base", "b5-base")


class Command(BaseCommand):
    """Prints the recorded odds, or counts them anew and keeps the record."""

    help = "Edge, return, hit frequency, variance and combinations of paytable editions, counted exactly."
    example = "odds ms-base --json"
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("editions", nargs="*", metavar="EDITION", help="codes of editions; all of them if none")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="a list of one entry for each case, with exact fractions")
        form.add_argument("--markdown", action="store_true", help="the page docs/odds.md")
        parser.add_argument("--recompute", action="store_true", help="count anew (minutes for all) and keep the record")
        parser.add_argument("--processes", type=int, choices=(1, 2), default=2, help="for --recompute; 2 if not said")

    def handle(self, *args: Any, **options: Any) -> None:
        known = calculation.definitions()
        codes = options["editions"] or list(known)
        unknown = [code for code in codes if code not in known]
        if unknown:
            self.stderr.write(f"there is no edition {', '.join(unknown)}")
            sys.exit(2)
        refused = self._recompute(codes, options["processes"]) if options["recompute"] else []
        editions = []
        for code in codes:
            try:
                editions.append(of_edition(code))
            except record.NoOdds as refusal:
                refused.append(str(refusal))
        if options["json"]:
            self.stdout.write(json.dumps([entry for odds in editions for entry in odds.to_json()], indent=1))
        elif options["markdown"]:
            self.stdout.write(tables.page(editions), ending="")
        else:
            self.stdout.write("\n".join(tables.text(editions)))
        if refused:
            self.stderr.write("\n".join(refused))
            sys.exit(1)

    def _recompute(self, codes: list[str], processes: int) -> list[str]:
        """Count editions on so many processes, keep each, say on standard error what became of it; the refusals."""
        started = time.monotonic()
        refused: list[str] = []
        slowest_first = sorted(codes, key=lambda code: SLOWEST.index(code) if code in SLOWEST else len(SLOWEST))
        with ProcessPoolExecutor(processes) as pool:
            counts = {pool.submit(calculation.count, code): code for code in slowest_first}
            for done in as_completed(counts):
                try:
                    changed = record.keep(done.result())
                except calculation.NotCounted as refusal:
                    refused.append(str(refusal))
                    continue
                said = "recorded" if changed else "the same as recorded"
                self.stderr.write(f"{counts[done]}: {said} ({time.monotonic() - started:.1f} s since the start)")
        return refused
