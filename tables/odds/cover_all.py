"""Cover All: the exact distribution of the highest of several hands that share three cards (SPEC §5).

The hands are disjoint pairs of the 49 cards that are not on the board.  For each class of boards and each hand, the
ways to deal n pairs none of which makes more than that hand are counted as matchings (`matchings`); the differences are
the deals whose highest hand it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Final

from jackpot.rules.paytable import FIVE_CARD_HANDS
from tables.odds.deck import CARDS, WEIGHT, classes, members
from tables.odds.edition import WagerOdds
from tables.odds.matchings import allowed_pairings
from tables.odds.pays import one_draw
from tables.rules.cards import RANK_WEIGHT
from tables.rules.hands import FIVE_CARD_LEADS, five_card_strength

MOST_PLAYERS: Final = 6
MOST_HANDS: Final = MOST_PLAYERS + 1  # the dealer's may count too
CATEGORY: Final = FIVE_CARD_LEADS * len(RANK_WEIGHT)


def board_distribution(board: Sequence[int], deck: Sequence[int] = CARDS, most: int = MOST_HANDS) -> list[list[int]]:
    """For n = 0 … most hands on this board, how many of the deals have each five-card hand as their highest.

    Hands have no order.  A smaller deck may be given, to be counted by hand.
    """
    rest = [card for card in deck if card not in board]
    shared = sum(WEIGHT[card] for card in board)
    pairs: list[list[tuple[int, int]]] = [[] for _ in FIVE_CARD_HANDS]
    for place, first in enumerate(rest):
        held = shared + WEIGHT[first]
        for other in range(place + 1, len(rest)):
            pairs[five_card_strength(held + WEIGHT[rest[other]]) // CATEGORY].append((place, other))
    forbidden = [0] * len(rest)
    at_most: list[list[int]] = []
    for category in range(len(FIVE_CARD_HANDS) - 1, -1, -1):
        at_most.insert(0, allowed_pairings(forbidden, most))
        for first, second in pairs[category]:
            forbidden[first] |= 1 << second
            forbidden[second] |= 1 << first
    highest = [at_most[0]]
    highest += [[more - less for less, more in zip(*two, strict=True)] for two in itertools.pairwise(at_most)]
    return [list(counts) for counts in zip(*highest, strict=True)]


@cache
def distribution() -> tuple[tuple[int, ...], ...]:
    """For n = 0 … 7 hands, how many deals of a board and n hands have each five-card hand as their highest."""
    found = [[0] * len(FIVE_CARD_HANDS) for _ in range(MOST_HANDS + 1)]
    for board, count in classes(3).items():
        for sums, counts in zip(found, board_distribution(members(board)), strict=True):
            for category, ways in enumerate(counts):
                sums[category] += count * ways
    return tuple(tuple(counts) for counts in found)


def cover_all(
    odds_by_players: Mapping[str, Sequence[int]], counts: Sequence[Sequence[int]] | None = None
) -> tuple[WagerOdds, ...]:
    """The wager for one to six players, first without a dealer's hand and then with one."""
    counts = distribution() if counts is None else counts
    found = []
    for dealer in (False, True):
        for players in range(1, MOST_PLAYERS + 1):
            hands = counts[players + dealer]
            found.append(
                one_draw(
                    dict(reversed(list(zip(FIVE_CARD_HANDS, hands, strict=True)))),
                    _outcomes(odds_by_players, players, hands),
                    {"players": players, "dealer_hand": dealer},
                )
            )
    return tuple(found)


def _outcomes(
    odds_by_players: Mapping[str, Sequence[int]], players: int, hands: Sequence[int]
) -> Iterable[tuple[int, int | Fraction]]:
    for hand, ways in zip(FIVE_CARD_HANDS, hands, strict=True):
        odds = odds_by_players.get(hand)
        yield ways, -1 if odds is None else odds[players - 1]
