"""What a verification finds: how much it looked at, or a difference."""

from dataclasses import dataclass


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
    messages: int = 0
    accounts: int = 0

    def add(self, other: "Counts") -> None:
        """Count what another part looked at."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
