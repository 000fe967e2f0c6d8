"""Red dog played as well as it can be (SPEC §7): the wager is doubled by a raise where the third card favours it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from jackpot.rules.paytable import RANKS, Row
from tables.odds.edition import WagerOdds
from tables.odds.pays import LOST, net
from tables.rules.red_dog import CONSECUTIVE, MOST_DECKS, PAIR, THREE_OF_A_KIND

SUITS: Final = 4
WIDEST: Final = len(RANKS) - 2
DECKS: Final = (1, 2, 4, 6, MOST_DECKS)


def base(rows: Iterable[Row], decks: int) -> WagerOdds:
    """Wager and raise under the best play, in wagers; of equals there is no raise.

    Every three cards in the order dealt are one combination, also where the third is not drawn.
    """
    pays = {row.hand: net(row) for row in rows}
    copies = SUITS * decks
    cards = copies * len(RANKS)
    third = cards - 2
    combinations: dict[str, int] = {}
    mean: int | Fraction = 0
    square: int | Fraction = 0
    staked = won = raised = 0

    def settle(hand: str, ways: int, result: int | Fraction, wagers: int = 1) -> None:
        nonlocal mean, square, staked, won
        combinations[hand] = combinations.get(hand, 0) + ways
        mean += ways * result * wagers
        square += ways * (result * wagers) ** 2
        staked += ways * wagers
        won += ways if result > 0 else 0

    for between in range(1, WIDEST + 1):
        hand = f"spread_{between}"
        deals = 2 * (len(RANKS) - 1 - between) * copies**2
        inside = between * copies
        odds = pays.get(hand, LOST)
        wagers = 2 if inside * odds + (third - inside) * LOST > 0 else 1
        raised += deals * third if wagers == 2 else 0
        settle(hand, deals * inside, odds, wagers)
        settle("outside_the_spread", deals * (third - inside), LOST, wagers)
    pairs = len(RANKS) * copies * (copies - 1)
    settle(THREE_OF_A_KIND, pairs * (copies - 2), pays.get(THREE_OF_A_KIND, LOST))
    settle(PAIR, pairs * (third - copies + 2), pays.get(PAIR, LOST))
    settle(CONSECUTIVE, 2 * (len(RANKS) - 1) * copies**2 * third, pays.get(CONSECUTIVE, LOST))
    total = cards * (cards - 1) * third
    average = Fraction(mean, total)
    return WagerOdds(
        combinations=combinations,
        total=total,
        edge=-average,
        hit_frequency=Fraction(won, total),
        variance=Fraction(square, total) - average**2,
        case={"decks": decks},
        average_stake=Fraction(staked, total),
        plays={"raise": Fraction(raised, total)},
    )
