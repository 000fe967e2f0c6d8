"""`python3 manage.py load_floor FLOOR.toml`: install a property, its links and tables (CONTRACT §1)."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from jackpot.rules.definition import DefinitionRefused
from tables.rules.floor import FloorRefused
from tables.services import floors


class Command(BaseCommand):
    """Installs a floor file; a second run changes nothing."""

    help = "Create the property, links and tables of a floor file. What is new is opened; what is in use stays."
    example = "load_floor jackpot/config/demo/floor.toml"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("floor", type=Path, help="a floor file (TOML)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            installed = floors.install(options["floor"].read_text("utf-8"), at=timezone.now())
        except (FloorRefused, DefinitionRefused, UnicodeDecodeError) as refusal:
            self.stderr.write(str(refusal))
            sys.exit(2)
        if not (installed.property or installed.links or installed.tables):
            self.stdout.write("nothing to do: the floor is installed")
        for what, codes in (("link", installed.links), ("table", installed.tables)):
            for code in codes:
                self.stdout.write(f"opened {what} {code}")
