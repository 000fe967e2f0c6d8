"""Wagers that follow one another: the first within the table's bounds, then street by street, or a fold.

The reasons of the faults are those of CONTRACT §3; which of them a wager earns is DECISIONS A17 and A31.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tables.rules.faults import Faults, any_of, dollars, named, outside
from tables.rules.game import PROGRESSIVE, Game
from tables.rules.message import Seat

TITLES = {"three_card_bonus": "3 Card Bonus", "cover_all": "Cover All", "pair_plus": "Pair Plus"}
"""What the rules of the game call a wager, where its code in words is not that."""


def called(wager: str) -> str:
    """What people call a wager: `3 Card Bonus`, `fourth street`."""
    return TITLES.get(wager, wager.replace("_", " "))


# A street and how many times the first wager it may be; empty if any amount will do.
Street = tuple[str, tuple[int, ...]]


def judge(game: Game[Any], seat: Seat, first: str, streets: Sequence[Street], *, finished: bool, found: Faults) -> None:
    """Add the faults of a seat that must make its first wager and then every street, or fold at one.

    A side wager needs the first wager too, so a seat without it is out of order whatever else it bet.  `finished` is
    false where a street that is still missing is no fault (DECISIONS A11).
    """
    wagers = seat.wagers
    stake = wagers.get(first)
    if stake is None:
        found.add("wager_out_of_order", f"{named(first)} is missing", seat=seat.seat, wager=first)
    elif not game.table.minimum_cents <= stake <= game.table.maximum_cents:
        bounds = outside(stake, game.table.minimum_cents, game.table.maximum_cents)
        found.add("wager_not_allowed", bounds, seat=seat.seat, wager=first)
    folded = seat.folded
    missing: str | None = None  # the first street that was not wagered on
    past_fold = False
    for street, multiples in streets:
        past_fold = past_fold or street == folded
        raised = wagers.get(street)
        if raised is None:
            if street == folded and missing is not None:
                words = f"folded at {named(street)}, but {named(missing)} before it is missing"
                found.add("wager_out_of_order", words, seat=seat.seat, wager=missing)
            missing = missing or street
            continue
        if past_fold:
            words = f"{dollars(raised)} after the fold at {named(folded or '')}"
            found.add("wager_after_fold", words, seat=seat.seat, wager=street)
        if missing is not None:
            words = f"{dollars(raised)}, but {named(missing)} before it is missing"
            found.add("wager_out_of_order", words, seat=seat.seat, wager=street)
        if stake is not None and multiples and (raised % stake or raised // stake not in multiples):
            right = any_of(dollars(stake * times) for times in multiples)
            words = f"{dollars(raised)}: {right} would be right, with {dollars(stake)} on {named(first)}"
            found.add("wager_not_allowed", words, seat=seat.seat, wager=street)
    if folded is None and missing is not None and finished:
        words = f"{named(missing)} is missing, and the hand is not folded"
        found.add("wager_out_of_order", words, seat=seat.seat, wager=missing)
    if PROGRESSIVE in wagers:
        judge_progressive(game, seat, found)


def judge_progressive(game: Game[Any], seat: Seat, found: Faults) -> None:
    """The progressive wager has one amount, that of the link's paytable."""
    stake = seat.wagers.get(PROGRESSIVE)
    if stake is not None and game.link is not None and stake != game.progressive_cents:
        words = f"{dollars(stake)}: {dollars(game.progressive_cents)} is its one amount"
        found.add("wager_not_allowed", words, seat=seat.seat, wager=PROGRESSIVE)


def judge_spread(game: Game[Any], seat: Seat, found: Faults) -> None:
    """Where a seat spreads its money: the table's minimum is for all of it together, the maximum for each wager."""
    least, most = game.table.minimum_cents, game.table.maximum_cents
    stakes = seat.wagers
    if not stakes:
        found.add("wager_out_of_order", "no wager at all", seat=seat.seat)
        return
    if (together := sum(stakes.values())) < least:
        words = f"{dollars(together)} together: the table takes {dollars(least)} at least"
        found.add("wager_not_allowed", words, seat=seat.seat)
    for wager, stake in stakes.items():
        if stake > most:
            words = f"{dollars(stake)}: the table takes {dollars(most)} at most"
            found.add("wager_not_allowed", words, seat=seat.seat, wager=wager)
