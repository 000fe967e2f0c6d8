"""The games this house can play, by title."""

from __future__ import annotations

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
