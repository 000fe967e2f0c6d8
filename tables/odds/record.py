"""The record of what was counted: one JSON file for each edition, checked in, with the digest it was counted for.

Counting everything takes minutes; pages read the record.  An edition that has changed since is not answered for.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from tables.odds.calculation import definitions, digest
from tables.odds.edition import EditionOdds, from_json

FOLDER: Final = Path(__file__).parent / "data"


class NoOdds(Exception):
    """There is no such edition, it has never been counted, or it has changed since."""


def of_edition(code: str) -> EditionOdds:
    """The odds of an edition published with the product; NoOdds says why there are none."""
    return _of_edition(code)


@cache
def _of_edition(code: str) -> EditionOdds:
    definition = definitions().get(code)
    if definition is None:
        raise NoOdds(f"there is no edition {code}")
    try:
        entries: list[dict[str, Any]] = json.loads(file_of(code).read_text("utf-8"))
    except FileNotFoundError:
        raise NoOdds(f"{code} has not been counted: manage.py odds --recompute {code}") from None
    odds = from_json(entries)
    if odds.digest != digest(definition):
        raise NoOdds(f"{code} has changed since it was counted: manage.py odds --recompute {code}")
    return odds


def file_of(code: str) -> Path:
    """Where the record of an edition is kept."""
    return FOLDER / f"{code}.json"


def keep(odds: EditionOdds) -> bool:
    """Write an edition's record; whether it differs from what was there."""
    file = file_of(odds.edition)
    text = json.dumps(odds.to_json(), indent=1) + "\n"
    before = file.read_text("utf-8") if file.exists() else None
    if text != before:
        file.write_text(text, "utf-8")
    forget()
    return text != before


def forget() -> None:
    """Read every record anew."""
    _of_edition.cache_clear()
