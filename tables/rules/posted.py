"""Games that are settled from a posted result: wheels and dice (SPEC §7).

The message has no cards; `result` says what the wheel or the dice showed.  A seat may have any number of wagers, each
settled by itself, so its result is what they come to together.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from tables.rules import wagers
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.irregularities import Ruling
from tables.rules.lines import Line, overall
from tables.rules.message import RoundMessage, Seat


class PostedGame(Game[str]):
    """A game whose rounds end with a posted result, which is all that their seats have in common."""

    deck: ClassVar[frozenset[str]] = frozenset()
    cards_in_a_deck: ClassVar[int] = 0
    own_cards: ClassVar[int] = 0

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """At least the table's minimum together, and none above its maximum."""
        wagers.judge_spread(self, seat, found)

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """A round that stands has a result."""
        if message.result is None and not ruling.void_codes:
            found.add("result_impossible", "the result is missing")

    def deal(self, message: RoundMessage, ruling: Ruling) -> str:
        """The result."""
        assert message.result is not None, "a round without its result is held"
        return message.result

    def outcome(self, seat: Seat, deal: str) -> Outcome:
        """Every wager by the result alone."""
        lines = [self.line(wager, seat.wagers[wager], deal) for wager in self.line_order if wager in seat.wagers]
        return Outcome(self.shown(deal), None, overall(lines), lines)

    @abstractmethod
    def line(self, wager: str, stake_cents: int, result: str) -> Line:
        """What becomes of one wager."""

    def shown(self, result: str) -> str:
        """The result as the settlement's `hand`."""
        return result
