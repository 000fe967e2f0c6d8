"""What Django cannot declare: what was stated of the payer on tax forms is never changed."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("slips", "0004_payer")]

    operations = [migrations.RunSQL("CALL make_append_only('slips_payer')", migrations.RunSQL.noop)]
