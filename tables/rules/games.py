"""The games this house can play, by title."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tables.rules.big_six import BigSix
from tables.rules.blackjack import Blackjack
from tables.rules.boston_5_stud import Boston5Stud
from tables.rules.craps import Craps
from tables.rules.double_down_stud import DoubleDownStud
from tables.rules.fast_action_holdem import FastActionHoldem
from tables.rules.game import Game
from tables.rules.let_it_ride import LetItRide
from tables.rules.mini_tex import MiniTex
from tables.rules.minibaccarat import Minibaccarat
from tables.rules.mississippi_stud import MississippiStud
from tables.rules.pai_gow import PaiGow
from tables.rules.pai_gow_poker import PaiGowPoker
from tables.rules.red_dog import RedDog
from tables.rules.roulette import Roulette
from tables.rules.table import TableTerms
from tables.rules.three_card_poker import ThreeCardPoker

GAMES: Final[dict[str, type[Game[Any]]]] = {
    game.title: game
    for game in (
        MississippiStud,
        LetItRide,
        DoubleDownStud,
        Boston5Stud,
        ThreeCardPoker,
        MiniTex,
        RedDog,
        FastActionHoldem,
        PaiGowPoker,
        Roulette,
        BigSix,
        Minibaccarat,
        Blackjack,
        Craps,
        PaiGow,
    )
}


def game_of(table: TableTerms) -> Game[Any]:
    """The game as a table plays it, prepared for settling; that takes some time, so it is worth keeping."""
    return GAMES[table.game](table)


class Games:
    """The games of some tables by the table's code, each prepared when it is first asked for."""

    __slots__ = ("_games", "_tables")

    def __init__(self, tables: Mapping[str, TableTerms], before: Games | None = None) -> None:
        """`before` are games of an earlier reading: those of tables that are the same are kept."""
        self._tables = tables
        self._games: dict[str, Game[Any]] = {}
        if before is not None:
            self._games = {code: game for code, game in before._games.items() if tables.get(code) is game.table}

    def get(self, table: str) -> Game[Any] | None:
        """The game of a table; None where there is no such table."""
        game = self._games.get(table)
        if game is None and table in self._tables:
            game = self._games[table] = game_of(self._tables[table])
        return game

    def __getitem__(self, table: str) -> Game[Any]:
        game = self.get(table)
        if game is None:
            raise KeyError(table)
        return game
