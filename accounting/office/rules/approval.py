"""Who must agree before an act is done, and who is still missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

WAITING: Final = "waiting"
DONE: Final = "done"
REFUSED: Final = "refused"
WITHDRAWN: Final = "withdrawn"
EXPIRED: Final = "expired"
ENDS: Final = (DONE, REFUSED, WITHDRAWN, EXPIRED)
STATES: Final = (WAITING, *ENDS)


class AnyTier(Protocol):
    """A tier as declared or as kept."""

    @property
    def from_cents(self) -> int:
        """The amount it begins at."""

    @property
    def role(self) -> str:
        """Who must agree."""

    @property
    def count(self) -> int:
        """How many of them."""


@dataclass(frozen=True, slots=True)
class Need:
    """So many people of a role must agree."""

    role: str
    count: int


def needs_for(tiers: Iterable[AnyTier], amount_cents: int) -> tuple[Need, ...]:
    """Who must agree to an amount of either sign: of each role's tiers the highest reached; a count of 0 is nobody."""
    reached: dict[str, AnyTier] = {}
    for tier in tiers:
        if tier.from_cents <= abs(amount_cents) and (
            tier.role not in reached or tier.from_cents > reached[tier.role].from_cents
        ):
            reached[tier.role] = tier
    return tuple(Need(tier.role, tier.count) for tier in reached.values() if tier.count)


def missing(needs: Iterable[Need], approved_as: Iterable[str]) -> tuple[Need, ...]:
    """Who must still agree, when people have agreed as these roles."""
    given = Counter(approved_as)
    return tuple(Need(need.role, need.count - given[need.role]) for need in needs if need.count > given[need.role])


def agrees_as(roles: Collection[str], still: Iterable[Need]) -> str | None:
    """The role as which somebody's approval would count, None where nobody of their roles is missing."""
    return next((need.role for need in still if need.role in roles), None)
