"""The games this house can play, by title."""

from __future__ import annotations

from typing import Any, Final

from tables.rules.game import Game
from tables.rules.mississippi_stud import MississippiStud

GAMES: Final[dict[str, type[Game[Any]]]] = {
    MississippiStud.title: MississippiStud,
}
