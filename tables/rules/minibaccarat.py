"""Minibaccarat (SPEC §7; seed 003, 19:47-7).

Two hands from at least six decks, the player's and the banker's; `community` is the player's hand and `dealer` the
banker's, in the order dealt.  Tens and faces count ten, aces one, and a hand's point count is the last digit.  The seed has
the rules for the player's third card but neither the banker's table nor the odds: a banker's third card is accepted as
dealt, and what wins pay is the edition's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from tables.rules import wagers
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.irregularities import Ruling
from tables.rules.lines import overall, paid_or_lost, pay_of
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

PLAYER: Final = "player"
BANKER: Final = "banker"
TIE: Final = "tie"
# What the wagers on either hand come to when the hands tie.
TIED: Final = "tied"
NATURAL: Final = 8
PLAYER_STAYS: Final = 6

POINTS: Final = {rank: point for point, rank in enumerate("A23456789", 1)} | dict.fromkeys("TJQK", 10)


def point_count(cards: Sequence[str]) -> int:
    """The last digit of what the cards count together."""
    return sum(POINTS[card[0]] for card in cards) % 10


def third_cards_fit(player: Sequence[str], banker: Sequence[str]) -> bool:
    """Whether third cards were drawn as 19:47-7.9 has it, as far as the seed goes."""
    if max(point_count(player[:2]), point_count(banker[:2])) >= NATURAL:
        return len(player) == len(banker) == 2
    return (len(player) == 2) == (point_count(player[:2]) >= PLAYER_STAYS)


class Minibaccarat(Game[str]):
    """Minibaccarat as one table offers it; what its seats share is which hand won."""

    title: ClassVar[str] = "minibaccarat"
    base_wagers: ClassVar[tuple[str, ...]] = (PLAYER, BANKER, TIE)
    decks_allowed: ClassVar[tuple[int, ...]] = (6, 7, 8)
    own_cards: ClassVar[int] = 0
    community_cards: ClassVar[tuple[int, ...]] = (2, 3)
    dealer_cards: ClassVar[tuple[int, ...]] = (2, 3)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.pays = {row.hand: pay_of(row) for row in table.paytables["base"].rows}
        self.offered = frozenset(wager for wager in self.base_wagers if wager in self.pays)

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """At least the table's minimum together, and none above its maximum."""
        wagers.judge_spread(self, seat, found)

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """Third cards as the point counts ask for them."""
        counts = len(message.community), len(message.dealer)
        if ruling.void_codes or counts[0] not in self.community_cards or counts[1] not in self.dealer_cards:
            return
        if not third_cards_fit(message.community, message.dealer):
            words = (
                f"{counts[0]} cards for the player and {counts[1]} for the banker: their point counts ask for others"
            )
            found.add("wrong_card_count", words)

    def deal(self, message: RoundMessage, ruling: Ruling) -> str:
        """Which hand has the higher point count."""
        player, banker = point_count(message.community), point_count(message.dealer)
        if player == banker:
            return TIE
        return PLAYER if player > banker else BANKER

    def outcome(self, seat: Seat, deal: str) -> Outcome:
        """The hand that won pays; a tie pays its own wager."""
        lines = []
        for wager in self.base_wagers:
            if wager in seat.wagers:
                row = wager if wager == deal else TIED if deal == TIE else None
                lines.append(paid_or_lost(self.pays.get(row) if row else None, wager, seat.wagers[wager]))
        return Outcome(deal, None, overall(lines), lines)
