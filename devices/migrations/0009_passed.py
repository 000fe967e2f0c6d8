"""What a stream's queue has passed; and a message's stream is looked for from the end of the index."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounting", "0020_streams_from_the_end"), ("devices", "0008_contact")]

    operations = [
        migrations.CreateModel(
            name="Passed",
            fields=[
                ("stream", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True,
                    related_name="+", serialize=False, to="accounting.stream")),
                ("receipt", models.BigIntegerField()),
                ("put_forward", models.BigIntegerField()),
                ("noted_by", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        name="a_stream_has_passed_no_more_than_was_put_forward",
                        condition=models.Q(("put_forward__gte", models.F("receipt"))),
                    ),
                ],
            },
        ),
        migrations.RunSQL("CALL find_the_stream_from_the_end('a_message_is_on_a_stream')", migrations.RunSQL.noop),
        *(
            migrations.RunSQL(f"ALTER TABLE {table} SET (fillfactor = 10)", f"ALTER TABLE {table} RESET (fillfactor)")
            for table in ("devices_attempt", "devices_passed")
        ),
    ]
