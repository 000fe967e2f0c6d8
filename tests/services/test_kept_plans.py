"""Which sessions keep the plans of a round's statements: those that settle and serve, one plan for all values that they have."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from types import ModuleType

import pytest
from django.db import connection

from accounting.services import gaming_days, ledger
from accounting.statements import execute
from devices.intake import inbox, passed, settling
from jackpot.services import meters
from tests.conftest import ROOT, service_environment
from tests.services.house import TWIN, House, message

ASK = """
import django; django.setup()
from accounting.statements import execute
for value in (1, 70_000, 2**40, -5, -(2**63), 2**63 - 4):
    assert execute("SELECT %s + 1", [value], kept=True) == [(value + 1,)]
    assert execute("SELECT %(value)s + 2", {"value": value}, kept=True) == [(value + 2,)]
    assert execute("SELECT %s + 3", [value]) == [(value + 3,)]
for value in (2**63, 2**70, -(2**63) - 1):
    assert execute("SELECT %s", [value], kept=True) == [(value,)], "as it is, where no bigint holds it"
from django.conf import settings
about = settings.DATABASES["default"]
print((about.get("CONN_MAX_AGE", 0), about["OPTIONS"].get("pool")))
print(sorted(execute("SELECT statement, parameter_types::text FROM pg_prepared_statements")))
"""
KEPT = [("SELECT $1", "{numeric}"), ("SELECT $1 + 1", "{bigint}"), ("SELECT $1 + 2", "{bigint}")]


CONNECTIONS = {
    "settle": (None, None),
    "web": (0, {"min_size": 2, "max_size": 16, "timeout": 5}),
    "work": (600, None),
    "command": (0, None),
}
"""How long a connection is kept by its thread, and the pool that lends it."""
ROUNDS_BY: dict[ModuleType, tuple[str, ...]] = {
    ledger: ("ADD_TOTALS", "MOVE_ON", "BEYOND", "FREE"),
    gaming_days: ("HOLD_OPEN",),
    meters: ("WRITE_METER", "READ_METERS"),
    settling: ("TRY_ALONE", "OVER", "ATTEMPT", "TAKE"),
    inbox: ("STORE",),
    passed: ("MOVE_ON",),
}


@pytest.mark.parametrize(("role", "kept"), [("settle", KEPT), ("web", KEPT), ("work", []), ("command", [])])
def test_a_plan_is_kept_by_who_settles_and_serves(role: str, kept: list[tuple[str, str]], house: House) -> None:
    environment = {**service_environment(role), "DATABASE_URL": os.environ["DATABASE_URL"]}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    connections, plans = map(ast.literal_eval, done.stdout.splitlines())
    assert plans == kept
    assert connections == CONNECTIONS[role]


def test_every_statement_that_a_round_comes_by_is_planned_once(busy_house: House) -> None:
    """Whatever its values are; what else is asked is planned as it comes."""

    def plans() -> set[str]:
        return {text for (text,) in execute("SELECT statement FROM pg_prepared_statements WHERE NOT from_sql")}

    execute("SELECT 1")
    connection.connection.prepare_threshold = sys.maxsize
    found = []
    try:
        for number in (1, 2):
            busy_house.play(message(f"R-{number}"), message(f"R-{number}", table=TWIN))
            found.append(plans())
    finally:
        connection.close()
    first, second = found
    assert first == second
    for modules, names in ROUNDS_BY.items():
        for name in names:
            begins = re.split(r"%[s(]", getattr(modules, name))[0].strip()
            assert sum(begins in text for text in first) == 1, (modules.__name__, name)
    assert len(first) == sum(map(len, ROUNDS_BY.values())), sorted(first)
