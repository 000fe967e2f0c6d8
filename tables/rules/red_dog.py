"""Red dog (SPEC §7; seed 003, 19:47-6).

Two cards for all; the players win if a third falls between them in value.  Two of the same value win with a
third of it, two consecutive ones tie at once.  Where there is a spread a raise of up to the wager may be added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from tables.rules.cards import RANKS
from tables.rules.faults import Faults, dollars, outside
from tables.rules.game import Game, Outcome
from tables.rules.irregularities import VOID_THE_ROUND, Ruling
from tables.rules.lines import Pay, paid_or_lost
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

WAGER: Final = "wager"
RAISE: Final = "raise"
CONSECUTIVE: Final = "consecutive"
PAIR: Final = "pair"
THREE_OF_A_KIND: Final = "three_of_a_kind"
MOST_DECKS: Final = 8


def spread(cards: Sequence[str]) -> int:
    """How many values lie between the first two cards; -1 if they are alike.  The ace is high (19:47-6.1(b))."""
    return abs(RANKS.index(cards[0][0]) - RANKS.index(cards[1][0])) - 1


def hand_of(cards: Sequence[str]) -> tuple[str, bool]:
    """What the cards of a round are, and whether they are paid: consecutive, pair, three_of_a_kind or spread_N."""
    between = spread(cards)
    if between == 0:
        return CONSECUTIVE, True
    ranks = [RANKS.index(card[0]) for card in cards]
    if between < 0:
        return (THREE_OF_A_KIND if ranks[2] == ranks[0] else PAIR), True
    return f"spread_{between}", min(ranks[:2]) < ranks[2] < max(ranks[:2])


class RedDog(Game[tuple[str, Pay | None]]):
    """Red dog as one table offers it; what its seats share is the hand and what it pays, None if it loses."""

    title: ClassVar[str] = "red-dog"
    base_wagers: ClassVar[tuple[str, ...]] = (WAGER, RAISE)
    decks_allowed: ClassVar[tuple[int, ...]] = tuple(range(1, MOST_DECKS + 1))  # at least one (19:47-6.1(a))
    own_cards: ClassVar[int] = 0
    community_cards: ClassVar[tuple[int, ...]] = (2, 3)
    # Cards found face up are put aside, however many (19:47-6.7(a)).
    void_the_round: ClassVar[frozenset[str]] = VOID_THE_ROUND - {"face_up_cards"}

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.pays = {row.hand: Pay(row) for row in table.paytables["base"].rows}

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """One wager within the table's bounds and a raise of no more than it (19:47-6.5(h))."""
        wager, added = seat.wagers.get(WAGER), seat.wagers.get(RAISE)
        if wager is None:
            found.add("wager_out_of_order", "the wager itself is missing", seat=seat.seat, wager=WAGER)
            return
        if not self.table.minimum_cents <= wager <= self.table.maximum_cents:
            bounds = outside(wager, self.table.minimum_cents, self.table.maximum_cents)
            found.add("wager_not_allowed", bounds, seat=seat.seat, wager=WAGER)
        if added is not None and added > wager:
            words = f"{dollars(added)}: a raise is {dollars(wager)} at most, the wager"
            found.add("wager_not_allowed", words, seat=seat.seat, wager=RAISE)

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """Two cards if they are consecutive, else three; and no raise where there is no spread (DECISIONS A32)."""
        if ruling.void_codes or len(message.community) not in self.community_cards:
            return
        between = spread(message.community)
        if len(message.community) != (2 if between == 0 else 3):
            right = 2 if between == 0 else 3
            found.add("wrong_card_count", f"{len(message.community)} community cards: these two ask for {right}")
        if between < 1:
            for seat in message.seats:
                if RAISE in seat.wagers:
                    words = f"{dollars(seat.wagers[RAISE])}: there is no spread to raise on"
                    found.add("wager_not_allowed", words, seat=seat.seat, wager=RAISE)

    def deal(self, message: RoundMessage, ruling: Ruling) -> tuple[str, Pay | None]:
        """Name the hand and look up what it pays."""
        hand, paid = hand_of(message.community)
        return hand, self.pays.get(hand) if paid else None

    def outcome(self, seat: Seat, deal: tuple[str, Pay | None]) -> Outcome:
        """Wager and raise alike."""
        hand, pay = deal
        made = [wager for wager in self.base_wagers if wager in seat.wagers]
        lines = [paid_or_lost(pay, wager, seat.wagers[wager]) for wager in made]
        return Outcome(hand, None, pay.result if pay is not None else "lose", lines)
