"""Mini-Tex 3 Card Hold 'Em (SPEC §7; seed 004, 19:47-36).

Two cards each, two for the dealer and three community cards; a hand is the best three of those five with at
least one card of one's own.  An ante, then flop and river wagers equal to it and a play wager of twice as much,
or a fold.  The dealer qualifies with ace-king.  Pocket poker pays on the first two cards, also after a fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from jackpot.rules.paytable import Row
from tables.rules import against_dealer, wagers
from tables.rules.against_dealer import ANTE, comparison, met
from tables.rules.cards import RANKS, WEIGHT
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.hands import THREE_CARD_LEADS, THREE_CARD_NAMES, N, three_card_name, three_card_strength
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, Pay, lost, paid_or_lost, returned
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

FLOP: Final = "flop"
RIVER: Final = "river"
PLAY: Final = "play"
STREETS: Final = (FLOP, RIVER, PLAY)
POCKET: Final = "pocket"

ACE: Final = RANKS.index("A")
# The least strength of a high card whose two highest are ace and king; anything from there on qualifies.
ACE_KING: Final = (ACE * N + RANKS.index("K")) * N
SUITED_ACE_KING_QUEEN: Final = THREE_CARD_NAMES.index("mini_royal") + ACE
# Voids that leave pocket poker to be settled (19:47-36.12(a) and (b)).
FACE_UP: Final = frozenset({"face_up_card", "face_up_cards"})
SPARES_POCKET: Final = FACE_UP | {"card_exposed_early"}


@dataclass(slots=True)
class Board:
    """The community cards' weights, singly and in pairs, and the dealer's hand."""

    singles: tuple[int, ...]
    pairs: tuple[int, ...]
    dealer: int = 0
    qualifies: bool = False

    def best(self, cards: Sequence[str]) -> int:
        """The strength of the best three of two own cards and the board, not all of them from the board."""
        first, second = WEIGHT[cards[0]], WEIGHT[cards[1]]
        both = first + second
        totals = [both + single for single in self.singles]
        for pair in self.pairs:
            totals += (first + pair, second + pair)
        return max(map(three_card_strength, totals))


def pocket_hand(cards: Sequence[str], *, ace_two: bool) -> str | None:
    """The pocket poker hand that two cards are; None if they are none (19:47-36.5(d)).

    `ace_two` says whether an ace and a two are consecutive.
    """
    high, low = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    suited = cards[0][1] == cards[1][1]
    if high == low:
        return "pair_of_aces" if high == ACE else "pair"
    if high - low == 1 or (ace_two and (high, low) == (ACE, 0)):
        if not suited:
            return "straight"
        return "royal_straight_flush" if low == ACE - 1 else "straight_flush"
    return None


class MiniTex(Game[Board]):
    """Mini-Tex as one table offers it."""

    title: ClassVar[str] = "mini-tex"
    base_wagers: ClassVar[tuple[str, ...]] = (ANTE, *STREETS)
    side_wagers: ClassVar[tuple[str, ...]] = (POCKET,)
    streets: ClassVar[tuple[str, ...]] = STREETS
    own_terms: ClassVar[tuple[str, ...]] = ("ante_bonus_odds", "ace_two_consecutive")
    most_seats: ClassVar[int] = 6  # 19:46-1.13Y(a)
    own_cards: ClassVar[int] = 2
    community_cards: ClassVar[tuple[int, ...]] = (3,)
    dealer_cards: ClassVar[tuple[int, ...]] = (2,)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.beating = against_dealer.beating(table.paytables["base"])
        odds = table.terms.ante_bonus_odds
        self.ante_bonus = Pay(Row("mini_royal", "to", odds=odds)) if odds else None
        pocket = table.paytables.get(POCKET)
        self.pocket_pays = {row.hand: Pay(row) for row in pocket.rows} if pocket else {}
        self.ace_two = table.terms.ace_two_consecutive

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """Ante within the table's bounds; flop and river once, play twice the ante, or a fold."""
        wagers.judge(self, seat, ANTE, ((FLOP, (1,)), (RIVER, (1,)), (PLAY, (2,))), finished=finished, found=found)

    def deal(self, message: RoundMessage, ruling: Ruling) -> Board:
        """Weigh the community cards and the dealer's hand."""
        first, second, third = (WEIGHT[card] for card in message.community)
        board = Board((first, second, third), (first + second, first + third, second + third))
        board.dealer = board.best(message.dealer)
        board.qualifies = board.dealer >= ACE_KING
        return board

    def outcome(self, seat: Seat, deal: Board) -> Outcome:
        """Ante and streets against the dealer; the ante bonus and pocket poker by the player's cards alone."""
        stakes = seat.wagers
        strength = deal.best(seat.cards)
        rank = strength // THREE_CARD_LEADS
        if seat.folded is not None:
            result = "fold"
            lines = [lost(wager, stakes[wager]) for wager in self.base_wagers if wager in stakes]
        else:
            result = comparison(strength, deal.dealer)
            lines = [met(ANTE, stakes[ANTE], result, self.beating)]
            if self.ante_bonus is not None and rank == SUITED_ACE_KING_QUEEN:
                lines.append(against_dealer.bonus_line(self.ante_bonus, stakes[ANTE]))
            lines += [met(street, stakes[street], result, self.beating) for street in STREETS[:-1]]
            if result == "win" and not deal.qualifies:
                lines.append(returned(PLAY, stakes[PLAY], "push"))
            else:
                lines.append(met(PLAY, stakes[PLAY], result, self.beating))
        if POCKET in stakes:
            lines.append(self._pocket(seat))
        return Outcome(three_card_name(rank), None, result, lines)

    def _pocket(self, seat: Seat) -> Line:
        hand = pocket_hand(seat.cards, ace_two=self.ace_two)
        return paid_or_lost(self.pocket_pays.get(hand) if hand else None, POCKET, seat.wagers[POCKET])

    def void_lines(self, seat: Seat, message: RoundMessage, ruling: Ruling) -> list[Line]:
        """Every stake back; pocket poker is settled if the first two cards are beyond doubt (DECISIONS A38)."""
        lines = self.lines_back(seat)
        spared = ruling.void_codes and SPARES_POCKET.issuperset(ruling.void_codes)
        if not spared or POCKET not in seat.wagers or seat.seat in ruling.void_seats | ruling.forfeited:
            return lines
        # After face-up cards in the deck only if everybody had both cards by then.
        all_had_two = all(len(other.cards) == self.own_cards for other in message.seats)
        if len(set(seat.cards)) != self.own_cards or (FACE_UP.intersection(ruling.void_codes) and not all_had_two):
            return lines
        return [line if line["wager"] != POCKET else self._pocket(seat) for line in lines]
