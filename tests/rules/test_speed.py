"""How long a round takes the rules; the settling worker's budget is built on it (ARCHITECTURE §7)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jackpot.rules.meter import opening
from tables.rules import door
from tables.rules.games import Games
from tables.rules.message import RoundMessage
from tables.rules.settle import settle
from tests.rules.yardstick import microseconds, slowness

CARDS = ("2c 7d", "3c 8d", "9s 4s", "Jc Jd", "5h 6d")


@pytest.mark.alone
def test_five_seats_with_every_wager(harbor: Any) -> None:
    seats = [
        harbor.seat(number, cards, 1, 2, 3, progressive=100, three_card_bonus=500, cover_all=500)
        for number, cards in enumerate(CARDS, 1)
    ]
    value = harbor.message("MS-101", "Ah Kh 2d", *seats, players=5, cards_in_deck=52)
    raw = json.dumps(value).encode()
    tables = harbor.floor.tables
    table = tables["MS-101"]
    games = Games(tables)
    message = door.read(value, games)
    assert isinstance(message, RoundMessage)
    meters = {level.code: opening(level) for level in table.link.levels}
    figures = {
        "parse": microseconds(lambda: door.parse(raw)),
        "read": microseconds(lambda: door.read(value, games)),
        "settle": microseconds(lambda: settle(message, games[table.code], meters)),
    }
    print({name: f"{figure:.1f} µs" for name, figure in figures.items()})
    slow = slowness()
    assert figures["read"] < 25 * slow, (figures, slow)
    assert figures["settle"] < 60 * slow, (figures, slow)
