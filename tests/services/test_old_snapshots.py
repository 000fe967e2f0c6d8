"""Somebody holds a snapshot, and every version of every row that settling changes is kept: a round reads no more for it.

Every statement that settling sends is explained by the server as it runs, those of triggers too, and the pages that it touched
are counted: before the snapshot, and when thousands of versions of each row that settling changes are kept for it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import psycopg
import pytest
from django.db import connection

from accounting.statements import execute
from devices.intake import passed
from devices.intake.settling import settle_next
from tests.services.house import RECEIVED, House, message, rows, royal, run, verify, whoever_was_at_work_is_over

VERSIONS = 2_000
MORE = 6
"""Pages that a statement may touch more: a row's newest version lies on a page of its own now, in the table and in its index."""
EXPLAINED = """
    LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
    SET auto_explain.log_buffers = on; SET auto_explain.log_timing = off; SET auto_explain.log_format = 'json';
    SET auto_explain.log_nested_statements = on; SET client_min_messages = log
"""
NOT_EXPLAINED = "SET client_min_messages = notice; SET auto_explain.log_min_duration = -1"
CHURN = """
    DO $churn$ BEGIN FOR version IN 1..{versions} LOOP UPDATE {table} SET {column} = {column}; END LOOP; END $churn$
"""
# Places in the queue that were taken: handed out, settled, and kept for whoever may still see them.
TAKEN = """
    INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)
    SELECT %s, nextval('devices_receipt'), 0, -number, now() FROM generate_series(1, %s) AS number
"""

Pages = dict[str, float]


class Explained:
    """What the server says of the statements of one session."""

    def __init__(self) -> None:
        self.touched: Counter[str] = Counter()
        self.changed: set[str] = set()

    def hear(self, said: psycopg.errors.Diagnostic) -> None:
        """Take one explanation in."""
        if said.message_primary is None or "plan:" not in said.message_primary:
            return
        found = json.loads(said.message_primary.split("plan:", 1)[1])
        plan = found["Plan"]
        statement = re.sub(r"\b\d+\b|'[^']*'", "?", " ".join(found["Query Text"].split()))
        self.touched[statement] += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        self.changed |= set(changed(plan))


def changed(plan: dict[str, Any]) -> Iterator[str]:
    """The tables of which a plan changes or removes rows."""
    if plan.get("Operation") in {"Update", "Delete"}:
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from changed(part)


@contextmanager
def explained() -> Iterator[Explained]:
    """The server explains the statements of this session meanwhile."""
    heard = Explained()
    run(EXPLAINED)
    server: psycopg.Connection[Any] = connection.connection
    server.add_notice_handler(heard.hear)
    try:
        yield heard
    finally:
        server.remove_notice_handler(heard.hear)
        run(NOT_EXPLAINED)


def pages(house: House, prefix: str) -> tuple[Pages, set[str]]:
    """The pages that each statement touched for a round, in the middle of several; and the tables of which it changed rows."""
    stream, found = house.stream("ms-mg01"), list[Counter[str]]()
    hot: set[str] = set()
    for number in range(7):
        house.post(message(f"{prefix}-{number}"))
        whoever_was_at_work_is_over()
        with explained() as heard:
            assert settle_next(stream, clock=lambda: RECEIVED).batch.settled == 1
        found.append(heard.touched)
        hot |= heard.changed
    statements = set().union(*found)
    return {statement: median(each[statement] for each in found) for statement in statements}, hot


@pytest.fixture
def _kept_plans(busy_house: House) -> Iterator[None]:
    """As a session that settles plans (database_roles.apps), without keeping any: set in the house that the test plays in."""
    run("SET enable_seqscan = off")
    yield
    run("RESET enable_seqscan")


@pytest.mark.usefixtures("_kept_plans")
def test_a_round_touches_no_more_pages_while_somebody_holds_a_snapshot(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passed, "SECONDS", 0.0)
    house, stream = busy_house, busy_house.stream("ms-mg01")
    house.play(royal("R-1"), *(message(f"R-{number}") for number in range(2, 5)))
    before, hot = pages(house, "before")
    assert {"accounting_stream", "accounting_total", "jackpot_meter", "devices_queued", "devices_attempt"} <= hot
    assert len(before) > 15, "statements, and those of triggers"
    parameters = connection.get_connection_params()
    with psycopg.connect(**{name: parameters[name] for name in ("dbname", "user", "host", "port")}) as somebody:
        somebody.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        somebody.execute("SELECT count(*) FROM accounting_event")
        for table in sorted(hot - {"devices_queued", "devices_stoppage", "devices_passed"}):
            ((column,),) = rows(
                "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND data_type = 'bigint'"
                " AND column_name NOT IN ('id', 'stream_id', 'level_id') LIMIT 1",
                table,
            )
            run(CHURN.format(table=table, column=column, versions=VERSIONS))
        execute(TAKEN, [stream, VERSIONS])
        run("DELETE FROM devices_queued WHERE message_id < 0")
        pages(house, "between")  # moves on what the queue has passed
        after, _ = pages(house, "after")
        more = {
            statement: (before.get(statement, 0), touched)
            for statement, touched in after.items()
            if touched > before.get(statement, 0) + MORE
        }
        assert more == {}
    verify()
