"""When devices were last heard of."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("devices", "0007_locks")]

    operations = [
        migrations.CreateModel(
            name="Contact",
            fields=[
                ("device", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True,
                    related_name="contact", serialize=False, to="devices.device")),
                ("heard_at", models.DateTimeField()),
            ],
        ),
    ]
