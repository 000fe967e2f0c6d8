"""Statements of the settling path: bound by the server, in binary.

Django's own cursors write every value into the text of the statement, which the server reads anew each time.
For a message with its settlement that cost more than storing it. Plans are not kept from one statement to the next: Django's
connections keep none (docs/benchmarks.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from django.db import connection

Row = tuple[Any, ...]


def execute(statement: LiteralString, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
    """Run one statement on Django's connection and return its rows, none where it has none."""
    with connection.cursor() as outer, connection.wrap_database_errors, psycopg.Cursor[Row](outer.connection) as cursor:
        cursor.execute(statement, values or None, binary=True)
        return cursor.fetchall() if cursor.description else []
