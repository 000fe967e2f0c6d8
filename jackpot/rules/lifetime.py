"""Lifetime meters of a level: what wagers ever brought to it (REQUIREMENTS R2, R4).

They only rise. An award, a reset, an adjustment or a transfer does not bear on them, and what a void takes back was
brought all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jackpot.rules.progressive import LevelMovement


@dataclass(slots=True)
class Lifetime:
    """Millionths of a cent: stake × rate with what overflowed of it, stake × reserve rate, and what overflowed."""

    contributed_millionths: int = 0
    reserved_millionths: int = 0
    overflowed_millionths: int = 0

    def bring(self, movement: LevelMovement) -> None:
        """Count what a round or a lock brought to the level; one that takes back of a lock's brings nothing."""
        if movement.contributed_millionths > 0:
            self.contributed_millionths += movement.contributed_millionths
            self.overflowed_millionths += movement.overflowed_millionths
        if movement.reserved_millionths > 0:
            self.reserved_millionths += movement.reserved_millionths

    def add(self, other: Lifetime) -> None:
        """Add what another stretch of events brought."""
        self.contributed_millionths += other.contributed_millionths
        self.reserved_millionths += other.reserved_millionths
        self.overflowed_millionths += other.overflowed_millionths


def bring(levels: dict[str, Lifetime], movements: Iterable[LevelMovement]) -> None:
    """Count what a round or a lock brought to each level; `levels` is moved along."""
    for movement in movements:
        levels[movement.level].bring(movement)
