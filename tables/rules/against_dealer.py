"""Games in which a player's hand meets the dealer's: the odds for beating it, and the bonus on the ante.

The base edition of such a game has a row `beats_dealer`; its other rows are the hands that earn an ante bonus,
whatever the dealer holds.
"""

from __future__ import annotations

from typing import Final

from jackpot.rules.paytable import Row
from tables.rules.lines import Line, Pay, lost, pay_of, returned, won
from tables.rules.paytables import Edition

ANTE: Final = "ante"
ANTE_BONUS: Final = "ante_bonus"
BEATS_DEALER: Final = "beats_dealer"


def beating(edition: Edition) -> Pay:
    """What beating the dealer pays."""
    return next(pay_of(row) for row in edition.rows if row.hand == BEATS_DEALER)


def bonus_rows(edition: Edition) -> list[Row]:
    """The rows of the ante bonus."""
    return [row for row in edition.rows if row.hand != BEATS_DEALER]


def bonus_line(pay: Pay, ante_cents: int) -> Line:
    """The bonus a hand earns on its ante: a line without a stake of its own (DECISIONS A34)."""
    win_cents = ante_cents * pay.multiple
    return won(ANTE_BONUS, 0, pay.odds, win_cents, win_cents, pay.name)


def met(wager: str, stake_cents: int, result: str, pay: Pay) -> Line:
    """A wager whose hand has met the dealer's: it won, lost, or ties and is returned."""
    if result == "win":
        return pay.line(wager, stake_cents)
    return lost(wager, stake_cents) if result == "lose" else returned(wager, stake_cents, "push")


def comparison(hand: int, dealer: int) -> str:
    """What a player's hand comes to against the dealer's, given the strength of both."""
    if hand == dealer:
        return "push"
    return "win" if hand > dealer else "lose"
