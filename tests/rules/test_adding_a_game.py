"""Every place that must know a game knows every game, and `docs/adding-a-game.md` names the same places."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from devices.simulator import table as simulated
from jackpot.rules.probability import FIVE_CARD_GAMES
from tables.odds.calculation import COUNTS
from tables.rules import floor, paytables
from tables.rules.floor import GAME_TERMS
from tables.rules.game import Game
from tables.rules.games import GAMES
from tables.rules.table import Terms
from tests.services import test_every_game as whole_way

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-game.md"


def module_of(game: str) -> str:
    """What the modules of a game are called."""
    return game.replace("-", "_")


def editions(game: str) -> dict[str, str]:
    """The published editions of a game by code, each with the wager that it is for."""
    return {code: edition.wager for code, edition in paytables.builtin().items() if edition.game == game}


@cache
def text(*path: str) -> str:
    """A file of the project."""
    return ROOT.joinpath(*path).read_text("utf-8")


@cache
def played_the_whole_way() -> frozenset[str]:
    """The games that `test_every_game` plays a round of."""
    tables = floor.read_floor(whole_way.floor_text()).tables
    return frozenset(tables[message["table"]].game for message in whole_way.messages())


@cache
def progressive_games() -> tuple[frozenset[str], ...]:
    """The games of each progressive edition."""
    files = (ROOT / "jackpot" / "paytables").glob("*.toml")
    return tuple(frozenset(tomllib.loads(file.read_text("utf-8"))["games"]) for file in files)


def has_rules(game: str) -> bool:
    """Its module has its one class, by its title."""
    path = ROOT / "tables" / "rules" / f"{module_of(game)}.py"
    if not path.exists():
        return False
    found = vars(import_module(f"tables.rules.{module_of(game)}")).values()
    titles = [one.title for one in found if isinstance(one, type) and issubclass(one, Game) and "title" in vars(one)]
    return titles == [game]


def has_own_terms(game: str) -> bool:
    """Each is a term, and is known to be of some games only."""
    return set(GAMES[game].own_terms) <= {field.name for field in fields(Terms)} & set(GAME_TERMS)


def has_paytables(game: str) -> bool:
    """Every wager that pays by an edition has one."""
    return {*GAMES[game].required_paytables, *GAMES[game].side_wagers} <= set(editions(game).values())


def has_five_cards(game: str) -> bool:
    """Its hands are counted as the game says that they are made."""
    return (game in FIVE_CARD_GAMES) == GAMES[game].carries_progressive


def has_progressive(game: str) -> bool:
    """Some edition fits where one may, and none where none may."""
    return any(game in games for games in progressive_games()) == GAMES[game].carries_progressive


def has_row_of_words(game: str) -> bool:
    """The table of games has its row, with its wagers' editions and its own terms."""
    row = next((line for line in text("tables", "README.md").splitlines() if line.startswith(f"| `{game}`")), "")
    return bool(row) and all(f"`{term}`" in row for term in GAMES[game].own_terms)


PLACES: dict[str, Callable[[str], bool]] = {
    "rules": has_rules,
    "registry": lambda game: GAMES[game].title == game,
    "own terms": has_own_terms,
    "paytables": has_paytables,
    "five cards": has_five_cards,
    "progressive": has_progressive,
    "count": lambda game: all((game, wager) in COUNTS for wager in editions(game).values()),
    "record of the odds": lambda game: all(
        (ROOT / "tables" / "odds" / "data" / f"{code}.json").exists() for code in editions(game)
    ),
    "page of the odds": lambda game: all(f"| {code} | {game} |" in text("docs", "odds.md") for code in editions(game)),
    "words": has_row_of_words,
    "tests of the rules": lambda game: "def test_" in read_or_nothing("tests", "rules", f"test_{module_of(game)}.py"),
    "the whole way": lambda game: game in played_the_whole_way(),
    "simulator": lambda game: game == simulated.GAME,
}


def read_or_nothing(*path: str) -> str:
    """A file of the project, empty where there is none."""
    return text(*path) if ROOT.joinpath(*path).exists() else ""


def rows_of(heading: str) -> list[list[str]]:
    """The cells of the table under a heading of the page, without its own heading."""
    section = PAGE.read_text("utf-8").split(f"# {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def left_out() -> dict[str, set[str]]:
    """The games that a place leaves out, as the page says with its reason."""
    found: dict[str, set[str]] = {}
    for place, games, why in rows_of("Left out, and why"):
        assert why, place
        found.setdefault(place, set()).update(re.findall(r"`([^`]+)`", games))
    return found


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("place", PLACES)
def test_no_place_of_a_game_is_forgotten(place: str, game: str) -> None:
    if game in left_out().get(place, set()):
        assert not PLACES[place](game), f"{game} is there now: {PAGE.name} need not leave it out of {place}"
    else:
        assert PLACES[place](game), f"{game} is missing: {place} ({PAGE.name} says where)"


def test_the_page_names_the_places_that_are_looked_into() -> None:
    assert [row[0] for row in rows_of("How to add a game")] == list(PLACES)
    for place, where, what in rows_of("How to add a game"):
        named = where.strip("`").rstrip("/")
        assert what, place
        if not re.search("GAME|CODE", named):
            assert (ROOT / named).exists(), f"{place}: there is no {named}"


def test_what_is_left_out_is_of_a_place_and_a_game() -> None:
    assert left_out().keys() <= PLACES.keys()
    assert set().union(*left_out().values()) <= GAMES.keys()


def test_every_module_with_a_game_is_in_the_registry() -> None:
    """A game that was written and not registered would be missed by everything above."""
    for path in (ROOT / "tables" / "rules").glob("*.py"):
        import_module(f"tables.rules.{path.stem}")
    below: list[type[Game[Any]]] = Game.__subclasses__()
    for one in below:
        below += one.__subclasses__()
    assert {one for one in below if "title" in vars(one)} == set(GAMES.values())


def test_every_edition_is_of_a_game_and_one_of_its_wagers() -> None:
    for edition in paytables.builtin().values():
        game: type[Game[Any]] = GAMES[edition.game]
        assert edition.wager in {*game.required_paytables, *game.side_wagers}, edition.code
    assert all(games <= GAMES.keys() for games in progressive_games())
