"""Locks: those that contributed, of which nothing changes but that they end, and those that were set aside."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q

GUARDS = """
CREATE FUNCTION refuse_changed_lock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.state <> 'locked'
        OR to_jsonb(NEW) - '{state,ended}'::text[] <> to_jsonb(OLD) - '{state,ended}'::text[] THEN
        RAISE EXCEPTION '% % %: a lock only ends, once', TG_TABLE_NAME, OLD.stream_id, OLD.sequence
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'a_lock_only_ends', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_lock_only_ends BEFORE UPDATE OR DELETE ON tables_lock
    FOR EACH ROW EXECUTE FUNCTION refuse_changed_lock();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON tables_lock
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CALL make_append_only('tables_locksetaside');
CALL make_orphans_refused(
    'a_lock_is_an_event', 'tables_lock', 'stream_id,sequence', 'accounting_event', 'stream_id,sequence');
CALL make_orphans_refused('a_lock_is_of_a_table', 'tables_lock', 'table_id', 'tables_table', 'id');
"""

UNDO = """
DROP FUNCTION refuse_changed_lock CASCADE; DROP FUNCTION a_lock_is_an_event CASCADE;
DROP FUNCTION a_lock_is_of_a_table CASCADE;
"""


def unguarded(to: str) -> models.ForeignKey:
    """A relation whose orphans are refused by a statement trigger."""
    return models.ForeignKey(
        db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to=to
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounting", "0007_bounds"),
        ("tables", "0011_ends_guards"),
    ]

    operations = [
        migrations.CreateModel(
            name="Lock",
            fields=[
                ("pk", models.CompositePrimaryKey("stream", "sequence", blank=True, editable=False, primary_key=True,
                                                  serialize=False)),
                ("sequence", models.BigIntegerField()),
                ("message_id", models.BigIntegerField()),
                ("reference", models.CharField(max_length=64)),
                ("locked_at", models.DateTimeField()),
                ("counts_at", models.DateTimeField()),
                ("gaming_date", models.DateField()),
                ("original_date", models.DateField(null=True)),
                ("result", models.BinaryField()),
                ("put_in", models.BinaryField()),
                ("state", models.CharField(choices=[("locked", "Locked"), ("decided", "Decided"), ("void", "Void")],
                                           default="locked", max_length=7)),
                ("ended", models.BigIntegerField(null=True)),
                ("stream", unguarded("accounting.stream")),
                ("table", unguarded("tables.table")),
            ],
            options={
                "indexes": [
                    models.Index(condition=Q(("state", "locked")), fields=["stream"], name="locks_that_wait"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("message_id",), name="a_message_locks_once"),
                    models.UniqueConstraint(fields=("table", "reference"), name="a_round_is_locked_once"),
                    models.UniqueConstraint(
                        condition=Q(("ended__isnull", False)), fields=("stream", "ended"), name="an_event_ends_one_lock"
                    ),
                    models.CheckConstraint(
                        condition=Q(("state__in", ["locked", "decided", "void"])), name="a_lock_is_locked_decided_or_void"
                    ),
                    models.CheckConstraint(
                        condition=Q(
                            Q(("ended__isnull", True), ("state", "locked")),
                            Q(Q(("state", "locked"), _negated=True), ("ended__isnull", False)),
                            _connector="OR",
                        ),
                        name="a_lock_that_ended_names_its_end",
                    ),
                    models.CheckConstraint(condition=Q(("ended__gt", F("sequence"))), name="a_lock_ends_after_it_began"),
                ],
            },
        ),
        migrations.CreateModel(
            name="LockSetAside",
            fields=[
                ("message_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("reference", models.CharField(max_length=64)),
                ("outcome", models.CharField(choices=[("held", "Held"), ("duplicate", "Duplicate")], max_length=9)),
                ("result", models.BinaryField()),
                ("error", models.TextField(blank=True)),
                ("locked_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField()),
                ("rules", models.SmallIntegerField()),
                ("seal", models.BinaryField(max_length=32)),
                ("table", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+",
                                            to="tables.table")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(("outcome__in", ["held", "duplicate"])),
                        name="a_lock_is_set_aside_held_or_as_a_duplicate",
                    ),
                    models.CheckConstraint(condition=Q(("rules__gte", 1)), name="a_lock_set_aside_names_its_rules_edition"),
                ],
            },
        ),
        migrations.RunSQL([GUARDS], UNDO),
    ]
