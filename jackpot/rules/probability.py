"""How likely each level of a link is hit; none may be rarer than one in a hundred million (N.J.A.C. 13:69D-1.52(e)4).

The hands are counted by their form: five cards of one deck, in every game that completes each hand (SPEC §6.9).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Final

from jackpot.rules.paytable import RANKS, ProgressivePaytable, Row

# The games whose hands are five cards of one deck, dealt to the end whatever the player does (SPEC §6.9).
FIVE_CARD_GAMES: Final = frozenset(("mississippi-stud", "let-it-ride", "double-down-stud", "boston-5-stud"))
FIVE_CARD_TOTAL: Final = comb(52, 5)
RAREST: Final = Fraction(1, 100_000_000)

ACE: Final = len(RANKS) - 1
FIVE: Final = RANKS.index("5")  # leads the lowest straight, A-2-3-4-5


class NoProbability(Exception):
    """Nothing is known of the game's hands, or the paytable has no such level."""


def combinations(hand: str, lead: int) -> int:
    """Five-card hands of one deck that are this hand and led by this rank (0 for a deuce, 12 for an ace).

    The lead is the rank of the four, the three, the pair or the higher pair, else of the highest card; the five
    leads A-2-3-4-5.
    """
    straights = lead >= FIVE
    # Sets of five different ranks of which this is the highest and which are no straight; an ace tops two straights.
    unconnected = comb(lead, 4) - (lead > FIVE) - (lead == ACE)
    match hand:
        case "royal_flush":
            return 4 * (lead == ACE)
        case "straight_flush":
            return 4 * (straights and lead != ACE)
        case "four_of_a_kind":
            return 48
        case "full_house":
            return comb(4, 3) * 12 * comb(4, 2)
        case "flush":
            return 4 * unconnected
        case "straight":
            return (4**5 - 4) * straights
        case "three_of_a_kind":
            return comb(4, 3) * comb(12, 2) * 4**2
        case "two_pair":
            return comb(4, 2) ** 2 * lead * 44
        case "pair":
            return comb(4, 2) * comb(12, 3) * 4**3
        case "high_card":
            return (4**5 - 4) * unconnected
    raise NoProbability(f"{hand} is no hand of five cards")


def row_probability(row: Row, game: str) -> Fraction:
    """The probability that a hand of the game is paid by this row; NoProbability if the game's hands are not known."""
    if game not in FIVE_CARD_GAMES:
        raise NoProbability(f"the hands of {game} are not five cards of one deck")
    low = RANKS.index(row.from_rank or RANKS[0])
    high = RANKS.index(row.to_rank or RANKS[-1])
    return Fraction(sum(combinations(row.hand, lead) for lead in range(low, high + 1)), FIVE_CARD_TOTAL)


def hit_probability(paytable: ProgressivePaytable, level: str, game: str) -> Fraction:
    """The probability that one wager of the game hits the level, whatever the share.

    NoProbability if the game's hands are not known or the paytable pays from no such level.
    """
    rows = [row for row in paytable.rows if row.level == level]
    if not rows:
        raise NoProbability(f"{paytable.code} pays from no level {level}")
    return sum((row_probability(row, game) for row in rows), Fraction(0))


def too_rare(probability: Fraction) -> bool:
    """Whether a jackpot is rarer than one in a hundred million."""
    return probability < RAREST


def rarity(paytable: ProgressivePaytable) -> str | None:
    """Why no link may have this paytable: it has a jackpot rarer than one in a hundred million; None if it may.

    Every row that pays a share of a level is a jackpot, in every game the paytable fits; of a game whose hands are not
    known nothing can be said, and no table of it may join a link (`misfit`).
    """
    for game in paytable.games:
        if game not in FIVE_CARD_GAMES:
            continue
        for row in paytable.rows:
            if row.level is not None and too_rare(row_probability(row, game)):
                return f"{row.hand} of level {row.level} in {game} is rarer than one in a hundred million"
    return None
