"""What Django cannot declare: the house's numbers of accounts that once counted stay on record."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounting", "0014_house_numbers")]

    operations = [migrations.RunSQL("CALL make_append_only('accounting_housenumber');", migrations.RunSQL.noop)]
