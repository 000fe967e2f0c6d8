"""Lines: what became of one wager of a seat (CONTRACT §3, DECISIONS A3, A4).

A line is the JSON object of the settlement.  `win_cents` is profit for odds "to 1" and the whole sum paid for "for 1",
for fixed sums and for shares of a level, where the stake is gone (SPEC §3).  A line that a paytable row pays names it.
Like every part of a settlement it is made in alphabetical order: so it is written and hashed, and to find that order anew
would cost a round more than its chain does. `settlement.printed` has the order of CONTRACT §3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NotRequired, TypedDict

from jackpot.rules.paytable import RANKS, Row
from jackpot.rules.progressive import odds_text


class Line(TypedDict):
    """What became of one wager; `row` names the paytable row that pays it."""

    wager: str
    stake_cents: int
    result: str
    odds: str | None
    win_cents: int
    paid_cents: int
    row: NotRequired[str]


class Pay:
    """A paytable row prepared for settling: how it reads and how it pays a stake."""

    __slots__ = ("cents", "keeps_stake", "multiple", "name", "odds", "result", "row")

    def __init__(self, row: Row) -> None:
        self.row = row
        self.name = row_name(row)
        self.result = "push" if row.pays == "push" else "win"
        self.odds = odds_text(row)
        self.multiple = row.odds  # times the stake, for odds "to" and "for"
        self.cents = row.cents  # for a fixed sum
        self.keeps_stake = row.pays in ("to", "push")  # the stake comes back on top

    def line(self, wager: str, stake_cents: int) -> Line:
        """The line of a wager that this row pays."""
        win_cents = stake_cents * self.multiple + self.cents
        return {
            "odds": self.odds,
            "paid_cents": win_cents + stake_cents if self.keeps_stake else win_cents,
            "result": self.result,
            "row": self.name,
            "stake_cents": stake_cents,
            "wager": wager,
            "win_cents": win_cents,
        }


class UnevenPay(Pay):
    """A row with odds like 3 to 2: what they come to is rounded down to the cent, whoever wins it."""

    __slots__ = ()

    def line(self, wager: str, stake_cents: int) -> Line:
        """The line of a wager that this row pays."""
        win_cents = stake_cents * self.multiple // self.row.per
        return won(wager, stake_cents, self.odds, win_cents, win_cents + stake_cents * self.keeps_stake, self.name)


class HalfPay(Pay):
    """A row that takes half of the stake."""

    __slots__ = ()

    def line(self, wager: str, stake_cents: int) -> Line:
        """The line of a wager of which half is lost and half comes back, with the odd cent."""
        return half_taken(wager, stake_cents) | {"row": self.name}


def pay_of(row: Row) -> Pay:
    """A row prepared for settling."""
    if row.pays == "half":
        return HalfPay(row)
    return Pay(row) if row.per == 1 else UnevenPay(row)


def paid_or_lost(pay: Pay | None, wager: str, stake_cents: int) -> Line:
    """The line of a wager by the row that pays it, lost if there is none."""
    return pay.line(wager, stake_cents) if pay is not None else lost(wager, stake_cents)


def row_name(row: Row) -> str:
    """How a line names the row that pays it: its hand, and the ranks where the row is for some of them only."""
    if row.from_rank is None and row.to_rank is None:
        return row.hand
    return f"{row.hand} {row.from_rank or RANKS[0]}-{row.to_rank or RANKS[-1]}"


def hand_of_row(name: str) -> str:
    """The hand of the row that a line names."""
    return name.partition(" ")[0]


def won(wager: str, stake_cents: int, odds: str | None, win_cents: int, paid_cents: int, row: str) -> Line:
    """A wager that won `win_cents` by a row of its paytable, of which `paid_cents` with any stake are handed over."""
    return {
        "odds": odds,
        "paid_cents": paid_cents,
        "result": "win",
        "row": row,
        "stake_cents": stake_cents,
        "wager": wager,
        "win_cents": win_cents,
    }


def lost(wager: str, stake_cents: int) -> Line:
    """A wager that is gone."""
    return {
        "odds": None,
        "paid_cents": 0,
        "result": "lose",
        "stake_cents": stake_cents,
        "wager": wager,
        "win_cents": 0,
    }


def returned(wager: str, stake_cents: int, result: str) -> Line:
    """A wager whose stake comes back and nothing more: `push` or `void`."""
    return {
        "odds": None,
        "paid_cents": stake_cents,
        "result": result,
        "stake_cents": stake_cents,
        "wager": wager,
        "win_cents": 0,
    }


def half_taken(wager: str, stake_cents: int) -> Line:
    """A wager of which half is lost and half comes back, with the odd cent."""
    return lost(wager, stake_cents) | {"paid_cents": stake_cents - stake_cents // 2}


def overall(lines: Iterable[Line]) -> str:
    """What several wagers come to together: win, lose or push."""
    gained_cents = sum(line["paid_cents"] - line["stake_cents"] for line in lines)
    return "win" if gained_cents > 0 else "lose" if gained_cents < 0 else "push"


def prepared(rows: list[Row | None]) -> list[Pay | None]:
    """Rows by class, ready to settle with; rows shared by classes stay shared."""
    pays = {id(row): pay_of(row) for row in rows if row is not None}
    return [None if row is None else pays[id(row)] for row in rows]
