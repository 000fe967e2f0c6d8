"""How long each kind of record is kept at least: terms as data, dated by the day from which they count (REQUIREMENTS R100)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Final

NEVER: Final = "never"
REMOVED: Final = "removed"
EMPTIED: Final = "emptied"
DONE: Final = "done"
ENDS: Final = (NEVER, REMOVED, EMPTIED, DONE)


@dataclass(frozen=True, slots=True)
class Edition:
    """A term that counts from a day on: so many years and days, by which rule."""

    counts_from: date
    years: int
    days: int
    source: str

    def kept_until(self, made_on: date) -> date:
        """The last day on which what was made on a day is kept. Where the last year has no 29 February it is 1 March."""
        year = made_on.year + self.years
        try:
            anniversary = made_on.replace(year=year)
        except ValueError:
            anniversary = date(year, 3, 1)
        return anniversary + timedelta(days=self.days)

    @property
    def words(self) -> str:
        """How long: `5 years`, `7 days`."""
        parts = [(self.years, "year"), (self.days, "day")]
        return " and ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in parts if count)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record: its tables, its terms, what becomes of it afterwards, and the trigger that refuses it earlier.

    `dated` says where its oldest is found: a table, the moment of a row, and the key in whose order rows come.
    """

    code: str
    title: str
    ends: str
    tables: tuple[str, ...]
    editions: tuple[Edition, ...]
    dated: tuple[str, str, str] | None
    guard: str

    def in_force(self, on: date) -> Edition | None:
        """The edition that counts on a day; the first where all count from later, None where there is no term."""
        found = [edition for edition in self.editions if edition.counts_from <= on]
        return found[-1] if found else next(iter(self.editions), None)

    def kept_until(self, made_on: date, today: date) -> date | None:
        """The last day on which what was made on a day is kept, as of today; None where there is no term.

        Of the edition under which it was made and those that followed, the longest counts.
        """
        first = self.in_force(made_on)
        if first is None:
            return None
        later = [edition for edition in self.editions if first.counts_from < edition.counts_from <= today]
        return max(edition.kept_until(made_on) for edition in (first, *later))

    def has_passed(self, made_on: date, today: date) -> bool:
        """Whether the term of what was made on a day is over."""
        until = self.kept_until(made_on, today)
        return until is not None and until < today

    def passed_before(self, today: date) -> date:
        """Everything made before this day has passed its term, by the longest that has counted; date.min where there is none."""
        so_far = [edition for edition in self.editions if edition.counts_from <= today] or list(self.editions)
        if not so_far:
            return date.min
        longest = max(so_far, key=lambda edition: edition.kept_until(today))
        day = today - timedelta(days=longest.years * 366 + longest.days + 2)
        while longest.kept_until(day) < today:
            day += timedelta(days=1)
        return day


@cache
def kinds() -> dict[str, Kind]:
    """Every kind of record by its code, as the file beside the rules says."""
    text = (files("accounting") / "terms" / "retention.toml").read_text("utf-8")
    return {row["code"]: _kind(row) for row in tomllib.loads(text)["kinds"]}


def _kind(row: dict[str, Any]) -> Kind:
    editions = tuple(
        Edition(one["counts_from"], one.get("years", 0), one.get("days", 0), one["source"]) for one in row["editions"]
    )
    dated = row.get("dated")
    return Kind(
        row["code"],
        row["title"],
        row["ends"],
        tuple(row["tables"]),
        tuple(sorted(editions, key=lambda edition: edition.counts_from)),
        tuple(dated) if dated else None,
        row.get("guard", ""),
    )
