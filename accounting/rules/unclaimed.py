"""What nobody came for: from when it is unclaimed, and from when it is the state's (REQUIREMENTS R83, SPEC §10)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class UnclaimedTerms:
    """How long it is kept: gaming days until it is unclaimed, years from the game until it is the state's."""

    unclaimed_after_days: int
    kept_years: int

    def unclaimed_from(self, won_on: date) -> date:
        """The first gaming day on which what was won on a gaming day may be booked as unclaimed."""
        return won_on + timedelta(days=self.unclaimed_after_days)

    def state_from(self, won_on: date) -> date:
        """The first gaming day on which it is the state's: the one after it has been kept for whole years.

        Where the last year has no 29 February it is kept to 1 March.
        """
        year = won_on.year + self.kept_years
        try:
            anniversary = won_on.replace(year=year)
        except ValueError:
            anniversary = date(year, 3, 1)
        return anniversary + timedelta(days=1)


@cache
def by_jurisdiction() -> dict[str, UnclaimedTerms]:
    """The terms of each jurisdiction, as the file beside the rules says; those of "" count where one is not listed."""
    text = (files("accounting") / "terms" / "unclaimed.toml").read_text("utf-8")
    return {
        entry["jurisdiction"]: UnclaimedTerms(entry["unclaimed_after_days"], entry["kept_years"])
        for entry in tomllib.loads(text)["terms"]
    }


def terms_in(jurisdiction: str) -> UnclaimedTerms:
    """The terms that count in a jurisdiction."""
    known = by_jurisdiction()
    return known.get(jurisdiction, known[""])
