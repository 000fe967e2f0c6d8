"""Statements of the settling path: bound by the server, in binary.

Django's own cursors write every value into the text of the statement, which the server reads anew each time.
For a message with its settlement that cost more than storing it. Plans are not kept from one statement to the next: Django's
connections keep none (docs/benchmarks.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
from django.db import connection, transaction

Row = tuple[Any, ...]


def execute(statement: LiteralString, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
    """Run one statement on Django's connection and return its rows, none where it has none."""
    with connection.cursor() as outer, connection.wrap_database_errors, psycopg.Cursor[Row](outer.connection) as cursor:
        cursor.execute(statement, values or None, binary=True)
        return cursor.fetchall() if cursor.description else []


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
