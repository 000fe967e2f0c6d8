"""Deals by their digest, so that one under a second reference is found; what was decided before is not looked at again."""

import django.db.models.deletion
from django.db import migrations, models

FROM_NOW_ON = """
INSERT INTO devices_looked (stream_id, sequence) SELECT id, next_sequence - 1 FROM accounting_stream;
INSERT INTO devices_heartbeat (name, seen_at) SELECT 'deals', now() WHERE EXISTS (SELECT FROM accounting_stream)
    ON CONFLICT (name) DO NOTHING;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounting", "0007_bounds"),
        ("devices", "0005_receipts"),
        ("tables", "0009_closed_lists"),
    ]

    operations = [
        migrations.CreateModel(
            name="Looked",
            fields=[
                ("stream", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True,
                                                related_name="+", serialize=False, to="accounting.stream")),
                ("sequence", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Deal",
            fields=[
                ("pk", models.CompositePrimaryKey("table", "digest", "message", blank=True, editable=False,
                                                  primary_key=True, serialize=False)),
                ("digest", models.BinaryField(max_length=16)),
                ("message", models.ForeignKey(db_constraint=False, db_index=False,
                                              on_delete=django.db.models.deletion.DO_NOTHING, related_name="+",
                                              to="devices.message")),
                ("table", models.ForeignKey(db_constraint=False, db_index=False,
                                            on_delete=django.db.models.deletion.DO_NOTHING, related_name="+",
                                            to="tables.table")),
            ],
        ),
        migrations.RunSQL(FROM_NOW_ON, migrations.RunSQL.noop),
    ]
