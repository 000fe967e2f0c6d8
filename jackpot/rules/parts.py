"""The three parts of a level, to the millionth of a cent: what comes in, what is taken back, and what is carried over.

A part is the display, its hidden reserve, or the overflow (SPEC §6.4). The books hold whole cents only: a movement is what
a part's whole cents changed by, a fraction is never booked (DECISIONS A57).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from accounting.rules.accounts import Movement, of_level
from jackpot.rules.meter import MILLION, Meter

# Each part of a level: the meter's whole cents, its fraction, and its account.
PARTS: Final = {
    "display": ("value_cents", "residual_millionths", "liability"),
    "reserve": ("reserve_cents", "reserve_residual_millionths", "reserve"),
    "overflow": ("overflow_cents", "overflow_residual_millionths", "overflow"),
}


class Brought(NamedTuple):
    """What something brought to each part of one level, in millionths of a cent; below zero it took that away."""

    display: int = 0
    reserve: int = 0
    overflow: int = 0

    @property
    def contributed(self) -> int:
        """What it contributed to the level at its display rate, what overflowed included (DECISIONS A20)."""
        return self.display + self.overflow


NOTHING: Final = Brought()


class TakenOut(NamedTuple):
    """A part after something was taken out: the meter, whole cents put in before, and whole cents taken."""

    meter: Meter
    put_in_cents: int
    taken_cents: int


def held(meter: Meter, part: str) -> int:
    """What a part holds, in millionths of a cent."""
    whole, fraction, _ = PARTS[part]
    cents: int = getattr(meter, whole)
    millionths: int = getattr(meter, fraction)
    return cents * MILLION + millionths


def holding(meter: Meter, part: str, millionths: int) -> Meter:
    """The meter with one part holding so many millionths of a cent."""
    whole, fraction, _ = PARTS[part]
    cents, rest = divmod(millionths, MILLION)
    return meter._replace(**{whole: cents, fraction: rest})


def account(link: str, level: str, part: str) -> str:
    """The account that holds a part's whole cents."""
    return of_level(link, level, PARTS[part][2])


def take_out(meter: Meter, part: str, millionths: int) -> TakenOut:
    """Take from a part to the millionth; what it lacks is put in first, the fewest whole cents (DECISIONS A58)."""
    before = held(meter, part)
    put_in_cents = -(-max(millionths - before, 0) // MILLION)
    left = before + put_in_cents * MILLION - millionths
    return TakenOut(holding(meter, part, left), put_in_cents, before // MILLION + put_in_cents - left // MILLION)


def take_back(link: str, level: str, meter: Meter, brought: Brought, reason: str) -> tuple[Meter, list[Movement]]:
    """Undo what was brought to a level on today's balances; what is missing is made good by `adjustments` (SPEC §6.7)."""
    moved: list[Movement] = []
    for part, millionths in zip(PARTS, brought, strict=True):
        books = account(link, level, part)
        if millionths > 0:
            meter, put_in_cents, taken_cents = take_out(meter, part, millionths)
            moved.append(Movement("adjustments", books, put_in_cents, reason))
            moved.append(Movement(books, "contribution_expense", taken_cents, reason))
        elif millionths < 0:
            # It had taken more than it brought, as terms of another rate may make it: that comes back.
            before = held(meter, part)
            meter = holding(meter, part, before - millionths)
            moved.append(
                Movement("contribution_expense", books, held(meter, part) // MILLION - before // MILLION, reason)
            )
    return meter, moved


def carry_over(
    source: tuple[str, str, Meter], target: tuple[str, str, Meter], part: str, limit_cents: int | None
) -> tuple[Meter, Meter, list[Movement]]:
    """Move a whole part of one level to another, its fraction too, and leave the source at zero (DECISIONS A62).

    Of a display, what exceeds the target's limit goes to its overflow; the source's whole cents are booked to the display
    first, and a cent that two fractions complete comes from `contribution_expense`. Source and target are link, level and
    meter; the two meters after it come back in this order.
    """
    from_link, from_level, giving = source
    to_link, to_level, taking = target
    amount = held(giving, part)
    fits = amount
    if part == "display" and limit_cents is not None:
        fits = min(amount, max(limit_cents * MILLION - held(taking, "display"), 0))
    arrivals = [(part, fits)] + ([("overflow", amount - fits)] if amount > fits else [])
    left_cents = amount // MILLION
    booked: list[Movement] = []
    completed: list[Movement] = []
    for arriving, millionths in arrivals:
        before = held(taking, arriving)
        taking = holding(taking, arriving, before + millionths)
        arrived_cents = held(taking, arriving) // MILLION - before // MILLION
        from_source_cents = min(arrived_cents, left_cents)
        left_cents -= from_source_cents
        books = account(to_link, to_level, arriving)
        booked.append(Movement(account(from_link, from_level, part), books, from_source_cents, "transfer"))
        completed.append(Movement("contribution_expense", books, arrived_cents - from_source_cents, "transfer"))
    return holding(giving, part, 0), taking, booked + completed


def in_order(parts: Iterable[str]) -> list[str]:
    """Parts in the order in which they are booked, whatever order they were named in."""
    named = set(parts)
    return [part for part in PARTS if part in named]
