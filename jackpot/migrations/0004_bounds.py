"""What a level has paid in its life may be more than a bigint holds."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jackpot", "0003_closed_lists")]

    operations = [
        migrations.AlterField("meter", "wins_cents", models.DecimalField(decimal_places=0, default=0, max_digits=40)),
    ]
