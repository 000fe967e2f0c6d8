"""The account of what is owed to the state, in houses whose property accounts are open already."""

from django.db import migrations

OPEN = """
INSERT INTO accounting_account (code, kind, owner)
SELECT 'state_payable', 'state_payable', '' FROM accounting_account WHERE code = 'unclaimed';
"""


class Migration(migrations.Migration):
    dependencies = [("accounting", "0012_payables_are_cleared")]

    operations = [migrations.RunSQL(OPEN, migrations.RunSQL.noop)]
