"""Fast action hold 'em (SPEC §7; seed 003, 19:47-21).

Four cards each and four for the dealer, from six or eight decks; each keeps two, which with five community cards make a
hand.  Four of a kind in the four cards dealt is a natural and is paid at once.  A player may play his other two cards as
a second hand, or give up half of his wager.  The dealer sets by the house way.

A seat's `cards` are the two it keeps, then the other two; a wager `split` says that those play as well, `folded` at
`setting` that the hand was given up.  The dealer's four cards may come in any order.  The seed ends before the hands
are compared: odds of 1 to 1 and what a copy hand does are SPEC §7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Final

from tables.rules import against_dealer, several_decks, wagers
from tables.rules.against_dealer import comparison, met
from tables.rules.cards import RANKS
from tables.rules.faults import Faults, dollars
from tables.rules.game import Game, Outcome
from tables.rules.irregularities import Ruling
from tables.rules.lines import Pay, half_taken, lost, overall, returned
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

WAGER: Final = "wager"
SPLIT: Final = "split"
SETTING: Final = "setting"
NATURAL: Final = "natural"
COMMUNITY: Final = 5

TEN, JACK, ACE = (RANKS.index(rank) for rank in "TJA")


def is_natural(cards: Sequence[str]) -> bool:
    """Whether four cards are four of a kind (19:47-21.1)."""
    return len(cards) == 4 and len({card[0] for card in cards}) == 1


def preference(first: str, second: str) -> tuple[int, int, int]:
    """How much the house way prefers two cards; the greatest is kept (19:47-21.8(i))."""
    high, low = sorted((RANKS.index(first[0]), RANKS.index(second[0])), reverse=True)
    suited = first[1] == second[1]
    running = high - low == 1
    if high == low:
        place = 1 if suited else 2
    elif high == ACE:
        place = (3 if suited else 5) if low >= TEN else (7 if suited else 10)
    elif suited:
        if low >= TEN:
            place = 4 if running else 8
        else:
            place = 11 if running else 12
    elif low >= JACK:
        place = 6 if running else 9
    else:
        place = 13 if running else 14
    return -place, high, low


def house_way(cards: Sequence[str]) -> tuple[str, str]:
    """The two of four cards that the dealer keeps; of two choices alike, the one reported first."""
    return max(combinations(cards, 2), key=lambda two: preference(*two))


@dataclass(slots=True)
class Dealer:
    """The community cards and the dealer's hand; None if a natural ended the round or nobody was left to play it."""

    community: list[str]
    natural: bool
    strength: int | None


class FastActionHoldem(Game[Dealer]):
    """Fast action hold 'em as one table offers it."""

    title: ClassVar[str] = "fast-action-holdem"
    base_wagers: ClassVar[tuple[str, ...]] = (WAGER, SPLIT)
    streets: ClassVar[tuple[str, ...]] = (SETTING,)
    own_terms: ClassVar[tuple[str, ...]] = ("copy_hand",)
    decks_allowed: ClassVar[tuple[int, ...]] = (6, 8)
    own_cards: ClassVar[int] = 4
    community_cards: ClassVar[tuple[int, ...]] = (0, COMMUNITY)
    dealer_cards: ClassVar[tuple[int, ...]] = (4,)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        base = table.paytables["base"]
        self.beating = against_dealer.beating(base)
        self.natural = next(Pay(row) for row in base.rows if row.hand == NATURAL)
        self.copies_win = table.terms.copy_hand == "dealer"

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """One wager within the table's bounds, and perhaps one more of the same amount unless the hand was given up."""
        wagers.judge(self, seat, WAGER, ((SPLIT, (1,)),), finished=False, found=found)
        if seat.folded is not None and SPLIT in seat.wagers:
            words = f"{dollars(seat.wagers[SPLIT])} though the hand was given up"
            found.add("wager_after_fold", words, seat=seat.seat, wager=SPLIT)

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """No community cards after the dealer's natural; five if any hand plays on."""
        if ruling.void_codes or len(message.dealer) != self.own_cards:
            return
        dealt = len(message.community) > 0
        plays_on = any(not self._ended(seat) for seat in message.seats if seat.seat not in ruling.void_seats)
        if is_natural(message.dealer) if dealt else (plays_on and not is_natural(message.dealer)):
            words = (
                "community cards after the dealer's natural"
                if dealt
                else "no community cards, though a hand plays on against the dealer"
            )
            found.add("wrong_card_count", words)

    def deal(self, message: RoundMessage, ruling: Ruling) -> Dealer:
        """Set the dealer's hand and weigh it."""
        community, dealer = message.community, message.dealer
        strength = several_decks.best([*house_way(dealer), *community]) if community else None
        return Dealer(community, is_natural(dealer), strength)

    def outcome(self, seat: Seat, deal: Dealer) -> Outcome:
        """A hand given up, a natural, or one or two hands against the dealer."""
        stake = seat.wagers[WAGER]
        kept, other = seat.cards[:2], seat.cards[2:]
        hand = several_decks.name(several_decks.best(kept + deal.community)) if deal.community else None
        if seat.folded is not None:
            return Outcome(hand, None, "fold", [half_taken(WAGER, stake)])
        if self._ended(seat):
            return Outcome(NATURAL, None, "win", [self.natural.line(WAGER, stake)])
        if deal.natural:
            # The dealer collects the original wager only (19:47-21.8(h)).
            lines = [lost(WAGER, stake)]
            if SPLIT in seat.wagers:
                lines.append(returned(SPLIT, seat.wagers[SPLIT], "push"))
            return Outcome(hand, None, "lose", lines)
        lines = [met(WAGER, stake, self._against(kept, deal), self.beating)]
        if SPLIT in seat.wagers:
            lines.append(met(SPLIT, seat.wagers[SPLIT], self._against(other, deal), self.beating))
        return Outcome(hand, None, overall(lines), lines)

    def _ended(self, seat: Seat) -> bool:
        """Whether a hand needs no community cards: given up, or a natural that its player did not split instead."""
        return seat.folded is not None or (is_natural(seat.cards) and SPLIT not in seat.wagers)

    def _against(self, two: list[str], deal: Dealer) -> str:
        assert deal.strength is not None, "hands that play on were dealt community cards"
        result = comparison(several_decks.best(two + deal.community), deal.strength)
        return "lose" if result == "push" and self.copies_win else result
