"""What a migration may do while processes of the version before still run on the same database: add, and nothing else.

They read columns by name and write rows without those that they do not know. So whatever they name must stay where and what it
is, and whatever they leave out must have a value of its own in the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

HARMLESS = (
    migrations.CreateModel, migrations.AddIndex, migrations.RemoveIndex, migrations.RenameIndex,
    migrations.AlterModelOptions, migrations.AlterModelManagers, migrations.AlterModelTableComment,
)  # fmt: skip
GONE = (
    migrations.DeleteModel, migrations.RenameModel, migrations.AlterModelTable, migrations.RemoveField,
    migrations.RenameField, migrations.AlterUniqueTogether, migrations.AlterIndexTogether, migrations.AlterOrderWithRespectTo,
)  # fmt: skip
BREAKING_SQL = {
    r"\bDROP\s+(?:TABLE|COLUMN|VIEW|SEQUENCE|TYPE|SCHEMA|ROLE)\b": "takes away what running code may name",
    r"\bRENAME\b": "renames what running code may name",
    r"\bALTER\s+(?:COLUMN\s+)?\S+\s+(?:SET\s+DATA\s+)?TYPE\b": "changes a type",
    r"\bSET\s+NOT\s+NULL\b": "demands a value that running code may leave out",
    r"\bADD\s+(?:COLUMN\s+)?(?!CONSTRAINT\b)\w+\s+(?:(?!\bDEFAULT\b)[^,;])*\bNOT\s+NULL\b(?!(?:(?!,|;).)*\bDEFAULT\b)": (
        "adds a column that running code leaves out"
    ),
    r"\bREVOKE\b": "takes a right away from running code",
}
JUDGED_SQL = {
    r"\bADD\s+CONSTRAINT\b": "adds a constraint that running code does not know",
    r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+)?TRIGGER\b[^;]*?\bON\s+(?P<table>\w+)": "adds a guard of running code",
    r"\bDROP\s+(?:FUNCTION|TRIGGER)\b": "takes a guard away",
    r"\b(?:UPDATE\s+(?!ON\b)|DELETE\s+FROM\s+|INSERT\s+INTO\s+)(?P<table>\w+)": "changes rows that running code may read",
}
"""With a table named, only where that was there before."""


def breaks(migration: migrations.Migration, state: ProjectState) -> Iterator[str]:
    """What of a migration running code may break on, each in words; `state` is what the models are before it."""
    known = {model._meta.db_table for model in state.apps.get_models()}
    removed: dict[str, models.BaseConstraint] = {}
    for operation in _in_the_database(migration.operations):
        before = state.clone()
        operation.state_forwards(migration.app_label, state)
        if why := _why(operation, migration.app_label, before, state, known, removed):
            yield f"{operation.describe()}: {why}"


def _in_the_database(operations: Sequence[Operation]) -> Iterator[Operation]:
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from _in_the_database(operation.database_operations)
        else:
            yield operation


def _why(
    operation: Operation,
    app: str,
    before: ProjectState,
    after: ProjectState,
    known: set[str],
    removed: dict[str, models.BaseConstraint],
) -> str | None:
    if isinstance(operation, HARMLESS):
        return None
    if isinstance(operation, GONE):
        return "takes away or renames what running code names"
    if isinstance(
        operation, migrations.AddField | migrations.AlterField | migrations.RemoveConstraint | migrations.AddConstraint
    ):
        if (app, operation.model_name_lower) not in before.models:
            return "is about a model that is not there"
        table = before.apps.get_model(app, operation.model_name)._meta.db_table
        if table not in known:
            return None  # made by this very migration
    if isinstance(operation, migrations.AddField):
        field = operation.field
        if field.null or field.has_db_default() or field.many_to_many:
            return None
        return "running code leaves it out: it must be null or have a db_default (`default` alone is Django's)"
    if isinstance(operation, migrations.AlterField):
        return _altered(operation, app, before, after)
    if isinstance(operation, migrations.RemoveConstraint):
        state = before.models[app, operation.model_name_lower]
        removed[operation.name] = state.get_constraint_by_name(operation.name)
        return None
    if isinstance(operation, migrations.AddConstraint):
        old, new = removed.get(operation.constraint.name), operation.constraint
        if old is not None and _allows_more(old, new):
            return None
        return (
            "running code does not know it"
            if old is None
            else "whether it allows all that the old one did is not plain"
        )
    if isinstance(operation, migrations.RunSQL):
        return sql_breaks(operation.sql, known)
    return "what it does cannot be told from outside"


def _altered(operation: migrations.AlterField, app: str, before: ProjectState, after: ProjectState) -> str | None:
    old, new = (
        each.apps.get_model(app, operation.model_name)._meta.get_field(operation.name) for each in (before, after)
    )
    if old.null and not new.null:
        return "demands a value that running code may leave out"
    was, becomes = (each.db_type(connection) for each in (old, new))
    longer = [re.fullmatch(r"varchar\((\d+)\)", each or "") for each in (was, becomes)]
    if was == becomes or (all(longer) and int(longer[0][1]) < int(longer[1][1])):  # type: ignore[index]
        return None
    return f"changes a type: {was} to {becomes}"


def _allows_more(old: models.BaseConstraint, new: models.BaseConstraint) -> bool:
    """Whether a list of allowed values has only grown."""
    if not (isinstance(old, models.CheckConstraint) and isinstance(new, models.CheckConstraint)):
        return False
    first, second = (list[Any](getattr(each.condition, "children", ())) for each in (old, new))
    if len(first) != 1 or len(second) != 1 or not all(isinstance(each, tuple) for each in (*first, *second)):
        return False
    (name, values), (other, more) = first[0], second[0]
    return bool(name == other and name.endswith("__in") and set(values) <= set(more))


def sql_breaks(sql: Any, known: set[str]) -> str | None:
    """The same for SQL, by its words: what is no plain addition needs a reason."""
    parts = [sql] if isinstance(sql, str) else [each[0] if isinstance(each, tuple | list) else each for each in sql]
    bodies = re.sub(r"\$(\w*)\$.*?\$\1\$", " ", "; ".join(parts), flags=re.S)  # what functions do they do when called
    text = re.sub(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", " ", bodies, flags=re.S)
    for pattern, why in {**BREAKING_SQL, **JUDGED_SQL}.items():
        tables = [found.groupdict().get("table") for found in re.finditer(pattern, text, re.I | re.S)]
        if any(table is None or table in known for table in tables):
            return why
    return None
