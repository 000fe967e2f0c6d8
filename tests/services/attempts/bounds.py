"""Rows that stand at the very bound of what guards the tables of `jackpot`: the last that are right."""

from __future__ import annotations

from typing import Final

from tests.services.attempts.rows import Attempt, new_edition, new_hit, new_level_terms, new_link

WITHIN: Final[tuple[Attempt, ...]] = (
    lambda house: new_link(decks=1),
    lambda house: new_link(decks=8),
    lambda house: new_link(next_hit=1),
    lambda house: new_hit(paid_cents=0),
    lambda house: new_hit(share_ppm=1),
    lambda house: new_hit(share_ppm=1_000_000),
    lambda house: new_edition(wager_cents=1),
    lambda house: new_level_terms(reset_cents=0, limit_cents=0, unreasonable_cents=0),
    lambda house: new_level_terms(rate_ppm=0, reserve_ppm=1_000_000),
    lambda house: new_level_terms(rate_ppm=1_000_000),
    lambda house: new_level_terms(hit_numerator=1, hit_denominator=1),
)
