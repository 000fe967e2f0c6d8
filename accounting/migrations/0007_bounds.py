"""A day's total may be more than a bigint holds: numbers of any length, as the door's bounds allow."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounting", "0006_document_guards")]

    operations = [
        migrations.AlterField("total", "debit_cents", models.DecimalField(decimal_places=0, default=0, max_digits=40)),
        migrations.AlterField("total", "credit_cents", models.DecimalField(decimal_places=0, default=0, max_digits=40)),
    ]
