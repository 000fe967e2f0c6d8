"""`python3 manage.py device CODE --tables T1,T2`: a device and its key, printed once."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounting.people.management.server import whoever_runs_this
from devices import enrolment
from devices.enrolment import EnrolmentRefused


class Command(BaseCommand):
    """Enrols a device, renews its key, or withdraws it."""

    help = "Enrol a device that posts for these tables, and print its key, once."
    example = "device IDP-0042 --tables MS-101"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("code", metavar="CODE", help="the device's own code, such as a serial number")
        parser.add_argument(
            "--tables", action="append", default=[], metavar="T1,T2", help="codes of its tables; may be given again"
        )
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument("--new-key", action="store_true", help="another key for a device that is there")
        instead.add_argument("--withdraw", action="store_true", help="end the key of a device")

    def handle(self, *args: Any, **options: Any) -> None:
        tables = [code.strip() for named in options["tables"] for code in named.split(",") if code.strip()]
        code, by, at, key = options["code"], whoever_runs_this().name, timezone.now(), secrets.token_urlsafe(32)
        try:
            if options["withdraw"]:
                enrolment.withdraw(code, by=by, at=at)
                self.stdout.write(f"the key of {code} is withdrawn")
                return
            if options["new_key"]:
                enrolment.renew(code, tables, key=key, by=by, at=at)
            else:
                enrolment.enrol(code, tables, key=key, by=by, at=at)
        except EnrolmentRefused as refusal:
            hint = "; --new-key gives it another key" if "already" in str(refusal) else ""
            where = {"code": "CODE", "tables": "--tables"}[refusal.field]
            raise CommandError(f"{where}: {refusal}{hint}") from None
        self.stdout.write(key)
