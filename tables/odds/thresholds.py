"""From when on what a table held against its theory is an exception: thresholds as data (REQUIREMENTS R101)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

from tables.odds.theory import Theory, deviations


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Hundredths of a standard deviation, parts per million of the handle where that is not known, and wagers at least."""

    deviations_hundredths: int
    share_ppm: int
    least_wagers: int

    def are_passed(self, wagers: int, handle_cents: int, hold_cents: int, theory: Theory) -> bool:
        """Whether somebody must look into what was held of these wagers; never of too few, nor where theory is not known."""
        if wagers < self.least_wagers or theory.win is None or not handle_cents:
            return False
        off = hold_cents - theory.win
        if theory.variance:
            found = deviations(off, theory.variance)
            return found is not None and abs(found) * 100 > self.deviations_hundredths
        return abs(Fraction(off, handle_cents)) * 1_000_000 > self.share_ppm


@cache
def by_jurisdiction() -> dict[str, Thresholds]:
    """The thresholds of each jurisdiction, as the file beside says; those of "" count where one is not listed."""
    text = (files("tables") / "odds" / "thresholds.toml").read_text("utf-8")
    return {
        entry["jurisdiction"]: Thresholds(entry["deviations_hundredths"], entry["share_ppm"], entry["least_wagers"])
        for entry in tomllib.loads(text)["terms"]
    }


def thresholds_in(jurisdiction: str) -> Thresholds:
    """The thresholds that count in a jurisdiction."""
    known = by_jurisdiction()
    return known.get(jurisdiction, known[""])
