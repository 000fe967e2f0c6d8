"""What counts from when: changes in the order in which they were recorded, each from its moment on (DECISIONS A53)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

Value = TypeVar("Value")

ALWAYS: Final = -(2**63)
"""The moment of what has counted from the beginning, in nanoseconds since 1970 UTC."""


class Dated(Generic[Value]):
    """Editions of one thing. At a moment the latest one not after it counts, of equal moments the one recorded later.

    Moments are nanoseconds since 1970 UTC.
    """

    __slots__ = ("_from", "_values")

    def __init__(self, value: Value, since: int = ALWAYS) -> None:
        self._from = [since]
        self._values = [value]

    def add(self, value: Value, since: int) -> None:
        """Record a further edition that counts from a moment on."""
        place = bisect_right(self._from, since)
        self._from.insert(place, since)
        self._values.insert(place, value)

    def at(self, moment: int) -> Value:
        """What counts at a moment; the first edition where all of them count from later."""
        if len(self._values) == 1:
            return self._values[0]
        return self._values[max(bisect_right(self._from, moment) - 1, 0)]

    def last_change(self) -> int:
        """The moment that the last edition counts from: at it and ever after, nothing else does."""
        return self._from[-1]

    def starts(self, moment: int) -> bool:
        """Whether anything counts at a moment yet."""
        return self._from[0] <= moment

    def __len__(self) -> int:
        return len(self._values)

    def copy(self) -> Dated[Value]:
        """The same editions, to be added to apart from these."""
        twin: Dated[Value] = Dated.__new__(Dated)
        twin._from, twin._values = list(self._from), list(self._values)
        return twin

    def __iter__(self) -> Iterator[tuple[int, Value]]:
        return iter(zip(self._from, self._values, strict=True))

    def __repr__(self) -> str:
        return f"Dated({', '.join(f'{value!r} from {since}' for since, value in self)})"
