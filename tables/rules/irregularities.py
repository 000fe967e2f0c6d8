"""Irregularities: what a fault in the deal does to the round or to a seat (SPEC §8, seed 002 section 14).

A jammed shuffler and one face-up card (discarded) change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tables.rules.message import Irregularity

CODES: Final = (
    "card_exposed_early",
    "face_up_card",
    "face_up_cards",
    "wrong_card_count",
    "shoe_failed",
    "shuffler_failed",
    "deck_count_wrong",
    "forfeit",
)
POSITIONS: Final = ("dealer", "community")

VOID_THE_ROUND: Final = frozenset({"card_exposed_early", "face_up_cards", "shoe_failed", "deck_count_wrong"})


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the irregularities of a round come to.

    `void_codes` are the codes that void the whole round, in message order, each once; none if it stands.
    """

    void_codes: tuple[str, ...] = ()
    void_seats: frozenset[int] = frozenset()
    forfeited: frozenset[int] = frozenset()


NOTHING_WRONG: Final = Ruling()


def judge(
    irregularities: Sequence[Irregularity],
    misdeal_voids: str,
    void_the_round: Collection[str] = VOID_THE_ROUND,
) -> Ruling:
    """What the reported irregularities do.

    `misdeal_voids` says whether a seat's misdeal voids the seat or the round, `void_the_round` which codes always do.
    """
    if not irregularities:
        return NOTHING_WRONG
    # Two reports of one face-up card are more than one card (DECISIONS A46).
    face_up = sum(report.code == "face_up_card" for report in irregularities)
    void_codes: dict[str, None] = {}
    void_seats: set[int] = set()
    forfeited: set[int] = set()
    for report in irregularities:
        code = report.code
        if code in void_the_round or (code == "face_up_card" and face_up > 1 and "face_up_cards" in void_the_round):
            void_codes[code] = None
        elif code == "wrong_card_count":
            if report.seat is None or misdeal_voids == "round":
                void_codes[code] = None
            else:
                void_seats.add(report.seat)
        elif code == "forfeit" and report.seat is not None:
            forfeited.add(report.seat)
    # A misdealt hand was never in play, so there is nothing to forfeit with it.
    return Ruling(tuple(void_codes), frozenset(void_seats), frozenset(forfeited - void_seats))
