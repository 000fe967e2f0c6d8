"""Searches that people keep: how they are named, and how many."""

import unicodedata
from typing import Final

MOST_FILTERS: Final = 30
"""Of one person on one page."""
LONGEST_NAME: Final = 60
LONGEST_QUERY: Final = 1_000


class FilterRefused(ValueError):
    """A name that no search is kept under."""


def filter_name(typed: str) -> str:
    """The name as it is kept: one line, no more than one space between words. Raises FilterRefused."""
    name = " ".join(unicodedata.normalize("NFC", typed).split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise FilterRefused(f"a name of 1 to {LONGEST_NAME} characters is expected, all of which can be seen")
    return name
