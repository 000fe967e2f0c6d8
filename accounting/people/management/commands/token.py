"""`python3 manage.py token NAME`: a personal token for the API, printed once (CONTRACT §7)."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounting.people.management.server import whoever_runs_this
from accounting.people.services import tokens
from accounting.people.services.acting import PersonRefused


class Command(BaseCommand):
    """Issues a token, or withdraws all that a person has."""

    help = "Print a personal token for the API, once. Whoever sends it acts as this person."
    example = "token sam --purpose reports"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="account name")
        parser.add_argument("--purpose", default="", metavar="WORDS", help="what it is for, for the page of people")
        parser.add_argument("--withdraw", action="store_true", help="end every token of this person")

    def handle(self, *args: Any, **options: Any) -> None:
        name, by, at = options["name"], whoever_runs_this(), timezone.now()
        try:
            if options["withdraw"]:
                ended = tokens.withdraw_all(name, by=by, at=at)
                self.stdout.write(f"{ended} token{'' if ended == 1 else 's'} of {name} withdrawn")
                return
            secret = secrets.token_urlsafe(32)
            tokens.issue(name, secret=secret, purpose=options["purpose"], by=by, at=at)
        except PersonRefused as refusal:
            raise CommandError(f"NAME: {refusal}") from None
        self.stdout.write(secret)
