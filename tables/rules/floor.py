"""Floor files: what a property looks like (CONTRACT §1).

A floor that cannot stand is refused whole, with the dotted path of the first key at fault.  Every term has the default
of SPEC.md; unknown keys are refused, so that a misspelt term is never silently the default.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final
from zoneinfo import ZoneInfo

from jackpot.rules import link as links_rules
from jackpot.rules import paytable as progressive_paytables
from jackpot.rules.definition import PLAIN_CODE, Definition, DefinitionRefused
from jackpot.rules.link import LinkTerms, misfit
from jackpot.rules.paytable import ProgressivePaytable
from tables.rules import paytables as editions_rules
from tables.rules.game import Game
from tables.rules.games import GAMES
from tables.rules.paytables import Edition
from tables.rules.table import TableTerms as TableTerms
from tables.rules.table import Terms as Terms

# A floor is refused like every other definition.
FloorRefused = DefinitionRefused

FLOOR_KEYS: Final = ("property", "links", "tables", "paytables")
PROPERTY_KEYS: Final = ("code", "name", "time_zone", "gaming_day_starts", "jurisdiction")
TABLE_KEYS: Final = (
    "code",
    "game",
    "seats",
    "decks",
    "minimum_cents",
    "maximum_cents",
    "link",
    "paytables",
    "terms",
)
TERM_KEYS: Final = tuple(term.name for term in fields(Terms))
LEAST_PAYOUT_LIMIT_CENTS: Final = 5_000_000  # seed 003: $50,000 or a greater approved sum
MOST_ANTE_BONUS_ODDS: Final = 30  # seed 004, "to 1" (19:47-36.11(d))
CHOICES: Final = {
    "limit_scope": ("base", "all_fixed_odds"),
    "misdeal_voids": ("seat", "round"),
    "copy_hand": ("dealer", "push"),
}
"""What a term that is one of several words may be."""
TERM_SCHEMA: Final[dict[str, Any]] = {
    term.name: {"type": "boolean"}
    if term.type == "bool"
    else {"type": "string", "enum": list(CHOICES[term.name])}
    if term.name in CHOICES
    else {"type": "integer"}
    for term in fields(Terms)
} | {
    "payout_limit_cents": {"type": "integer", "minimum": LEAST_PAYOUT_LIMIT_CENTS},
    "ante_bonus_odds": {"type": "integer", "minimum": 0, "maximum": MOST_ANTE_BONUS_ODDS},
}
"""The JSON Schema of each term, for whoever fills in a form."""
TIME_OF_DAY: Final = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Property:
    """One casino; `gaming_day_starts` is HH:MM in its time zone."""

    code: str
    name: str
    time_zone: str
    gaming_day_starts: str
    jurisdiction: str


@dataclass(frozen=True, slots=True)
class Floor:
    """A property with its links, its tables and the progressive editions the floor itself defines, by code."""

    property: Property
    links: dict[str, LinkTerms]
    tables: dict[str, TableTerms]
    paytables: dict[str, ProgressivePaytable]


def read_floor(text: str) -> Floor:
    """The floor that a TOML text describes; FloorRefused names the key at fault."""
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise FloorRefused("floor", f"not TOML: {problem}") from None
    entry = Definition(value, "", FLOOR_KEYS)
    refuse_odd_codes(value)
    home = _property(entry.values.get("property"), present="property" in entry.values)
    own = _paytables(entry)
    progressives = progressive_paytables.builtin() | own
    links: dict[str, LinkTerms] = {}
    for place, definition in entry.items("links"):
        link = link_terms(_table(definition, place), progressives, place)
        if link.code in links:
            raise FloorRefused(f"{place}.code", f"{link.code} is used twice")
        links[link.code] = link
    tables: dict[str, TableTerms] = {}
    for place, definition in entry.items("tables"):
        table = table_terms(_table(definition, place), links, path=place)
        if table.code in tables:
            raise FloorRefused(f"{place}.code", f"{table.code} is used twice")
        if table.code in links:
            # Rounds are numbered per link, or per table that has none: one name must not mean both.
            raise FloorRefused(f"{place}.code", f"{table.code} is the code of a link")
        tables[table.code] = table
    return Floor(home, links, tables, own)


def refuse_odd_codes(floor: Mapping[str, Any]) -> None:
    """FloorRefused for a code that could be taken for another, or breaks an address: blanks, slashes, beyond ASCII.

    Codes are judged when they are given; a house that has had another one since before goes on with it.
    """

    def look(value: object, path: str) -> None:
        if isinstance(value, Mapping):
            code = value.get("code")
            if isinstance(code, str) and PLAIN_CODE.fullmatch(code) is None:
                raise FloorRefused(f"{path}.code", f"printable ASCII without spaces or slashes is expected ({code!a})")

    look(floor.get("property"), "property")
    for kind in ("paytables", "links", "tables"):
        found = floor.get(kind)
        for index, item in enumerate(found if isinstance(found, list) else ()):
            look(item, f"{kind}[{index}]")
            levels = item.get("levels") if isinstance(item, Mapping) else None
            for place, level in enumerate(levels if isinstance(levels, list) else ()):
                look(level, f"{kind}[{index}].levels[{place}]")


def _table(value: object, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise FloorRefused(path, "a table of keys is expected")
    return value


def _property(value: object, *, present: bool) -> Property:
    if not present:
        raise FloorRefused("property", "missing")
    entry = Definition(value, "property", PROPERTY_KEYS)
    home = Property(
        code=entry.text("code"),
        name=entry.text("name", longest=200),
        time_zone=entry.text("time_zone"),
        gaming_day_starts=entry.text("gaming_day_starts"),
        jurisdiction=entry.text("jurisdiction"),
    )
    if not _is_time_zone(home.time_zone):
        raise entry.refuse("time_zone", f"unknown time zone {home.time_zone}")
    if TIME_OF_DAY.fullmatch(home.gaming_day_starts) is None:
        raise entry.refuse("gaming_day_starts", f"a time HH:MM is expected, not {home.gaming_day_starts}")
    return home


def _is_time_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        try:
            ZoneInfo("UTC")
        except KeyError:
            return True  # this machine has no time zone data at all, so it cannot judge
        return False
    return True


def _paytables(entry: Definition) -> dict[str, ProgressivePaytable]:
    """The progressive editions defined in the floor itself; a published code never changes its meaning."""
    own: dict[str, ProgressivePaytable] = {}
    for place, definition in entry.items("paytables"):
        paytable = progressive_paytables.read(_table(definition, place), place)
        if paytable.code in progressive_paytables.builtin() or paytable.code in editions_rules.codes():
            raise FloorRefused(f"{place}.code", f"{paytable.code} is built in")
        if paytable.code in own:
            raise FloorRefused(f"{place}.code", f"{paytable.code} is used twice")
        for index, title in enumerate(paytable.games):
            game = GAMES.get(title)
            if game is None or not game.carries_progressive:
                raise FloorRefused(f"{place}.games[{index}]", f"{title} carries no five-card progressive")
        own[paytable.code] = paytable
    return own


def link_terms(
    definition: Mapping[str, Any], paytables: Mapping[str, ProgressivePaytable], path: str = ""
) -> LinkTerms:
    """The link a definition describes; FloorRefused names the key at fault."""
    return links_rules.read(definition, paytables, path)


def table_terms(
    definition: Mapping[str, Any],
    links: Mapping[str, LinkTerms],
    editions: Mapping[str, Edition] | None = None,
    path: str = "",
) -> TableTerms:
    """The table a definition describes, checked against its link, its game and its paytables.

    `editions` are those it may name, the built-in ones if left out.  FloorRefused names the key at fault.
    """
    entry = Definition(definition, path, TABLE_KEYS)
    code = entry.text("code")
    title = entry.text("game")
    game = GAMES.get(title)
    if game is None:
        raise entry.refuse("game", f"unknown game {title}")
    seats = entry.integer("seats", 1, game.most_seats)
    decks = entry.optional_integer("decks", 1, 8) or 1
    minimum_cents = entry.integer("minimum_cents", 1)
    maximum_cents = entry.integer("maximum_cents", 1)
    if maximum_cents < minimum_cents:
        raise entry.refuse("maximum_cents", f"below minimum_cents ({maximum_cents} < {minimum_cents})")
    link = _link(entry, links, title, decks)
    if decks not in game.decks_allowed:
        allowed = " or ".join(str(number) for number in game.decks_allowed)
        raise entry.refuse("decks", f"{title} is played with {allowed} (decks = {decks})")
    chosen = _editions(entry, game, seats, editions)
    terms = _terms(entry, game)
    return TableTerms(code, title, seats, decks, minimum_cents, maximum_cents, link, chosen, terms)


def _link(entry: Definition, links: Mapping[str, LinkTerms], game: str, decks: int) -> LinkTerms | None:
    if "link" not in entry.values:
        return None
    link = links.get(entry.text("link"))
    if link is None:
        raise entry.refuse("link", f"unknown link {entry.values['link']}")
    if decks != link.decks:
        raise entry.refuse("decks", f"link {link.code} has decks = {link.decks} (decks = {decks})")
    why_not = misfit(link, game=game, decks=decks)
    if why_not is not None:
        raise entry.refuse("link", why_not)
    return link


def _editions(
    entry: Definition, game: type[Game[Any]], seats: int, known: Mapping[str, Edition] | None
) -> dict[str, Edition]:
    """The editions a table offers, by wager; each must be of its game and for that wager."""
    place = entry.at("paytables")
    offered = Definition(entry.values.get("paytables", {}), place, (*game.required_paytables, *game.side_wagers))
    chosen: dict[str, Edition] = {}
    for wager in offered.values:
        code = offered.text(wager)
        if code not in (editions_rules.codes() if known is None else known):
            raise offered.refuse(wager, f"unknown paytable {code}")
        edition = editions_rules.edition_of(code) if known is None else known[code]
        if (edition.game, edition.wager) != (game.title, wager):
            raise offered.refuse(wager, f"{edition.code} is for {edition.wager} of {edition.game}")
        why_not = game.misfit(wager, seats)
        if why_not is not None:
            raise offered.refuse(wager, why_not)
        chosen[wager] = edition
    for wager in game.required_paytables:
        if wager not in chosen:
            raise offered.refuse(wager, "missing")
    return chosen


def _terms(entry: Definition, game: type[Game[Any]]) -> Terms:
    """The terms of a table; those of another game may be there only with their default."""
    place = entry.at("terms")
    terms = read_terms(entry.values.get("terms", {}), place)
    default = Terms()
    for key in entry.values.get("terms", {}):
        if key in GAME_TERMS and key not in game.own_terms and getattr(terms, key) != getattr(default, key):
            raise DefinitionRefused(f"{place}.{key}", f"{game.title} has no such term")
    return terms


def read_terms(value: object, path: str = "") -> Terms:
    """The terms that are named, the others as they are by default; DefinitionRefused names the key at fault."""
    chosen = Definition(value, path, TERM_KEYS)
    given = chosen.values
    default = Terms()
    return Terms(
        progressive_survives_fold=chosen.flag("progressive_survives_fold", default.progressive_survives_fold),
        cover_all_counts_folded_hands=chosen.flag(
            "cover_all_counts_folded_hands", default.cover_all_counts_folded_hands
        ),
        limit_scope=chosen.choice("limit_scope", CHOICES["limit_scope"], default.limit_scope),
        misdeal_voids=chosen.choice("misdeal_voids", CHOICES["misdeal_voids"], default.misdeal_voids),
        bonus_returns_stake=chosen.flag("bonus_returns_stake", default.bonus_returns_stake),
        payout_limit_cents=chosen.integer("payout_limit_cents", LEAST_PAYOUT_LIMIT_CENTS)
        if "payout_limit_cents" in given
        else default.payout_limit_cents,
        ante_bonus_odds=chosen.integer("ante_bonus_odds", 0, MOST_ANTE_BONUS_ODDS)
        if "ante_bonus_odds" in given
        else default.ante_bonus_odds,
        ace_two_consecutive=chosen.flag("ace_two_consecutive", default.ace_two_consecutive),
        copy_hand=chosen.choice("copy_hand", CHOICES["copy_hand"], default.copy_hand),
        wheel_is_second=chosen.flag("wheel_is_second", default.wheel_is_second),
    )


def changed_terms(
    terms: TableTerms, changed: Mapping[str, Any], editions: Mapping[str, Edition] | None = None
) -> TableTerms:
    """A table's terms with its bounds and terms changed as named, the others as they are (DECISIONS A55).

    FloorRefused names the key at fault.
    """
    definition = table_definition(terms)
    definition |= {key: changed[key] for key in ("minimum_cents", "maximum_cents") if key in changed}
    definition["terms"] |= changed.get("terms", {})
    return table_terms(definition, {}, editions)


def table_definition(terms: TableTerms) -> dict[str, Any]:
    """A table in the keys of the floor file, its link left out: which link it is on has a moment of its own."""
    return {
        "code": terms.code,
        "game": terms.game,
        "seats": terms.seats,
        "decks": terms.decks,
        "minimum_cents": terms.minimum_cents,
        "maximum_cents": terms.maximum_cents,
        "paytables": {wager: edition.code for wager, edition in sorted(terms.paytables.items())},
        "terms": asdict(terms.terms),
    }


# The terms that CONTRACT §1 prints with a game.
GAME_TERMS: Final = frozenset(
    {
        "bonus_returns_stake",
        "payout_limit_cents",
        "ante_bonus_odds",
        "ace_two_consecutive",
        "copy_hand",
        "wheel_is_second",
    }
)
