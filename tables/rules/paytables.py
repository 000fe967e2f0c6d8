"""Editions: what the base wagers and the side wagers of a game pay (SPEC §5, §7).

An edition is data, one TOML file each beside this package, reviewed like code.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from jackpot.rules.definition import Definition
from jackpot.rules.paytable import MOST_ODDS, Row, read_rows

EDITION_KEYS: Final = ("code", "game", "wager", "wager_cents", "rows", "odds_by_players")
KINDS: Final = ("to", "for", "sum", "push", "half")


@dataclass(frozen=True)
class Edition:
    """One published edition: its game, the wager it is for, and its rows.

    `wager` is `base` or the name of a side wager.  `wager_cents` is its one amount where it has only one, as when
    it pays fixed sums.  Cover All has `odds_by_players` instead of rows: for each hand the
    odds "to 1" for one player dealt in, two, and so on.
    """

    code: str
    game: str
    wager: str
    rows: tuple[Row, ...] = ()
    odds_by_players: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    wager_cents: int | None = None


def read(definition: Mapping[str, Any], path: str = "") -> Edition:
    """The edition a definition describes; DefinitionRefused names the key at fault."""
    entry = Definition(definition, path, EDITION_KEYS)
    code, game, wager = entry.text("code"), entry.text("game"), entry.text("wager")
    if "odds_by_players" not in entry.values:
        rows = read_rows(entry, None, KINDS)
        return Edition(code, game, wager, rows=rows, wager_cents=entry.optional_integer("wager_cents", 1))
    if "rows" in entry.values:
        raise entry.refuse("rows", "does not go with odds_by_players")
    table = entry.values["odds_by_players"]
    hands = Definition(table, entry.at("odds_by_players"), table if isinstance(table, Mapping) else ())
    odds: dict[str, tuple[int, ...]] = {}
    for hand in hands.values:
        odds[hand] = tuple(
            Definition({"odds": value}, place, ("odds",)).integer("odds", 1, MOST_ODDS)
            for place, value in hands.items(hand, required=True)
        )
    return Edition(code, game, wager, odds_by_players=odds)


FOLDER: Final = files("tables") / "paytables"


@cache
def codes() -> frozenset[str]:
    """The codes of the editions published with the product; every file is named after its edition."""
    return frozenset(file.name.removesuffix(".toml") for file in FOLDER.iterdir() if file.name.endswith(".toml"))


@cache
def definition_of(code: str) -> dict[str, Any]:
    """The definition of a published edition, as its TOML file says it."""
    return tomllib.loads((FOLDER / f"{code}.toml").read_text("utf-8"))


@cache
def edition_of(code: str) -> Edition:
    """A published edition.  Only what a floor names is ever read, so that `settle` starts at once."""
    return read(definition_of(code))


def definitions() -> dict[str, dict[str, Any]]:
    """The definitions of all published editions, by code."""
    return {code: definition_of(code) for code in sorted(codes())}


def builtin() -> dict[str, Edition]:
    """All published editions, by code."""
    return {code: edition_of(code) for code in sorted(codes())}
