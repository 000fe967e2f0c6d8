"""Transfers there and back at once: streams are locked in one order whoever gives, so nobody waits for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from devices.intake import settling
from jackpot.rules.decision import Act
from jackpot.services import acts
from tests.races.together import at_once, workers
from tests.services import auditor
from tests.services.house import LINKED, RECEIVED, TWIN, House, message, value, verify

ONE, OTHER = "ms-mg01/major", "twin/grand"


@pytest.mark.timeout(120)
def test_there_and_back_at_once_while_workers_settle(busy_house: House) -> None:
    busy_house.act("link.suspend", "ms-mg01")
    busy_house.act("link.suspend", "twin")
    busy_house.post(*(message(f"R-{n}", table=table) for n in range(60) for table in (LINKED, TWIN)))

    def carry(number: int) -> None:
        source, target = (ONE, OTHER) if number % 2 else (OTHER, ONE)
        for turn in range(15):
            at = RECEIVED + timedelta(seconds=1, milliseconds=turn)
            with transaction.atomic():
                payload = {"to": target, "parts": ["display", "reserve", "overflow"]}
                acts.perform(Act("level.transfer", source, at.isoformat(), payload), at=at, by=f"carrier {number}")

    with workers(2, limit=5):
        at_once(4, carry)
    assert settling.streams_waiting() == []
    assert value("SELECT count(*) FROM accounting_event WHERE kind = 'level.transfer'") == 2 * 4 * 15
    auditor.everything_agrees()
    verify()
