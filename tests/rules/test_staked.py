"""What a round stakes on its link is told without settling it, and is what its settlement says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings

from devices.simulator.floor import Play
from devices.simulator.irregularities import Rates
from jackpot.rules.meter import opening
from tables.rules import books
from tables.rules.floor import read_floor
from tables.rules.game import Game
from tables.rules.message import RoundMessage
from tables.rules.settle import Staked, settle, staked
from tests.rules.test_any_message import rounds

FLOORS = Path(__file__).parents[1] / "acceptance" / "floors"


def by_settling(message: RoundMessage, game: Game[Any], meters: Any, extra: tuple[str, ...] = ()) -> Staked:
    """The same, read off the settlement and its postings."""
    settled = settle(message, game, meters, extra)
    settlement = settled.settlement
    if settled.outcome == "held":
        return Staked(settlement["reasons"][0])
    link = game.link.code if game.link else None
    posted = books.posting(settlement, base_wagers=game.base, contributions=settled.movements, link=link)
    rates = {level.code: level.rate_ppm for level in game.link.levels} if game.link else {}
    stakes = {row["contributed_millionths"] // rates[row["level"]] for row in settlement["meters"]}
    return Staked(None, max(stakes, default=0), posted.progressives, bool(settlement["awards"]))


@given(rounds())
@settings(max_examples=400)
def test_of_any_round_it_is_what_its_settlement_says(harbor: Any, message: dict[str, Any]) -> None:
    """On a short deck, where hits are common; also where players were counted wrongly or the table is closed."""
    for dealing, extra in (({}, ()), ({"players": 1}, ()), ({}, ("table_closed",))):
        read = harbor.read(json.loads(json.dumps(message | {"dealing": message["dealing"] | dealing})))
        game = harbor.games[read.table]
        meters = harbor.settle(message).meters
        assert staked(read, game, extra) == by_settling(read, game, meters, extra)


def test_of_a_floor_that_plays_every_linked_game_with_all_that_goes_wrong(harbor: Any) -> None:
    floor = read_floor((FLOORS / "harbor.toml").read_text("utf-8"))
    play = Play(floor.tables, seed="staked", rates=Rates(times=20.0))
    met: Counter[str] = Counter()
    for _, message in zip(range(4_000), play, strict=False):
        read = harbor.read(json.loads(json.dumps(message)))
        if not isinstance(read, RoundMessage):
            continue
        game = harbor.games[read.table]
        found = staked(read, game)
        meters = {level.code: opening(level) for level in game.link.levels} if game.link else {}
        assert found == by_settling(read, game, meters), message
        met[f"{game.title} {'held' if found.held else 'staked' if found.wagers else 'nothing'}"] += 1
    assert {title.split(" ")[0] for title, times in met.items() if title.endswith(" staked") and times} >= {
        "mississippi-stud"
    }
    assert any(title.endswith(" held") for title in met)
