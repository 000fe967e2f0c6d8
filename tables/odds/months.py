"""Months of a link under proposed terms, played by the rules of its meters with seeded chance.

For what has no closed form: limits, overflow, top-ups, the reserve from one reset to the next. Between two hits all the
wagers are contributed at once, which is the same as one after the other (`jackpot.rules.meter.contribute`); each hit is
taken by `take`. So money moves by the house's own rules, in whole cents and millionths; only how many wagers pass between
hits is drawn, and that is a count. The same seed gives the same months, on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from math import isqrt, lcm, log, log1p
from typing import Final, NamedTuple

from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION, Meter, contribute, take
from jackpot.rules.probability import row_probability

WORD: Final = 2**64
DRAWS: Final = 30_000
"""Hits that one simulation plays at most: half a second of work."""
MOST_RUNS: Final = 2_000
FEWEST_RUNS: Final = 40
BATCHES: Final = 40
"""Batches whose means say the error of a mean of hits, each of which depends on the one before."""


class Chance:
    """Seeded chance: the splitmix64 sequence, whose every word follows from the seed by whole-number arithmetic."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed % WORD

    def word(self) -> int:
        """The next of the 64-bit words, each equally likely."""
        self._state = (self._state + 0x9E3779B97F4A7C15) % WORD
        mixed = self._state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % WORD
        return mixed ^ (mixed >> 31)

    def below(self, number: int) -> int:
        """A whole number below this one; the unevenness is less than number / 2**64."""
        return self.word() * number // WORD

    def wait(self, log_miss: float) -> int:
        """Trials up to and with the first success, where `log_miss` is the logarithm of the chance of a failure."""
        if not log_miss:
            return 1
        return 1 + int(log((self.word() + 1) / WORD) / log_miss)


class Prize(NamedTuple):
    """A row that pays a share of a level, with the whole-number weight of its probability."""

    level: str
    share_ppm: int
    weight: int


@dataclass(frozen=True)
class Prizes:
    """The rows of a paytable that pay shares, and the probability that a wager hits any of them."""

    rows: tuple[Prize, ...]
    weight: int
    chance: Fraction

    @property
    def log_miss(self) -> float:
        """The logarithm of the chance that a wager hits none: of a count of wagers, never of money."""
        return log1p(-float(self.chance)) if self.chance < 1 else 0.0

    def drawn(self, chance: Chance) -> Prize:
        """One of the rows, as likely as its hand."""
        place = chance.below(self.weight)
        bounds = accumulate(prize.weight for prize in self.rows)
        return next(prize for prize, bound in zip(self.rows, bounds, strict=True) if place < bound)


def prizes_of(link: LinkTerms) -> Prizes:
    """The shares that a link's paytable pays; NoProbability where nothing is known of its hands."""
    game = link.paytable.games[0]
    shares = [(row, row_probability(row, game)) for row in link.paytable.rows if row.level is not None]
    chance = sum((part for _, part in shares), Fraction(0))
    common = lcm(*(part.denominator for _, part in shares))
    rows = tuple(Prize(row.level or "", row.share_ppm, int(part * common)) for row, part in shares)
    return Prizes(rows, sum(row.weight for row in rows), chance)


@dataclass(slots=True)
class Played:
    """What came of one level in one month; everything in whole cents, the reserve and overflow as the month leaves them."""

    hits: int = 0
    paid_cents: int = 0
    house_cents: int = 0
    revenue_cents: int = 0
    display_cents: int = 0
    reserve_cents: int = 0
    overflow_cents: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its standard error, and the band that 5 and 95 of a hundred did not exceed, from so many values."""

    mean: Fraction
    error: Fraction
    low: int
    high: int
    values: int


def estimate(values: Sequence[int], batches: int | None = None) -> Estimate:
    """What values come to. Where they depend on each other the error is that of the means of batches in a row."""
    count = len(values)
    total = sum(values)
    ordered = sorted(values)
    low, high = ordered[max(-(-count * 5 // 100) - 1, 0)], ordered[-(-count * 95 // 100) - 1]
    parts: Sequence[Fraction | int] = values
    if batches is not None and count >= 2 * batches:
        size = count // batches
        parts = [Fraction(sum(values[place * size : (place + 1) * size]), size) for place in range(batches)]
    return Estimate(Fraction(total, count), _error(parts), low, high, count)


def _error(values: Sequence[Fraction | int]) -> Fraction:
    """The standard error of the mean, to a thousandth."""
    count = len(values)
    if count < 2:
        return Fraction(0)
    mean = Fraction(sum(values)) / count
    squares = sum((Fraction(value) - mean) ** 2 for value in values) / (count - 1) / count
    return Fraction(isqrt(int(squares * MILLION)), 1_000)


@dataclass(slots=True)
class _Play:
    """A link that is played on and on."""

    link: LinkTerms
    prizes: Prizes
    chance: Chance
    meters: dict[str, Meter]
    log_miss: float = field(init=False)

    def __post_init__(self) -> None:
        self.log_miss = self.prizes.log_miss

    def contribute(self, wagers: int) -> None:
        stake_cents = wagers * self.link.paytable.wager_cents
        if stake_cents:
            for level in self.link.levels:
                self.meters[level.code] = contribute(self.meters[level.code], level, stake_cents)

    def hit(self, months: Mapping[str, Played] | None) -> tuple[str, int]:
        """Take the prize that is drawn; the level, and its meter before the award."""
        prize = self.prizes.drawn(self.chance)
        before = self.meters[prize.level]
        taken = take(before, self.link.level[prize.level], prize.share_ppm)
        self.meters[prize.level] = taken.meter
        if months is not None:
            month = months[prize.level]
            month.hits += 1
            month.paid_cents += taken.paid_cents
            month.house_cents += taken.seed.house_cents
            month.revenue_cents += taken.revenue_cents
        return prize.level, before.value_cents


def months(link: LinkTerms, start: Mapping[str, Meter], wagers: int, seed: int) -> list[dict[str, Played]]:
    """Months of so many wagers, each begun from the same meters: what each came to, by level."""
    prizes = prizes_of(link)
    expected = max(1, int(wagers * prizes.chance))
    runs = max(FEWEST_RUNS, min(MOST_RUNS, DRAWS // expected))
    chance = Chance(seed)
    found = []
    for _ in range(runs):
        play = _Play(link, prizes, chance, dict(start))
        month = {level.code: Played() for level in link.levels}
        left = wagers
        while (wait := chance.wait(play.log_miss)) <= left:
            play.contribute(wait)
            play.hit(month)
            left -= wait
        play.contribute(left)
        for code, meter in play.meters.items():
            month[code].display_cents = meter.value_cents
            month[code].reserve_cents = meter.reserve_cents
            month[code].overflow_cents = meter.overflow_cents
        found.append(month)
    return found


def meters_at_hits(link: LinkTerms, start: Mapping[str, Meter], seed: int, hits: int = 12_000) -> dict[str, list[int]]:
    """One long play: the display before each award, in whole cents by level, once a quarter of the hits has passed."""
    prizes = prizes_of(link)
    play = _Play(link, prizes, Chance(seed), dict(start))
    found: dict[str, list[int]] = {level.code: [] for level in link.levels}
    for number in range(hits + hits // 4):
        play.contribute(play.chance.wait(play.log_miss))
        level, cents = play.hit(None)
        if number >= hits // 4:
            found[level].append(cents)
    return found
