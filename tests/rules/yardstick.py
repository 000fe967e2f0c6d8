"""How slow this machine is just now, so that figures written down on one machine can be asked of another."""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable

AS_WRITTEN_MICROSECONDS = 23.0  # a turn, where the figures of the tests were written


def microseconds(work: Callable[[], object]) -> float:
    """What it takes at best, in CPU time: short turns and many, for others take turns at the processor too."""
    return min(timeit.repeat(work, number=20, repeat=300, timer=time.process_time)) / 20 * 1e6


def slowness() -> float:
    """How many times longer everything takes here; 1 where it takes no longer."""
    return max(1.0, microseconds(_turn) / AS_WRITTEN_MICROSECONDS)


def _turn() -> int:
    """What rules do: small numbers, dictionaries, calls."""
    kept: dict[int, int] = {}
    for number in range(200):
        kept[number % 16] = _share(kept.get(number % 16, number), 170_003)
    return len(kept)


def _share(cents: int, rate_ppm: int) -> int:
    return (cents * rate_ppm + 999_999) // 1_000_000
