"""Wagers that follow one another: the first within the table's bounds, then street by street, or a fold.

The held reasons are those of CONTRACT §3; which of them a wager earns is DECISIONS A17 and A31.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tables.rules.game import PROGRESSIVE, Game
from tables.rules.message import Seat

# A street and how many times the first wager it may be; empty if any amount will do.
Street = tuple[str, tuple[int, ...]]


def judge(
    game: Game[Any], seat: Seat, first: str, streets: Sequence[Street], *, finished: bool, found: set[str]
) -> None:
    """Add the held reasons of a seat that must make its first wager and then every street, or fold at one.

    A side wager needs the first wager too, so a seat without it is out of order whatever else it bet.  `finished` is
    false where a street that is still missing is no fault (DECISIONS A11).
    """
    wagers = seat.wagers
    stake = wagers.get(first)
    if stake is None:
        found.add("wager_out_of_order")
    elif not game.table.minimum_cents <= stake <= game.table.maximum_cents:
        found.add("wager_not_allowed")
    folded = seat.folded
    reached = True  # every street so far was wagered on
    past_fold = False
    for street, multiples in streets:
        past_fold = past_fold or street == folded
        raised = wagers.get(street)
        if raised is None:
            if street == folded and not reached:
                found.add("wager_out_of_order")
            reached = False
            continue
        if past_fold:
            found.add("wager_after_fold")
        if not reached:
            found.add("wager_out_of_order")
        if stake is not None and multiples and (raised % stake or raised // stake not in multiples):
            found.add("wager_not_allowed")
    if folded is None and not reached and finished:
        found.add("wager_out_of_order")
    judge_progressive(game, seat, found)


def judge_progressive(game: Game[Any], seat: Seat, found: set[str]) -> None:
    """The progressive wager has one amount, that of the link's paytable."""
    stake = seat.wagers.get(PROGRESSIVE)
    if stake is not None and game.link is not None and stake != game.progressive_cents:
        found.add("wager_not_allowed")


def judge_spread(game: Game[Any], seat: Seat, found: set[str]) -> None:
    """Where a seat spreads its money: the table's minimum is for all of it together, the maximum for each wager."""
    stakes = seat.wagers.values()
    if not stakes:
        found.add("wager_out_of_order")
    elif sum(stakes) < game.table.minimum_cents or max(stakes) > game.table.maximum_cents:
        found.add("wager_not_allowed")
