"""Slips that are made at the same moment: the database itself lets one of a payout stand, and numbers without a gap."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import Error, connection, transaction

from tests.races.together import beside
from tests.services.desk import ANYBODY
from tests.services.house import LINKED, House, rows, royal, value
from tests.services.test_slips import ask

ENVY = f"{LINKED}/R-1/1/3"
WAITING = """
    SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))
"""


@pytest.fixture(autouse=True)
def _key(settings: Any) -> None:
    settings.PATRON_KEY = "A" * 43


def slip_made() -> dict[str, Any]:
    """The one slip that there is, as its row has it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM slips_slip")
        assert cursor.description is not None
        names = [column.name for column in cursor.description]
        (found,) = cursor.fetchall()
    return {
        name: bytes(each) if isinstance(each, memoryview) else each for name, each in zip(names, found, strict=True)
    }


@pytest.mark.parametrize("kept", [True, False], ids=["the first stands", "the first is given up"])
def test_a_second_slip_of_a_payout_waits_for_the_first_whatever_number_it_bears(kept: bool, busy_house: House) -> None:
    """Nobody's program: rows are written past the service, the second with the number after the first's."""
    busy_house.play(royal("R-1"))
    refused: list[str | None] = []

    def second(row: dict[str, Any]) -> None:
        columns = ", ".join(f'"{name}"' for name in row)
        try:
            with connection.cursor() as cursor:
                cursor.execute(
                    f"INSERT INTO slips_slip ({columns}) VALUES ({', '.join(['%s'] * len(row))})", list(row.values())
                )
            refused.append(None)
        except Error as error:
            refused.append(error.__cause__.diag.constraint_name)  # type: ignore[union-attr]

    with ExitStack() as first:
        first.enter_context(transaction.atomic())
        ask("slip.issue", ENVY, ANYBODY["supervisor"], method="table", form="chips")
        row = slip_made() | {"number": 2}
        with beside(lambda: second(row)) as thread:
            give_up = time.monotonic() + 20
            while not value(WAITING):
                assert thread.is_alive() and time.monotonic() < give_up, refused
                time.sleep(0.01)
            transaction.set_rollback(not kept)
            first.close()
    assert refused == ["a_payout_has_one_standing_slip" if kept else "slips_are_numbered_without_a_gap"]
    assert rows("SELECT number FROM slips_slip") == ([(1,)] if kept else [])
