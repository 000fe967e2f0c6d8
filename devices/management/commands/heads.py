"""`python3 manage.py heads`: the signed heads of closed gaming days, to be kept where the house cannot reach them."""

import sys
from argparse import ArgumentParser
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounting.rules.heads import to_file
from accounting.services.closed_days import signed_days
from accounting.services.signing import public_key


class Command(BaseCommand):
    """Writes the file that `verify --heads` compares the house with, or prints the public key."""

    help = "Write the signed heads of closed gaming days, for `verify --heads`; or print the key that signs them."
    example = "heads --out heads.json --since 2026-11-01"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, metavar="FILE", help="where to (default: standard output)")
        parser.add_argument("--since", type=_day, metavar="DAY", help="from this gaming day on")
        parser.add_argument("--until", type=_day, metavar="DAY", help="up to this gaming day")
        parser.add_argument("--key", action="store_true", help="print the house's public key (Ed25519, hexadecimal)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["key"]:
            self.stdout.write(public_key().hex())
            return
        days = signed_days(since=options["since"], until=options["until"])
        content = to_file(days)
        if options["out"] is None:
            self.stdout.write(content.decode(), ending="")
            return
        try:
            options["out"].write_bytes(content)
        except OSError as trouble:
            raise CommandError(f"--out {options['out']}: {trouble.strerror}") from None
        print(f"{options['out']}: {len(days):,} closed gaming days, signed by {public_key().hex()}", file=sys.stderr)


def _day(text: str) -> date:
    return date.fromisoformat(text)
