"""Held reasons: what makes a round wait for a supervisor (CONTRACT §3, DECISIONS A9, A11, A15-A19).

A round that cannot be as reported is not settled.  Every reason that applies is given, in the printed order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from jackpot.rules.meter import MILLION
from tables.rules.game import ANY_NUMBER, PROGRESSIVE, Game
from tables.rules.hands import FIVE_CARD_NAMES
from tables.rules.irregularities import Ruling
from tables.rules.message import RoundMessage

HELD_REASONS: Final = (
    "duplicate_card",
    "wrong_card_count",
    "wager_not_offered",
    "wager_not_allowed",
    "wager_after_fold",
    "wager_out_of_order",
    "seat_not_at_table",
    "players_mismatch",
    "deck_count_wrong",
    "cover_all_mode_off",
    "too_many_hits",
    "unreasonable_contribution",
    "result_impossible",  # a posted result, or a dealer's set hand, that the game does not know
    # These four are known only to the caller, who passes them on.
    "link_not_open",
    "table_closed",
    "lock_mismatch",
    "processing_error",
)
COVER_ALL: Final = "cover_all"

# No board makes two royals or three straight flushes; lower hands may well come three times.
IMPOSSIBLE_THRICE: Final = ("royal_flush", "straight_flush")


def ordered(found: Iterable[str]) -> list[str]:
    """Reasons in the order CONTRACT §3 prints them, each once."""
    known = set(found)
    unknown = known.difference(HELD_REASONS)
    if unknown:
        raise ValueError(f"not held reasons: {sorted(unknown)}")
    return [reason for reason in HELD_REASONS if reason in known]


def reasons(message: RoundMessage, game: Game[Any], ruling: Ruling) -> set[str]:
    """Why the round must be held, as far as the message and the table's terms tell; empty if it may be settled.

    A void round is judged for its wagers, seats and players, never for its cards (SPEC §8); a void seat's cards
    still count for duplicates.
    """
    found: set[str] = set()
    standing = not ruling.void_codes
    void_seats = ruling.void_seats
    offered = game.offered
    dealing = message.dealing
    if standing:
        _judge_cards(message, game, void_seats, found)
        if dealing.cards_in_deck is not None and dealing.cards_in_deck != game.full_count:
            found.add("deck_count_wrong")
    covers_all = False
    for seat in message.seats:
        if seat.seat > game.seats:
            found.add("seat_not_at_table")
        if not offered.issuperset(seat.wagers):
            found.add("wager_not_offered")
        game.judge_wagers(seat, finished=standing and seat.seat not in void_seats, found=found)
        if COVER_ALL in seat.wagers:
            covers_all = True
    game.judge_round(message, ruling, found)
    if dealing.players is not None and dealing.players != len(message.seats):
        found.add("players_mismatch")
    if covers_all and dealing.mode != COVER_ALL and COVER_ALL in offered:
        found.add("cover_all_mode_off")
    if standing and game.link is not None:
        _judge_contribution(message, game, void_seats, found)
        # Without a card twice there cannot be too many hits (DECISIONS A18).
        if "duplicate_card" in found and "wrong_card_count" not in found and message.community:
            _judge_hits(message, game, ruling, found)
    return found


def _judge_cards(message: RoundMessage, game: Game[Any], void_seats: frozenset[int], found: set[str]) -> None:
    own = game.own_cards
    dealt = message.community + message.dealer
    for seat in message.seats:
        dealt += seat.cards
        if len(seat.cards) != own and own != ANY_NUMBER and seat.seat not in void_seats:
            found.add("wrong_card_count")
    if len(message.community) not in game.community_cards or len(message.dealer) not in game.dealer_cards:
        found.add("wrong_card_count")
    # A card may come as often as there are decks.
    if len(set(dealt)) != len(dealt) and any(count > game.copies(card) for card, count in Counter(dealt).items()):
        found.add("duplicate_card")


def _judge_contribution(message: RoundMessage, game: Game[Any], void_seats: frozenset[int], found: set[str]) -> None:
    """More to one level in one round than its terms call reasonable (SPEC §6.8, DECISIONS A19)."""
    stakes_cents: int | None = None
    for level in game.link.levels if game.link is not None else ():
        if level.unreasonable_cents is None:
            continue
        if stakes_cents is None:
            stakes_cents = sum(seat.wagers.get(PROGRESSIVE, 0) for seat in message.seats if seat.seat not in void_seats)
        if stakes_cents * level.rate_ppm > level.unreasonable_cents * MILLION:
            found.add("unreasonable_contribution")


def _judge_hits(message: RoundMessage, game: Game[Any], ruling: Ruling, found: set[str]) -> None:
    """Two royals, or three hits, with a live progressive wager: no deal of a community-card game has them."""
    out = ruling.void_seats | ruling.forfeited
    names: list[str] = []
    for seat in message.seats:
        if PROGRESSIVE not in seat.wagers or seat.seat in out or (seat.folded and not game.survives_fold):
            continue
        rank = game.five_card_class(seat, message)
        pay = game.progressive_pays[rank] if rank is not None else None
        if rank is not None and pay is not None and pay.row.pays == "share":
            names.append(FIVE_CARD_NAMES[rank])
    impossible = [name for name in names if name in IMPOSSIBLE_THRICE]
    if impossible.count("royal_flush") > 1 or len(impossible) > 2:
        found.add("too_many_hits")
