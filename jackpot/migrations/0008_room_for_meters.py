"""A page of meters takes in those of other pages only while most of it is free (accounting 0020)."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("jackpot", "0007_payables_are_cleared")]

    operations = [
        migrations.RunSQL("ALTER TABLE jackpot_meter SET (fillfactor = 10)", "ALTER TABLE jackpot_meter RESET (fillfactor)")
    ]
