"""Craps and mini-craps (SPEC §7; seed 001, 19:47-1.1 and 1.2).

A round is one roll.  `result` says what stood before it and what the dice showed: `come_out:3-4`, or with a point of six
`6:3-3`.  A message names the wagers that the roll decides; one that it leaves standing is reported with the roll that
decides it.  `pass`, `dont_pass`; `come` and `dont_come` just placed, `come_6` and `dont_come_6` with their come point;
`place_6` to win, `place_lose_6` to lose; `hardway_4`.  A place bet to win that was off on a come out roll is not decided.

The seed ends with four the hardway and has no payout odds: those of the edition are the house's.
"""

from __future__ import annotations

from typing import ClassVar, Final

from tables.rules.faults import Faults
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, lost, pay_of, returned
from tables.rules.message import RoundMessage
from tables.rules.posted import PostedGame
from tables.rules.table import TableTerms

COME_OUT: Final = "come_out"
POINTS: Final = (4, 5, 6, 8, 9, 10)
DICE: Final = range(1, 7)
HARDWAY: Final = "hardway_4"

ON_A_LINE: Final = ("pass", "dont_pass", "come", "dont_come")
ON_A_POINT: Final = ("come", "dont_come", "place", "place_lose")
WAGERS: Final = (*ON_A_LINE, *(f"{kind}_{point}" for kind in ON_A_POINT for point in POINTS), HARDWAY)


def first_roll(total: int) -> str | None:
    """What the first roll of a line does to those who bet with the shooter; None if it makes a point."""
    if total in (7, 11):
        return "win"
    return "lose" if total in (2, 3, 12) else None


def before_a_seven(total: int, point: int) -> str | None:
    """What a roll does to those who bet on a point before a seven."""
    if total == point:
        return "win"
    return "lose" if total == 7 else None


AGAINST: Final = {"win": "lose", "lose": "win", None: None}


def decided(wager: str, result: str) -> str | None:
    """What a roll does to a wager: win, lose or push; None if it is not decided, or could not stand at such a roll."""
    before, _, dice = result.partition(":")
    first, _, second = dice.partition("-")
    total = int(first) + int(second)
    coming_out = before == COME_OUT
    if wager == HARDWAY:
        on_four = before_a_seven(total, 4)
        return "lose" if on_four == "win" and first != second else on_four
    if wager in ("pass", "dont_pass"):
        shooter = first_roll(total) if coming_out else before_a_seven(total, int(before))
    elif wager in ("come", "dont_come"):
        # Placed after the come out roll only (1.2(a)3).
        shooter = None if coming_out else first_roll(total)
    else:
        shooter = before_a_seven(total, int(wager.rpartition("_")[2]))
    if not wager.startswith(("dont_", "place_lose_")):
        return shooter
    # Twelve on its first roll is nobody's: the wager is void (1.2(a)2iii and 4iii).
    bars_twelve = wager == "dont_come" or (wager == "dont_pass" and coming_out)
    return "push" if bars_twelve and shooter == "lose" and total == 12 else AGAINST[shooter]


class Craps(PostedGame):
    """Craps as one table offers it."""

    title: ClassVar[str] = "craps"
    base_wagers: ClassVar[tuple[str, ...]] = WAGERS
    results: ClassVar[frozenset[str]] = frozenset(
        f"{before}:{first}-{second}" for before in (COME_OUT, *POINTS) for first in DICE for second in DICE
    )

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.pays = {row.hand: pay_of(row) for row in table.paytables["base"].rows}
        self.offered = frozenset(wager for wager in WAGERS if self._row(wager) in self.pays)

    @staticmethod
    def _row(wager: str) -> str:
        """The row that pays a wager: a come bet is paid alike on every point."""
        return "_".join(part for part in wager.split("_") if part.isalpha()) if wager.startswith(ON_A_LINE) else wager

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """Only what the roll decides can be settled with it."""
        super().judge_round(message, ruling, found)
        result = message.result
        if result is None or ruling.void_codes:
            return
        for seat in message.seats:
            for wager in seat.wagers:
                if wager in self.offered and decided(wager, result) is None:
                    words = f"the roll {result} does not decide it"
                    found.add("wager_out_of_order", words, seat=seat.seat, wager=wager)

    def line(self, wager: str, stake_cents: int, result: str) -> Line:
        """Paid, lost or returned as the roll decides."""
        outcome = decided(wager, result)
        if outcome == "win":
            return self.pays[self._row(wager)].line(wager, stake_cents)
        return lost(wager, stake_cents) if outcome == "lose" else returned(wager, stake_cents, "push")

    def shown(self, result: str) -> str:
        """The dice."""
        return result.partition(":")[2]
