"""What Django cannot declare: how rounds and envy payouts ended is never changed, and is about what is there."""

from django.db import migrations

GUARDS = """
CALL make_append_only('tables_voidedround');
CALL make_append_only('tables_envyend');
CALL make_orphans_refused(
    'a_round_that_is_voided_is_there', 'tables_voidedround', 'stream_id,sequence', 'tables_round', 'stream_id,sequence');
CALL make_orphans_refused(
    'a_round_is_voided_by_an_event',
    'tables_voidedround', 'stream_id,event', 'accounting_event', 'stream_id,sequence');
CALL make_orphans_refused(
    'envy_that_ends_was_a_payout',
    'tables_envyend', 'stream_id,sequence,line', 'tables_payout', 'stream_id,sequence,line');
CALL make_orphans_refused(
    'envy_ends_by_an_event', 'tables_envyend', 'stream_id,event', 'accounting_event', 'stream_id,sequence');
"""

UNDO = """
DROP FUNCTION a_round_that_is_voided_is_there CASCADE; DROP FUNCTION a_round_is_voided_by_an_event CASCADE;
DROP FUNCTION envy_that_ends_was_a_payout CASCADE; DROP FUNCTION envy_ends_by_an_event CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("tables", "0010_acts_of_the_past"), ("accounting", "0006_document_guards")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
