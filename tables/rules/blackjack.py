"""Blackjack (SPEC §7; seed 003, 19:47-2.6 to 2.11).

Settled from posted results: `result` of the round says whether the dealer has `blackjack` or `no_blackjack`, `result` of
a seat what its hand came to: `blackjack`, `win`, `lose`, `tie`, `surrender`, or of a split pair two such words, `win/lose`.
Cards may be reported and are not looked at.  The seed lacks the values of cards and the drawing rules, but has the payment
of blackjack, surrender, insurance, doubling down and splitting.

The edition has the odds and the house's choices: without a row `tie` a tie loses, without `insurance` or `surrender`
those are not offered; `both_blackjack` is a player's blackjack against the dealer's.
"""

from __future__ import annotations

from itertools import product
from typing import ClassVar, Final

from tables.rules.faults import Faults, dollars, named, outside
from tables.rules.game import ANY_NUMBER, Game, Outcome
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, lost, overall, paid_or_lost, pay_of, returned
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

WAGER: Final = "wager"
DOUBLE: Final = "double_down"
SPLIT: Final = "split"
SPLIT_DOUBLE: Final = "split_double_down"
INSURANCE: Final = "insurance"

BLACKJACK: Final = "blackjack"
SURRENDER: Final = "surrender"
PLAYED: Final = ("win", "lose", "tie")
MOST_CARDS: Final = 21
# Half a wager may be rounded up to the next unit that chips make, a dollar (19:47-2.9(b)).
CHIP_CENTS: Final = 100


class Blackjack(Game[bool]):
    """Blackjack as one table offers it; what its seats share is whether the dealer has a blackjack."""

    title: ClassVar[str] = "blackjack"
    base_wagers: ClassVar[tuple[str, ...]] = (WAGER, DOUBLE, SPLIT, SPLIT_DOUBLE)
    decks_allowed: ClassVar[tuple[int, ...]] = tuple(range(1, 9))
    results: ClassVar[frozenset[str]] = frozenset({BLACKJACK, "no_blackjack"})
    seat_results: ClassVar[frozenset[str]] = frozenset(
        {BLACKJACK, SURRENDER, *PLAYED, *(f"{first}/{second}" for first, second in product(PLAYED, PLAYED))}
    )
    own_cards: ClassVar[int] = ANY_NUMBER
    dealer_cards: ClassVar[tuple[int, ...]] = tuple(range(MOST_CARDS + 1))

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.pays = {row.hand: pay_of(row) for row in table.paytables["base"].rows}
        if INSURANCE in self.pays:
            self.offered |= {INSURANCE}
            self.line_order = (*self.line_order, INSURANCE)

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """A wager within bounds; doubles of at most it, a split of as much, insurance of about half (2.9 to 2.11)."""
        stakes = seat.wagers
        wager = stakes.get(WAGER)
        if wager is None:
            found.add("wager_out_of_order", "the wager itself is missing", seat=seat.seat, wager=WAGER)
            return
        if SPLIT_DOUBLE in stakes and SPLIT not in stakes:
            found.add("wager_out_of_order", "a split hand doubled without a split", seat=seat.seat, wager=SPLIT_DOUBLE)
        if not self.table.minimum_cents <= wager <= self.table.maximum_cents:
            bounds = outside(wager, self.table.minimum_cents, self.table.maximum_cents)
            found.add("wager_not_allowed", bounds, seat=seat.seat, wager=WAGER)
        half_in_chips = -(-wager // (2 * CHIP_CENTS)) * CHIP_CENTS
        for added, most in ((DOUBLE, wager), (SPLIT_DOUBLE, wager), (INSURANCE, half_in_chips)):
            if (stake := stakes.get(added, 0)) > most:
                words = f"{dollars(stake)}: {dollars(most)} at most beside a wager of {dollars(wager)}"
                found.add("wager_not_allowed", words, seat=seat.seat, wager=added)
        if (stake := stakes.get(SPLIT, wager)) != wager:
            words = f"{dollars(stake)}: a split is as much as the wager, {dollars(wager)}"
            found.add("wager_not_allowed", words, seat=seat.seat, wager=SPLIT)

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """Results are there, fit the wagers, and can be against such a dealer."""
        if ruling.void_codes:
            return
        if message.result is None:
            found.add("result_impossible", "the dealer's result is missing")
            return
        for seat in message.seats:
            if seat.seat not in ruling.void_seats and not self._can_be(seat, message.result):
                words = (
                    "its result is missing"
                    if seat.result is None
                    else f"{named(seat.result)} cannot be, with its wagers and {named(message.result)} as the dealer's result"
                )
                found.add("result_impossible", words, seat=seat.seat)

    def _can_be(self, seat: Seat, dealer: str) -> bool:
        if seat.result is None or ("/" in seat.result) != (SPLIT in seat.wagers):
            return False
        if seat.result in (BLACKJACK, SURRENDER) and DOUBLE in seat.wagers:
            return False  # a blackjack is not doubled (2.10(a)), and surrender comes before it (2.8(a))
        if seat.result == SURRENDER and SURRENDER not in self.pays:
            return False
        # Nothing but a blackjack stands against the dealer's.
        return dealer != BLACKJACK or seat.result in (BLACKJACK, SURRENDER, "lose", "lose/lose")

    def deal(self, message: RoundMessage, ruling: Ruling) -> bool:
        """Whether the dealer has a blackjack."""
        return message.result == BLACKJACK

    def outcome(self, seat: Seat, deal: bool) -> Outcome:
        """Every hand by its result; against a dealer's blackjack only the original wager is lost (2.10(b))."""
        assert seat.result is not None, "a seat without its result is held"
        first, _, second = seat.result.partition("/")
        stakes = seat.wagers
        lines = [self._first(first, stakes[WAGER], dealer_blackjack=deal)]
        for wager, hand in ((DOUBLE, first), (SPLIT, second), (SPLIT_DOUBLE, second)):
            if wager in stakes:
                more = returned(wager, stakes[wager], "push") if deal else self._played(wager, stakes[wager], hand)
                lines.append(more)
        result = overall(lines)
        if INSURANCE in stakes:
            lines.append(paid_or_lost(self.pays[INSURANCE] if deal else None, INSURANCE, stakes[INSURANCE]))
        return Outcome(seat.result, None, "fold" if first == SURRENDER else result, lines)

    def _first(self, hand: str, stake_cents: int, *, dealer_blackjack: bool) -> Line:
        if hand == BLACKJACK and dealer_blackjack:
            return paid_or_lost(self.pays.get("both_blackjack"), WAGER, stake_cents)
        if hand == SURRENDER and dealer_blackjack:
            return lost(WAGER, stake_cents)  # the whole of it (2.8(a)2)
        return self._played(WAGER, stake_cents, hand)

    def _played(self, wager: str, stake_cents: int, hand: str) -> Line:
        return lost(wager, stake_cents) if hand == "lose" else paid_or_lost(self.pays.get(hand), wager, stake_cents)
