"""Three card poker played as well as it can be (SPEC §7): play a wager equal to the ante, or forfeit the ante."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb
from typing import Final

from jackpot.rules.paytable import Row
from tables.odds.dealers_hand import DealersHand
from tables.odds.deck import classes, strength
from tables.odds.edition import WagerOdds
from tables.odds.pays import net, split_bonus, three_card_combinations, three_card_rows
from tables.rules.hands import THREE_CARD_LEADS
from tables.rules.three_card_poker import QUEEN_HIGH

DEALERS_HANDS: Final = comb(49, 3)
QUALIFYING: Final = QUEEN_HIGH * THREE_CARD_LEADS


def played(
    dealer: DealersHand, cards: int, beating: int | Fraction, bonus: int | Fraction
) -> tuple[tuple[int, int | Fraction], ...]:
    """What a hand that is played comes to, in antes: the ways and the net of an unqualified dealer, wins, ties, losses.

    The ante alone is won against a dealer who does not qualify, whatever the hand; else ante and play go together.
    """
    unqualified = dealer.weaker_than(QUALIFYING, cards)
    if strength(cards) >= QUALIFYING:
        wins, ties, losses = dealer.meet(cards)
        wins -= unqualified
    else:
        wins, ties, losses = 0, 0, DEALERS_HANDS - unqualified
    return (unqualified, beating + bonus), (wins, 2 * beating + bonus), (ties, bonus), (losses, bonus - 2)


def base(rows: Iterable[Row]) -> WagerOdds:
    """Ante and play with the ante bonus under the best play, in antes; of equals the hand is played."""
    beating, bonus_rows = split_bonus(rows)
    paid = three_card_rows(bonus_rows)
    dealer = DealersHand(3)
    mean: int | Fraction = 0
    square: int | Fraction = 0
    staked = won = plays = 0
    for cards, count in classes(3).items():
        row = paid[strength(cards) // THREE_CARD_LEADS]
        bonus = net(row) if row is not None else 0
        results = played(dealer, cards, beating, bonus)
        value = sum(ways * result for ways, result in results)
        if value >= -DEALERS_HANDS:
            mean += count * value
            square += count * sum(ways * result**2 for ways, result in results)
            staked += count * 2 * DEALERS_HANDS
            won += count * (results[0][0] + results[1][0])
            plays += count * DEALERS_HANDS
        else:
            mean -= count * DEALERS_HANDS
            square += count * DEALERS_HANDS
            staked += count * DEALERS_HANDS
    deals = sum(classes(3).values()) * DEALERS_HANDS
    average = Fraction(mean, deals)
    combinations = three_card_combinations(paid)
    return WagerOdds(
        combinations=combinations,
        total=sum(combinations.values()),
        edge=-average,
        hit_frequency=Fraction(won, deals),
        variance=Fraction(square, deals) - average**2,
        average_stake=Fraction(staked, deals),
        plays={"play": Fraction(plays, deals), "fold": 1 - Fraction(plays, deals)},
    )
