"""`python3 manage.py retention`: how long every kind of record is kept, and what has passed its term."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from accounting.keeping import queries
from accounting.keeping.services.cleaning import clean


class Command(BaseCommand):
    """Prints the terms; removes what has passed them when asked to."""

    help = "Say for every kind of record how long it is kept, by which rule, and what has passed its term."
    example = "retention --clean"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--clean", action="store_true", help="remove now what may be removed, as is done every hour"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        if options["clean"]:
            for kind, count in clean(now).items():
                print(f"{kind.replace('_', ' ')}: {count:,} removed")
            return
        for held in queries.overview(now):
            term = held.edition.words if held.edition else "no term"
            print(f"{held.kind.code:<12} {term:<8} {held.kind.title}")
            if held.edition:
                print(f"{'':21} since {held.edition.counts_from}, {held.edition.source}")
            if held.oldest:
                state = "passed" if held.has_passed else "kept"
                print(f"{'':21} oldest {held.oldest:%Y-%m-%d}, until {held.kept_until}: {state}")
            print(f"{'':21} {held.what}")
            if held.guards:
                print(f"{'':21} refused: {', '.join(held.guards)}")
            if held.unguarded:
                print(f"{'':21} no right to delete: {', '.join(held.unguarded)}")
