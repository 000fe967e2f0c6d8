"""Faults: what exactly is wrong with a round that must wait, each by its reason, its seat and its wager (CONTRACT §3).

Whoever judges writes down a fault where it finds one; the held reasons are the reasons of the faults. So what is shown to
people is never more or less than what holds the round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jackpot.rules.progressive import sum_text


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, in words that say what would be right; where it lies, as far as it lies somewhere.

    `seat` is None for what concerns the whole round, `wager` None for what is not about one, `card` the card at fault.
    """

    reason: str
    words: str
    seat: int | None = None
    wager: str | None = None
    card: str | None = None


class Faults(list[Fault]):
    """The faults found so far, in the order in which they were found."""

    __slots__ = ()

    def add(
        self, reason: str, words: str, *, seat: int | None = None, wager: str | None = None, card: str | None = None
    ) -> None:
        """Write a fault down."""
        self.append(Fault(reason, words, seat, wager, card))


def dollars(cents: int) -> str:
    """An amount in words: $2,500, or $2.50."""
    return sum_text(cents)


def cards(count: int) -> str:
    """So many cards in words."""
    return "1 card" if count == 1 else f"{count} cards"


def named(wager: str) -> str:
    """A wager, a street or a code in words."""
    return wager.replace("_", " ")


def any_of(words: Iterable[str]) -> str:
    """Words that are all right: `$10, $20 or $30`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def outside(stake_cents: int, minimum_cents: int, maximum_cents: int) -> str:
    """What is wrong with a wager outside the table's bounds."""
    return f"{dollars(stake_cents)}: the table takes {dollars(minimum_cents)} to {dollars(maximum_cents)}"
