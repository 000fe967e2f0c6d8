"""Which sessions keep the plans of a round's statements: those that settle and serve, one plan for all values that they have."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT, service_environment
from tests.services.house import House

ASK = """
import django; django.setup()
from accounting.statements import execute
for value in (1, 70_000, 2**40, -5, -(2**63), 2**63 - 4):
    assert execute("SELECT %s + 1", [value], kept=True) == [(value + 1,)]
    assert execute("SELECT %(value)s + 2", {"value": value}, kept=True) == [(value + 2,)]
    assert execute("SELECT %s + 3", [value]) == [(value + 3,)]
for value in (2**63, 2**70, -(2**63) - 1):
    assert execute("SELECT %s", [value], kept=True) == [(value,)], "as it is, where no bigint holds it"
print(sorted(execute("SELECT statement, parameter_types::text FROM pg_prepared_statements")))
"""
KEPT = [("SELECT $1", "{numeric}"), ("SELECT $1 + 1", "{bigint}"), ("SELECT $1 + 2", "{bigint}")]


@pytest.mark.parametrize(("role", "kept"), [("settle", KEPT), ("web", KEPT), ("work", []), ("command", [])])
def test_a_plan_is_kept_by_who_settles_and_serves(role: str, kept: list[tuple[str, str]], house: House) -> None:
    environment = {**service_environment(role), "DATABASE_URL": os.environ["DATABASE_URL"]}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout) == kept
