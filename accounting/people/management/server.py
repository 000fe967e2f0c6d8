"""What commands about people share: who runs them, and where the house is served."""

import getpass
import json
from argparse import ArgumentParser

from django.conf import settings

from accounting.people.services.acting import Actor

USUAL = "http://localhost:8000"


def whoever_runs_this() -> Actor:
    """The operating system's user at the server, which no account of the house can be called."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in an image
        user = "unknown"
    return Actor(f"command ({user})", at_server=True)


def add_base_url(parser: ArgumentParser) -> None:
    """The option that says where the pages are."""
    parser.add_argument("--base-url", metavar="URL", help="where people reach the pages (default: as `up` serves them)")


def base_url(asked: str | None) -> str:
    """Where people reach the pages: as asked for, as the running `up` says, or by the first name behind the proxy."""
    if asked:
        return asked.rstrip("/")
    if settings.HTTPS and settings.NAMES:
        return f"https://{settings.NAMES[0]}"
    try:
        return str(json.loads(settings.DATA.state.read_text())["url"]) or USUAL
    except (OSError, ValueError, KeyError):
        return USUAL
