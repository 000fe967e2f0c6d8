"""Pai gow, the game of tiles (SPEC §7; seed 003, 19:47-10.1 to 10.3).

Four tiles each and four for the dealer, of a set of 32; each sets a high hand and a low hand of two.  A tile is named by
its two ends, the smaller first: `66` is the twelve, `12` the three of the supreme pair.  `cards` and `dealer` are the two
tiles of the high hand, then those of the low hand.

As in pai gow poker both hands must rank higher to win, one is a tie, a copy is the dealer's (10.2(c) and (h)), and a low
hand above the high hand loses: the seed ends before 10.7, and what a win pays is the edition's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from tables.rules import against_dealer, wagers
from tables.rules.against_dealer import met
from tables.rules.faults import Faults
from tables.rules.game import Game, Outcome
from tables.rules.irregularities import Ruling
from tables.rules.message import RoundMessage, Seat
from tables.rules.table import TableTerms

WAGER: Final = "wager"
TILES: Final = 4

# The tiles from the highest rank to the lowest (10.2(g)); the eleven that come twice in a set are the first eleven.
RANKED: Final = (
    ("66",), ("11",), ("44",), ("13",), ("55",), ("33",), ("22",), ("56",), ("46",), ("16",), ("15",),
    ("36", "45"), ("26", "35"), ("25", "34"), ("24",), ("14", "23"), ("12",),
)  # fmt: skip
RANK: Final = {tile: place for place, tiles in enumerate(RANKED, 1) for tile in tiles}
TWICE: Final = frozenset(tile for tiles in RANKED[:11] for tile in tiles)
SIX, THREE = "24", "12"  # the supreme pair, each of which may stand for the other (10.2(e))

NINES, EIGHTS = ("36", "45"), ("26", "35", "44")
# The pairs from the highest rank to the lowest (10.2(b)), each with a name.
PAIRS: Final[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
    ("supreme_pair", ((SIX, THREE),)),
    *(("matched_pair", ((tile, tile),)) for (tile,) in RANKED[:11]),
    *(("mixed_pair", (pair,)) for pair in (("36", "45"), ("26", "35"), ("25", "34"), ("14", "23"))),
    *(("wong", tuple((high, nine) for nine in NINES)) for high in ("66", "11")),
    *(("gong", tuple((high, eight) for eight in EIGHTS)) for high in ("66", "11")),
)
PAIR: Final = {
    tuple(sorted(pair)): (len(PAIRS) - place, name) for place, (name, pairs) in enumerate(PAIRS) for pair in pairs
}

# Higher is better: the rank of a pair, or none; the value; the rank of the higher tile.
Strength = tuple[int, int, int]


def strength(tiles: Sequence[str]) -> Strength:
    """What two tiles are worth (10.2(b) to (g))."""
    pair = PAIR.get(tuple(sorted(tiles)))
    if pair is not None:
        return pair[0], 0, 0
    return max(_valued(first, second) for first in _faces(tiles[0]) for second in _faces(tiles[1]))


def name(tiles: Sequence[str]) -> str:
    """What two tiles are called: a kind of pair, or their value."""
    pair = PAIR.get(tuple(sorted(tiles)))
    return pair[1] if pair is not None else f"value_{strength(tiles)[1]}"


def _faces(tile: str) -> tuple[str, ...]:
    return (SIX, THREE) if tile in (SIX, THREE) else (tile,)


def _valued(first: str, second: str) -> Strength:
    spots = sum(int(end) for end in first + second)
    return 0, spots % 10, -min(RANK[first], RANK[second])


class PaiGow(Game[tuple[Strength, Strength]]):
    """Pai gow as one table offers it; what its seats share is the dealer's high and low hand."""

    title: ClassVar[str] = "pai-gow"
    base_wagers: ClassVar[tuple[str, ...]] = (WAGER,)
    deck: ClassVar[frozenset[str]] = frozenset(RANK)
    cards_in_a_deck: ClassVar[int] = 32
    own_cards: ClassVar[int] = TILES
    dealer_cards: ClassVar[tuple[int, ...]] = (TILES,)

    def __init__(self, table: TableTerms) -> None:
        super().__init__(table)
        self.beating = against_dealer.beating(table.paytables["base"])

    def copies(self, card: str) -> int:
        """Eleven of the tiles come twice in a set."""
        return 2 if card in TWICE else 1

    def judge_wagers(self, seat: Seat, *, finished: bool, found: Faults) -> None:
        """One wager within the table's bounds."""
        wagers.judge(self, seat, WAGER, (), finished=finished, found=found)

    def judge_round(self, message: RoundMessage, ruling: Ruling, found: Faults) -> None:
        """A dealer's low hand above his high hand is no hand to settle against."""
        if not ruling.void_codes and len(message.dealer) == TILES and _fouled(message.dealer):
            found.add("result_impossible", "the dealer's low hand ranks above his high hand")

    def deal(self, message: RoundMessage, ruling: Ruling) -> tuple[Strength, Strength]:
        """Weigh the dealer's two hands."""
        return strength(message.dealer[:2]), strength(message.dealer[2:])

    def outcome(self, seat: Seat, deal: tuple[Strength, Strength]) -> Outcome:
        """Both hands higher win, one is a tie, none or a fouled hand loses."""
        high, low = seat.cards[:2], seat.cards[2:]
        higher = 0 if _fouled(seat.cards) else (strength(high) > deal[0]) + (strength(low) > deal[1])
        result = ("lose", "push", "win")[higher]
        return Outcome(name(high), None, result, [met(WAGER, seat.wagers[WAGER], result, self.beating)])


def _fouled(tiles: Sequence[str]) -> bool:
    """Whether the low hand ranks above the high hand."""
    return strength(tiles[2:]) > strength(tiles[:2])
