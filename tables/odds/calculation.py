"""Which edition is counted by which module, and what each count takes for granted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from hashlib import sha256
from json import dumps
from typing import Any, Final

from jackpot.rules import paytable as progressive_paytables
from jackpot.rules.paytable import ProgressivePaytable
from tables.odds import (
    big_six,
    blackjack,
    boston_5_stud,
    cover_all,
    craps,
    double_down_stud,
    joker,
    let_it_ride,
    mini_tex,
    minibaccarat,
    mississippi_stud,
    pai_gow,
    pocket,
    progressive,
    red_dog,
    roulette,
    several_decks,
    three_card_poker,
)
from tables.odds.edition import EditionOdds, WagerOdds
from tables.odds.hands import five_card_classes
from tables.odds.pays import five_card_combinations, five_card_rows, five_card_wager, three_card_wager
from tables.rules import paytables
from tables.rules.floor import MOST_ANTE_BONUS_ODDS
from tables.rules.paytables import Edition

METER: Final = "the return depends on the meter, see `progressive`"
BEST_PLAY: Final = "the play that is best on average, knowing no hand but one's own; the payout limit is left out"


class NotCounted(Exception):
    """There is no such edition, or no module that counts its wager."""


Count = Callable[[Edition], tuple[WagerOdds, ...]]

COUNTS: Final[Mapping[tuple[str, str], tuple[Count, str | None]]] = {
    ("mississippi-stud", "base"): (
        lambda edition: (mississippi_stud.base(edition.rows),),
        f"{BEST_PLAY}; in antes; where a raise costs nothing on average it is made",
    ),
    ("mississippi-stud", "three_card_bonus"): (lambda edition: (three_card_wager(edition.rows),), None),
    ("mississippi-stud", "cover_all"): (
        lambda edition: cover_all.cover_all(edition.odds_by_players),
        "every hand dealt counts: each hand that is folded and therefore not counted makes the return smaller; a dealer's"
        " hand is one more chance at odds that go by the players alone, and favours the bettor",
    ),
    ("let-it-ride", "base"): (
        lambda edition: (let_it_ride.base(edition.rows),),
        f"{BEST_PLAY}; in units of one of the three bets",
    ),
    ("let-it-ride", "bonus"): (
        lambda edition: (five_card_wager(edition.rows, edition.wager_cents),),
        "the stake is not returned (the term `bonus_returns_stake` at its default)",
    ),
    ("double-down-stud", "base"): (lambda edition: (double_down_stud.base(edition.rows),), BEST_PLAY),
    ("boston-5-stud", "base"): (
        lambda edition: (boston_5_stud.base(edition.rows),),
        f"{BEST_PLAY}; in antes; first and second wager are twice the ante each",
    ),
    ("boston-5-stud", "optional_bonus"): (lambda edition: (three_card_wager(edition.rows),), None),
    ("three-card-poker", "base"): (lambda edition: (three_card_poker.base(edition.rows),), f"{BEST_PLAY}; in antes"),
    ("three-card-poker", "pair_plus"): (
        lambda edition: (three_card_wager(edition.rows),),
        "the hand is not folded; no hand that wins here is better folded",
    ),
    ("mini-tex", "base"): (
        lambda edition: tuple(mini_tex.base(edition.rows, odds) for odds in (0, MOST_ANTE_BONUS_ODDS)),
        f"{BEST_PLAY}; in antes",
    ),
    ("mini-tex", "pocket"): (
        lambda edition: tuple(pocket.wager(edition.rows, ace_two=ace_two) for ace_two in (False, True)),
        None,
    ),
    ("red-dog", "base"): (
        lambda edition: tuple(red_dog.base(edition.rows, decks) for decks in red_dog.DECKS),
        "a full shoe; the raise equals the wager where it favours the player",
    ),
    ("roulette", "base"): (lambda edition: roulette.base(edition.rows), None),
    ("big-six", "base"): (
        lambda edition: big_six.base(edition.rows),
        "the usual wheel of 54: its symbols are not in the rules at hand",
    ),
    ("minibaccarat", "base"): (
        lambda edition: minibaccarat.base(edition.rows),
        "a full shoe; the banker draws by the table in general use, which is not in the rules at hand",
    ),
    ("craps", "base"): (
        lambda edition: craps.base(edition.rows),
        "each wager stands until it is decided, place bets on come out rolls too",
    ),
    ("blackjack", "base"): (
        lambda edition: blackjack.base(edition.rows),
        "a full shoe; insurance against a dealer's ace, no other card known",
    ),
    ("pai-gow", "base"): (lambda edition: pai_gow.base(), None),
    ("fast-action-holdem", "base"): (lambda edition: several_decks.base(), None),
    ("pai-gow-poker", "base"): (lambda edition: joker.base(), None),
}


def definitions() -> dict[str, dict[str, Any]]:
    """The definitions of every edition published with the product, progressives included, by code."""
    return paytables.definitions() | progressive_paytables.definitions()


def digest(definition: Mapping[str, Any]) -> str:
    """What tells one definition of an edition from another."""
    return sha256(dumps(definition, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def count(code: str) -> EditionOdds:
    """Count an edition anew; NotCounted if there is none of this code or nothing counts its wager."""
    known = definitions().get(code)
    if known is None:
        raise NotCounted(f"there is no edition {code}")
    edition = paytables.builtin().get(code)
    if edition is None:
        return count_progressive(progressive_paytables.builtin()[code], digest(known))
    counted = COUNTS.get((edition.game, edition.wager))
    if counted is None:
        raise NotCounted(f"nothing counts the wager {edition.wager} of {edition.game}")
    counts, assumes = counted
    return EditionOdds(code, edition.game, edition.wager, digest(known), counts(edition), assumes)


def count_progressive(paytable: ProgressivePaytable, known_by: str = "") -> EditionOdds:
    """Count any progressive paytable, also one that a floor file defines; it takes no time."""
    rows = five_card_rows(paytable.rows)
    combinations = five_card_combinations(rows)
    total = sum(combinations.values())
    paid = sum(ways for ways, row in zip(five_card_classes(), rows, strict=True) if row is not None)
    wager = WagerOdds(
        combinations=combinations,
        total=total,
        edge=None,
        hit_frequency=Fraction(paid, total),
        variance=None,
        reason=METER,
        progressive=progressive.of_paytable(paytable),
    )
    return EditionOdds(
        paytable.code,
        ", ".join(paytable.games),
        "progressive",
        known_by,
        (wager,),
        "five cards of one deck; the hand pays although it was folded (`progressive_survives_fold` at its default)",
    )
