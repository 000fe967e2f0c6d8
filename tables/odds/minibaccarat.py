"""Minibaccarat: every six cards in the order of the shoe, by which hand wins (seed 003, 19:47-7).

The seed ends before the banker's table of third cards: it is the one in general use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from math import perm
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.edition import WagerOdds
from tables.odds.pays import LOST, net, one_draw
from tables.rules.minibaccarat import BANKER, NATURAL, PLAYER, PLAYER_STAYS, TIE, TIED, Minibaccarat

POINTS: Final = tuple(range(10))
MOST_CARDS: Final = 6
BANKER_STAYS: Final = 6  # if the player has no third card
# The player's third cards on which the banker draws, by his point count.
BANKER_DRAWS: Final = {
    0: POINTS,
    1: POINTS,
    2: POINTS,
    3: (0, 1, 2, 3, 4, 5, 6, 7, 9),
    4: (2, 3, 4, 5, 6, 7),
    5: (4, 5, 6, 7),
    6: (6, 7),
    7: (),
}


class _Shoe:
    """A full shoe from which cards are drawn in order, by their points."""

    def __init__(self, decks: int) -> None:
        self.left = [16 * decks, *[4 * decks] * 9]
        self.cards = 52 * decks

    def draws(self) -> Iterator[tuple[int, int]]:
        """Each point that may come and the cards that have it; the card is out of the shoe until the next is asked for."""
        for point in POINTS:
            ways = self.left[point]
            if ways:
                self.left[point] -= 1
                self.cards -= 1
                yield point, ways
                self.left[point] += 1
                self.cards += 1

    def finish(self, drawn: int) -> int:
        """The ways in which the cards follow that are not drawn, up to six."""
        return perm(self.cards, MOST_CARDS - drawn)


@cache
def counts(decks: int) -> dict[str, int]:
    """The ways to deal six cards in order from a full shoe, by which hand wins."""
    found = {PLAYER: 0, BANKER: 0, TIE: 0}
    shoe = _Shoe(decks)

    def settle(player: int, banker: int, ways: int, drawn: int) -> None:
        winner = TIE if player == banker else PLAYER if player > banker else BANKER
        found[winner] += ways * shoe.finish(drawn)

    for first, one in shoe.draws():
        for second, two in shoe.draws():
            player = (first + second) % 10
            for third, three in shoe.draws():
                for fourth, four in shoe.draws():
                    banker = (third + fourth) % 10
                    ways = one * two * three * four
                    if max(player, banker) >= NATURAL:
                        settle(player, banker, ways, 4)
                    elif player < PLAYER_STAYS:
                        for fifth, five in shoe.draws():
                            total = (player + fifth) % 10
                            if fifth in BANKER_DRAWS[banker]:
                                for sixth, six in shoe.draws():
                                    settle(total, (banker + sixth) % 10, ways * five * six, 6)
                            else:
                                settle(total, banker, ways * five, 5)
                    elif banker < BANKER_STAYS:
                        for fifth, five in shoe.draws():
                            settle(player, (banker + fifth) % 10, ways * five, 5)
                    else:
                        settle(player, banker, ways, 4)
    return found


def base(rows: Iterable[Row]) -> tuple[WagerOdds, ...]:
    """One entry for each wager and number of decks."""
    pays: dict[str, int | Fraction] = {row.hand: net(row) for row in rows}
    tied = pays.get(TIED, LOST)
    return tuple(
        one_draw(
            counts(decks),
            [
                (ways, pays[bet] if winner == bet else tied if winner == TIE else LOST)
                for winner, ways in counts(decks).items()
            ],
            {"decks": decks, "bet": bet},
        )
        for decks in Minibaccarat.decks_allowed
        for bet in (PLAYER, BANKER, TIE)
        if bet in pays
    )
