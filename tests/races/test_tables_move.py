"""A table joins and leaves links while four workers settle and gateways post: each message ends once, on a stream of its own."""

from __future__ import annotations

import random
import threading
import time
from datetime import datetime, timedelta
from itertools import cycle, islice
from typing import Any

import pytest

from accounting.rules.acts import ActRefused
from devices.audit import verification
from devices.intake import settling
from tests.races.together import at_once, workers
from tests.services import auditor
from tests.services.house import ALONE, DEALT, LINKED, TWIN, House, locked, message, rows, seat, value, verify

MOVES = 7
ENDS = (("table.join", "ms-mg01"), ("table.leave", None), ("table.join", "twin"), ("table.leave", None))
WAIT_AT_MOST = 6


@pytest.mark.timeout(300)
def test_four_workers_against_a_table_that_joins_and_leaves(busy_house: House) -> None:
    began = time.monotonic()
    over, waits = threading.Event(), threading.Event()
    moved: list[str] = []

    def now() -> datetime:
        """One clock for everybody."""
        return DEALT + timedelta(seconds=time.monotonic() - began)

    def move(act: str, link: str | None) -> None:
        """A table is moved with an empty queue: tried until none of its rounds waits."""
        while not over.is_set():
            try:
                House().act(act, ALONE, at=now(), **({"link": link} if link else {}))
            except ActRefused as refusal:
                assert refusal.code == "wrong_state" and "wait to be settled" in str(refusal.detail), refusal.detail
                waits.set()
                time.sleep(0.002)
            else:
                waits.clear()
                moved.append(link or ALONE)
                return

    def mover() -> None:
        try:
            for act, link in islice(cycle(ENDS), MOVES):
                move(act, link)
                time.sleep(0.05)
        finally:
            over.set()

    def gateway(number: int) -> None:
        chance, count = random.Random(number), 0
        while not over.is_set():
            count += 1
            reference = f"R-{number}-{count}"
            dealt_at = (now() - timedelta(seconds=chance.choice((0, 0, 0.1, 0.5)))).isoformat()
            wager: dict[str, Any] = chance.choice(({}, {"progressive": 100}, {"progressive": 500}))
            sent = [message(reference, seat(1, "3s 7d", **wager), table=ALONE, dealt_at=dealt_at)]
            if wager and chance.random() < 0.3:
                sent.insert(0, locked(reference, 1, table=ALONE, locked_at=dealt_at, **wager))
            if chance.random() < 0.5:
                sent.append(message(reference, table=chance.choice((LINKED, TWIN)), dealt_at=dealt_at))
            House().post(*sent, at=now())
            time.sleep(chance.uniform(0.001, 0.02))
            while not over.is_set() and (House.waiting() > WAIT_AT_MOST or (waits.is_set() and House.waiting())):
                time.sleep(0.002)

    with workers(4, limit=5, clock=now):
        at_once(4, lambda number: gateway(number) if number else mover())
    assert settling.streams_waiting() == []
    assert len(moved) == MOVES
    assert value("SELECT count(*) FROM accounting_event WHERE kind IN ('table.join', 'table.leave')") == 2 * MOVES
    counted = rows(
        "SELECT DISTINCT stream.code FROM tables_round round JOIN accounting_stream stream ON stream.id = round.stream_id"
        " JOIN tables_table tabl ON tabl.id = round.table_id WHERE tabl.code = %s", ALONE,
    )  # fmt: skip
    assert {code for (code,) in counted} == {ALONE, "ms-mg01", "twin"}, "it was played wherever it was"
    auditor.totals_are_the_transfers()
    auditor.meters_are_the_liability()
    auditor.every_message_is_somewhere_once()
    verify()
    verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=7)
