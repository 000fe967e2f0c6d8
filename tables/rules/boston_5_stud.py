"""Boston 5 stud (SPEC §7; seed 001, 19:47-24).

Five cards each, against the dealer's five.  An ante and a first wager, then on three cards a second wager or a
fold.  Good hands earn a bonus on the ante whatever the dealer holds, and an optional bonus pays on the first
three cards.  The seed has only payouts and irregularities: what is settled otherwise is DECISIONS A33.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from tables.rules import against_dealer, hands, wagers
from tables.rules.against_dealer import ANTE, ANTE_BONUS, comparison, met
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.hands import FIVE_CARD_LEADS, FIVE_CARD_NAMES, THREE_CARD_LEADS, THREE_CARD_NAMES, N
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, Pay, lost, paid_or_lost, prepared
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

FIRST: Final = "first"
SECOND: Final = "second"
STREETS: Final = (FIRST, SECOND)
BONUS: Final = "optional_bonus"

LEAST_LIMIT_CENTS: Final = 5_000_000  # $50,000
# Beside the ante bonus, the most that first and second wager together win at the minimum, in antes (DECISIONS A33).
MOST_BESIDE_THE_BONUS: Final = 4
# Voids in which three-card hands are still paid (19:47-24.12(a) and (f)).
SPARES_THREE_CARDS: Final = frozenset({"card_exposed_early", "shoe_failed"})
THREE_OF_A_KIND: Final = "three_of_a_kind"


@dataclass(slots=True)
class Dealer:
    """The dealer's five cards."""

    strength: int


class Boston5Stud(Game[Dealer]):
    """Boston 5 stud as one table offers it."""

    title: ClassVar[str] = "boston-5-stud"
    base_wagers: ClassVar[tuple[str, ...]] = (ANTE, *STREETS)
    side_wagers: ClassVar[tuple[str, ...]] = (BONUS,)
    streets: ClassVar[tuple[str, ...]] = STREETS
    own_cards: ClassVar[int] = 5
    dealer_cards: ClassVar[tuple[int, ...]] = (5,)
    carries_progressive: ClassVar[bool] = True

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        base = table.paytables["base"]
        self.beating = against_dealer.beating(base)
        self.ante_bonus = prepared(hands.by_five_card_class(against_dealer.bonus_rows(base)))
        bonus = table.paytables.get(BONUS)
        self.bonus_pays = prepared(hands.by_three_card_class(bonus.rows)) if bonus else []
        # First and second wager and the ante bonus, not the optional bonus (19:47-24.11(e)).
        self.limited |= {ANTE_BONUS}
        best_odds = max(pay.multiple for pay in self.ante_bonus if pay is not None)
        self.limit_cents = max(LEAST_LIMIT_CENTS, (best_odds + MOST_BESIDE_THE_BONUS) * table.minimum_cents)

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """Ante within the table's bounds, then first and second wager of any size."""
        wagers.judge(self, seat, ANTE, ((FIRST, ()), (SECOND, ())), finished=finished, found=found)

    def deal(self, message: RoundMessage, ruling: Ruling) -> Dealer:
        """Weigh the dealer's hand."""
        return Dealer(hands.five_card_strength(hands.weigh(message.dealer)))

    def outcome(self, seat: Seat, deal: Dealer) -> Outcome:
        """First and second wager against the dealer, the ante with them, the bonuses by the hand alone."""
        stakes = seat.wagers
        strength = hands.five_card_strength(hands.weigh(seat.cards))
        rank = strength // FIVE_CARD_LEADS
        if seat.folded is not None:
            result = "fold"
            lines = [lost(wager, stakes[wager]) for wager in self.base_wagers if wager in stakes]
        else:
            result = comparison(strength, deal.strength)
            # A beaten ante is lost, any other comes back: what it wins is the bonus.
            lines = [met(ANTE, stakes[ANTE], "lose" if result == "lose" else "push", self.beating)]
            bonus = self.ante_bonus[rank]
            if bonus is not None:
                lines.append(against_dealer.bonus_line(bonus, stakes[ANTE]))
            lines += [met(street, stakes[street], result, self.beating) for street in STREETS]
        if BONUS in stakes:
            lines.append(paid_or_lost(self.bonus_pays[_three_card_class(seat.cards)], BONUS, stakes[BONUS]))
        return Outcome(FIVE_CARD_NAMES[rank], rank, result, lines)

    def void_lines(self, seat: Seat, message: RoundMessage, ruling: Ruling) -> list[Line]:
        """Every stake back; but winning three-card hands are paid if the deal stopped after them (DECISIONS A38)."""
        lines = self.lines_back(seat)
        spared = ruling.void_codes and SPARES_THREE_CARDS.issuperset(ruling.void_codes)
        if not spared or seat.seat in ruling.void_seats | ruling.forfeited or len(set(seat.cards[:3])) < 3:
            return lines
        three = _three_card_class(seat.cards)
        if BONUS in seat.wagers:
            pay = self.bonus_pays[three]
            if pay is not None:
                lines = [line if line["wager"] != BONUS else pay.line(BONUS, line["stake_cents"]) for line in lines]
        bonus = self._ante_bonus_of_three(three)
        if bonus is not None and seat.folded is None:
            lines.insert(1, against_dealer.bonus_line(bonus, seat.wagers[ANTE]))
        return lines

    def _ante_bonus_of_three(self, three: int) -> Pay | None:
        """What three cards already earn on the ante: only three of a kind is a bonus hand without the other two."""
        if THREE_CARD_NAMES[three] != THREE_OF_A_KIND:
            return None
        return self.ante_bonus[FIVE_CARD_NAMES.index(THREE_OF_A_KIND) + three % N]


def _three_card_class(cards: list[str]) -> int:
    """The class of the first three cards dealt to a seat."""
    return hands.three_card_strength(hands.weigh(cards[:3])) // THREE_CARD_LEADS
