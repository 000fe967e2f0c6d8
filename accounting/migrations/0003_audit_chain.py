"""The audit trail chained: every record carries the hash of the one before it, the head says where it ends.

What was written before is chained in the order of its ids.
"""

from django.db import migrations, models

from accounting.rules.chain import GENESIS, record_hash

UNGUARDED = "ALTER TABLE accounting_auditrecord DISABLE TRIGGER append_only"
GUARDED = "ALTER TABLE accounting_auditrecord ENABLE TRIGGER append_only"


def chain(apps, schema_editor):
    records, heads = apps.get_model("accounting", "AuditRecord"), apps.get_model("accounting", "AuditHead")
    reached, count = GENESIS, 0
    for row in records.objects.order_by("pk").iterator():
        following = record_hash(
            reached, recorded_at=row.recorded_at, actor=row.actor, action=row.action, subject=row.subject,
            origin=row.origin, detail=row.detail,
        )
        records.objects.filter(pk=row.pk).update(previous=reached, hash=following)
        reached, count = following, count + 1
    heads.objects.create(records=count, hash=reached)


FOLLOWS = """
CREATE FUNCTION chain_audit_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE accounting_audithead SET records = records + 1, hash = NEW.hash WHERE hash = NEW.previous;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'audit record % does not follow the last one', NEW.id
            USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'an_audit_record_follows_the_last',
                TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER an_audit_record_follows_the_last BEFORE INSERT ON accounting_auditrecord
    FOR EACH ROW EXECUTE FUNCTION chain_audit_record();

-- The head moves on with a record and in no other way: by the trigger above, never by a statement of somebody's own.
CREATE FUNCTION refuse_moved_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() < 2 OR NEW.records <> OLD.records + 1 THEN
        RAISE EXCEPTION 'the head of the audit trail moves on with its records only'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'the_audit_head_moves_with_its_records',
                TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER the_audit_head_moves_with_its_records BEFORE UPDATE ON accounting_audithead
    FOR EACH ROW EXECUTE FUNCTION refuse_moved_head();
CREATE TRIGGER the_audit_head_stays BEFORE DELETE OR TRUNCATE ON accounting_audithead
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('the_audit_head_stays');
"""

UNDO = "DROP FUNCTION chain_audit_record CASCADE; DROP FUNCTION refuse_moved_head CASCADE;"


class Migration(migrations.Migration):
    dependencies = [("accounting", "0002_guards")]

    operations = [
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                ("only", models.BooleanField(default=True, editable=False, primary_key=True, serialize=False)),
                ("records", models.BigIntegerField()),
                ("hash", models.BinaryField(max_length=32)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("only", True)), name="the_audit_trail_has_one_head")
                ]
            },
        ),
        migrations.AddField("auditrecord", "origin", models.CharField(blank=True, max_length=64, default=""), False),
        migrations.AddField("auditrecord", "previous", models.BinaryField(max_length=32, null=True)),
        migrations.AddField("auditrecord", "hash", models.BinaryField(max_length=32, null=True)),
        migrations.RunSQL(UNGUARDED, GUARDED),
        migrations.RunPython(chain, migrations.RunPython.noop),
        migrations.RunSQL(GUARDED, UNGUARDED),
        migrations.AlterField("auditrecord", "previous", models.BinaryField(max_length=32)),
        migrations.AlterField("auditrecord", "hash", models.BinaryField(max_length=32)),
        migrations.RunSQL(FOLLOWS, UNDO),
    ]
