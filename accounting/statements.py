"""Statements of the settling path: bound by the server, in binary.

Django's own cursors write every value into the text of the statement, which the server reads anew each time.
For a message with its settlement that cost more than storing it. Django's connections keep no plans from one statement to the
next either; those that settle and serve keep the plans of the few statements that every round comes by (docs/benchmarks.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from django.db import connection, transaction
from psycopg.types.numeric import Int8

Row = tuple[Any, ...]


def execute(
    statement: LiteralString, values: Sequence[Any] | Mapping[str, Any] = (), *, kept: bool = False
) -> list[Row]:
    """Run one statement on Django's connection and return its rows, none where it has none.

    Its plan is `kept` for the next time if the session keeps any. That one plan must be good for whatever values: one that
    finds by an index, and has no array to compare rows with.
    """
    if kept:
        values = (
            {name: _wide(value) for name, value in values.items()}
            if isinstance(values, Mapping)
            else [_wide(value) for value in values]
        )
    with connection.cursor() as outer, connection.wrap_database_errors, psycopg.Cursor[Row](outer.connection) as cursor:
        cursor.execute(statement, values or None, binary=True, prepare=kept)
        return cursor.fetchall() if cursor.description else []


def _wide(value: Any) -> Any:
    """An integer as a bigint, however small: else there is a plan for each width that a value has had."""
    return Int8(value) if type(value) is int and -(2**63) <= value < 2**63 else value


@contextmanager
def of_one_moment() -> Iterator[None]:
    """What is read inside is of one moment, however much is settled meanwhile; inside a transaction it is of that."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
