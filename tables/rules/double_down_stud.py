"""Double down stud (SPEC §7; seed 003, 19:47-17).

One card each and four common cards, of which one is turned last; the hand is those five.  One wager, and a
second equal to it that may be added before the last card is turned.
"""

from __future__ import annotations

from typing import ClassVar, Final

from tables.rules import hands, wagers
from tables.rules.cards import WEIGHT
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.hands import FIVE_CARD_LEADS, FIVE_CARD_NAMES, five_card_strength
from tables.rules.irregularities import Ruling
from tables.rules.lines import paid_or_lost, prepared
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

WAGER: Final = "wager"
DOUBLE_DOWN: Final = "double_down"
LIMIT_CENTS: Final = 10_000_000  # $100,000 for any hand (19:47-17.10(c))


class DoubleDownStud(Game[int]):
    """Double down stud as one table offers it; what its seats share is the weight of the common cards."""

    title: ClassVar[str] = "double-down-stud"
    base_wagers: ClassVar[tuple[str, ...]] = (WAGER, DOUBLE_DOWN)
    own_cards: ClassVar[int] = 1
    community_cards: ClassVar[tuple[int, ...]] = (4,)
    carries_progressive: ClassVar[bool] = True
    a_misdeal_voids_all: ClassVar[bool] = True  # 19:47-17.11(d)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.base_pays = prepared(hands.by_five_card_class(table.paytables["base"].rows))
        self.limit_cents = LIMIT_CENTS

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """One wager within the table's bounds, and perhaps one more of the same amount."""
        # Nobody has to double, so a wager that is not there is never missing.
        wagers.judge(self, seat, WAGER, ((DOUBLE_DOWN, (1,)),), finished=False, found=found)

    def deal(self, message: RoundMessage, ruling: Ruling) -> int:
        """Weigh the common cards."""
        return hands.weigh(message.community)

    def outcome(self, seat: Seat, deal: int) -> Outcome:
        """Both wagers by the five cards."""
        rank = five_card_strength(deal + WEIGHT[seat.cards[0]]) // FIVE_CARD_LEADS
        pay = self.base_pays[rank]
        made = [wager for wager in self.base_wagers if wager in seat.wagers]
        lines = [paid_or_lost(pay, wager, seat.wagers[wager]) for wager in made]
        return Outcome(FIVE_CARD_NAMES[rank], rank, pay.result if pay is not None else "lose", lines)
