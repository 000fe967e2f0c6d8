"""What Django cannot declare: envy that is unclaimed stays so on record, and is about what is there."""

from django.db import migrations

GUARDS = """
CALL make_append_only('tables_envyunclaimed');
CALL make_orphans_refused(
    'unclaimed_envy_was_a_payout',
    'tables_envyunclaimed', 'stream_id,sequence,line', 'tables_payout', 'stream_id,sequence,line');
CALL make_orphans_refused(
    'envy_is_unclaimed_by_an_event',
    'tables_envyunclaimed', 'stream_id,event', 'accounting_event', 'stream_id,sequence');
"""

UNDO = """
DROP FUNCTION unclaimed_envy_was_a_payout CASCADE; DROP FUNCTION envy_is_unclaimed_by_an_event CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("tables", "0014_payables_are_cleared")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
