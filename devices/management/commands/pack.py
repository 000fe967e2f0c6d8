"""`python3 manage.py pack`: a stretch of a stream's record as one file that verifies itself without the house (SPEC §10)."""

import sys
from argparse import ArgumentParser
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounting.services.signing import public_key
from devices.packing.stretch import NotPacked, packed, verifier, wanted


class Command(BaseCommand):
    """Writes causes, results, terms, paytables, transfers, hashes and signed heads with the verifier that decides them again."""

    help = "Write a stretch of a stream's record, with its verifier, into one file that an auditor takes away."
    example = "pack --stream ms-mg01 --from 0 --to 9999 --out ms-mg01.zip"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stream", required=True, help="the link's or lone table's stream")
        parser.add_argument(
            "--from", dest="first", type=int, metavar="A", help="from this event on (default: the opening)"
        )
        parser.add_argument("--to", dest="last", type=int, metavar="B", help="up to this event (default: the last one)")
        parser.add_argument("-o", "--out", required=True, type=Path, metavar="FILE", help="where to")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            stretch = wanted(options["stream"], options["first"], options["last"])
            chunks = packed(stretch)
            first, hashed, size = next(chunks), sha256(), 0  # before there is a file
            with options["out"].open("wb") as file:
                for chunk in chain([first], chunks):
                    file.write(chunk)
                    hashed.update(chunk)
                    size += len(chunk)
        except NotPacked as refusal:
            raise CommandError(f"--{refusal}") from None
        except OSError as trouble:
            raise CommandError(f"--out {options['out']}: {trouble.strerror}") from None
        print(
            f"{options['out']}: events {stretch.first:,} to {stretch.last:,} of stream {stretch.code},"
            f" {size:,} bytes, SHA-256 {hashed.hexdigest()}\n"
            f"verifier.pyz in it: SHA-256 {sha256(verifier()).hexdigest()}; the house signs with {public_key().hex()}",
            file=sys.stderr,
        )
