"""What is evidence against a message and what is not, as the database says it (ARCHITECTURE §4.11)."""

from __future__ import annotations

import pytest
from django.db import DatabaseError

from devices.intake import settling
from tests.services import auditor
from tests.services.house import RECEIVED, House, message, rows, royal, run, value

LINK = "ms-mg01"
AGAINST = {
    "a rule of the table of payouts": "ALTER TABLE tables_payout ADD CONSTRAINT no_royals CHECK (hand <> 'royal_flush')",
    "a rule of the table of rounds": "ALTER TABLE tables_round ADD CONSTRAINT not_this CHECK (reference <> 'R-3')",
    "a column that is too narrow": "ALTER TABLE tables_payout ALTER hand TYPE varchar(10)",
}
OURS = {
    "a rule of a sum": "ALTER TABLE accounting_total ADD CONSTRAINT small CHECK (debit_cents < 5000000) NOT VALID",
    "a rule of the meters": "ALTER TABLE jackpot_meter ADD CONSTRAINT no_hits CHECK (hits = 0)",
    "a column of another type": "ALTER TABLE tables_payout ALTER seat TYPE bigint",
    "a number that was given out": "CREATE UNIQUE INDEX one_a_seat ON tables_payout (stream_id, seat)",
}


@pytest.mark.parametrize("change", AGAINST.values(), ids=AGAINST.keys())
def test_a_value_of_one_message_that_its_own_rows_may_not_have_is_evidence(change: str, busy_house: House) -> None:
    run(change)
    busy_house.post(*(message(f"R-{number}") for number in range(3)), royal("R-3"), message("R-4"), message("R-5"))
    assert busy_house.settle() == 6
    assert rows("SELECT reference, reasons FROM tables_hold") == [("R-3", ["processing_error"])]
    assert busy_house.order() == ["R-0", "R-1", "R-2", "R-4", "R-5"]
    assert value("SELECT count(*) FROM devices_stoppage") == 0
    auditor.everything_agrees()


@pytest.mark.parametrize("change", OURS.values(), ids=OURS.keys())
def test_what_no_message_could_have_got_wrong_stops_the_stream(change: str, busy_house: House) -> None:
    """The royal is good: what is full, of another type or given out twice is ours."""
    run(change)
    busy_house.post(message("R-0"), royal("R-1"), royal("R-2"), message("R-3"))
    for _ in range(6):
        with pytest.raises(DatabaseError):
            settling.settle_next(busy_house.stream(LINK), clock=lambda: RECEIVED)
    assert (busy_house.waiting(), busy_house.order()) == (4, [])
    assert value("SELECT count(*) FROM tables_hold") == 0
    assert value("SELECT attempts FROM devices_attempt") == 0
    assert value("SELECT count(*) FROM devices_stoppage") == 1
