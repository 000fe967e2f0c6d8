"""`python3 manage.py person NAME --role ROLE`: the first people of a house; the rest are invited on the page of people."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounting.people.addresses import link_to
from accounting.people.management.server import add_base_url, base_url, whoever_runs_this
from accounting.people.rules.names import folded
from accounting.people.services import accounts
from accounting.people.services.acting import PersonRefused
from accounting.rules.roles import ROLES


class Command(BaseCommand):
    """Makes a person without a password, and prints a link at which the person sets one."""

    help = "Create a person and print a one-time link at which the person sets a password."
    example = "person sam --role security"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="account name")
        parser.add_argument(
            "--role", action="append", default=[], metavar="ROLE", dest="roles", help=f"one of {', '.join(ROLES)}"
        )
        parser.add_argument("--full-name", default="", metavar="NAME", help="the person's name as colleagues write it")
        parser.add_argument(
            "--link", action="store_true", help="a new link for somebody who is there; the password and sessions end"
        )
        add_base_url(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        secret, by, at = secrets.token_urlsafe(32), whoever_runs_this(), timezone.now()
        name, roles = options["name"], options["roles"]
        try:
            if options["link"]:
                if roles:
                    raise CommandError("--link: roles are changed on the page of people, not here")
                accounts.reset(name, secret=secret, by=by, at=at)
                name = folded(name)
                self.stdout.write(f"a new link for {name}; the one before, the password and sessions have ended")
            else:
                person = accounts.invite(name, roles, full_name=options["full_name"], secret=secret, by=by, at=at)
                name = person.username
                self.stdout.write(f"{name} is here as {', '.join(accounts.roles_of(person))}")
        except PersonRefused as refusal:
            hint = " --link gives out a new one-time link." if refusal.code == "already_there" else ""
            where = {"roles": "--role: ", "name": "NAME: "}.get(refusal.field, "")
            raise CommandError(f"{where}{refusal}{hint}") from None
        self.stdout.write("The password is set here, once, within three days:")
        self.stdout.write(link_to(base_url(options["base_url"]), name, secret))
