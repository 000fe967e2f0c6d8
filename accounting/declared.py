"""What the installed apps declare in modules of an agreed name; none of them is imported by name here."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps


def declared(module: str, name: str) -> Iterator[Any]:
    """What every app holds under `name` in its module, in the order of apps and declarations."""
    for config in apps.get_app_configs():
        if find_spec(f"{config.name}.{module}") is not None:
            yield from getattr(import_module(f"{config.name}.{module}"), name, ())


def by(key: str, found: Iterator[Any]) -> dict[str, Any]:
    """What is declared by its key. One that comes twice is a mistake of ours: AssertionError."""
    named: dict[str, Any] = {}
    for one in found:
        name = getattr(one, key)
        assert name not in named, f"{name} is declared twice"
        named[name] = one
    return named
