"""How often something of a known probability happens, and how long it is waited for: means and bands, without floats.

A band is the 5th and the 95th of a hundred: the smallest whole numbers that are not exceeded with these probabilities.
Trials are taken as independent of each other.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Final, NamedTuple

LOW: Final = Fraction(5, 100)
HIGH: Final = Fraction(95, 100)
SCALE: Final = 10**40
CONTEXT: Final = Context(prec=40, Emin=-(10**17), Emax=10**17)
"""Forty digits, and room for the probability that a thing of one in a hundred never happens in a billion trials."""


class Band(NamedTuple):
    """The 5 % and the 95 % bound of a count."""

    low: int
    high: int


def happenings(trials: int, chance: Fraction) -> Band:
    """The band of how often a thing happens in so many trials (binomial).

    Weights are counted outwards from the likeliest number, each from its neighbour, until one is less than 10**-40 of it:
    what is left out is far below what could move a bound.
    """
    if not 0 <= chance <= 1 or trials < 0:
        raise ValueError("a probability is between 0 and 1, and trials are counted")
    if not trials or not chance:
        return Band(0, 0)
    if chance == 1:
        return Band(trials, trials)
    yes, no = chance.numerator, chance.denominator - chance.numerator
    likeliest = min((trials + 1) * yes // chance.denominator, trials)
    below: list[int] = []
    weight, number = SCALE, likeliest
    while number > 0 and weight:
        weight = weight * number * no // ((trials - number + 1) * yes)
        number -= 1
        below.append(weight)
    first = number
    weights = [*reversed(below), SCALE]
    weight, number = SCALE, likeliest
    while number < trials and weight:
        weight = weight * (trials - number) * yes // ((number + 1) * no)
        number += 1
        weights.append(weight)
    total = sum(weights)
    return Band(first + _reached(weights, total, LOW), first + _reached(weights, total, HIGH))


def _reached(weights: list[int], total: int, part: Fraction) -> int:
    """The first place up to which the weights come to this part of them all."""
    enough = total * part.numerator
    return next(place for place, sum_ in enumerate(accumulate(weights)) if sum_ * part.denominator >= enough)


def waiting(chance: Fraction) -> Band:
    """The band of the trials up to and with the first in which a thing of this probability happens (geometric)."""
    return Band(_waited(chance, LOW), _waited(chance, HIGH))


def _waited(chance: Fraction, part: Fraction) -> int:
    if not 0 < chance <= 1:
        raise ValueError("what never happens is waited for without end")
    if chance == 1:
        return 1
    misses, never = _decimal(1 - chance), _decimal(1 - part)
    found = int(CONTEXT.divide(CONTEXT.ln(never), CONTEXT.ln(misses)))  # forty digits; the neighbours are tried
    found = max(found - 1, 1)
    while CONTEXT.power(misses, found) > never:
        found += 1
    return found


def missed(chance: Fraction, trials: int) -> Decimal:
    """The probability that a thing happens in none of so many trials, to forty digits."""
    return CONTEXT.power(_decimal(1 - chance), trials) if chance < 1 else Decimal(int(not trials))


def mean_wait_within(chance: Fraction, trials: int) -> Decimal:
    """The mean of the trials waited for a thing when one waits for so many at most, to forty digits."""
    return CONTEXT.divide(CONTEXT.subtract(Decimal(1), missed(chance, trials)), _decimal(chance))


def _decimal(value: Fraction) -> Decimal:
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
