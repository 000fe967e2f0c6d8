"""Whether what a link owes must be covered by a balance of its own: terms as data, dated, by jurisdiction (REQUIREMENTS R84)."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Final


@dataclass(frozen=True, slots=True)
class FundsTerms:
    """Whether a balance below what is owed closes a link, and every how many days one is recorded at least."""

    required: bool
    every_days: int


NOTHING_REQUIRED: Final = FundsTerms(required=False, every_days=7)


@cache
def by_jurisdiction() -> dict[str, list[tuple[date, FundsTerms]]]:
    """The editions of each jurisdiction with the gaming day each counts from, oldest first, as the file in `terms` says."""
    text = (files("accounting") / "terms" / "funds.toml").read_text("utf-8")
    found: defaultdict[str, list[tuple[date, FundsTerms]]] = defaultdict(list)
    for entry in tomllib.loads(text)["terms"]:
        found[entry["jurisdiction"]].append((entry["counts_from"], FundsTerms(entry["required"], entry["every_days"])))
    return {jurisdiction: sorted(editions, key=lambda each: each[0]) for jurisdiction, editions in found.items()}


def funds_terms_in(jurisdiction: str, on: date) -> FundsTerms:
    """The terms that count in a jurisdiction on a gaming day; those of "" where it is not listed."""
    known = by_jurisdiction()
    editions = known.get(jurisdiction, known[""])
    return next((each for since, each in reversed(editions) if since <= on), NOTHING_REQUIRED)
