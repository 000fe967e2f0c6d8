"""Five cards of several decks, in the seventeen hands of fast action hold 'em (seed 003, 19:47-21.3)."""

from __future__ import annotations

from math import comb
from typing import Final

from tables.odds.edition import WagerOdds
from tables.rules.fast_action_holdem import NATURAL

DECKS: Final = (6, 8)
OUT_OF_REACH: Final = (
    "two of four cards are chosen, split or given up against four more set by the house way and five in common: with six"
    " or eight decks that is out of reach of full enumeration, so only the hands are counted"
)
RANKS: Final = 13
SUITS: Final = 4
STRAIGHTS: Final = 10  # led by a five up to an ace


def five_card_counts(decks: int) -> dict[str, int]:
    """The hands of five cards of so many decks, best first.

    A hand of one suit is counted by the copies of each card in that suit, any other as all hands of its ranks less
    those of one suit.
    """
    suited, mixed = decks, SUITS * decks

    def ways(copies: int, *numbers: int) -> int:
        product = 1
        for number in numbers:
            product *= comb(copies, number)
        return product

    def one_suit(*numbers: int) -> int:
        return SUITS * ways(suited, *numbers)

    def any_suits(*numbers: int) -> int:
        return ways(mixed, *numbers) - one_suit(*numbers)

    four = full = RANKS * (RANKS - 1)
    three = RANKS * comb(RANKS - 1, 2)
    two_pairs = comb(RANKS, 2) * (RANKS - 2)
    pair = RANKS * comb(RANKS - 1, 3)
    unconnected = comb(RANKS, 5) - STRAIGHTS
    apart = (1, 1, 1, 1, 1)
    return {
        "flush_with_five_of_a_kind": RANKS * one_suit(5),
        "royal_flush": one_suit(*apart),
        "flush_with_four_of_a_kind": four * one_suit(4, 1),
        "straight_flush": (STRAIGHTS - 1) * one_suit(*apart),
        "flush_with_full_house": full * one_suit(3, 2),
        "five_of_a_kind": RANKS * any_suits(5),
        "flush_with_three_of_a_kind": three * one_suit(3, 1, 1),
        "flush_with_two_pairs": two_pairs * one_suit(2, 2, 1),
        "flush_with_one_pair": pair * one_suit(2, 1, 1, 1),
        "four_of_a_kind": four * any_suits(4, 1),
        "full_house": full * any_suits(3, 2),
        "flush": unconnected * one_suit(*apart),
        "straight": STRAIGHTS * any_suits(*apart),
        "three_of_a_kind": three * any_suits(3, 1, 1),
        "two_pair": two_pairs * any_suits(2, 2, 1),
        "pair": pair * any_suits(2, 1, 1, 1),
        "high_card": unconnected * any_suits(*apart),
    }


def natural_counts(decks: int) -> dict[str, int]:
    """The four cards dealt to a player of so many decks: those that are four of a kind, and the others."""
    naturals = RANKS * comb(SUITS * decks, 4)
    return {NATURAL: naturals, "other": comb(SUITS * RANKS * decks, 4) - naturals}


def base() -> tuple[WagerOdds, ...]:
    """The hands of five cards and the four cards dealt, for six and eight decks; no edge."""
    return tuple(
        WagerOdds(counts, sum(counts.values()), None, None, None, {"decks": decks, "cards": cards}, reason=OUT_OF_REACH)
        for cards, count in ((5, five_card_counts), (4, natural_counts))
        for decks, counts in ((decks, count(decks)) for decks in DECKS)
    )
