"""A reference says once more when its message was received and from which device."""

import django.db.models.deletion
from django.db import migrations, models

RECEIPTS = """
ALTER TABLE devices_reference DISABLE TRIGGER append_only;
UPDATE devices_reference reference SET received_at = message.received_at, device_id = message.device_id
    FROM devices_message message WHERE message.id = reference.message_id;
ALTER TABLE devices_reference ENABLE TRIGGER append_only;
"""


class Migration(migrations.Migration):
    dependencies = [("devices", "0004_stoppages")]

    operations = [
        migrations.AddField("reference", "received_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "reference",
            "device",
            models.ForeignKey(
                db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+", to="devices.device",
            ),
        ),
        migrations.RunSQL([RECEIPTS], migrations.RunSQL.noop),
        migrations.AlterField("reference", "received_at", models.DateTimeField()),
    ]
