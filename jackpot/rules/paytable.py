"""Progressive paytables: what each five-card hand earns from a link, one published edition each.

An edition is data (SPEC §5, §6.8).  The built-in editions are the TOML files beside this package; a floor
file may define more in the same form (CONTRACT §1).
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jackpot.rules.definition import Definition, DefinitionRefused
from jackpot.rules.meter import MILLION

RANKS: Final = "23456789TJQKA"  # low to high

# The five-card hands of SPEC §4, low to high.  A royal flush is not also a straight flush.
FIVE_CARD_HANDS: Final = (
    "high_card",
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
)

# What a row of each kind must say; a share may also carry envy.
ROW_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "share": ("level", "share_ppm"),
    "for": ("odds",),
    "to": ("odds",),
    "sum": ("cents",),
    "push": (),
    "half": (),
}
PROGRESSIVE_KINDS: Final = ("share", "for", "to", "sum", "push")
ROW_AMOUNTS: Final = ("level", "share_ppm", "odds", "cents", "envy_cents")
ROW_KEYS: Final = ("hand", "pays", *ROW_AMOUNTS, "per", "from", "to")
PAYTABLE_KEYS: Final = ("code", "games", "wager_cents", "rows")
MOST_ODDS: Final = 1_000_000
# A hundred thousand dollars. A seat's contribution is this at most, so that a meter and its overflow, which grow by
# nothing else than contributions and decisions of people, are bigints after 10**11 rounds still; and so is what the
# longest odds pay for it.
MOST_WAGER_CENTS: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a paytable: a hand, perhaps only between two ranks, and what it pays.

    `pays` is share (of a level), for, to, sum (a fixed sum), push, or half (half of the stake is lost).  Odds are
    `odds` to or for `per`, which is 1 but for odds like 3 to 2.
    """

    hand: str
    pays: str
    level: str | None = None
    share_ppm: int = 0
    odds: int = 0
    cents: int = 0
    envy_cents: int = 0
    from_rank: str | None = None
    to_rank: str | None = None
    per: int = 1


@dataclass(frozen=True)
class ProgressivePaytable:
    """One edition: the games it fits, its one wager in cents, and its rows."""

    code: str
    games: tuple[str, ...]
    wager_cents: int
    rows: tuple[Row, ...]

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels this edition pays from, in the order of its rows."""
        return tuple(dict.fromkeys(row.level for row in self.rows if row.level is not None))


def read(definition: Mapping[str, Any], path: str = "") -> ProgressivePaytable:
    """The edition a definition describes; DefinitionRefused names the key at fault."""
    entry = Definition(definition, path, PAYTABLE_KEYS)
    code = entry.text("code")
    games: list[str] = []
    for place, game in entry.items("games", required=True):
        if not isinstance(game, str) or not game:
            raise DefinitionRefused(place, "a game title is expected")
        if game in games:
            raise DefinitionRefused(place, f"{game} is named twice")
        games.append(game)
    wager_cents = entry.integer("wager_cents", 1, MOST_WAGER_CENTS)
    rows = read_rows(entry, FIVE_CARD_HANDS, PROGRESSIVE_KINDS)
    return ProgressivePaytable(code, tuple(games), wager_cents, rows)


def read_rows(entry: Definition, hands: Collection[str] | None, kinds: tuple[str, ...]) -> tuple[Row, ...]:
    """The `rows` of an edition; a hand may be paid in one way only.

    `hands` are the names a row may carry, None where the game checks them itself.
    """
    rows: list[Row] = []
    paid: set[tuple[str, str]] = set()
    for place, value in entry.items("rows", required=True):
        row = _read_row(value, place, hands, kinds)
        low = RANKS.index(row.from_rank or RANKS[0])
        high = RANKS.index(row.to_rank or RANKS[-1])
        for rank in RANKS[low : high + 1]:
            if (row.hand, rank) in paid:
                raise DefinitionRefused(f"{place}.hand", f"{row.hand} is paid by an earlier row")
            paid.add((row.hand, rank))
        rows.append(row)
    return tuple(rows)


def _read_row(value: object, path: str, hands: Collection[str] | None, kinds: tuple[str, ...]) -> Row:
    entry = Definition(value, path, ROW_KEYS)
    hand = entry.text("hand")
    if hands is not None and hand not in hands:
        raise entry.refuse("hand", f"{hand} is no hand of this paytable")
    pays = entry.choice("pays", kinds)
    needs = ROW_NEEDS[pays]
    for key in ROW_AMOUNTS:
        if key in entry.values and key not in needs and (key, pays) != ("envy_cents", "share"):
            raise entry.refuse(key, f"does not go with pays = {pays}")
    if "per" in entry.values and "odds" not in needs:
        raise entry.refuse("per", f"does not go with pays = {pays}")
    from_rank, to_rank = _rank(entry, "from"), _rank(entry, "to")
    if RANKS.index(from_rank or RANKS[0]) > RANKS.index(to_rank or RANKS[-1]):
        raise entry.refuse("to", f"{to_rank} is below {from_rank}")
    return Row(
        hand,
        pays,
        level=entry.text("level") if "level" in needs else None,
        share_ppm=entry.integer("share_ppm", 1, MILLION) if "share_ppm" in needs else 0,
        odds=entry.integer("odds", 1, MOST_ODDS) if "odds" in needs else 0,
        cents=entry.integer("cents", 1) if "cents" in needs else 0,
        envy_cents=entry.optional_integer("envy_cents", 0) or 0,
        from_rank=from_rank,
        to_rank=to_rank,
        per=entry.optional_integer("per", 1, MOST_ODDS) or 1,
    )


def _rank(entry: Definition, key: str) -> str | None:
    return entry.choice(key, tuple(RANKS)) if key in entry.values else None


@cache
def definitions() -> dict[str, dict[str, Any]]:
    """The definitions of the editions published with the product, as their TOML files say them, by code."""
    folder = files("jackpot") / "paytables"  # in a verifier that is one file, as on disk
    texts = (file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".toml"))
    found = sorted((tomllib.loads(text) for text in texts), key=lambda definition: definition["code"])
    return {definition["code"]: definition for definition in found}


@cache
def builtin() -> dict[str, ProgressivePaytable]:
    """The editions published with the product, by code."""
    return {code: read(definition) for code, definition in definitions().items()}
