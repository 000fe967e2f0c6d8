"""Restoring a plain dump into an empty database, without the server's own tools."""

from __future__ import annotations

import lzma
from pathlib import Path

import psycopg

HERE = Path(__file__).parent
DUMPS = sorted(HERE.glob("*.sql.xz"))


def restore(dump: Path, connection: psycopg.Connection[object]) -> None:
    """Run a dump's statements in its order, its COPY blocks as COPY."""
    statements: list[str] = []
    with lzma.open(dump, "rt", encoding="utf-8", newline="\n") as lines, connection.cursor() as cursor:
        for line in lines:
            if line.startswith("\\"):
                continue  # words to the tool that usually reads it
            if not (line.startswith("COPY ") and line.endswith("FROM stdin;\n")):
                statements.append(line)
                continue
            cursor.execute("".join(statements))
            statements.clear()
            with cursor.copy(line.rstrip("\n").removesuffix(";")) as copy:
                for row in lines:
                    if row == "\\.\n":
                        break
                    copy.write(row)
        cursor.execute("".join(statements))
        cursor.execute("SELECT pg_catalog.set_config('search_path', 'public', false)")
