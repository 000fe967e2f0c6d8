"""Whoever watches a link or waits for a stream hears of what people decide, as of rounds: after the commit, never before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from unittest.mock import patch

import pytest
from django.db import OperationalError, connection, transaction

from devices import acts
from jackpot.services import listening
from tests.services.house import ALONE, LINKED, NEIGHBOUR, House, locked, message, rows, two_hits

HIT = "ms-mg01-000001"
ACTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("level.adjust", "ms-mg01/major", {"part": "display", "cents": 5, "reason": "boost"}),
    ("table.close", ALONE, {}),
    ("table.open", ALONE, {}),
    ("table.terms", ALONE, {"minimum_cents": 500}),
    ("hit.verify", HIT, {}),
    ("hit.approve", HIT, {}),
    ("hit.pay", HIT, {"method": "cage"}),
    ("lock.void", f"{LINKED}/R-3", {}),
    ("round.release", f"{LINKED}/R-2", {}),
    ("round.void", f"{LINKED}/R-4", {}),
    ("link.suspend", "ms-mg01", {}),
    ("level.transfer", "ms-mg01/major", {"to": "twin/grand", "parts": ["reserve"]}),
    ("table.leave", NEIGHBOUR, {}),
    ("link.resume", "ms-mg01", {}),
)


def heads() -> dict[int, int]:
    """The next sequence of every stream."""
    return dict(rows("SELECT id, next_sequence FROM accounting_stream"))


@pytest.fixture
def told() -> Iterator[list[tuple[int, int]]]:
    """The streams and sequences that were told of, each once it could be read."""
    heard: list[tuple[int, int]] = []

    def tell(stream_id: int, sequence: int) -> None:
        assert not connection.in_atomic_block, "told before the commit"
        heard.append((stream_id, sequence))

    with patch.object(listening, "tell", tell):
        yield heard


def test_every_act_is_told_to_those_who_listen_to_its_streams(busy_house: House, told: list[tuple[int, int]]) -> None:
    house = busy_house
    house.play(
        two_hits("R-1"),
        message("R-2", dealing={"method": "shuffler", "mode": "cover_all", "players": 6}),
        locked("R-3"),
        message("R-4"),
    )
    told.clear()
    for name, subject, payload in ACTS:
        before = heads()
        house.act(name, subject, **payload)
        moved = {
            (stream, sequence - 1) for stream, sequence in heads().items() if before.get(stream, sequence) != sequence
        }
        assert moved and moved <= set(told), name
        told.clear()


def test_an_act_stands_though_nobody_can_be_told(busy_house: House) -> None:
    with patch.object(listening, "tell", side_effect=OperationalError("no listener can be reached")) as tell:
        busy_house.act("link.suspend", "ms-mg01")
    assert tell.called
    assert rows("SELECT state FROM jackpot_link WHERE code = 'ms-mg01'") == [("suspended",)]


def test_a_day_is_closed_though_nobody_can_be_woken(busy_house: House) -> None:
    with (
        patch("devices.acts.days.perform", return_value={"twin": 7, "ms-mg01": 9}),
        patch("devices.acts.wake", side_effect=OSError("no broker")) as wake,
        transaction.atomic(),
    ):
        assert acts.close_day(cast("Any", None), at=busy_house.now) == ("ms-mg01", 9)
        assert not wake.called
    assert wake.called


def test_an_act_that_is_rolled_back_is_told_to_nobody(busy_house: House, told: list[tuple[int, int]]) -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        busy_house.act("link.suspend", "ms-mg01")
        raise RuntimeError
    assert told == []
