"""Progressives: the return as a function of the meter, envy, the meter that breaks even, and what a link costs.

Everything is in units of one wager unless it ends in `_cents`; meters are in cents.  A wager is taken alone: what an
earlier seat of the same round took is gone from the meter when this seat's turn comes (SPEC §6.2), so "the meter" is
the one displayed at its turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from jackpot.rules.meter import MILLION, LevelTerms
from jackpot.rules.paytable import ProgressivePaytable
from jackpot.rules.probability import hit_probability, row_probability

MOST_OTHERS: Final = 6


@dataclass(frozen=True)
class LevelOdds:
    """One level as a wager sees it: how often it is hit, and how much of it comes back."""

    level: str
    hit_probability: Fraction  # of any share
    full_probability: Fraction  # of the whole of it, which reseeds it
    mean_share: Fraction  # the share of the meter a wager wins on average
    square_share: Fraction  # the mean square of that share


@dataclass(frozen=True)
class LongRun:
    """What a level of given terms comes to over many wagers, if neither limit nor top-up ever bites.

    The mean meter is the one before an award.  What comes in is the contribution and, at each full hit, the reset; what
    goes out is the mean share of the meter; so the meter that balances the two is exact, and because hits do not look
    at the meter it is also what a full hit finds on average.
    """

    level: str
    mean_meter_cents: Fraction
    wagers_between_full_hits: Fraction | None
    paid_cents: Fraction  # per wager, from the meter
    contribution_cents: Fraction  # per wager, to the meter
    reset_cents: Fraction  # per wager, all resets
    reserve_cents: Fraction  # per wager, put aside towards them
    house_cents: Fraction  # per wager, what the house adds to resets

    @property
    def unspent_cents(self) -> Fraction:
        """Per wager, what stays in the reserve because resets do not need it."""
        return self.reserve_cents + self.house_cents - self.reset_cents


@dataclass(frozen=True)
class ProgressiveOdds:
    """The odds of a progressive wager."""

    wager_cents: int
    fixed_return: Fraction  # of odds and fixed sums
    fixed_square: Fraction  # the mean square of what they pay
    levels: tuple[LevelOdds, ...]
    envy: Fraction  # the return for each other bettor at the table

    def returned(self, meters_cents: Mapping[str, int | Fraction], others: int = 0) -> Fraction:
        """The part of the wager that comes back on average, with so much on the meters and so many other bettors."""
        meter = sum((level.mean_share * meters_cents[level.level] for level in self.levels), Fraction(0))
        return self.fixed_return + meter / self.wager_cents + self.envy * others

    def edge(self, meters_cents: Mapping[str, int | Fraction], others: int = 0) -> Fraction:
        """What the house keeps of the wager on average, contributions to the meter not counted as kept."""
        return 1 - self.returned(meters_cents, others)

    def variance(self, meters_cents: Mapping[str, int | Fraction]) -> Fraction:
        """The variance of what the wager itself pays, envy aside."""
        squares = sum(
            (
                level.square_share * (Fraction(meters_cents[level.level]) / self.wager_cents) ** 2
                for level in self.levels
            ),
            Fraction(0),
        )
        return self.fixed_square + squares - self.returned(meters_cents) ** 2

    def break_even_cents(self, others: int = 0) -> Fraction | None:
        """The meter at which the wager returns all of itself; None unless there is exactly one level."""
        if len(self.levels) != 1 or not self.levels[0].mean_share:
            return None
        missing = 1 - self.fixed_return - self.envy * others
        return max(Fraction(0), missing * self.wager_cents / self.levels[0].mean_share)

    def long_run(self, terms: LevelTerms) -> LongRun:
        """What the level comes to over many wagers under these terms; KeyError if the paytable has no such level."""
        level = {known.level: known for known in self.levels}[terms.code]
        contribution = Fraction(self.wager_cents * terms.rate_ppm, MILLION)
        reserve = Fraction(self.wager_cents * terms.reserve_ppm, MILLION)
        reset = level.full_probability * terms.reset_cents
        from_reserve = reserve if terms.seed_funding == "reserve_then_house" else Fraction(0)
        return LongRun(
            level=level.level,
            mean_meter_cents=(contribution + reset) / level.mean_share,
            wagers_between_full_hits=1 / level.full_probability if level.full_probability else None,
            paid_cents=contribution + reset,
            contribution_cents=contribution,
            reset_cents=reset,
            reserve_cents=reserve,
            house_cents=max(Fraction(0), reset - from_reserve),
        )

    def long_run_returned(self, terms: Iterable[LevelTerms], others: int = 0) -> Fraction:
        """The part of a wager that comes back to players in the long run, with so many other bettors at the table."""
        paid = sum((self.long_run(level).paid_cents for level in terms), Fraction(0))
        return self.fixed_return + self.envy * others + paid / self.wager_cents

    def long_run_kept(self, terms: Iterable[LevelTerms], others: int = 0) -> Fraction:
        """The part that the house keeps: neither paid, nor on the meter, nor in the reserve, nor added to a reset."""
        runs = [self.long_run(level) for level in terms]
        given = sum((run.contribution_cents + run.reserve_cents + run.house_cents for run in runs), Fraction(0))
        return 1 - self.fixed_return - self.envy * others - given / self.wager_cents

    def to_json(self) -> dict[str, Any]:
        """Fractions as "num/den"; the break-even meters for 0 to 6 other bettors if there is one level."""
        return {
            "wager_cents": self.wager_cents,
            "fixed_return": _text(self.fixed_return),
            "fixed_square": _text(self.fixed_square),
            "envy_return_per_other": _text(self.envy),
            "levels": [
                {
                    "level": level.level,
                    "hit_probability": _text(level.hit_probability),
                    "full_probability": _text(level.full_probability),
                    "return_per_meter_cent": _text(level.mean_share / self.wager_cents),
                    "mean_share": _text(level.mean_share),
                    "square_share": _text(level.square_share),
                }
                for level in self.levels
            ],
            "break_even_cents": [
                None if meter is None else _text(meter)
                for meter in (self.break_even_cents(others) for others in range(MOST_OTHERS + 1))
            ],
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> ProgressiveOdds:
        """The odds that `to_json` wrote."""
        return cls(
            entry["wager_cents"],
            Fraction(entry["fixed_return"]),
            Fraction(entry["fixed_square"]),
            tuple(
                LevelOdds(
                    level["level"],
                    Fraction(level["hit_probability"]),
                    Fraction(level["full_probability"]),
                    Fraction(level["mean_share"]),
                    Fraction(level["square_share"]),
                )
                for level in entry["levels"]
            ),
            Fraction(entry["envy_return_per_other"]),
        )


def of_paytable(paytable: ProgressivePaytable) -> ProgressiveOdds:
    """The odds of any progressive paytable whose games rank five cards of one deck; NoProbability for others."""
    game = paytable.games[0]
    fixed = square = envy = Fraction(0)
    for row in paytable.rows:
        chance = row_probability(row, game)
        pays = _pays(row.pays, Fraction(row.odds, row.per), Fraction(row.cents, paytable.wager_cents))
        fixed += chance * pays
        square += chance * pays**2
        envy += chance * Fraction(row.envy_cents, paytable.wager_cents)
    levels = []
    for code in paytable.levels:
        full = mean = mean_square = Fraction(0)
        for row in paytable.rows:
            if row.level == code:
                chance, share = row_probability(row, game), Fraction(row.share_ppm, MILLION)
                mean += chance * share
                mean_square += chance * share**2
                full += chance if row.share_ppm == MILLION else 0
        levels.append(LevelOdds(code, hit_probability(paytable, code, game), full, mean, mean_square))
    return ProgressiveOdds(paytable.wager_cents, fixed, square, tuple(levels), envy)


def _pays(pays: str, odds: Fraction, sum_in_wagers: Fraction) -> Fraction:
    """What a row gives back in wagers, its stake included where it returns it; a share of a meter counts elsewhere."""
    match pays:
        case "for":
            return odds
        case "to":
            return odds + 1
        case "sum":
            return sum_in_wagers
        case "push":
            return Fraction(1)
    return Fraction(0)


def _text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
