"""A small house for the tests of rules: a floor in memory, messages by hand, settlements by the rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jackpot.rules.meter import Meter, opening
from tables.rules import door
from tables.rules.door import Refusal
from tables.rules.floor import Floor, read_floor
from tables.rules.games import Games
from tables.rules.message import RoundMessage
from tables.rules.settle import Settled, settle

FLOORS = Path(__file__).parents[1] / "acceptance" / "floors"
STREETS = ("third_street", "fourth_street", "fifth_street")


class House:
    """A floor whose tables play rounds that a test writes down."""

    def __init__(self, floor: Floor) -> None:
        self.floor = floor
        self.games = Games(floor.tables)

    @staticmethod
    def seat(number: int, cards: str, *streets: int, ante: int = 1000, folded: str | None = None, **wagers: int) -> Any:
        """A seat: `streets` are multiples of the ante, one each unless it folded and none are given."""
        if not streets and folded is None:
            streets = (1, 1, 1)
        placed = {"ante": ante} | {name: ante * times for name, times in zip(STREETS, streets, strict=False)}
        entry: dict[str, Any] = {"seat": number, "cards": cards.split(), "wagers": placed | wagers}
        return entry if folded is None else entry | {"folded": folded}

    @staticmethod
    def message(
        table: str,
        community: str,
        *seats: Any,
        dealer: str = "",
        irregularities: Any = (),
        mode: str = "cover_all",
        **dealing: Any,
    ) -> dict[str, Any]:
        """A round message as a JSON value."""
        return {
            "round": "R-1",
            "table": table,
            "dealt_at": "2026-11-27T21:14:05.120-05:00",
            "dealing": {"method": "shuffler", "mode": mode} | dealing,
            "community": community.split(),
            "dealer": dealer.split(),
            "seats": list(seats),
            "irregularities": list(irregularities),
        }

    def read(self, value: object) -> RoundMessage | Refusal:
        """What the door makes of a value."""
        return door.read(value, self.games)

    def settle(self, value: dict[str, Any], meters: Mapping[str, Meter] | None = None, **extra: Any) -> Settled:
        """Settle a message that the door lets in; meters as opened unless given."""
        message = self.read(json.loads(json.dumps(value)))
        assert isinstance(message, RoundMessage), message
        table = self.floor.tables[message.table]
        if meters is None:
            meters = {level.code: opening(level) for level in table.link.levels} if table.link else {}
        return settle(message, self.games[message.table], meters, **extra)

    def entries(self, value: dict[str, Any], meters: Mapping[str, Meter] | None = None) -> dict[int, Any]:
        """The seats of a settled round, by number, with their lines by wager."""
        settled = self.settle(value, meters)
        assert settled.outcome == "settled", settled.settlement["reasons"]
        return {
            entry["seat"]: entry | {"line": {line["wager"]: line for line in entry["lines"]}}
            for entry in settled.settlement["seats"]
        }


@pytest.fixture(scope="session")
def harbor() -> House:
    """The house of most acceptance cases."""
    return House(read_floor((FLOORS / "harbor.toml").read_text("utf-8")))


@pytest.fixture(scope="session")
def house() -> type[House]:
    """To open a house on another floor."""
    return House
