"""Whoever stands still amid a batch or an act holds nothing that another stream wants."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from devices.intake import settling
from tests.races.together import beside
from tests.services import auditor
from tests.services.house import RECEIVED, TWIN, House, locked, message, royal, two_hits, value, verify


def all_kinds(table: str) -> list[dict[str, Any]]:
    """Messages that have a batch write into every table that it may write into, on days that nobody has seen."""
    return [
        locked("L-1", table=table),
        message("R-1", table=table, dealt_at="2026-11-20T21:00:00-05:00"),
        message("R-2", table=table),
        message("held", table=table, dealing={"method": "shuffler", "players": 5}),
        message("misdated", table=table, dealt_at="2027-11-27T21:00:00-05:00"),
        royal("R-3", table=table),
        two_hits("R-4", table=table),
        locked("R-4", table=table),
        message("L-1", table=table),
    ]


@contextmanager
def standing_still(act: Callable[[], Any]) -> Iterator[None]:
    """Inside the block another session has done this and does not commit."""
    written, go_on = threading.Event(), threading.Event()

    def stands() -> None:
        with transaction.atomic():
            act()
            written.set()
            assert go_on.wait(60)

    with beside(stands):
        try:
            assert written.wait(60)
            yield
        finally:
            go_on.set()


@contextmanager
def without_waiting() -> Iterator[None]:
    """Who waits for a lock for a moment inside is refused it."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '300ms'")
        try:
            yield
        finally:
            cursor.execute("RESET lock_timeout")


def settle(house: House, stream: str) -> int:
    """Settle one batch of a stream; how many rounds."""
    return settling.settle_next(house.stream(stream), clock=lambda: RECEIVED).batch.settled


def test_a_batch_that_stands_still_keeps_no_other_stream_waiting(busy_house: House) -> None:
    busy_house.post(*all_kinds("MS-101"), *all_kinds(TWIN))
    with standing_still(lambda: settle(busy_house, "twin")):
        with without_waiting():
            assert settle(busy_house, "ms-mg01") > 5
        assert value("SELECT count(DISTINCT stream_id) FROM tables_round") == 1, "the other was still open"
    assert value("SELECT count(DISTINCT stream_id) FROM tables_round") == 2
    auditor.everything_agrees()
    verify()


@pytest.mark.parametrize(
    ("name", "subject", "payload"),
    [
        ("table.close", TWIN, {}),
        ("link.suspend", "twin", {}),
        ("level.adjust", "twin/grand", {"part": "display", "cents": 7, "reason": "correction"}),
        ("hit.reject", "twin-000001", {}),
        ("round.void", f"{TWIN}/R-1", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_act_that_stands_still_keeps_no_other_stream_waiting(
    name: str, subject: str, payload: dict[str, Any], busy_house: House
) -> None:
    busy_house.play(royal("R-1", table=TWIN))
    busy_house.post(*all_kinds("MS-101"))
    with standing_still(partial(busy_house.act, name, subject, **payload)), without_waiting():
        assert settle(busy_house, "ms-mg01") > 5
    verify()
