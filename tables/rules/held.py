"""Held reasons: what makes a round wait for a supervisor (CONTRACT §3, DECISIONS A9, A11, A15-A19).

A round that cannot be as reported is not settled.  Every reason that applies is given, in the printed order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from jackpot.rules.meter import MILLION
from tables.rules import irregularities
from tables.rules.faults import Fault, Faults, any_of, cards, dollars
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
    """Why the round must be held, as far as the message and the table's terms tell; empty if it may be settled."""
    found = judged(message, game, ruling)
    return {fault.reason for fault in found} if found else set()


def judged(message: RoundMessage, game: Game[Any], ruling: Ruling) -> Faults:
    """What is wrong with the round, as far as the message and the table's terms tell.

    A void round is judged for its wagers, seats and players, never for its cards (SPEC §8); a void seat's cards
    still count for duplicates.
    """
    found = Faults()
    standing = not ruling.void_codes
    void_seats = ruling.void_seats
    offered = game.offered
    dealing = message.dealing
    if standing:
        _judge_cards(message, game, void_seats, found)
        if dealing.cards_in_deck is not None and dealing.cards_in_deck != game.full_count:
            found.add("deck_count_wrong", f"{dealing.cards_in_deck} cards were counted: {game.full_count} are right")
    covers_all = False
    for seat in message.seats:
        if seat.seat > game.seats:
            found.add("seat_not_at_table", f"the table has {game.seats} seats", seat=seat.seat)
        if not offered.issuperset(seat.wagers):
            for wager in seat.wagers:
                if wager not in offered:
                    found.add("wager_not_offered", "it is not offered at this table", seat=seat.seat, wager=wager)
        game.judge_wagers(seat, finished=standing and seat.seat not in void_seats, found=found)
        if COVER_ALL in seat.wagers:
            covers_all = True
    game.judge_round(message, ruling, found)
    if dealing.players is not None and dealing.players != len(message.seats):
        words = f"{dealing.players} players were counted: {len(message.seats)} seats are in the message"
        found.add("players_mismatch", words)
    if covers_all and dealing.mode != COVER_ALL and COVER_ALL in offered:
        words = "the shuffler did not report that its Cover All mode is on"
        for seat in message.seats:
            if COVER_ALL in seat.wagers:
                found.add("cover_all_mode_off", words, seat=seat.seat, wager=COVER_ALL)
    if standing and game.link is not None:
        _judge_contribution(message, game, void_seats, found)
        # Without a card twice there cannot be too many hits (DECISIONS A18).
        if found and message.community:
            reasons = {fault.reason for fault in found}
            if "duplicate_card" in reasons and "wrong_card_count" not in reasons:
                _judge_hits(message, game, ruling, found)
    return found


def _judge_cards(message: RoundMessage, game: Game[Any], void_seats: frozenset[int], found: Faults) -> None:
    own = game.own_cards
    dealt = message.community + message.dealer
    for seat in message.seats:
        dealt += seat.cards
        if len(seat.cards) != own and own != ANY_NUMBER and seat.seat not in void_seats:
            found.add("wrong_card_count", f"{cards(len(seat.cards))}: {own} are dealt to a seat", seat=seat.seat)
    if (community := len(message.community)) not in game.community_cards:
        right = any_of(map(str, game.community_cards))
        found.add("wrong_card_count", f"{community} community card{'s' * (community != 1)}: {right} are dealt")
    if (dealer := len(message.dealer)) not in game.dealer_cards:
        right = any_of(map(str, game.dealer_cards))
        found.add("wrong_card_count", f"{cards(dealer)} in the dealer's hand: {right} are dealt")
    # A card may come as often as there are decks.
    if len(set(dealt)) != len(dealt):
        for card, count in Counter(dealt).items():
            if count > game.copies(card):
                _twice(card, message, game, found)


def _twice(card: str, message: RoundMessage, game: Game[Any], found: Faults) -> None:
    """A card that there is too often: said at every seat that holds it, or of the round where no seat does."""
    seats = [seat.seat for seat in message.seats if card in seat.cards]
    places = [f"at seat {seat}" for seat in seats]
    places += ["among the community cards"] * (card in message.community) + ["in the dealer's hand"] * (
        card in message.dealer
    )
    there = game.copies(card)
    words = f"{card} lies {' and '.join(places)}: there {'is one' if there == 1 else f'are {there}'}"
    if len(places) == 1:
        words = f"{card} lies there more than once: there {'is one' if there == 1 else f'are {there}'}"
    for seat in seats:
        found.add("duplicate_card", words, seat=seat, card=card)
    if not seats:
        found.add("duplicate_card", words, card=card)


