"""What the installed apps declare to the office, found by the names of their modules; none is imported by name here."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from accounting.declared import by, declared
from accounting.office.acts import Act
from accounting.office.work import JobKind
from accounting.rules.events import UNASKED


@cache
def acts() -> dict[str, Act]:
    """Every act of the house by its name, in the order of apps and declarations."""
    return by_name(declared("acts", "ACTS"))


def title(kind: str) -> str:
    """What people call an act or a kind of event; its own name where the house has it no more."""
    known = acts().get(kind)
    return known.title if known else UNASKED.get(kind, kind)


@cache
def subjects() -> dict[str, Callable[[], Iterable[str]]]:
    """What acts may be about, by what it is (`link`, `hit` …), as far as it is not dealt with: forms offer it."""
    return dict(declared("acts", "SUBJECTS"))


@cache
def jobs() -> dict[str, JobKind]:
    """Every kind of job by its name."""
    return by_name(declared("jobs", "JOBS"))


def by_name(found: Iterator[Any]) -> dict[str, Any]:
    """What is declared by its name. A name that comes twice is a mistake of ours: AssertionError."""
    return by("name", found)
