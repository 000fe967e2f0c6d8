"""What rows pay in units of the wager, and the odds of a wager that one draw settles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from jackpot.rules.paytable import FIVE_CARD_HANDS, RANKS, Row
from tables.odds.edition import WagerOdds
from tables.odds.hands import class_labels, five_card_classes, three_card_classes
from tables.rules import hands
from tables.rules.against_dealer import BEATS_DEALER
from tables.rules.hands import FIVE_CARD_NAMES, THREE_CARD_HANDS, THREE_CARD_NAMES

LOST = -1


def net(row: Row | None, wager_cents: int | None = None) -> int | Fraction:
    """What a row wins beyond the stake, in wagers; without a row the stake is lost.

    A sum is paid "for 1" of a wager of so many cents (SPEC §7, `bonus_returns_stake` at its default).
    """
    if row is None:
        return LOST
    match row.pays:
        case "to":
            return _ratio(row.odds, row.per)
        case "for":
            return _ratio(row.odds, row.per) - 1
        case "push":
            return 0
        case "half":
            return Fraction(-1, 2)
        case "sum" if wager_cents is not None:
            return _ratio(row.cents, wager_cents) - 1
    raise ValueError(f"{row.hand}: a {row.pays} row is no fixed pay of a wager")


def _ratio(number: int, per: int) -> int | Fraction:
    """So many to so much: whole where it is, which counts faster."""
    return Fraction(number, per) if number % per else number // per


def split_bonus(rows: Iterable[Row]) -> tuple[int | Fraction, list[Row]]:
    """What beating the dealer pays "to 1", and the rows of the ante bonus."""
    rows = list(rows)
    beating = next(row for row in rows if row.hand == BEATS_DEALER)
    return net(beating), [row for row in rows if row.hand != BEATS_DEALER]


def five_card_rows(rows: Iterable[Row]) -> list[Row | None]:
    """For every five-card class the row that pays it."""
    return hands.by_five_card_class(rows)


def three_card_rows(rows: Iterable[Row]) -> list[Row | None]:
    """For every three-card class the row that pays it."""
    return hands.by_three_card_class(rows)


def five_card_combinations(paid: Sequence[Row | None]) -> dict[str, int]:
    """The 2,598,960 hands by the row that pays them, best first."""
    return _combinations(paid, five_card_classes(), FIVE_CARD_NAMES, len(FIVE_CARD_HANDS))


def three_card_combinations(paid: Sequence[Row | None]) -> dict[str, int]:
    """The 22,100 hands by the row that pays them, best first."""
    return _combinations(paid, three_card_classes(), THREE_CARD_NAMES, len(THREE_CARD_HANDS))


def _combinations(
    paid: Sequence[Row | None], counts: Sequence[int], names: Sequence[str], categories: int
) -> dict[str, int]:
    found: dict[str, int] = {}
    labels = class_labels(paid, counts, names)
    for place in range(categories * len(RANKS) - 1, -1, -1):
        if counts[place]:
            found[labels[place]] = found.get(labels[place], 0) + counts[place]
    return found


def five_card_wager(rows: Iterable[Row], wager_cents: int | None = None) -> WagerOdds:
    """A wager on five cards of one deck and nothing else."""
    paid = five_card_rows(rows)
    return one_draw(
        five_card_combinations(paid),
        zip(five_card_classes(), (net(row, wager_cents) for row in paid), strict=True),
    )


def three_card_wager(rows: Iterable[Row]) -> WagerOdds:
    """A wager on three cards of one deck and nothing else."""
    paid = three_card_rows(rows)
    return one_draw(three_card_combinations(paid), zip(three_card_classes(), (net(row) for row in paid), strict=True))


def one_draw(
    combinations: Mapping[str, int],
    outcomes: Iterable[tuple[int, int | Fraction]],
    case: Mapping[str, str | int | bool] | None = None,
) -> WagerOdds:
    """The odds of a wager whose equally likely outcomes are given as (how many, net in wagers)."""
    total = wins = 0
    mean = square = Fraction(0)
    for count, won in outcomes:
        total += count
        mean += count * won
        square += count * won * won
        wins += count if won > 0 else 0
    mean /= total
    return WagerOdds(
        combinations=combinations,
        total=total,
        edge=-mean,
        hit_frequency=Fraction(wins, total),
        variance=square / total - mean**2,
        case=case or {},
    )
