"""The payout history as a file: every row of it once, in memory that does not grow with it."""

from __future__ import annotations

import csv
import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from tables.api import CSV_COLUMNS, csv_rows
from tables.queries import payouts
from tests.services.house import House, royal, run, value

MANY = """
    INSERT INTO tables_payout (stream_id, sequence, line, table_id, seat, kind, wager, hand, level_id, cents, dealt_at,
        counts_at, gaming_date)
    SELECT stream_id, 1000 + number, line, table_id, seat, kind, wager, hand, level_id, 1 + number %% 977,
        dealt_at - number * interval '1 second', counts_at - number * interval '1 second', gaming_date
    FROM (SELECT * FROM tables_payout ORDER BY sequence, line LIMIT 1) one, generate_series(%s, %s) number
"""


@pytest.fixture
def grown(house: House) -> Iterator[None]:
    """A house with a payout, whose history a test lets grow past its guards."""
    house.play(royal("R-1"))
    run("SET LOCAL session_replication_role = replica")
    yield
    run("SET LOCAL session_replication_role = origin")


def exported() -> tuple[int, int, int]:
    """Rows and cents of the whole export, and the most bytes that Python held for it at a time."""
    gc.collect()
    tracemalloc.start()
    try:
        place, count, cents = CSV_COLUMNS.index("cents"), 0, 0
        for row in csv.reader(csv_rows(payouts.every({"sort": "oldest"}))):
            if row[place] != "cents":
                count += 1
                cents += int(row[place])
        return count, cents, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_export_of_any_length_takes_the_memory_of_a_page(grown: None) -> None:
    least = 2 * payouts.MANY_AT_ONCE
    run(MANY, 1, least)
    few = exported()
    run(MANY, least + 1, 5 * least)
    many = exported()
    recorded = value("SELECT count(*) FROM tables_payout"), value("SELECT sum(cents) FROM tables_payout")
    assert many[:2] == recorded
    assert few[0] * 4 < many[0]
    assert many[2] < few[2] * 1.2 + 100_000, "five times the rows, the same memory"
