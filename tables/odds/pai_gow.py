"""Pai gow: the 496 pairs of tiles by what they are (seed 003, 19:47-10.2)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Final

from tables.odds.edition import WagerOdds
from tables.rules.pai_gow import RANK, TWICE, name, strength

NO_HOUSE_WAY: Final = (
    "how the dealer sets four tiles is not in the rules at hand, and without it there is no best play; only the hands are"
    " counted"
)


def two_tile_counts() -> dict[str, int]:
    """The pairs of tiles of the set of 32, best first."""
    tiles = [tile for tile in RANK for _ in range(2 if tile in TWICE else 1)]
    pairs = sorted(combinations(tiles, 2), key=strength, reverse=True)
    return dict(Counter(name(pair) for pair in pairs))


def base() -> tuple[WagerOdds, ...]:
    """The hands of two tiles; no edge."""
    counts = two_tile_counts()
    return (WagerOdds(counts, sum(counts.values()), None, None, None, {"tiles": 2}, reason=NO_HOUSE_WAY),)
