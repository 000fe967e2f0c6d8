"""Who asks something of the office."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody by name, with the roles they have now and the address they come from; a device has no roles."""

    name: str
    roles: frozenset[str]
    origin: str = ""
