"""What a game must say for itself: its cards, its wagers and what they win.

What is the same in every game (held reasons, void rounds, the limit, the progressive, envy, the settlement's shape) is
in `held`, `limit`, `settle` and `jackpot.rules.progressive`.  A game is one module with one subclass of `Game`, its
paytables, and a line in `games`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final, Generic, TypeVar

from tables.rules import cards, hands
from tables.rules.faults import Faults
from tables.rules.irregularities import VOID_THE_ROUND, Ruling
from tables.rules.lines import Line, Pay, prepared, returned
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

PROGRESSIVE: Final = "progressive"
ANY_NUMBER: Final = -1

Deal = TypeVar("Deal")


@dataclass(slots=True)
class Outcome:
    """What became of a seat that stands: its hand, its result, and its lines without the progressive.

    `rank` is the five-card class that the progressive pays by, None in games that carry none.
    """

    hand: str | None
    rank: int | None
    result: str
    lines: list[Line]


class Game(ABC, Generic[Deal]):
    """A game as one table plays it; `Deal` is whatever the seats of a round have in common."""

    title: ClassVar[str]
    # In the order of play, which is the order of the lines and of the limit's ties.
    base_wagers: ClassVar[tuple[str, ...]]
    # Offered where the table has a paytable of that name; in the order of the lines.
    side_wagers: ClassVar[tuple[str, ...]] = ()
    # Paytables every table of the game must name.
    required_paytables: ClassVar[tuple[str, ...]] = ("base",)
    # Where a hand may be folded; wagers a player may take back.
    streets: ClassVar[tuple[str, ...]] = ()
    withdrawable: ClassVar[tuple[str, ...]] = ()
    # Terms that only this game has.
    own_terms: ClassVar[tuple[str, ...]] = ()
    most_seats: ClassVar[int] = 7
    decks_allowed: ClassVar[tuple[int, ...]] = (1,)
    # What a round and a seat may post as their result, in games that are settled from one.
    results: ClassVar[frozenset[str]] = frozenset()
    seat_results: ClassVar[frozenset[str]] = frozenset()
    # The cards a message may name.
    deck: ClassVar[frozenset[str]] = cards.DECK
    cards_in_a_deck: ClassVar[int] = 52
    own_cards: ClassVar[int]  # or ANY_NUMBER, where the result does not depend on them
    community_cards: ClassVar[tuple[int, ...]] = (0,)
    dealer_cards: ClassVar[tuple[int, ...]] = (0,)
    # Ranks five cards of one deck and completes every hand, so a link's paytable can fit (SPEC §6.9).
    carries_progressive: ClassVar[bool] = False
    # Irregularities that void the round, and whether a misdealt hand does so whatever the terms say (SPEC §8).
    void_the_round: ClassVar[frozenset[str]] = VOID_THE_ROUND
    a_misdeal_voids_all: ClassVar[bool] = False

    limit_cents: int | None = None
    limited: frozenset[str]
    # The base wagers as a set: what is none of them is a side wager.
    base: frozenset[str]

    def __init__(self, table: TableTerms) -> None:
        self.table = table
        self.seats = table.seats
        self.misdeal_voids = "round" if self.a_misdeal_voids_all else table.terms.misdeal_voids
        offered = [*self.base_wagers, *(wager for wager in self.side_wagers if wager in table.paytables)]
        self.base = self.limited = frozenset(self.base_wagers)
        self.link = table.link
        self.progressive_cents = 0
        self.progressive_pays: list[Pay | None] = []
        if self.link is not None:
            offered.append(PROGRESSIVE)
            self.progressive_cents = self.link.paytable.wager_cents
            self.progressive_pays = prepared(hands.by_five_card_class(self.link.paytable.rows))
        self.offered = frozenset(offered)
        # Lines come in this order whatever the order of the message (DECISIONS A4).
        self.line_order = tuple(offered)
        self.side_offered = tuple(wager for wager in offered if wager not in self.base_wagers)
        self.full_count = self.cards_in_a_deck * table.decks
        self.survives_fold = table.terms.progressive_survives_fold

    @classmethod
    def misfit(cls, wager: str, seats: int) -> str | None:
        """Why a table of so many seats may not offer a side wager; None if it may."""
        return None

    @abstractmethod
    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """Add the faults of a seat's wagers: amounts, multiples, order, folds.

        Wagers that are not offered have been found already.  `finished` is false where the round or the seat is void:
        then a wager that is still missing is no fault (DECISIONS A11).
        """

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """Add faults that only the whole round shows; of a void round's cards nothing is asked."""

    def copies(self, card: str) -> int:
        """How often a card may be on the table."""
        return self.table.decks

    @abstractmethod
    def deal(self, message: RoundMessage, ruling: Ruling) -> Deal:
        """What the seats of a round have in common, looked up once."""

    @abstractmethod
    def outcome(self, seat: Seat, deal: Deal) -> Outcome:
        """What becomes of a seat that is neither void nor forfeited."""

    def five_card_class(self, seat: Seat, message: RoundMessage) -> int | None:
        """The class of the five cards a seat's progressive wager is on; None if no deck has them together."""
        try:
            total = hands.weigh(seat.cards) + hands.weigh(message.community)
            return hands.five_card_strength(total) // hands.FIVE_CARD_LEADS
        except KeyError:
            return None

    def void_lines(self, seat: Seat, message: RoundMessage, ruling: Ruling) -> list[Line]:
        """The lines of a seat that is void, or whose round is: every stake back."""
        return self.lines_back(seat)

    def lines_back(self, seat: Seat) -> list[Line]:
        """Every wager of the seat, with its stake returned."""
        wagers = seat.wagers
        return [returned(wager, wagers[wager], "void") for wager in self.line_order if wager in wagers]
