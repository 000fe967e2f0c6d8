"""The meter of a level: what a contribution adds and what an award takes.

All amounts are whole cents; the fraction of a cent a meter has earned is kept beside them in
millionths of a cent, and nothing is ever rounded away (SPEC §3, §6.1-6.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class LevelTerms:
    """The terms of one level (SPEC §6.8): cents, and rates in parts per million of the wager."""

    code: str
    reset_cents: int
    rate_ppm: int
    reserve_ppm: int = 0
    limit_cents: int | None = None
    unreasonable_cents: int | None = None
    overflow_policy: str = "next_reset"  # or revenue
    seed_funding: str = "reserve_then_house"  # or house
    floor_policy: str = "allow"  # or top_up


class Meter(NamedTuple):
    """What a level holds: the displayed meter, its hidden reserve, and what the limit kept off the display."""

    value_cents: int
    residual_millionths: int = 0
    reserve_cents: int = 0
    reserve_residual_millionths: int = 0
    overflow_cents: int = 0
    overflow_residual_millionths: int = 0


class Seed(NamedTuple):
    """Who paid a reset or a top-up, in cents (DECISIONS A22)."""

    reserve_cents: int
    house_cents: int
    overflow_cents: int


NO_SEED: Final = Seed(0, 0, 0)


class Taken(NamedTuple):
    """One award: the meter it leaves, what it pays, who reseeded, and the overflow that became revenue."""

    meter: Meter
    paid_cents: int
    seed: Seed
    revenue_cents: int


def opening(terms: LevelTerms) -> Meter:
    """The meter of a level that has just been opened: its reset and nothing else."""
    return Meter(terms.reset_cents)


def contribute(meter: Meter, terms: LevelTerms, stake_cents: int) -> Meter:
    """Add a stake's share to the meter and its reserve, to the millionth of a cent.

    A contribution is split exactly at the limit and the rest goes to the overflow (SPEC §6.4); a meter
    that already stands above its limit is left alone.  Contributing two stakes at once or one after the
    other is the same.
    """
    display = stake_cents * terms.rate_ppm
    overflow_cents, overflow_residual = meter.overflow_cents, meter.overflow_residual_millionths
    if terms.limit_cents is not None:
        room = (terms.limit_cents - meter.value_cents) * MILLION - meter.residual_millionths
        fits = min(display, max(room, 0))
        if fits < display:
            carried, overflow_residual = divmod(overflow_residual + display - fits, MILLION)
            overflow_cents += carried
            display = fits
    cents, residual = divmod(meter.residual_millionths + display, MILLION)
    reserve_cents, reserve_residual = divmod(
        meter.reserve_residual_millionths + stake_cents * terms.reserve_ppm, MILLION
    )
    return Meter(
        meter.value_cents + cents,
        residual,
        meter.reserve_cents + reserve_cents,
        reserve_residual,
        overflow_cents,
        overflow_residual,
    )


def take(meter: Meter, terms: LevelTerms, share_ppm: int) -> Taken:
    """Pay a share of the displayed meter; all of it resets the level, less may be topped up.

    The award is rounded down to the cent and what is left stays on the meter (SPEC §3): the sign never
    promises more than the meter holds.
    """
    if share_ppm == MILLION:
        return _take_all(meter, terms)
    paid_cents = meter.value_cents * share_ppm // MILLION
    left_cents = meter.value_cents - paid_cents
    reserve_cents = meter.reserve_cents
    seed = NO_SEED
    if terms.floor_policy == "top_up" and left_cents < terms.reset_cents:
        seed = _fund(terms, terms.reset_cents - left_cents, reserve_cents)
        left_cents = terms.reset_cents
        reserve_cents -= seed.reserve_cents
    after = Meter(
        left_cents,
        meter.residual_millionths,
        reserve_cents,
        meter.reserve_residual_millionths,
        meter.overflow_cents,
        meter.overflow_residual_millionths,
    )
    return Taken(after, paid_cents, seed, 0)


def _take_all(meter: Meter, terms: LevelTerms) -> Taken:
    """The full award: the level restarts at its reset, with the overflow that has waited (SPEC §6.3, §6.4)."""
    seed = _fund(terms, terms.reset_cents, meter.reserve_cents)
    joins_cents = revenue_cents = 0
    if terms.overflow_policy == "revenue":
        revenue_cents = meter.overflow_cents
    else:
        joins_cents = meter.overflow_cents
        if terms.limit_cents is not None:
            # The residual stays on the meter, so it counts towards the limit as well.
            room = (terms.limit_cents - terms.reset_cents) * MILLION - meter.residual_millionths
            joins_cents = min(joins_cents, max(room, 0) // MILLION)
    after = Meter(
        terms.reset_cents + joins_cents,
        meter.residual_millionths,
        meter.reserve_cents - seed.reserve_cents,
        meter.reserve_residual_millionths,
        meter.overflow_cents - joins_cents - revenue_cents,
        meter.overflow_residual_millionths,
    )
    return Taken(after, meter.value_cents, Seed(seed.reserve_cents, seed.house_cents, joins_cents), revenue_cents)


def _fund(terms: LevelTerms, needed_cents: int, reserve_cents: int) -> Seed:
    """Where money for a reset or a top-up comes from: the reserve first, then the house, or the house alone."""
    from_reserve = 0 if terms.seed_funding == "house" else min(reserve_cents, needed_cents)
    return Seed(from_reserve, needed_cents - from_reserve, 0)