def _judge_contribution(message: RoundMessage, game: Game[Any], void_seats: frozenset[int], found: Faults) -> None:
    """More to one level in one round than its terms call reasonable (SPEC §6.8, DECISIONS A19)."""
    stakes_cents: int | None = None
    for level in game.link.levels if game.link is not None else ():
        if level.unreasonable_cents is None:
            continue
        if stakes_cents is None:
            stakes_cents = sum(seat.wagers.get(PROGRESSIVE, 0) for seat in message.seats if seat.seat not in void_seats)
        if stakes_cents * level.rate_ppm > level.unreasonable_cents * MILLION:
            wagers, most = dollars(stakes_cents), dollars(level.unreasonable_cents)
            words = f"{wagers} of progressive wagers bring {level.code} more than the {most} that is reasonable in one round"
            found.add("unreasonable_contribution", words, wager=PROGRESSIVE)


def _judge_hits(message: RoundMessage, game: Game[Any], ruling: Ruling, found: Faults) -> None:
    """Two royals, or three hits, with a live progressive wager: no deal of a community-card game has them."""
    out = ruling.void_seats | ruling.forfeited
    hits: list[tuple[int, str]] = []
    for seat in message.seats:
        if PROGRESSIVE not in seat.wagers or seat.seat in out or (seat.folded and not game.survives_fold):
            continue
        rank = game.five_card_class(seat, message)
        pay = game.progressive_pays[rank] if rank is not None else None
        if rank is not None and pay is not None and pay.row.pays == "share":
            hits.append((seat.seat, FIVE_CARD_NAMES[rank]))
    impossible = [(number, name) for number, name in hits if name in IMPOSSIBLE_THRICE]
    royals = sum(name == "royal_flush" for _, name in impossible)
    if royals > 1 or len(impossible) > 2:
        for number, name in impossible:
            words = f"{name.replace('_', ' ')}, one of {len(impossible)} hits that no board makes together"
            found.add("too_many_hits", words, seat=number, wager=PROGRESSIVE)


def faults(
    message: RoundMessage, game: Game[Any], why: Iterable[str], locked: Mapping[int, int] | None = None, error: str = ""
) -> list[Fault]:
    """What is wrong with a round that is held for these reasons, in their printed order, every one named at least once.

    `locked` are the stakes of its lock in cents by seat, `error` what the settling code said of it: what the table, the
    link and the lock were like then is known to the caller alone.
    """
    known = ordered(why)
    ruling = irregularities.judge(message.irregularities, game.misdeal_voids, game.void_the_round)
    try:
        found = judged(message, game, ruling)
    except Exception:
        if "processing_error" not in known:
            raise
        found = Faults()  # held because the rules fail on it
    bets = {seat.seat: seat.wagers[PROGRESSIVE] for seat in message.seats if PROGRESSIVE in seat.wagers}
    if "link_not_open" in known:
        for number in bets:
            found.add("link_not_open", "the link was not open when it counts", seat=number, wager=PROGRESSIVE)
    if "table_closed" in known:
        found.add("table_closed", "the table was closed when it counts")
    if "lock_mismatch" in known:
        if locked is None:
            found.add("lock_mismatch", "its progressive wagers are not those that were locked", wager=PROGRESSIVE)
        else:
            for number in sorted({*bets, *locked}):
                bet, lock = bets.get(number), locked.get(number)
                if bet != lock:
                    words = f"{_bet(bet)} in the result, {_bet(lock)} when it was locked"
                    found.add("lock_mismatch", words, seat=number, wager=PROGRESSIVE)
    if "processing_error" in known:
        found.add("processing_error", error.strip().rpartition("\n")[2] or "the rules failed on it")
    given = {fault.reason for fault in found}
    for reason in known:
        if reason not in given:
            found.add(reason, "held for it when it came")
    return sorted((fault for fault in found if fault.reason in known), key=lambda fault: known.index(fault.reason))


def _bet(cents: int | None) -> str:
    return "no wager" if cents is None else dollars(cents)
