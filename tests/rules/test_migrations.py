"""Migrations of later versions only add, so that processes of the version before go on while hosts are updated one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState

from tests.rules.migrations import breaks

LAST_BEFORE_ROLLING = {
    "accounting": "0015_house_number_guards",
    "office": "0006_result_files",
    "people": "0004_saved_filters",
    "slips": "0002_guards",
    "jackpot": "0007_payables_are_cleared",
    "tables": "0016_locks_of_a_day",
    "devices": "0008_contact",
}
"""The last migrations of 2026-11-29. Whatever comes after them is judged; they themselves were never migrated under traffic."""

REASONS = {
    "accounting.0017_photos_of_readings": "what is guarded is the new table, and a column that running code leaves empty",
    "office.0007_jobs_beside_each_other": "running code leaves the lane empty, and is bound to one job of a kind as before",
    "slips.0003_who_won_is_let_go": "running code empties nothing",
    "tables.0018_weekly_review_guards": "the table is new with the migration before: running code writes nothing to it",
}
"""Why running code of the version before does not break on a migration that does more than add, by `app.name`."""


def judged() -> Iterator[tuple[str, list[str]]]:
    """Every later migration of ours, and what of it more than adds."""
    loader = MigrationLoader(None)
    for app, last in LAST_BEFORE_ROLLING.items():
        for label, name in sorted(loader.disk_migrations):
            if label == app and name > last:
                state = loader.project_state((app, name), at_end=False)
                yield f"{app}.{name}", list(breaks(loader.disk_migrations[label, name], state))


def test_later_migrations_only_add_or_say_why_nothing_breaks() -> None:
    found = {name: said for name, said in judged() if said}
    assert {name: said for name, said in found.items() if name not in REASONS} == {}
    assert not [name for name in REASONS if name not in found], "a reason that nothing needs"


def test_every_app_with_migrations_is_judged_from_a_migration_that_is_there() -> None:
    loader = MigrationLoader(None)
    ours = {
        label
        for label, name in loader.disk_migrations
        if loader.disk_migrations[label, name].__module__.split(".")[0] in ROOTS
    }
    assert ours <= set(LAST_BEFORE_ROLLING), "a new app: its migrations are all later ones"
    assert set(LAST_BEFORE_ROLLING.items()) <= set(loader.disk_migrations)


ROOTS = {"accounting", "jackpot", "tables", "devices"}


class Place(models.Model):
    """A table of the version before."""

    name = models.CharField(max_length=16)
    note = models.TextField(null=True)
    kind = models.CharField(max_length=8)

    class Meta:
        app_label = "old"
        constraints = [
            models.CheckConstraint(name="a_place_is_of_a_kind", condition=models.Q(kind__in=("floor", "cage"))),
        ]


def kinds(*names: str) -> Any:
    """The constraint on kinds with other kinds."""
    return models.CheckConstraint(name="a_place_is_of_a_kind", condition=models.Q(kind__in=names))


def judge(*operations: Operation) -> list[str]:
    """What of a migration that does this breaks running code."""
    state = ProjectState()
    state.add_model(ModelState.from_model(Place))
    migration = type("Migration", (migrations.Migration,), {"operations": list(operations)})("0002_next", "old")
    return list(breaks(migration, state))


DROPPED = migrations.RemoveConstraint("place", "a_place_is_of_a_kind")
NEW = migrations.CreateModel("Room", [("id", models.BigAutoField(primary_key=True)), ("name", models.TextField())])
ADDS = {
    "a table": [NEW],
    "a column that may be null": [migrations.AddField("place", "size", models.IntegerField(null=True))],
    "a column with a value of the database's": [migrations.AddField("place", "size", models.IntegerField(db_default=0))],
    "a column to a table that it made": [NEW, migrations.AddField("room", "size", models.IntegerField(default=0))],
    "an index": [migrations.AddIndex("place", models.Index(name="places_by_name", fields=["name"]))],
    "a longer text": [migrations.AlterField("place", "name", models.CharField(max_length=32))],
    "what may now be null": [migrations.AlterField("place", "name", models.CharField(max_length=16, null=True))],
    "words of help": [migrations.AlterField("place", "note", models.TextField(null=True, help_text="what else"))],
    "a longer list of kinds": [DROPPED, migrations.AddConstraint("place", kinds("cage", "floor", "vault"))],
    "a guard on a new table": [migrations.RunSQL("CREATE TRIGGER append_only BEFORE UPDATE ON old_room EXECUTE FUNCTION f()")],
    "a nullable column in SQL": [migrations.RunSQL("ALTER TABLE old_place ADD COLUMN size integer, ADD COLUMN b text")],
    "a column in SQL with its value": [migrations.RunSQL("ALTER TABLE old_place ADD COLUMN size integer NOT NULL DEFAULT 0")],
    "a function": [migrations.RunSQL("CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN DROP TABLE x; END $$ LANGUAGE plpgsql")],
}  # fmt: skip
BREAKS = {
    "a table that goes": [migrations.DeleteModel("Place")],
    "a table's new name": [migrations.RenameModel("Place", "Spot")],
    "a table's other name": [migrations.AlterModelTable("place", "spot")],
    "a column that goes": [migrations.RemoveField("place", "note")],
    "a column's new name": [migrations.RenameField("place", "note", "remark")],
    "a column that must have a value": [migrations.AddField("place", "size", models.IntegerField())],
    "a column with a default of Django's": [migrations.AddField("place", "size", models.IntegerField(default=0))],
    "what may no longer be null": [migrations.AlterField("place", "note", models.TextField())],
    "a shorter text": [migrations.AlterField("place", "name", models.CharField(max_length=8))],
    "another type": [migrations.AlterField("place", "note", ArrayField(models.TextField(), null=True))],
    "a new rule": [migrations.AddConstraint("place", models.UniqueConstraint(name="one_name", fields=["name"]))],
    "a shorter list of kinds": [DROPPED, migrations.AddConstraint("place", kinds("floor", "vault"))],
    "one rule for another": [
        DROPPED,
        migrations.AddConstraint("place", models.CheckConstraint(name="a_place_is_of_a_kind", condition=models.Q(name="x"))),
    ],
    "hidden away": [migrations.SeparateDatabaseAndState([migrations.RemoveField("place", "note")])],
    "code": [migrations.RunPython(migrations.RunPython.noop)],
    "DROP COLUMN": [migrations.RunSQL("ALTER TABLE old_place DROP COLUMN note")],
    "RENAME": [migrations.RunSQL("ALTER TABLE old_place RENAME note TO remark")],
    "TYPE": [migrations.RunSQL("ALTER TABLE old_place ALTER COLUMN note TYPE integer USING 1")],
    "SET NOT NULL": [migrations.RunSQL(["ALTER TABLE old_place ALTER note SET NOT NULL"])],
    "ADD COLUMN NOT NULL": [migrations.RunSQL("ALTER TABLE old_place ADD COLUMN a text, ADD COLUMN size integer NOT NULL")],
    "a guard on an old table": [
        migrations.RunSQL("CREATE TRIGGER one BEFORE INSERT ON old_place FOR EACH ROW EXECUTE FUNCTION f()")
    ],
    "rows": [migrations.RunSQL("UPDATE old_place SET name = 'x'")],
    "REVOKE": [migrations.RunSQL("REVOKE UPDATE ON old_place FROM jackpot_service")],
}  # fmt: skip


@pytest.mark.parametrize("operations", ADDS.values(), ids=ADDS.keys())
def test_what_adds_is_let_through(operations: list[Operation]) -> None:
    assert judge(*operations) == []


@pytest.mark.parametrize("operations", BREAKS.values(), ids=BREAKS.keys())
def test_what_breaks_running_code_is_named(operations: list[Operation]) -> None:
    assert len(judge(*operations)) == 1


def test_migrations_of_before_would_have_been_named() -> None:
    """The judge sees what real migrations did: without the point that it begins from, many would need a reason."""
    loader = MigrationLoader(None)
    named = {}
    for app, name in [("accounting", "0005_documents"), ("tables", "0006_counts_at"), ("jackpot", "0003_closed_lists")]:
        state = loader.project_state((app, name), at_end=False)
        named[app] = list(breaks(loader.disk_migrations[app, name], state))
    assert all(named.values()), named
