"""Tables: the terms a round is settled under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jackpot.rules.link import LinkTerms
from tables.rules.paytables import Edition


@dataclass(frozen=True, slots=True)
class Terms:
    """The choices a house makes for a table, each with its default (CONTRACT §1)."""

    progressive_survives_fold: bool = True
    cover_all_counts_folded_hands: bool = False
    limit_scope: str = "base"  # or all_fixed_odds
    misdeal_voids: str = "seat"  # or round
    bonus_returns_stake: bool = False  # let it ride
    payout_limit_cents: int = 5_000_000  # let it ride
    ante_bonus_odds: int = 0  # mini-tex, "to 1"
    ace_two_consecutive: bool = False  # mini-tex, pocket poker
    copy_hand: str = "dealer"  # or push; fast action hold 'em
    wheel_is_second: bool = True  # pai gow poker


@dataclass(frozen=True)
class TableTerms:
    """A table as it stands: its game, its wager bounds in cents, its link and the editions it offers, by wager.

    `edition` counts the table's terms in the order in which they were recorded.
    """

    code: str
    game: str
    seats: int
    decks: int
    minimum_cents: int
    maximum_cents: int
    link: LinkTerms | None
    paytables: Mapping[str, Edition]
    terms: Terms = field(default_factory=Terms)
    edition: int = 1
