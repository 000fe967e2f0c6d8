"""How a sensible player bets in Mississippi Stud.

The well-known points strategy: jack to ace count two points (high), six to ten one (mid), two to five
none (low). On each street a player raises three times the ante, once the ante, or folds. Played without
a slip it gives the house about 4.9 per cent of the ante (tests/rules/test_simulator_strategy.py counts a part of it).
"""

from __future__ import annotations

from devices.simulator.deck import ACE

FOLD, CALL, RAISE = 0, 1, 3

LOW, MID, HIGH = 0, 1, 2
POINTS: tuple[int, ...] = (LOW,) * 4 + (MID,) * 5 + (HIGH,) * 4
SIX, EIGHT, TEN, KING = 4, 6, 8, 11


def _third_street(first: int, second: int) -> int:
    one, other = first >> 2, second >> 2
    if one == other:
        return RAISE
    if POINTS[one] + POINTS[other] >= 2:
        return CALL
    if (first ^ second) & 3 == 0 and {one, other} == {SIX, SIX - 1}:
        return CALL
    return FOLD


_THIRD: tuple[tuple[int, ...], ...] = tuple(
    tuple(_third_street(first, second) for second in range(52)) for first in range(52)
)


def third_street(first: int, second: int) -> int:
    """The multiple of the ante to put on 3rd street with two own cards; 0 folds."""
    return _THIRD[first][second]


def fourth_street(first: int, second: int, third: int) -> int:
    """The multiple of the ante to put on 4th street once one community card is seen; 0 folds."""
    a, b, c = first >> 2, second >> 2, third >> 2
    if a in (b, c) or b == c:
        if a == b == c:
            return RAISE
        pair = a if a in (b, c) else b
        return RAISE if pair >= SIX else CALL
    low, high = min(a, b, c), max(a, b, c)
    gaps = high - low - 2
    if (first ^ second) & 3 == 0 and (second ^ third) & 3 == 0:
        return _three_suited(low, high, gaps, highs=(a > TEN) + (b > TEN) + (c > TEN))
    points = POINTS[a] + POINTS[b] + POINTS[c]
    if points >= 3:
        return CALL
    if gaps == 0 and low >= SIX - 2:
        return CALL
    if gaps == 1 and points == 2:
        return CALL
    return FOLD


def _three_suited(low: int, high: int, gaps: int, *, highs: int) -> int:
    """Three cards of one suit are never folded; those that can still become a good straight flush raise."""
    if low >= TEN:
        return RAISE
    if gaps == 0 and low >= SIX - 1:
        return RAISE
    if gaps == 1 and highs >= 1:
        return RAISE
    if gaps == 2 and highs >= 2:
        return RAISE
    return CALL


def fifth_street(first: int, second: int, third: int, fourth: int, *, raised: bool) -> int:
    """The multiple of the ante to put on 5th street with two community cards seen; 0 folds.

    `raised` says whether this player has put three times the ante on an earlier street: three mid cards
    are then worth seeing through.
    """
    ranks = sorted((first >> 2, second >> 2, third >> 2, fourth >> 2))
    low, lower, higher, high = ranks
    if (first ^ second) & 3 == 0 and (second ^ third) & 3 == 0 and (third ^ fourth) & 3 == 0:
        return RAISE
    pairs = (low == lower) + (lower == higher) + (higher == high)
    if pairs >= 2:
        return RAISE
    points = POINTS[low] + POINTS[lower] + POINTS[higher] + POINTS[high]
    if pairs == 1:
        pair = low if low == lower else higher if higher == high else lower
        return RAISE if pair >= SIX else CALL
    if high - low == 3:
        return RAISE if EIGHT <= high <= KING else CALL
    if high - low == 4 or (high == ACE and higher <= 3):
        return CALL
    if points >= 4:
        return CALL
    # No pair and fewer than four points: three cards from six on are mid cards, and the fourth is a low one.
    if raised and lower >= SIX:
        return CALL
    return FOLD
