"""Mississippi Stud (SPEC §5; seed 002, Massachusetts Rules of the Game).

Two cards each and three community cards; the hand is exactly those five.  An ante, then a wager of one, two or three
times the ante on 3rd, 4th and 5th street, in order, or fold.  Beside them the 3 Card Bonus on the community cards,
Cover All by the highest hand at the table, and the progressive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from tables.rules import hands, wagers
from tables.rules.cards import WEIGHT
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.hands import FIVE_CARD_LEADS, FIVE_CARD_NAMES, THREE_CARD_LEADS, five_card_strength
from tables.rules.irregularities import Ruling
from tables.rules.lines import Pay, lost, prepared, won
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

ANTE: Final = "ante"
STREETS: Final = ("third_street", "fourth_street", "fifth_street")
RAISES: Final = tuple((street, (1, 2, 3)) for street in STREETS)  # times the ante
BONUS: Final = "three_card_bonus"
COVER_ALL: Final = "cover_all"

MOST_COVER_ALL_SEATS: Final = 6
LEAST_LIMIT_CENTS: Final = 5_000_000  # $50,000
# The ante and three streets of three times the ante: the most one patron can stake at the minimum.
MOST_STAKES: Final = 1 + 3 + 3 + 3


@dataclass(slots=True)
class Board:
    """What all seats of a round share: the community cards, and the two side wagers that do not depend on the seat."""

    total: int  # the sum of the community cards' weights
    bonus: Pay | None
    cover_all: tuple[str, int] | None  # the highest hand and what it pays, "to 1"
    strengths: dict[int, int]  # the five cards of the seats that Cover All looked at


class MississippiStud(Game[Board]):
    """Mississippi Stud as one table offers it."""

    title: ClassVar[str] = "mississippi-stud"
    base_wagers: ClassVar[tuple[str, ...]] = (ANTE, *STREETS)
    side_wagers: ClassVar[tuple[str, ...]] = (BONUS, COVER_ALL)
    streets: ClassVar[tuple[str, ...]] = STREETS
    own_cards: ClassVar[int] = 2
    community_cards: ClassVar[tuple[int, ...]] = (3,)
    dealer_cards: ClassVar[tuple[int, ...]] = (0, 2)  # a dealer's hand may count for Cover All
    carries_progressive: ClassVar[bool] = True

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        base = hands.by_five_card_class(table.paytables["base"].rows)
        self.base_pays = prepared(base)
        bonus = table.paytables.get(BONUS)
        self.bonus_pays = prepared(hands.by_three_card_class(bonus.rows)) if bonus else []
        cover_all = table.paytables.get(COVER_ALL)
        self.cover_all = cover_all.odds_by_players if cover_all else {}
        self.counts_folded = table.terms.cover_all_counts_folded_hands
        # The greater of $50,000 and the most one patron can win in a round at the minimum (seed 002 section 11(c)).
        best_odds = max(row.odds for row in base if row is not None)
        self.limit_cents = max(LEAST_LIMIT_CENTS, best_odds * MOST_STAKES * table.minimum_cents)
        if table.terms.limit_scope == "all_fixed_odds":
            self.limited |= {BONUS, COVER_ALL}

    @classmethod
    def misfit(cls, wager: str, seats: int) -> str | None:
        """Cover All pays by one to six players (seed 002 section 12)."""
        if wager == COVER_ALL and seats > MOST_COVER_ALL_SEATS:
            return f"six seats at most (seats = {seats})"
        return None

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """The ante within the table's bounds, the streets in order and one, two or three times the ante (SPEC §5)."""
        wagers.judge(self, seat, ANTE, RAISES, finished=finished, found=found)

    def deal(self, message: RoundMessage, ruling: Ruling) -> Board:
        """Weigh the community cards, and settle the two side wagers that are the same for every seat."""
        first, second, third = message.community
        total = WEIGHT[first] + WEIGHT[second] + WEIGHT[third]
        bonus = self.bonus_pays[hands.three_card_strength(total) // THREE_CARD_LEADS] if self.bonus_pays else None
        strengths: dict[int, int] = {}
        cover_all = self._cover_all(message, ruling, total, strengths) if self.cover_all else None
        return Board(total, bonus, cover_all, strengths)

    def _cover_all(
        self, message: RoundMessage, ruling: Ruling, total: int, strengths: dict[int, int]
    ) -> tuple[str, int] | None:
        """The hand that Cover All pays this round and its odds "to 1"; None if it loses.

        The highest hand counts that is neither void nor forfeited nor, unless the term says so, folded; the dealer's
        too if there is one.  The odds go by the players dealt in.  `strengths` takes up those of the seats.
        """
        void, forfeited = ruling.void_seats, ruling.forfeited
        for seat in message.seats:
            if (seat.folded is None or self.counts_folded) and seat.seat not in void and seat.seat not in forfeited:
                first, second = seat.cards
                strengths[seat.seat] = five_card_strength(total + WEIGHT[first] + WEIGHT[second])
        played = [*strengths.values()]
        if message.dealer:
            played.append(five_card_strength(total + hands.weigh(message.dealer)))
        if not played:
            return None
        hand = FIVE_CARD_NAMES[max(played) // FIVE_CARD_LEADS]
        odds = self.cover_all.get(hand)
        return (hand, odds[len(message.seats) - 1]) if odds else None

    def outcome(self, seat: Seat, deal: Board) -> Outcome:
        """Ante and streets by the five cards, lost by a fold; bonus and Cover All whatever the hand does."""
        strength = deal.strengths.get(seat.seat)
        if strength is None:
            first, second = seat.cards
            strength = five_card_strength(deal.total + WEIGHT[first] + WEIGHT[second])
        rank = strength // FIVE_CARD_LEADS
        staked = seat.wagers
        if seat.folded is not None:
            pay, result = None, "fold"
        else:
            pay = self.base_pays[rank]
            result = pay.result if pay is not None else "lose"
        if pay is None:
            lines = [lost(wager, staked[wager]) for wager in self.base_wagers if wager in staked]
        else:
            lines = [pay.line(wager, staked[wager]) for wager in self.base_wagers]
        stake = staked.get(BONUS)
        if stake is not None:
            lines.append(deal.bonus.line(BONUS, stake) if deal.bonus else lost(BONUS, stake))
        stake = staked.get(COVER_ALL)
        if stake is not None:
            if deal.cover_all is None:
                lines.append(lost(COVER_ALL, stake))
            else:
                hand, odds = deal.cover_all
                lines.append(won(COVER_ALL, stake, f"{odds} to 1", stake * odds, stake * odds + stake, hand))
        return Outcome(FIVE_CARD_NAMES[rank], rank, result, lines)
