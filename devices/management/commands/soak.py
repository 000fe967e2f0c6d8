"""`manage.py soak`: play while everything is killed at random, then account for every cent. The code is in tests/faults."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    """Starts a service of its own in a throw-away folder; nothing that runs already is touched."""

    help = (
        "Play rounds while workers, web and database are killed at random; then check that nothing is lost or doubled."
    )
    example = "soak --minutes 5"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """How long, and which luck."""
        parser.add_argument("--minutes", type=float, default=15, help="how long rounds are dealt (15)")
        parser.add_argument("--seed", type=int, default=1, help="of the cards, the lines and the faults (1)")
        parser.add_argument("--settlers", type=int, default=2, help="settling workers, all at one link (2)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run it; exit 1 where something does not add up."""
        try:
            from tests.faults import soak
        except ImportError as error:
            raise CommandError(f"the tests of faults are not here: {error}") from error
        try:
            outcome = soak.soak(options["minutes"], seed=options["seed"], settlers=options["settlers"])
        except AssertionError as error:
            self.stderr.write(f"it does not add up: {error}")
            sys.exit(1)
        self.stdout.write(str(outcome))
