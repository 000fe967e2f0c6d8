"""A database with a bit of everything on record, and copies of it to be tampered with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from tests.services.fixtures import Databases
from tests.services.house import ALONE, NEIGHBOUR, TWIN, House, message, royal, run, seat, two_hits


@pytest.fixture(scope="module")
def record(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database with a bit of everything on record."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-26', now())")
            house.play(
                message("R-1"),
                two_hits("R-2"),
                message("R-3", table=NEIGHBOUR, irregularities=[{"code": "shoe_failed"}]),
                message("R-4", seat(1, "3s 3s", progressive=100)),
                message("R-5", dealt_at="2026-11-26T21:00:00-05:00"),
                royal("R-6", table=NEIGHBOUR),
                two_hits("R-1", table=TWIN),
                royal("R-2", table=TWIN),
                message("R-1", seat(1, "Ks Kc"), table=ALONE),
            )
            house.post(message("R-7"))
        yield name
        databases.drop(name)


@pytest.fixture
def played(databases: Databases, record: str, django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    """A copy of it, to be tampered with."""
    with django_db_blocker.unblock():
        name = databases.create(like=record)
        with databases.entered(name):
            yield House()
        databases.drop(name)


def tamper(statement: str) -> None:
    """Change what is on record as somebody could who owns the database: with every guard switched off."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement)
        assert cursor.rowcount > 0, "nothing was changed"
        cursor.execute("SET session_replication_role = origin")
