"""What is kept, since when, and what has passed its term, kind by kind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from django.apps import apps
from django.db import connection
from django.utils import timezone
from psycopg import sql

from accounting.rules.retention import DONE, EMPTIED, NEVER, REMOVED, Edition, Kind, kinds

ABOUT = """
    SELECT coalesce(sum(greatest(reltuples::bigint, n_live_tup, 0)), 0)::bigint FROM pg_stat_user_tables
    JOIN pg_class ON pg_class.oid = relid WHERE schemaname = 'public' AND pg_class.relname = ANY (%s)
"""
"""What the server believes of sizes: counting millions of rows takes seconds."""
GUARDED = """
    SELECT relname, tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND tgenabled <> 'D' AND relnamespace = 'public'::regnamespace AND relname = ANY (%s)
        AND (tgtype & 8 <> 0 AND tgtype & 2 <> 0 OR tgname = %s)
"""
"""Triggers that are asked before a row is deleted (in `tgtype` 8 says DELETE, 2 BEFORE), and the one that refuses it early."""
WHAT = {
    NEVER: "stays at any age",
    REMOVED: "removed after its term, refused before",
    EMPTIED: "emptied after its term, refused before",
    DONE: "no record: gone when its work is",
}


@dataclass(frozen=True, slots=True)
class Held:
    """One kind of record as the house holds it today.

    `guards` are the triggers that refuse to delete it; of the `unguarded` tables the service has no right to delete, foreign
    keys keep what rounds name, and `verify` misses what is gone.
    """

    kind: Kind
    edition: Edition | None
    rows: int
    oldest: datetime | None
    kept_until: date | None
    has_passed: bool
    guards: tuple[str, ...]
    unguarded: tuple[str, ...]

    @property
    def unguarded_called(self) -> tuple[str, ...]:
        """What people call what those tables hold."""
        named = {
            model._meta.db_table: str(model._meta.verbose_name) for model in apps.get_models(include_auto_created=True)
        }
        return tuple(named.get(table, table.replace("_", " ")) for table in self.unguarded)

    @property
    def what(self) -> str:
        """What becomes of it."""
        return WHAT[self.kind.ends]


def overview(at: datetime) -> list[Held]:
    """Every kind of record, with its oldest and whether that has passed its term."""
    today = timezone.localdate(at)
    return [_held(kind, today) for kind in kinds().values()]


def _held(kind: Kind, today: date) -> Held:
    oldest = _oldest(kind)
    until = kind.kept_until(timezone.localdate(oldest), today) if oldest else None
    with connection.cursor() as cursor:
        cursor.execute(ABOUT, [list(kind.tables)])
        ((rows,),) = cursor.fetchall()
        cursor.execute(GUARDED, [list(kind.tables), kind.guard])
        found = cursor.fetchall()
    guards = tuple(sorted({guard for _, guard in found}))
    unguarded = tuple(sorted(set(kind.tables) - {table for table, _ in found})) if kind.ends != DONE else ()
    return Held(kind, kind.in_force(today), rows, oldest, until, until is not None and until < today, guards, unguarded)


def _oldest(kind: Kind) -> datetime | None:
    """The moment of the first row that has one, in the order of its key."""
    if kind.dated is None:
        return None
    table, moment, key = (sql.Identifier(name) for name in kind.dated)
    statement = sql.SQL("SELECT {moment} FROM {table} WHERE {moment} IS NOT NULL ORDER BY {key} LIMIT 1")
    with connection.cursor() as cursor:
        cursor.execute(statement.format(moment=moment, table=table, key=key))
        found = cursor.fetchone()
    return found[0] if found else None
