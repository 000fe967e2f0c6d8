"""Where it stands that a stream stands still for a fault of ours, and why."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounting", "0001_initial"), ("devices", "0003_device_keys")]

    operations = [
        migrations.CreateModel(
            name="Stoppage",
            fields=[
                (
                    "stream",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="+",
                        serialize=False, to="accounting.stream",
                    ),
                ),
                ("since", models.DateTimeField()),
                ("reason", models.TextField()),
            ],
        ),
    ]
