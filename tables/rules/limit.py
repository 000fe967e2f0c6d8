"""The aggregate payout limit of a hand (SPEC §5, seed 002 section 11(c)).

The limit is on winnings; stakes are returned outside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypedDict

from tables.rules.lines import Line


class Limit(TypedDict):
    """The limit of a hand, in cents: what was won without it, and what it withheld."""

    limit_cents: int
    uncapped_win_cents: int
    withheld_cents: int


def shared(limit_cents: int, wins_cents: Sequence[int]) -> list[int]:
    """Share the limit over wins in proportion to them, to the cent, by largest remainder.

    Equal remainders go to the earlier wager.  The wins together must be more than the limit.
    """
    total = sum(wins_cents)
    shares = [win * limit_cents // total for win in wins_cents]
    remainders = [win * limit_cents % total for win in wins_cents]
    left = limit_cents - sum(shares)
    # sorted() is stable: among equal remainders the earlier wager comes first.
    for index in sorted(range(len(shares)), key=lambda place: -remainders[place])[:left]:
        shares[index] += 1
    return shares


def apply(limit_cents: int, uncapped_cents: int, limited: Collection[str], lines: Sequence[Line]) -> Limit:
    """Cap the winnings of the limited wagers, `uncapped_cents` together, and say what was withheld.

    The lines of the limited wagers are changed when the limit bites.
    """
    if uncapped_cents <= limit_cents:
        return {"limit_cents": limit_cents, "uncapped_win_cents": uncapped_cents, "withheld_cents": 0}
    winning = [line for line in lines if line["win_cents"] and line["wager"] in limited]
    for line, win_cents in zip(winning, shared(limit_cents, [line["win_cents"] for line in winning]), strict=True):
        line["paid_cents"] -= line["win_cents"] - win_cents
        line["win_cents"] = win_cents
    return {
        "limit_cents": limit_cents,
        "uncapped_win_cents": uncapped_cents,
        "withheld_cents": uncapped_cents - limit_cents,
    }
