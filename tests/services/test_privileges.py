"""What is granted in the database is put right wherever it departs from what is written, and nothing else is touched.

What the roles may then do and not do is tried in `tests/faults/test_database_roles.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from jackpot.config.database_roles import privileges
from jackpot.config.embedded_postgres import BROKER
from tests.services.house import House, run, value

FUNCTION = "lock_proposal(bigint)"


def apply() -> list[str]:
    """Put right what there is to put right; what that was."""
    assert connection.connection is not None
    return privileges.apply(connection.connection)


@pytest.fixture
def right(house: House) -> str:
    """The name of the test's database, in which everything is as it is written."""
    apply()  # who may enter a database is not copied with it
    assert apply() == []
    name: str = value("SELECT current_database()")
    return name


@contextmanager
def undone(*statements: str) -> Iterator[None]:
    """What is done here is as if it had not been."""
    with transaction.atomic():
        for statement in statements:
            run(statement)
        yield
        transaction.set_rollback(True)


DEPARTURES = [
    (["GRANT CONNECT ON DATABASE {0} TO PUBLIC"], "database {0}: nobody but its owner and these roles"),
    (["REVOKE CONNECT ON DATABASE {0} FROM jackpot_settle"], "database {0}: nobody but its owner and these roles"),
    (["GRANT TEMPORARY ON DATABASE {0} TO jackpot_settle"], "database {0}: nobody but its owner and these roles"),
    (["GRANT USAGE ON SCHEMA public TO PUBLIC"], "schema public: to be used, and nothing made in it"),
    (["REVOKE USAGE ON SCHEMA public FROM jackpot_auditor"], "schema public: to be used, and nothing made in it"),
    (["GRANT CREATE ON SCHEMA public TO jackpot_auditor"], "schema public: to be used, and nothing made in it"),
    (
        [
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT ON TABLES TO jackpot_service, jackpot_auditor"
        ],
        "default privileges on tables: none",
    ),
    (
        ["ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO jackpot_settle"],
        "default privileges on sequences: none",
    ),
    ([f"GRANT EXECUTE ON FUNCTION {FUNCTION} TO PUBLIC"], f"{FUNCTION}: the service's"),
    ([f"REVOKE EXECUTE ON FUNCTION {FUNCTION} FROM jackpot_settle"], f"{FUNCTION}: the service's"),
    (
        ["GRANT EXECUTE ON FUNCTION pg_catalog.pg_notify(text, text) TO PUBLIC"],
        "functions that hinder: the working roles'",
    ),
    (
        ["REVOKE EXECUTE ON FUNCTION pg_catalog.pg_advisory_lock(bigint) FROM jackpot_service"],
        "functions that hinder: the working roles'",
    ),
    (["GRANT EXECUTE ON FUNCTION lo_create(oid) TO PUBLIC"], "functions that hinder: the working roles'"),
    (["COMMENT ON FUNCTION end_onlookers(interval) IS NULL"], "end_onlookers(interval): made"),
    (["GRANT UPDATE ON accounting_event TO jackpot_settle"], "accounting_event: jackpot_settle INSERT, SELECT"),
    (["GRANT SELECT (kind) ON accounting_event TO PUBLIC"], "accounting_event: PUBLIC nothing"),
    (["GRANT UPDATE ON SEQUENCE devices_receipt TO jackpot_service"], "devices_receipt: jackpot_service USAGE"),
    (["REVOKE USAGE ON SEQUENCE devices_receipt FROM jackpot_settle"], "devices_receipt: jackpot_settle USAGE"),
]
"""What departs, and what is said of it, once."""


def test_what_departs_is_named_and_put_right(right: str) -> None:
    for statements, said in DEPARTURES:
        with undone(*(statement.format(right) for statement in statements)):
            assert apply() == [said.format(right)], statements
            assert apply() == [], statements
    for view, (table, _) in privileges.SHOWN.items():
        with undone(f"COMMENT ON VIEW {view} IS NULL"):
            assert apply() == [f"{view}: of {table}", f"{view}: jackpot_auditor SELECT"]


def test_what_departs_is_named_by_table_and_role(right: str) -> None:
    named = sorted({"tables_round", "accounting_event", "jackpot_hit", "devices_message"})
    with undone(*(f"GRANT TRUNCATE ON {table} TO jackpot_settle, jackpot_auditor" for table in reversed(named))):
        assert [said.split()[:2] for said in apply()] == [
            [f"{table}:", role] for table in named for role in ("jackpot_auditor", "jackpot_settle")
        ]


ELSEWHERE = [
    "CREATE SCHEMA elsewhere CREATE TABLE newest (id int)",
    "GRANT ALL ON ALL TABLES IN SCHEMA elsewhere TO PUBLIC, jackpot_service",
    "GRANT USAGE ON SCHEMA elsewhere TO PUBLIC",
    "GRANT SELECT ON accounting_event TO pg_monitor",
    "GRANT CREATE ON SCHEMA public TO pg_monitor",
    "ALTER DEFAULT PRIVILEGES FOR ROLE jackpot_auditor IN SCHEMA public GRANT SELECT ON TABLES TO jackpot_service",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO pg_monitor",
    "CREATE FUNCTION public.pg_notify(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
]


def test_what_is_not_the_house_s_is_left_as_it_is(right: str) -> None:
    """Other schemas, other roles, and what another role's new tables are granted."""
    with undone(*ELSEWHERE):
        assert apply() == []


def test_who_does_not_own_it_puts_nothing_right(right: str) -> None:
    """Nor fails: on a server of somebody else's another does it by hand."""
    departures = [statement.format(right) for statements, _ in DEPARTURES[:12] for statement in statements]
    with undone(*departures, "SET LOCAL ROLE jackpot_auditor"):
        assert apply() == []
        run("RESET ROLE")
        assert len(apply()) >= 5


class Noted:
    """A session that notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def execute(self, query: Any, params: Any = None) -> Any:
        """Run it, and remember it."""
        assert connection.connection is not None
        self.asked.append(query if isinstance(query, str) else "changes")
        return connection.connection.execute(query, params)


def test_a_server_that_is_as_it_should_be_is_only_looked_at(house: House) -> None:
    """Its roles, and who enters the databases beside the house's; what is open to everybody is closed again."""
    noted = Noted()
    with undone():
        privileges.make_roles(noted)
        privileges.close_to_onlookers(noted, BROKER)
        assert len(noted.asked) == 2, noted.asked
    for opened in (
        f"GRANT CONNECT ON DATABASE {BROKER} TO PUBLIC",
        f"REVOKE CONNECT ON DATABASE {BROKER} FROM jackpot_settle",
    ):
        with undone(opened):
            privileges.close_to_onlookers(noted := Noted(), BROKER)
            assert noted.asked[1:] == ["changes"] * 2, opened
            privileges.close_to_onlookers(noted := Noted(), BROKER)
            assert len(noted.asked) == 1
