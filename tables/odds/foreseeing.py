"""What terms of a link would come to, before anybody signs them: hits, meters, returns, costs, reserve and overflow.

Exact, from the odds of the paytable's hands, for one wager after the other:

- hits a month: the mean is wagers × probability, the band is the binomial's. Hands of one round share their community
  cards, so hits at one table come a little more together than the band says; the mean is exact all the same.
- the meter at the next hit: until then only contributions move it, so it is the present one and as many contributions as
  wagers are waited for (geometric), up to the limit.
- the meter at a hit in the long run, its mean: of a level that is never limited nor topped up, whatever shares it pays
  (`tables.odds.progressive.LongRun`; an award's fraction of a cent that stays on the meter is left out).
- what players get back at a meter, and what the house puts in in the long run.

Simulated with a seed (`tables.odds.months`), and said so with its standard error: the meter at a hit where limits or
top-ups bear on it, its band always; what a month from the present meters costs the house, and where it leaves reserve and
overflow. Money is whole cents or exact fractions of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION, LevelTerms, Meter
from jackpot.rules.parts import held
from tables.odds.chance import Band, happenings, mean_wait_within, missed, waiting
from tables.odds.months import BATCHES, Estimate, Played, estimate, meters_at_hits, months
from tables.odds.progressive import LevelOdds, LongRun, ProgressiveOdds, of_paytable

MOST_WAGERS: Final = 1_000_000_000
"""Wagers a month that anything is foreseen for; a floor of a thousand full tables makes a quarter of it."""
SEED: Final = 1


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean and its band; exact, or simulated with the standard error of the mean."""

    mean: Fraction
    low: int | None = None
    high: int | None = None
    error: Fraction | None = None

    @property
    def exact(self) -> bool:
        """Whether the mean was counted and not played."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class ReturnAt:
    """What comes back to players of a wager when the level shows so much and the others their long-run mean."""

    what: str
    meter_cents: int
    returned: Fraction


@dataclass(frozen=True, slots=True)
class LevelForeseen:
    """One level under the terms, from the meters it starts with. Amounts are cents; `wait` is in wagers."""

    terms: LevelTerms
    chance: Fraction
    full_chance: Fraction
    starts_with: Meter
    hits: Figure
    wait: Band | None
    next_meter: Figure | None
    meter: Figure | None
    returns: tuple[ReturnAt, ...]
    contributed: Fraction
    reserved: Fraction
    house_long_run: Fraction | None
    house: Figure
    paid: Figure
    reserve_after: Figure
    overflow_after: Figure


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A link under the terms over a month of so many wagers; `cost` is all that the house puts into its levels, in cents."""

    link: LinkTerms
    wagers: int
    seed: int
    runs: int
    levels: tuple[LevelForeseen, ...]
    fixed_pays: Fraction
    envy_per_other: Fraction
    cost: Figure


def foresee(link: LinkTerms, start: Mapping[str, Meter], wagers: int, seed: int = SEED) -> Foreseen:
    """What a month of so many wagers comes to under these terms from these meters, by level.

    Raises NoProbability where nothing is known of the paytable's hands, ValueError for a pace that is not counted.
    """
    if not 0 < wagers <= MOST_WAGERS:
        raise ValueError(f"wagers a month: from 1 to {MOST_WAGERS:,}")
    odds = of_paytable(link.paytable)
    played = months(link, start, wagers, seed)
    at_hits = meters_at_hits(link, start, seed)
    levels = tuple(_level(link, odds, each, start, wagers, played, at_hits) for each in odds.levels)
    given = sum((level.contributed + level.reserved for level in levels), Fraction(0))
    house = estimate([sum(level.house_cents for level in month.values()) for month in played])
    return Foreseen(
        link,
        wagers,
        seed,
        len(played),
        levels,
        odds.fixed_return * link.paytable.wager_cents * wagers,
        odds.envy * link.paytable.wager_cents * wagers,
        Figure(given + house.mean, int(given) + house.low, int(given) + house.high, house.error),
    )


