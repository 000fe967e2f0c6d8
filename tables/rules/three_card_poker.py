"""Three card poker (SPEC §7; seed 003, 19:47-20).

Three cards each, against the dealer's three.  An ante, then a play wager equal to it or a fold; pair plus on
the hand alone, with or without an ante, but lost with a fold.  The dealer qualifies with a queen high.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from tables.rules import against_dealer, hands, wagers
from tables.rules.against_dealer import ANTE, comparison, met
from tables.rules.cards import RANKS
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.hands import THREE_CARD_LEADS, three_card_name
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, lost, paid_or_lost, prepared, returned
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

PLAY: Final = "play"
PAIR_PLUS: Final = "pair_plus"
# The class of a high card whose highest is a queen; anything from there on qualifies.
QUEEN_HIGH: Final = RANKS.index("Q")


@dataclass(slots=True)
class Dealer:
    """The dealer's three cards, and whether they are good enough to play."""

    strength: int
    qualifies: bool


class ThreeCardPoker(Game[Dealer]):
    """Three card poker as one table offers it."""

    title: ClassVar[str] = "three-card-poker"
    base_wagers: ClassVar[tuple[str, ...]] = (ANTE, PLAY)
    side_wagers: ClassVar[tuple[str, ...]] = (PAIR_PLUS,)
    streets: ClassVar[tuple[str, ...]] = (PLAY,)
    own_cards: ClassVar[int] = 3
    dealer_cards: ClassVar[tuple[int, ...]] = (3,)
    a_misdeal_voids_all: ClassVar[bool] = True  # 19:47-20.12(c)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        base = table.paytables["base"]
        self.beating = against_dealer.beating(base)
        self.ante_bonus = prepared(hands.by_three_card_class(against_dealer.bonus_rows(base)))
        pair_plus = table.paytables.get(PAIR_PLUS)
        self.pair_plus = prepared(hands.by_three_card_class(pair_plus.rows)) if pair_plus else []

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """Ante within the table's bounds and an equal play wager or a fold; or pair plus alone (DECISIONS A37)."""
        if ANTE in seat.wagers or PAIR_PLUS not in seat.wagers:
            wagers.judge(self, seat, ANTE, ((PLAY, (1,)),), finished=finished, found=found)
        elif PLAY in seat.wagers or seat.folded is not None:
            wager = PLAY if PLAY in seat.wagers else ANTE
            found.add(
                "wager_out_of_order", "there is no ante to play on, and none to fold", seat=seat.seat, wager=wager
            )

    def deal(self, message: RoundMessage, ruling: Ruling) -> Dealer:
        """Weigh the dealer's hand."""
        strength = hands.three_card_strength(hands.weigh(message.dealer))
        return Dealer(strength, strength // THREE_CARD_LEADS >= QUEEN_HIGH)

    def outcome(self, seat: Seat, deal: Dealer) -> Outcome:
        """Ante and play against the dealer, the ante bonus and pair plus by the hand alone."""
        stakes = seat.wagers
        strength = hands.three_card_strength(hands.weigh(seat.cards))
        rank = strength // THREE_CARD_LEADS
        if seat.folded is not None:
            forfeited = [lost(wager, stakes[wager]) for wager in self.line_order if wager in stakes]
            return Outcome(three_card_name(rank), None, "fold", forfeited)
        lines: list[Line] = []
        result = ""
        if ANTE in stakes:
            result = comparison(strength, deal.strength) if deal.qualifies else "win"
            lines.append(met(ANTE, stakes[ANTE], result, self.beating))
            bonus = self.ante_bonus[rank]
            if bonus is not None:
                lines.append(against_dealer.bonus_line(bonus, stakes[ANTE]))
            if deal.qualifies:
                lines.append(met(PLAY, stakes[PLAY], result, self.beating))
            else:
                lines.append(returned(PLAY, stakes[PLAY], "push"))
        if PAIR_PLUS in stakes:
            lines.append(paid_or_lost(self.pair_plus[rank], PAIR_PLUS, stakes[PAIR_PLUS]))
            result = result or lines[-1]["result"]
        return Outcome(three_card_name(rank), None, result, lines)
