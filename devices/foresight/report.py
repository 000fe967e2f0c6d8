"""What a replay came to, as the JSON that is kept with its job and that pages and the command show: whole numbers and texts."""

from __future__ import annotations

from typing import Any

from devices.foresight.replay import Sides
from jackpot.rules.link import level_definition
from tables.rules.alternative import Tally

FIGURES = (
    ("display", "Display at the end"),
    ("lowest", "Lowest display"),
    ("highest", "Highest display"),
    ("hits", "Hits"),
    ("full_hits", "of them of the whole level"),
    ("paid", "Paid from the meter"),
    ("contributed", "Contributed"),
    ("reserved", "Put aside to the reserve"),
    ("house", "Resets and top-ups from the house"),
    ("from_reserve", "Resets from the reserve"),
    ("revenue", "Overflow taken as revenue"),
    ("made_good", "Made good by the house"),
    ("cost", "House cost in all"),
    ("reserve", "Reserve at the end"),
    ("overflow", "Overflow at the end"),
)
"""What is shown of each level on both sides, in this order; counts, or millionths of a cent."""
COUNTS = ("hits", "full_hits")


def of_tally(tally: Tally) -> dict[str, int]:
    """One level on one side, by the names of `FIGURES`; amounts in millionths of a cent."""
    cents = 1_000_000
    meter = tally.meter
    return {
        "display": meter.value_cents * cents + meter.residual_millionths,
        "lowest": tally.lowest_cents * cents,
        "highest": tally.highest_cents * cents,
        "hits": tally.hits,
        "full_hits": tally.full_hits,
        "paid": tally.paid_cents * cents,
        "contributed": tally.contributed_millionths,
        "reserved": tally.reserved_millionths,
        "house": tally.house_cents * cents,
        "from_reserve": tally.from_reserve_cents * cents,
        "revenue": tally.revenue_cents * cents,
        "made_good": tally.made_good_cents * cents,
        "cost": tally.cost_millionths,
        "reserve": meter.reserve_cents * cents + meter.reserve_residual_millionths,
        "overflow": meter.overflow_cents * cents + meter.overflow_residual_millionths,
    }


def of_sides(sides: Sides) -> dict[str, Any]:
    """Both sides of a replay."""
    levels = [
        {
            "code": level.code,
            "terms": level_definition(level),
            "was": of_tally(sides.was[level.code]),
            "would": of_tally(sides.would[level.code]),
            "series": [list(point) for point in sides.series[level.code]],
        }
        for level in sides.terms.levels
    ]
    return {
        "link": sides.terms.code,
        "first": sides.first,
        "last": sides.last,
        "rounds": sides.rounds,
        "acts": sides.acts,
        "wagers": sides.wagers,
        "held": sides.held,
        "levels": levels,
        "hits": [hit._asdict() for hit in sides.hits],
    }


def told(sides: Sides) -> str:
    """A replay in one line."""
    was = sum(tally.cost_millionths for tally in sides.was.values())
    would = sum(tally.cost_millionths for tally in sides.would.values())
    return (
        f"{sides.rounds:,} rounds of {sides.terms.code} replayed: the house put in {dollars(was)},"
        f" under the proposed terms {dollars(would)}"
    )


def dollars(millionths: int) -> str:
    """Millionths of a cent as dollars, down to the cent: what is less than a cent is not owed."""
    cents = abs(millionths) // 1_000_000
    return f"{'-' if millionths < 0 and cents else ''}${cents // 100:,}.{cents % 100:02d}"
