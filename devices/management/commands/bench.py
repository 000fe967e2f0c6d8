"""`manage.py bench`: figures beside a naive peer and the database's own limit. The code is in tests/benchmarks."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class Command(BaseCommand):
    """Starts servers of its own in throw-away folders; nothing that runs already is touched."""

    help = "Measure the service beside a naive peer, on the same server and the same rounds."
    example = "bench settle --short"

    def add_arguments(self, parser: CommandParser) -> None:
        """The options are the benchmark's own."""
        try:
            from tests.benchmarks import bench
        except ImportError as error:
            raise CommandError(f"the benchmarks are not here: {error}") from error
        assert isinstance(parser, argparse.ArgumentParser)
        bench.arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run them."""
        from tests.benchmarks import bench

        bench.run(options["names"], file=options["json"], short=options["short"], far=options["far"])