def _level(
    link: LinkTerms,
    odds: ProgressiveOdds,
    known: LevelOdds,
    start: Mapping[str, Meter],
    wagers: int,
    played: list[dict[str, Played]],
    at_hits: Mapping[str, list[int]],
) -> LevelForeseen:
    terms = link.level[known.level]
    run = odds.long_run(terms)
    months_ = [month[terms.code] for month in played]
    band = happenings(wagers, known.hit_probability)
    plain = not may_be_bounded(terms, known, start[terms.code])
    found = at_hits[terms.code]
    at_hit = estimate(found, BATCHES) if found else None
    meter = None if at_hit is None else _meter_at_a_hit(run, at_hit, plain=plain)
    return LevelForeseen(
        terms,
        known.hit_probability,
        known.full_probability,
        start[terms.code],
        Figure(wagers * known.hit_probability, band.low, band.high),
        waiting(known.hit_probability) if known.hit_probability else None,
        _next_meter(link, terms, known.hit_probability, start[terms.code]),
        meter,
        _returns(link, odds, terms, start[terms.code], meter),
        run.contribution_cents * wagers,
        run.reserve_cents * wagers,
        run.house_cents * wagers if plain else None,
        _played([month.house_cents for month in months_]),
        _played([month.paid_cents for month in months_]),
        _played([month.reserve_cents for month in months_]),
        _played([month.overflow_cents for month in months_]),
    )


def may_be_bounded(terms: LevelTerms, known: LevelOdds, start: Meter) -> bool:
    """Whether a limit, a top-up or money that waits in the overflow bears on the level: then its long run is not closed."""
    tops_up = terms.floor_policy == "top_up" and known.full_probability < known.hit_probability
    return terms.limit_cents is not None or tops_up or bool(held(start, "overflow"))


def _played(values: list[int]) -> Figure:
    found = estimate(values)
    return Figure(found.mean, found.low, found.high, found.error)


def _meter_at_a_hit(run: LongRun, played: Estimate, *, plain: bool) -> Figure:
    if plain:
        return Figure(run.mean_meter_cents, played.low, played.high)
    return Figure(played.mean, played.low, played.high, played.error)


def _next_meter(link: LinkTerms, terms: LevelTerms, chance: Fraction, start: Meter) -> Figure | None:
    """The meter that the next hit of any share finds; None where there is none to wait for."""
    if not chance:
        return None
    began, step = held(start, "display"), link.paytable.wager_cents * terms.rate_ppm
    band = waiting(chance)
    if terms.limit_cents is None or not step:
        mean = (began + Fraction(step) / chance) / MILLION
        return Figure(mean, (began + step * band.low) // MILLION, (began + step * band.high) // MILLION)
    most = max(terms.limit_cents * MILLION, began)
    whole, rest = divmod(most - began, step)
    grown = mean_wait_within(chance, whole) * step + missed(chance, whole) * rest
    mean = (began + _fraction(grown)) / MILLION
    low, high = (min(began + step * wait, most) // MILLION for wait in band)
    return Figure(mean, low, high)


def _fraction(value: Decimal) -> Fraction:
    """A decimal of forty digits to the millionth of a millionth of a cent."""
    return Fraction(int(value * MILLION), MILLION)


def _returns(
    link: LinkTerms, odds: ProgressiveOdds, terms: LevelTerms, start: Meter, meter: Figure | None
) -> tuple[ReturnAt, ...]:
    """The return at the reset, at the present meter, at the mean one at a hit and at the limit, in the order of amounts."""
    others = {level.code: odds.long_run(level).mean_meter_cents for level in link.levels if level.code != terms.code}
    found = {"at the reset": terms.reset_cents, "as it stands": start.value_cents}
    if meter is not None:
        found["at the mean meter of a hit"] = int(meter.mean)
    if terms.limit_cents is not None:
        found["at the limit"] = terms.limit_cents
    even = odds.break_even_cents()
    if even is not None:
        found["where it breaks even"] = -(-even.numerator // even.denominator)
    return tuple(
        ReturnAt(what, cents, odds.returned(others | {terms.code: cents}))
        for what, cents in sorted(found.items(), key=lambda entry: entry[1])
    )
