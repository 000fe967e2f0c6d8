"""What a verification finds: how much it looked at, or a difference."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import Error


class Difference(Exception):
    """What is recorded is not what the events give. Says where, what was expected and what is there."""

    def __init__(self, where: str, what: str, expected: object, found: object) -> None:
        # Words only, so that it can be sent from one process to another.
        super().__init__(where, what, _short(expected), _short(found))

    def __str__(self) -> str:
        where, what, expected, found = self.args
        return f"{where}: {what}: expected {expected}, found {found}"


def _short(value: object) -> str:
    text = value.hex() if isinstance(value, bytes | memoryview) else str(value)
    return text if len(text) <= 300 else text[:297] + "..."


def same(where: str, what: str, expected: object, found: object) -> None:
    """Raise Difference unless what was found is what was expected."""
    if expected != found:
        raise Difference(where, what, expected, found)


@contextmanager
def readable(where: str) -> Iterator[None]:
    """What is on record and cannot be read or decided again is a difference as well; trouble of the database is not."""
    try:
        yield
    except (Difference, Error, ProcessDied):
        raise
    except Exception as error:
        raise Difference(where, "what is on record", "something that can be decided again", repr(error)) from error


class ProcessDied(RuntimeError):
    """A process ended before its job was done; what it was about to say is not known."""


@dataclass(slots=True)
class Counts:
    """What a verification looked at."""

    streams: int = 0
    events: int = 0
    rounds: int = 0
    payouts: int = 0
    transfers: int = 0
    hits: int = 0
    holds: int = 0
    locks: int = 0
    messages: int = 0
    accounts: int = 0
    slips: int = 0

    def add(self, other: "Counts") -> None:
        """Count what another part looked at."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
