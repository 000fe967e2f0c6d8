"""Pai gow poker (SPEC §7; seed 003, 19:47-11).

Seven cards each and seven for the dealer, from one deck with a joker; each sets a high hand of five and a low hand of
two, which may not rank above it.  A player wins with both hands higher than the dealer's, loses with neither, and has
the wager back with one.  A copy is the dealer's.

`cards` and `dealer` are the five cards of the high hand, then the two of the low hand, as they were set.  The seed has
ranking and dealing only: what wins is the comparison of 19:47-11.3(e) and the copy rule of 19:47-10.2(h), a hand set
with the low above the high loses, and what a win pays is a row of the edition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from tables.rules import against_dealer, wagers
from tables.rules.against_dealer import met
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.irregularities import Ruling
from tables.rules.joker_hands import DECK_WITH_JOKER, Strength, high_hand, low_hand, name
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

WAGER: Final = "wager"
HIGH: Final = 5
CARDS: Final = 7


class PaiGowPoker(Game[tuple[Strength, Strength]]):
    """Pai gow poker as one table offers it; what its seats share is the dealer's high and low hand."""

    title: ClassVar[str] = "pai-gow-poker"
    base_wagers: ClassVar[tuple[str, ...]] = (WAGER,)
    own_terms: ClassVar[tuple[str, ...]] = ("wheel_is_second",)
    most_seats: ClassVar[int] = 6  # with the dealer's seven stacks (19:47-11.8A)
    deck: ClassVar[frozenset[str]] = DECK_WITH_JOKER
    cards_in_a_deck: ClassVar[int] = len(DECK_WITH_JOKER)
    own_cards: ClassVar[int] = CARDS
    dealer_cards: ClassVar[tuple[int, ...]] = (CARDS,)
    a_misdeal_voids_all: ClassVar[bool] = True  # 19:47-11.8(d)2

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.beating = against_dealer.beating(table.paytables["base"])
        self.wheel_is_second = table.terms.wheel_is_second

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """One wager within the table's bounds."""
        wagers.judge(self, seat, WAGER, (), finished=finished, found=found)

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """A dealer's low hand above his high hand is no hand to settle against."""
        if ruling.void_codes or len(set(message.dealer)) != CARDS:
            return
        if _fouled(*self._set(message.dealer)):
            found.add("result_impossible", "the dealer's low hand ranks above his high hand")

    def deal(self, message: RoundMessage, ruling: Ruling) -> tuple[Strength, Strength]:
        """Weigh the dealer's two hands."""
        return self._set(message.dealer)

    def outcome(self, seat: Seat, deal: tuple[Strength, Strength]) -> Outcome:
        """Both hands higher win, one is a tie, none or a fouled hand loses."""
        high, low = self._set(seat.cards)
        higher = 0 if _fouled(high, low) else (high > deal[0]) + (low > deal[1])
        result = ("lose", "push", "win")[higher]
        return Outcome(name(high), None, result, [met(WAGER, seat.wagers[WAGER], result, self.beating)])

    def _set(self, cards: Sequence[str]) -> tuple[Strength, Strength]:
        return high_hand(cards[:HIGH], wheel_is_second=self.wheel_is_second), low_hand(cards[HIGH:])


def _fouled(high: Strength, low: Strength) -> bool:
    """Whether the low hand ranks above the high hand."""
    # Of hands alike in their first cards the one with more is not the lower.
    return low > (high[0], high[1][: len(low[1])])
