"""Rows on their way into the database while Python goes on: all in order or none, and a connection that lives on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import DataError, IntegrityError, OperationalError, connection, transaction
from psycopg.sql import SQL

from accounting.services.copying import Copying, Row, RowsAstray
from accounting.statements import execute
from tests.services.house import House, value

COLUMNS = {"number": "int8", "words": "bytea"}
LONG = b"w" * 4_000  # two thousand of these are far more than a socket holds


@pytest.fixture(autouse=True)
def table(busy_house: House) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE notes (place bigserial, number bigint PRIMARY KEY, words bytea NOT NULL)")
        cursor.execute("CREATE TABLE more_notes (LIKE notes INCLUDING ALL)")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE notes, more_notes")


def notes(first: int, last: int) -> list[Row]:
    return [(number, LONG) for number in range(first, last)]


def stored(table: str = "notes") -> list[int]:
    return [number for (number,) in execute(f"SELECT number FROM {table} ORDER BY place")]


def test_portions_of_several_tables_arrive_in_the_order_in_which_they_were_handed_over() -> None:
    with transaction.atomic(), Copying() as copying:
        for first in range(10_000, 0, -2_000):
            copying.send("notes", COLUMNS, notes(first, first + 2_000))
            copying.send("more_notes", COLUMNS, notes(first, first + 3))
            copying.step()
    assert stored() == [number for first in range(10_000, 0, -2_000) for number in range(first, first + 2_000)]
    assert len(stored("more_notes")) == 15


def test_the_server_stores_while_nobody_waits_for_it() -> None:
    """Without `finish` and without more rows, looking in alone brings them all over."""
    with transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 2_000))
        copying.send("more_notes", COLUMNS, notes(0, 2_000))
        give_up = time.monotonic() + 60
        while connection.connection.info.transaction_status == psycopg.pq.TransactionStatus.ACTIVE:
            assert time.monotonic() < give_up
            copying.step()
        assert len(stored()) == len(stored("more_notes")) == 2_000  # the connection is free


def test_outside_a_transaction_nothing_is_copied() -> None:
    with pytest.raises(transaction.TransactionManagementError), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 1))
    assert stored() == []


def test_nothing_handed_over_is_nothing_stored_and_the_connection_is_free() -> None:
    with transaction.atomic(), Copying() as copying:
        copying.step()
        copying.finish()
        copying.send("notes", COLUMNS, [])
        copying.finish()
        assert stored() == []


def test_between_two_portions_the_connection_can_be_asked() -> None:
    with transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 2_000))
        copying.finish()
        assert len(stored()) == 2_000
        copying.send("notes", COLUMNS, notes(2_000, 2_010))
    assert len(stored()) == 2_010


def test_another_statement_while_rows_are_under_way_is_refused_and_not_mixed_in() -> None:
    with pytest.raises(OperationalError, match="another command"), transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 2_000))
        execute("SELECT 1")
    assert stored() == []


@pytest.mark.parametrize("bad", [(7, LONG), (5_000, None)], ids=["a key that is there", "a value that is missing"])
def test_a_refusal_of_any_portion_is_raised_and_leaves_nothing_behind(bad: Row) -> None:
    with pytest.raises(IntegrityError) as refused, transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 2_000))
        copying.send("notes", COLUMNS, [*notes(2_000, 3_000), bad])
        copying.send("more_notes", COLUMNS, notes(0, 2_000))
    assert isinstance(refused.value.__cause__, psycopg.IntegrityError)
    assert (refused.value.__cause__.sqlstate or "")[:2] == "23"
    assert stored() == stored("more_notes") == []


def test_a_number_that_no_column_holds_is_refused_as_the_database_would() -> None:
    with pytest.raises(DataError, match="notes") as refused, transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 2_000))
        copying.send("notes", COLUMNS, [(2**63, LONG)])
    assert isinstance(refused.value.__cause__, psycopg.errors.NumericValueOutOfRange)
    assert stored() == []


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10])
def test_whoever_makes_the_rows_may_fail_at_any_moment_and_the_connection_lives_on(steps: int) -> None:
    backend = value("SELECT pg_backend_pid()")
    with pytest.raises(ZeroDivisionError), transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 2_000))
        copying.send("more_notes", COLUMNS, notes(0, 2_000))
        for _ in range(steps):
            time.sleep(0.002)
            copying.step()
        raise ZeroDivisionError
    assert stored() == stored("more_notes") == []
    assert value("SELECT pg_backend_pid()") == backend


def test_a_server_process_that_dies_meanwhile_is_a_broken_connection() -> None:
    with pytest.raises(OperationalError), transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 2_000))
        with psycopg.connect(connection.connection.info.dsn, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
        for first in range(2_000, 20_000, 2_000):
            copying.send("notes", COLUMNS, notes(first, first + 2_000))
    connection.close()
    assert stored() == []


def test_a_statement_among_the_rows_runs_in_its_turn() -> None:
    with transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 1_000))
        copying.execute(SQL("DELETE FROM notes WHERE number = ANY({gone})").format(gone=list(range(10, 1_000))))
        copying.send("notes", COLUMNS, notes(500, 502))
    assert stored() == [*range(10), 500, 501]


class Counted(Copying):
    """Counts how often it looks whether it can go on."""

    looks = 0

    def _go_on(self) -> bool:
        self.looks += 1
        return super()._go_on()


def test_a_statement_is_under_way_at_once_and_who_waits_for_it_sleeps_until_the_server_speaks() -> None:
    slow = SQL("DO 'BEGIN PERFORM pg_sleep(0.1); END'")
    with pytest.raises(OperationalError, match="another command"), transaction.atomic(), Copying() as copying:
        copying.execute(slow)
        execute("SELECT 1")
    with transaction.atomic():
        counted = Counted()
        with counted:
            counted.execute(slow)
    assert counted.looks < 10


def test_a_statement_that_the_database_refuses_is_raised_and_leaves_nothing_behind() -> None:
    with pytest.raises(DataError), transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 10))
        copying.execute(SQL("UPDATE notes SET number = number / 0"))
        copying.send("notes", COLUMNS, notes(10, 20))
    assert stored() == []


class Reluctant:
    """A connection that has no room for what it is given every other time, as one may whose server reads slowly."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.refused = 0
        self.turn = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.server, name)

    def _take(self, act: Any, *values: Any) -> int:
        self.turn += 1
        if self.turn % 2:
            self.refused += 1
            return 0
        taken: int = act(*values)
        return taken

    def put_copy_data(self, piece: bytes) -> int:
        return self._take(self.server.put_copy_data, piece)

    def put_copy_end(self, error: bytes | None = None) -> int:
        return self._take(self.server.put_copy_end, error)


