"""Statements of the settling path: bound by the server, in binary.

Django's own cursors write every value into the text of the statement, which the server reads anew each time.
For a message with its settlement that cost more than storing it. Plans are kept only where the connection allows it, which
Django's does not unless it is told to (docs/benchmarks.md).
"""

from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from django.db import connection

Row = tuple[Any, ...]


def execute(
    statement: LiteralString, values: Sequence[Any] | Mapping[str, Any] = (), *, prepare: bool = True
) -> list[Row]:
    """Run one statement on Django's connection and return its rows, none where it has none.

    `prepare` false has it planned for these very values, which suits long arrays.
    """
    with connection.cursor() as outer, connection.wrap_database_errors, psycopg.Cursor[Row](outer.connection) as cursor:
        cursor.execute(statement, values or None, prepare=prepare, binary=True)
        return cursor.fetchall() if cursor.description else []
