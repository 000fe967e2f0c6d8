"""What the installed apps declare to the office, found by the names of their modules; none is imported by name here."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps

from accounting.office.acts import Act
from accounting.office.work import JobKind


@cache
def acts() -> dict[str, Act]:
    """Every act of the house by its name, in the order of apps and declarations."""
    return by_name(_declared("acts", "ACTS"))


@cache
def jobs() -> dict[str, JobKind]:
    """Every kind of job by its name."""
    return by_name(_declared("jobs", "JOBS"))


def _declared(module: str, name: str) -> Iterator[Any]:
    for config in apps.get_app_configs():
        if find_spec(f"{config.name}.{module}") is not None:
            yield from getattr(import_module(f"{config.name}.{module}"), name, ())


def by_name(declared: Iterator[Any]) -> dict[str, Any]:
    """What is declared by its name. A name that comes twice is a mistake of ours: AssertionError."""
    found: dict[str, Any] = {}
    for one in declared:
        assert one.name not in found, f"{one.name} is declared twice"
        found[one.name] = one
    return found
