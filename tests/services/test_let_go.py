"""How soon sessions let go, as the server knows it for each role, and as a settling session is told whoever it connects as."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

from jackpot.config.database_roles.apps import LET_GO
from jackpot.config.database_roles.privileges import ROLES, SETTLE
from tests.conftest import ROOT, service_environment
from tests.services.house import House, rows

KEPT_ALIVE = {name for name in LET_GO if name.startswith("tcp_")}
TOLD = {"idle_in_transaction_session_timeout": "1500ms", "idle_session_timeout": "5000ms", "lock_timeout": "10000ms"}
PLANNED = {"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off"}
ASK = "SELECT name, setting || coalesce(unit, '') FROM pg_settings WHERE name = ANY (%s) AND source = 'session'"


def test_each_role_finds_out_about_machines_that_are_gone_and_settling_lets_go_soon(house: House) -> None:
    found = {
        role: dict(setting.split("=", 1) for setting in settings)
        for role, settings in rows(
            "SELECT rolname, setconfig FROM pg_db_role_setting JOIN pg_roles ON oid = setrole WHERE setdatabase = 0"
        )
    }
    for role in ROLES:
        assert {name: found[role][name] for name in KEPT_ALIVE} == {name: LET_GO[name] for name in KEPT_ALIVE}, role
    assert {**found[SETTLE], "idle_session_timeout": "5s"}.items() >= LET_GO.items()
    assert "idle_session_timeout" not in found[SETTLE], "it listens to the broker as well"


def test_a_settling_session_is_told_so_whoever_it_connects_as(house: House) -> None:
    """There may be no such role, or a pooler in front of the server."""
    ask = f"""
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute({ASK!r}, [{[*LET_GO, *PLANNED]!r}])
    print(sorted(cursor.fetchall()))
"""
    for role, told in (("settle", TOLD | PLANNED), ("web", {})):
        environment = {**service_environment(role), "DATABASE_URL": os.environ["DATABASE_URL"]}
        done = subprocess.run(
            [sys.executable, "-c", ask], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        )
        # By its socket there is nothing to keep alive: the server answers 0 for these, whatever it was told.
        said = {name: value for name, value in ast.literal_eval(done.stdout) if name not in KEPT_ALIVE}
        assert said == told, role
