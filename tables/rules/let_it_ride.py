"""Let it ride (SPEC §7; seed 003, 19:47-18).

Three cards each and two community cards; the hand is those five.  Three equal bets, of which the first and the
second may be taken back.  Beside them a bonus wager of one amount that pays fixed sums, and the progressive.
"""

from __future__ import annotations

from typing import ClassVar, Final

from tables.rules import hands, wagers
from tables.rules.cards import WEIGHT
from tables.rules.faults import Faults, dollars
from tables.rules.game import Game, Outcome
from tables.rules.hands import FIVE_CARD_LEADS, FIVE_CARD_NAMES, five_card_strength
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, Pay, lost, paid_or_lost, prepared, returned
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

BETS: Final = ("bet_one", "bet_two", "bet_three")
BONUS: Final = "bonus"


class LetItRide(Game[int]):
    """Let it ride as one table offers it; what its seats share is the weight of the community cards."""

    title: ClassVar[str] = "let-it-ride"
    base_wagers: ClassVar[tuple[str, ...]] = BETS
    side_wagers: ClassVar[tuple[str, ...]] = (BONUS,)
    withdrawable: ClassVar[tuple[str, ...]] = BETS[:2]
    own_terms: ClassVar[tuple[str, ...]] = ("bonus_returns_stake", "payout_limit_cents")
    own_cards: ClassVar[int] = 3
    community_cards: ClassVar[tuple[int, ...]] = (2,)
    carries_progressive: ClassVar[bool] = True
    a_misdeal_voids_all: ClassVar[bool] = True  # 19:47-18.12(c)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.base_pays = prepared(hands.by_five_card_class(table.paytables["base"].rows))
        bonus = table.paytables.get(BONUS)
        self.bonus_cents = bonus.wager_cents if bonus else None
        self.bonus_pays = prepared(hands.by_five_card_class(bonus.rows)) if bonus else []
        self.bonus_returns_stake = table.terms.bonus_returns_stake
        # On the three bets alone (19:47-18.11(c)).
        self.limit_cents = table.terms.payout_limit_cents

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """Three equal bets, all made before the deal; the bonus wager's one amount."""
        # No bet is a street: one that is missing was missing at the deal, so a void round is held for it as well.
        wagers.judge(self, seat, BETS[0], ((BETS[1], (1,)), (BETS[2], (1,))), finished=True, found=found)
        stake = seat.wagers.get(BONUS)
        if stake is not None and self.bonus_cents is not None and stake != self.bonus_cents:
            words = f"{dollars(stake)}: {dollars(self.bonus_cents)} is its one amount"
            found.add("wager_not_allowed", words, seat=seat.seat, wager=BONUS)

    def deal(self, message: RoundMessage, ruling: Ruling) -> int:
        """Weigh the community cards."""
        return hands.weigh(message.community)

    def outcome(self, seat: Seat, deal: int) -> Outcome:
        """The bets that ride, by the five cards; a bet taken back is returned (DECISIONS A35)."""
        first, second, third = seat.cards
        rank = five_card_strength(deal + WEIGHT[first] + WEIGHT[second] + WEIGHT[third]) // FIVE_CARD_LEADS
        pay = self.base_pays[rank]
        lines: list[Line] = []
        for bet in BETS:
            stake = seat.wagers[bet]
            if bet in seat.withdrawn:
                lines.append(returned(bet, stake, "void"))
            else:
                lines.append(paid_or_lost(pay, bet, stake))
        stake_cents = seat.wagers.get(BONUS)
        if stake_cents is not None:
            lines.append(self._bonus(self.bonus_pays[rank], stake_cents))
        return Outcome(FIVE_CARD_NAMES[rank], rank, pay.result if pay is not None else "lose", lines)

    def _bonus(self, pay: Pay | None, stake_cents: int) -> Line:
        """A fixed sum, on top of which the term may return the stake (DECISIONS A36)."""
        if pay is None:
            return lost(BONUS, stake_cents)
        line = pay.line(BONUS, stake_cents)
        if self.bonus_returns_stake:
            line["paid_cents"] += stake_cents
        return line
