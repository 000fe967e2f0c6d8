"""`python3 manage.py demo_day`: a gaming day with every kind of event and act, closed and filed, in a demo house of its own."""

import os
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.utils import timezone

from accounting.office import registry
from accounting.rules.acts import ActRefused
from accounting.rules.events import KINDS, REASONS
from accounting.shell.templatetags.pages import money
from devices.demo_day.day import AnotherHouse, Played, play, refuse_another_house
from devices.demo_day.house import NotPlayed
from devices.demo_day.packs import NotVerified, take_away


class Command(BaseCommand):
    """Plays, closes, packs and verifies; prints what it did, by kind."""

    help = (
        "Play a gaming day with every kind of event and act in a demo house of its own; close it, and verify its packs."
    )
    example = "demo_day --out packs"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--out", type=Path, metavar="FOLDER", help="where the packs go (default: packs in the data folder)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("demo_day plays in a demo house only: JACKPOT_DEMO=1 makes it one")
        try:
            refuse_another_house()
            # A day that is not played to its end leaves nothing behind. Readings are of one moment, as this level has it.
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                played = play(now=timezone.now())
        except AnotherHouse as house:
            raise CommandError(
                f"{house}: a day in which a year has gone by is played on an empty database; JACKPOT_DATA names a folder for one."
                f" {self._look()}"
            ) from None
        except (NotPlayed, ActRefused) as failure:
            raise CommandError(f"the day was not played: {failure}") from failure
        self._told(played)
        folder = options["out"] or settings.DATA.path / "packs"
        try:
            for taken in take_away(folder):
                print(f"\n{taken.file}: {taken.size:,} bytes, verified offline")
                print("\n".join(f"  {line}" for line in taken.said.splitlines()))
        except NotVerified as failure:
            raise CommandError(str(failure)) from None
        except OSError as trouble:
            raise CommandError(f"--out {folder}: {trouble.strerror}") from None
        print(f"\n{self._look()}")

    def _look(self) -> str:
        """Where people see what was played; on a database of one's own they know."""
        return (
            "" if os.environ.get("DATABASE_URL") else f"To look at it: python3 manage.py up --data {settings.DATA.path}"
        )

    def _told(self, played: Played) -> None:
        """What was done, by kind, and the trial balance of the day."""
        print(f"Gaming day {played.day}, closed with two signatures\n")
        _counted("Messages", played.messages, sorted(played.messages))
        _counted("Events by kind", played.kinds, KINDS)
        _counted("Acts of people", played.acts, registry.acts())
        _counted("Transfers by reason", played.reasons, REASONS)
        print(f"Levels read: {played.levels_read}; slips printed: {played.slips_printed}\n")
        print(f"{'Trial balance':<44}{'Debits':>16}{'Credits':>16}{'Balance':>18}")
        for one in played.balances:
            print(
                f"{one.name:<44}{money(one.debit_cents):>16}{money(one.credit_cents):>16}{money(one.after_cents):>18}"
            )
        debits, credits, rest = (
            sum(getattr(one, column) for one in played.balances)
            for column in ("debit_cents", "credit_cents", "after_cents")
        )
        print(f"{'All accounts':<44}{money(debits):>16}{money(credits):>16}{money(rest):>18}")
        if debits != credits or rest:
            raise CommandError("the trial balance does not foot")


def _counted(title: str, counts: Mapping[str, int], names: Any) -> None:
    print(title)
    for name in names:
        print(f"  {name:<24}{counts[name]:>8,}")
    print()