def test_what_was_not_taken_is_offered_again() -> None:
    with transaction.atomic(), Copying() as copying:
        reluctant: Any = Reluctant(copying._server)
        copying._server = reluctant
        copying.send("notes", COLUMNS, notes(0, 500))
        copying.send("more_notes", COLUMNS, notes(0, 3))
    assert reluctant.refused > 4
    assert stored() == list(range(500))
    assert stored("more_notes") == [0, 1, 2]


def test_fewer_rows_stored_than_were_sent_are_an_error_and_nothing_stays() -> None:
    """Whatever the reason; here a trigger that lets a row fall without a word."""
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE FUNCTION let_fall() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN IF NEW.number = 7 THEN RETURN NULL; END IF; RETURN NEW; END $$;
            CREATE TRIGGER let_fall BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION let_fall();
        """)
    said = "10 rows were meant, the server says 9"
    with pytest.raises(RowsAstray, match=said), transaction.atomic(), Copying() as copying:
        copying.send("more_notes", COLUMNS, notes(0, 3))
        copying.send("notes", COLUMNS, notes(0, 10))
        copying.send("more_notes", COLUMNS, notes(3, 6))
    assert stored() == stored("more_notes") == []


@pytest.mark.parametrize("meant", [4, 6])
def test_a_statement_that_touches_other_than_the_rows_meant_is_an_error(meant: int) -> None:
    gone = SQL("DELETE FROM notes WHERE number < {most}").format(most=5)
    with transaction.atomic(), Copying() as copying:
        copying.send("notes", COLUMNS, notes(0, 10))
        copying.execute(gone, rows=5)
        copying.send("notes", COLUMNS, notes(0, 5))
    with pytest.raises(RowsAstray, match="DELETE FROM notes"), transaction.atomic(), Copying() as copying:
        copying.execute(gone, rows=meant)
    assert sorted(stored()) == list(range(10))
