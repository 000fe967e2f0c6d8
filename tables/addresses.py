"""Where the pages of rounds are; other apps' pages and templates link to them by name only."""

from urllib.parse import quote

from django.urls import reverse


def round_address(table: str, reference: str) -> str:
    """Where a round's page is; a slash inside either part stays part of it."""
    return reverse("round-page", args=["-"]).removesuffix("-") + f"{quote(table, safe='')}/{quote(reference, safe='')}"
