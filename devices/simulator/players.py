"""Who sits down: kinds of players, what they like to bet, and how faithfully they follow the strategy."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from devices.simulator import strategy


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of player. Appetites are the chance of having a habit of that wager, per player, not per round."""

    name: str
    share: float
    antes: tuple[int, ...]
    """Multiples of the table minimum this kind antes; one is chosen on sitting down."""
    progressive: float
    three_card_bonus: float
    cover_all: float
    side_cents: tuple[int, ...]
    stubborn: float
    """Chance of calling once where the strategy folds."""
    timid: float
    """Chance of calling once where the strategy raises three times."""
    stays: int
    """How many rounds this kind stays, on average."""


KINDS: tuple[Kind, ...] = (
    Kind("regular", 0.40, (1, 1, 1, 2), 0.70, 0.30, 0.25, (100, 500), 0.01, 0.02, 80),
    Kind("tourist", 0.25, (1, 1, 2), 0.85, 0.60, 0.50, (100, 100, 500), 0.12, 0.25, 30),
    Kind("student", 0.15, (1, 2, 3), 0.05, 0.02, 0.02, (100,), 0.0, 0.0, 120),
    Kind("chaser", 0.15, (1, 1, 2, 5), 1.0, 0.75, 0.70, (500, 1000, 2500), 0.20, 0.05, 60),
    Kind("high_roller", 0.05, (5, 10, 10, 20), 0.60, 0.35, 0.35, (2500, 5000, 10000), 0.05, 0.0, 45),
)

SKIPS_A_HABIT = 0.03
"""A habit is skipped now and then: a player who is out of single dollars, or superstitious."""


class Player:
    """One person in one seat: an ante, habits for the side wagers and a way of playing."""

    __slots__ = ("ante_cents", "bonus_cents", "cover_all_cents", "kind", "leaves_after", "progressive")

    def __init__(self, rng: Random, *, minimum_cents: int, maximum_cents: int) -> None:
        kind = rng.choices(KINDS, _SHARES)[0]
        self.kind = kind
        self.ante_cents = min(rng.choice(kind.antes) * minimum_cents, maximum_cents)
        self.progressive = rng.random() < kind.progressive
        self.bonus_cents = rng.choice(kind.side_cents) if rng.random() < kind.three_card_bonus else 0
        self.cover_all_cents = rng.choice(kind.side_cents) if rng.random() < kind.cover_all else 0
        self.leaves_after = 1 + int(rng.expovariate(1 / kind.stays))

    def bets(self, advice: int, rng: Random) -> int:
        """What this player really bets (0, 1 or 3 antes) when the strategy advises `advice`."""
        if advice == strategy.FOLD:
            return strategy.CALL if self.kind.stubborn and rng.random() < self.kind.stubborn else strategy.FOLD
        if advice == strategy.RAISE and self.kind.timid and rng.random() < self.kind.timid:
            # Twice the ante is allowed and is what hesitant players put down.
            return 2 if rng.random() < 0.5 else strategy.CALL
        return advice


_SHARES = tuple(kind.share for kind in KINDS)
