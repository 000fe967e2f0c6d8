"""Who keeps others waiting in the database is let go of: onlookers with a snapshot, settling workers with a lock."""

import time
from contextlib import ExitStack, closing

import psycopg
import pytest
from psycopg import errors

from jackpot.config.database_roles.privileges import AUDITOR, SERVICE, SETTLE
from tests.faults.furnished import Place

pytestmark = pytest.mark.alone


def test_an_auditor_that_lifts_its_limits_and_keeps_a_snapshot_is_ended_and_nobody_else(place: Place) -> None:
    roles = (AUDITOR, SERVICE, SETTLE, place.owner)
    with ExitStack() as open_sessions:
        sessions = {role: open_sessions.enter_context(closing(place.connect(role))) for role in roles}
        for session in sessions.values():
            session.execute("SET statement_timeout = 0")
            session.execute("SET idle_in_transaction_session_timeout = 0")
            session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            session.execute("SELECT count(*) FROM accounting_event")
        idle = open_sessions.enter_context(closing(place.connect(AUDITOR)))
        time.sleep(0.3)
        with place.connect(SERVICE) as watchdog:
            ended = "SELECT role, ended FROM end_onlookers(make_interval(secs => %s))"
            assert watchdog.execute(ended, [60.0]).fetchall() == []
            assert watchdog.execute(ended, [0.2]).fetchall() == [(AUDITOR, True)]
        for role, session in sessions.items():
            if role == AUDITOR:
                with pytest.raises(psycopg.OperationalError):
                    session.execute("SELECT 1")
            else:
                assert session.execute("SELECT 1").fetchone() == (1,)
        assert idle.execute("SELECT 1").fetchone() == (1,), "who holds no snapshot hinders nobody"
    for role in (AUDITOR, SETTLE):
        with place.connect(role) as connection:
            if role == AUDITOR:
                with pytest.raises(errors.InsufficientPrivilege):
                    connection.execute("SELECT end_onlookers('0 s')")


def test_a_settling_worker_that_falls_silent_lets_go_of_its_lock(place: Place) -> None:
    with place.connect(SETTLE) as connection:
        assert connection.execute("SHOW idle_in_transaction_session_timeout").fetchone() == ("1500ms",)
