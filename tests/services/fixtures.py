"""Databases with a floor for tests of services, API and races: made once by copying, entered by a test, left as they were.

A test that commits gets a copy of its own, which is dropped afterwards; all others are rolled back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection, connections, transaction
from psycopg import sql
from pytest_django import DjangoDbBlocker

from tables.services import floors
from tests.services.house import FLOOR, OPENED, House, forget


class Databases:
    """Databases beside the one that pytest-django makes, on the same server."""

    def __init__(self) -> None:
        worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
        self.prefix = f"floor_{os.getpid()}_{worker}"
        self.made = 0

    def create(self, like: str = "template1") -> str:
        """A new database; whoever is connected to the one it copies is cut off."""
        self.made += 1
        name = f"{self.prefix}_{self.made}"
        with self._server() as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND datname LIKE %s",
                [like, f"{self.prefix}%"],
            )
            server.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(like)))
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected."""
        with self._server() as server:
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    @contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """Let every connection of this process, in every thread, go to this database."""
        settings = connections.settings["default"]
        connections.close_all()
        before, settings["NAME"] = settings["NAME"], name
        forget()
        try:
            yield
        finally:
            connections.close_all()
            left, settings["NAME"] = settings["NAME"], before
            forget()
        # Whoever puts the name back later than this puts back the name of a database that is gone.
        assert left == name, f"sent elsewhere meanwhile, to {left!r}"

    def _server(self) -> psycopg.Connection[Any]:
        where = connection.settings_dict
        return psycopg.connect(
            host=where["HOST"], port=where["PORT"] or None, user=where["USER"], password=where["PASSWORD"] or None,
            dbname="postgres", autocommit=True,
        )  # fmt: skip


@pytest.fixture(scope="session")
def databases() -> Databases:
    """To make databases with."""
    return Databases()


@pytest.fixture(scope="session")
def migrated(databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A migrated database without a floor, or a copy of the one that JACKPOT_TEST_MIGRATED names (`tests.planted` keeps one)."""
    kept = os.environ.get("JACKPOT_TEST_MIGRATED")
    with django_db_blocker.unblock():
        name = databases.create(like=kept) if kept else databases.create()
        with databases.entered(name):
            call_command("migrate", verbosity=0)
        yield name
        databases.drop(name)


@pytest.fixture(scope="session")
def floored(databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database with the floor of `house`, which nobody changes."""
    with django_db_blocker.unblock():
        name = databases.create(like=migrated)
        with databases.entered(name):
            floors.install(FLOOR, at=OPENED)
        yield name
        databases.drop(name)


@pytest.fixture
def house(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    """The floor, in a transaction that is rolled back."""
    with django_db_blocker.unblock(), databases.entered(floored), transaction.atomic():
        yield House()
        transaction.set_rollback(True)


@pytest.fixture
def busy_house(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    """The floor in a database of its own, where threads and processes may commit."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            yield House()
        databases.drop(name)


@pytest.fixture
def bare(databases: Databases, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database that nobody has migrated."""
    with django_db_blocker.unblock():
        name = databases.create()
        with databases.entered(name):
            yield
        databases.drop(name)
