"""Rigs: a chosen hand for a progressive bettor in a chosen round, so that a jackpot can be watched.

A rig is written `HAND@WHEN` or `HAND@WHEN:TABLE`. WHEN is a round number (`royal@120`, counted over the
whole floor from 1, or over the table when one is named) or seconds after the first deal (`royal@40s`).
The cards are put in place by swapping inside the shuffled deck, so a rigged deck is still a real deck.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

HANDS: dict[str, str] = {
    "royal": "royal_flush",
    "royal_flush": "royal_flush",
    "straight_flush": "straight_flush",
    "four_of_a_kind": "four_of_a_kind",
}

_FORM = re.compile(r"(?P<hand>[a-z_]+)@(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<seconds>s)?(?::(?P<table>.+))?")


class RigRefused(ValueError):
    """The rig cannot be read, or names a table that is not played or has no progressive."""


@dataclass(frozen=True, slots=True)
class Rig:
    """`hand` is to fall in round `number` (from 1), or in the first round `after_ms` after the first deal."""

    hand: str
    number: int | None = None
    after_ms: int | None = None
    table: str | None = None

    def is_due(self, *, floor_round: int, table_round: int, at_ms: int, table: str) -> bool:
        """Whether the round about to be dealt is the one, or a later one because the right one had no bettor."""
        if self.table is not None and self.table != table:
            return False
        if self.after_ms is not None:
            return at_ms >= self.after_ms
        assert self.number is not None
        return (floor_round if self.table is None else table_round) >= self.number


def read(text: str) -> Rig:
    """Read `royal@120`, `straight_flush@40s` or `royal@7:MS-101`; RigRefused says what is wrong."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise RigRefused(f"{text!r}: write HAND@ROUND, HAND@SECONDSs or HAND@ROUND:TABLE, e.g. royal@120")
    hand = HANDS.get(match["hand"])
    if hand is None:
        raise RigRefused(f"{text!r}: no such hand, there are {', '.join(HANDS)}")
    if match["seconds"]:
        return Rig(hand, after_ms=round(float(match["number"]) * 1000), table=match["table"])
    if "." in match["number"] or int(match["number"]) < 1:
        raise RigRefused(f"{text!r}: rounds are counted from 1")
    return Rig(hand, number=int(match["number"]), table=match["table"])


def show() -> tuple[Rig, ...]:
    """What `up --simulate` plays: a straight flush after 20 seconds and a royal after 40."""
    return (read("straight_flush@20s"), read("royal@40s"))


SHOW_SPEED = 8.0
"""Pace of `up --simulate`: eight tables deal about a round and a half a second, slow enough to follow."""


def five_cards(hand: str, rng: Random) -> list[int]:
    """Five cards that make the hand, in random order: the first two go to the seat, the rest are community."""
    suit = rng.randrange(4)
    if hand == "royal_flush":
        ranks = [12, 11, 10, 9, 8]
        cards = [rank * 4 + suit for rank in ranks]
    elif hand == "straight_flush":
        high = rng.randrange(3, 12)
        # Five high is the steel wheel; its ace sits below the deuce.
        cards = [(rank % 13) * 4 + suit for rank in range(high - 4, high + 1)]
    elif hand == "four_of_a_kind":
        rank = rng.randrange(13)
        kicker = rng.choice([other for other in range(13) if other != rank])
        cards = [rank * 4 + each for each in range(4)] + [kicker * 4 + suit]
    else:
        raise RigRefused(f"{hand}: cannot be rigged")
    rng.shuffle(cards)
    return cards
