"""From when on what a table held against its theory is an exception: thresholds as data, dated (REQUIREMENTS R93, R101)."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from importlib.resources import files

from tables.odds.theory import Theory, deviations


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Hundredths of a standard deviation, parts per million of the handle where that is not known, and wagers at least.

    A week is reviewed beside so many weeks before it, and within so many days after it is over.
    """

    deviations_hundredths: int
    share_ppm: int
    least_wagers: int
    weeks_before: int
    review_within_days: int

    def are_passed(self, wagers: int, handle_cents: int, hold_cents: int, theory: Theory) -> bool:
        """Whether somebody must look into what was held of these wagers; never of too few, nor where theory is not known."""
        if wagers < self.least_wagers or theory.win is None or not handle_cents:
            return False
        return self.is_far(hold_cents - theory.win, handle_cents, theory.variance)

    def is_far(self, off_cents: Fraction, handle_cents: int, variance: Fraction | None) -> bool:
        """Whether so many cents off of a handle are too many: by their variance, or where none is known by their share."""
        if variance:
            found = deviations(off_cents, variance)
            return found is not None and abs(found) * 100 > self.deviations_hundredths
        return abs(off_cents / handle_cents) * 1_000_000 > self.share_ppm


@cache
def by_jurisdiction() -> dict[str, list[tuple[date, Thresholds]]]:
    """The editions of each jurisdiction with the gaming day each counts from, oldest first, as the file beside says."""
    text = (files("tables") / "odds" / "thresholds.toml").read_text("utf-8")
    found: defaultdict[str, list[tuple[date, Thresholds]]] = defaultdict(list)
    for entry in tomllib.loads(text)["terms"]:
        values = {name: entry[name] for name in Thresholds.__dataclass_fields__}
        found[entry["jurisdiction"]].append((entry["counts_from"], Thresholds(**values)))
    return {jurisdiction: sorted(editions, key=lambda each: each[0]) for jurisdiction, editions in found.items()}


def thresholds_in(jurisdiction: str, on: date) -> Thresholds:
    """The thresholds that count in a jurisdiction on a gaming day; those of "" where it is not listed."""
    known = by_jurisdiction()
    editions = known.get(jurisdiction, known[""])
    return next((each for since, each in reversed(editions) if since <= on), editions[0][1])


def counted_since(jurisdiction: str) -> date:
    """The gaming day from which on there are thresholds in a jurisdiction."""
    known = by_jurisdiction()
    return known.get(jurisdiction, known[""])[0][0]
