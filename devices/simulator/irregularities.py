"""What goes wrong at a table, how often, and what it does to the message a controller posts.

Two families. *Irregularities* are reported by the dealer and the rules know their answer: some void the
round or a seat, some change nothing. *Misreadings* are a sensor's or shuffler's mistake that nobody
reported: the service must hold such a round for a supervisor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from devices.simulator.deck import NAMES

SETTLED, VOID, HELD = "settled", "void", "held"

WITH_SHUFFLER = frozenset({"shuffler", "hand"})
"""Dealing methods behind which an automated shuffler stands (dealing from the hand requires one: seed 002 §8(b)(1))."""

REPORTED: dict[str, str] = {
    "face_up_card": SETTLED,
    "shuffler_failed": SETTLED,
    "wrong_card_count": SETTLED,
    "forfeit": SETTLED,
    "card_exposed_early": VOID,
    "face_up_cards": VOID,
    "community_misdealt": VOID,
    "shoe_failed": VOID,
    "deck_count_wrong": VOID,
}
"""What is reported at the table and how the round must end (SPEC §8); seats can still be void in a settled round."""

PER_ROUND: dict[str, float] = {
    "face_up_card": 1 / 1_500,
    "shuffler_failed": 1 / 900,
    "wrong_card_count": 1 / 1_200,
    "forfeit": 1 / 8_000,
    "card_exposed_early": 1 / 2_000,
    "face_up_cards": 1 / 6_000,
    "community_misdealt": 1 / 3_000,
    "shoe_failed": 1 / 1_000,
    "deck_count_wrong": 1 / 10_000,
    "duplicate_card": 1 / 6_000,
    "players_mismatch": 1 / 6_000,
    "wager_not_allowed": 1 / 8_000,
    "wager_out_of_order": 1 / 8_000,
    "miscounted_deck": 1 / 12_000,
    "mode_forgotten": 1 / 12_000,
}
"""How often each happens at one table. A guess at a well-run floor: about one in two hundred rounds has something."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Chances per round; `times` makes all of them more frequent together, 0 gives a floor without a fault."""

    times: float = 1.0
    per_round: dict[str, float] = field(default_factory=lambda: dict(PER_ROUND))

    def at(self, method: str) -> tuple[tuple[str, float], ...]:
        """(name, cumulative chance) of everything that can happen where cards are dealt by `method`."""
        total = 0.0
        steps = []
        for name, chance in self.per_round.items():
            if name == "shoe_failed" and method != "automated_shoe":
                continue
            if name == "shuffler_failed" and method not in WITH_SHUFFLER:
                continue
            total += chance * self.times
            steps.append((name, total))
        if total > 1:
            raise ValueError(f"more than one mishap a round: chances add up to {total:.2f}")
        return tuple(steps)


def happening(steps: tuple[tuple[str, float], ...], rng: Random) -> str | None:
    """What goes wrong in the next round, nearly always nothing."""
    if not steps:
        return None
    luck = rng.random()
    if luck >= steps[-1][1]:
        return None
    return next(name for name, limit in steps if luck < limit)


def _misread_card(message: dict[str, Any], rng: Random) -> bool:
    seat = rng.choice(message["seats"])
    dealt = [card for other in message["seats"] if other is not seat for card in other["cards"]] + message["community"]
    seat["cards"][rng.randrange(2)] = rng.choice(dealt)
    return True


def _miscount_players(message: dict[str, Any], rng: Random) -> bool:
    if "players" not in message["dealing"]:
        return False
    message["dealing"]["players"] += 1
    return True


def _misread_wager(message: dict[str, Any], rng: Random) -> bool:
    seats = [seat for seat in message["seats"] if "third_street" in seat["wagers"]]
    if not seats:
        return False
    seat = rng.choice(seats)
    # Half a chip stack too high: no multiple of the ante.
    seat["wagers"]["third_street"] = seat["wagers"]["ante"] * 3 // 2
    return True


def _miss_a_street(message: dict[str, Any], rng: Random) -> bool:
    seats = [seat for seat in message["seats"] if "fifth_street" in seat["wagers"]]
    if not seats:
        return False
    del rng.choice(seats)["wagers"]["fourth_street"]
    return True


def _miscount_deck(message: dict[str, Any], rng: Random) -> bool:
    message["dealing"]["cards_in_deck"] = 51
    return True


def _forget_mode(message: dict[str, Any], rng: Random) -> bool:
    if not any("cover_all" in seat["wagers"] for seat in message["seats"]):
        return False
    del message["dealing"]["mode"]
    return True


MISREADINGS: dict[str, tuple[str, Callable[[dict[str, Any], Random], bool]]] = {
    "duplicate_card": ("duplicate_card", _misread_card),
    "players_mismatch": ("players_mismatch", _miscount_players),
    "wager_not_allowed": ("wager_not_allowed", _misread_wager),
    "wager_out_of_order": ("wager_out_of_order", _miss_a_street),
    "miscounted_deck": ("deck_count_wrong", _miscount_deck),
    "mode_forgotten": ("cover_all_mode_off", _forget_mode),
}
"""Name of the misreading: the reason the round is held for, and what changes a good message; False when it cannot."""


def misread(name: str, message: dict[str, Any], rng: Random) -> str | None:
    """Spoil the message as the misreading does; the reason it will be held for, None when nothing could be spoiled."""
    reason, spoil = MISREADINGS[name]
    return reason if spoil(message, rng) else None


def cut_short(message: dict[str, Any], name: str, rng: Random) -> None:
    """Turn a complete message into one whose round was stopped by `name` before anybody bet on 3rd street."""
    for seat in message["seats"]:
        seat.pop("folded", None)
        for street in ("third_street", "fourth_street", "fifth_street"):
            seat["wagers"].pop(street, None)
    if name in ("face_up_cards", "shoe_failed"):
        # The deal stopped on the way: players farther round got nothing, and the board was never laid.
        reached = rng.randrange(len(message["seats"]))
        for seat in message["seats"][reached + 1 :]:
            seat["cards"] = []
        message["community"] = []
    elif name == "community_misdealt":
        message["community"] = message["community"][: rng.choice((1, 2))]


def misdeal(seat: dict[str, Any], spare: int, rng: Random) -> None:
    """Give the seat one card, or a third one; its player takes no further part in the round."""
    seat.pop("folded", None)
    for street in ("third_street", "fourth_street", "fifth_street"):
        seat["wagers"].pop(street, None)
    if rng.random() < 0.5:
        seat["cards"] = seat["cards"][:1]
    else:
        seat["cards"] = [*seat["cards"], NAMES[spare]]
