"""Links: which levels a link has, and which tables may join it (SPEC §6.8, §6.9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from jackpot.rules.definition import Definition, DefinitionRefused
from jackpot.rules.meter import MILLION, LevelTerms
from jackpot.rules.paytable import ProgressivePaytable
from jackpot.rules.probability import rarity

LINK_KEYS: Final = ("code", "name", "paytable", "decks", "envy_scope", "tie_policy", "levels")
LEVEL_KEYS: Final = (
    "code",
    "reset_cents",
    "rate_ppm",
    "reserve_ppm",
    "limit_cents",
    "unreasonable_cents",
    "overflow_policy",
    "seed_funding",
    "floor_policy",
)
MAY_BE_NONE: Final = ("limit_cents", "unreasonable_cents")
"""What a level may be without; null takes it away."""


@dataclass(frozen=True)
class LinkTerms:
    """The terms of a link: its paytable edition, its number of decks and its levels."""

    code: str
    name: str
    paytable: ProgressivePaytable
    decks: int
    levels: tuple[LevelTerms, ...]
    envy_scope: str = "table"
    tie_policy: str = "sequential"

    @cached_property
    def level(self) -> dict[str, LevelTerms]:
        """The levels by their code."""
        return {level.code: level for level in self.levels}


def read(
    definition: Mapping[str, Any],
    paytables: Mapping[str, ProgressivePaytable],
    path: str = "",
    *,
    however_rare: bool = False,
) -> LinkTerms:
    """The link a definition describes (CONTRACT §1); DefinitionRefused names the key at fault.

    A paytable with a jackpot too rare to be allowed is refused as well, unless `however_rare`: who files a link asks that
    last.
    """
    entry = Definition(definition, path, LINK_KEYS)
    code = entry.text("code")
    name = entry.text("name", code, longest=200)
    paytable = paytables.get(entry.text("paytable"))
    if paytable is None:
        raise entry.refuse("paytable", f"unknown paytable {entry.values['paytable']}")
    too_rare = None if however_rare else rarity(paytable)
    if too_rare is not None:
        raise entry.refuse("paytable", too_rare)
    decks = entry.optional_integer("decks", 1, 8) or 1
    envy_scope = entry.choice("envy_scope", ("table",), "table")
    tie_policy = entry.choice("tie_policy", ("sequential",), "sequential")
    levels: dict[str, LevelTerms] = {}
    shares_ppm = 0
    for place, value in entry.items("levels"):
        level = _read_level(value, place)
        if level.code in levels:
            raise DefinitionRefused(f"{place}.code", f"{level.code} is used twice")
        if level.code not in paytable.levels:
            raise DefinitionRefused(f"{place}.code", f"{paytable.code} pays from no level {level.code}")
        shares_ppm += level.rate_ppm + level.reserve_ppm
        if shares_ppm > MILLION:
            raise DefinitionRefused(f"{place}.rate_ppm", "the levels together take more than the whole wager")
        levels[level.code] = level
    for needed in paytable.levels:
        if needed not in levels:
            raise entry.refuse("levels", f"level {needed} is missing, {paytable.code} pays from it")
    return LinkTerms(code, name, paytable, decks, tuple(levels.values()), envy_scope, tie_policy)


def _read_level(value: object, path: str) -> LevelTerms:
    entry = Definition(value, path, LEVEL_KEYS)
    level = LevelTerms(
        code=entry.text("code"),
        reset_cents=entry.integer("reset_cents", 0),
        rate_ppm=entry.integer("rate_ppm", 0, MILLION),
        reserve_ppm=entry.optional_integer("reserve_ppm", 0, MILLION) or 0,
        limit_cents=entry.optional_integer("limit_cents", 1),
        unreasonable_cents=entry.optional_integer("unreasonable_cents", 0),
        overflow_policy=entry.choice("overflow_policy", ("next_reset", "revenue"), "next_reset"),
        seed_funding=entry.choice("seed_funding", ("reserve_then_house", "house"), "reserve_then_house"),
        floor_policy=entry.choice("floor_policy", ("allow", "top_up"), "allow"),
    )
    if level.rate_ppm + level.reserve_ppm > MILLION:
        raise entry.refuse("reserve_ppm", "rate_ppm and reserve_ppm together take more than the whole wager")
    if level.limit_cents is not None and level.limit_cents < level.reset_cents:
        raise entry.refuse("limit_cents", f"below reset_cents ({level.limit_cents} < {level.reset_cents})")
    return level


def definition_of(terms: LinkTerms) -> dict[str, Any]:
    """A link in the keys of the floor file; a level's limits are left out where there are none."""
    return {
        "code": terms.code,
        "name": terms.name,
        "paytable": terms.paytable.code,
        "decks": terms.decks,
        "envy_scope": terms.envy_scope,
        "tie_policy": terms.tie_policy,
        "levels": [level_definition(level) for level in terms.levels],
    }


def changed_terms(terms: LinkTerms, levels: Sequence[Mapping[str, Any]]) -> LinkTerms:
    """A link's terms with what is named of its levels changed, the rest as it is; null takes a limit away (DECISIONS A55).

    DefinitionRefused names the key at fault of the whole definition that would come of it.
    """
    named = {level["code"]: level for level in levels}
    definition = definition_of(terms)
    for level in definition["levels"]:
        for key, value in named.get(level["code"], {}).items():
            if value is None and key in MAY_BE_NONE:
                level.pop(key, None)
            else:
                level[key] = value
    # Changes do not make a jackpot rarer: its hands are the edition's, and that stays.
    return read(definition, {terms.paytable.code: terms.paytable}, however_rare=True)


def level_definition(level: LevelTerms) -> dict[str, Any]:
    """A level in the keys of the floor file."""
    return {key: value for key in LEVEL_KEYS if (value := getattr(level, key)) is not None}


def misfit(link: LinkTerms, *, game: str, decks: int) -> str | None:
    """Why a table of this game and these decks may not join the link (SPEC §6.9); None if it may."""
    if decks != link.decks:
        return f"decks differ: the table has decks = {decks}, link {link.code} has decks = {link.decks}"
    if game not in link.paytable.games:
        return f"paytable {link.paytable.code} of link {link.code} does not fit game = {game}"
    return None
