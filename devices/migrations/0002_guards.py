"""What Django cannot declare: the receipt counter, and an inbox that nobody can change."""

from django.db import migrations

GUARDS = """
-- One number a receipt: a place in the queue is (receipt, index), never the order of inserts.
CREATE SEQUENCE devices_receipt CACHE 1;

CALL make_append_only('devices_message');
CALL make_append_only('devices_reference');
CALL make_append_only('devices_significantevent');
CALL make_orphans_refused('a_message_is_on_a_stream', 'devices_message', 'stream_id', 'accounting_stream', 'id');
CALL make_orphans_refused('a_message_is_from_a_table', 'devices_message', 'table_id', 'tables_table', 'id');
CALL make_orphans_refused('a_round_is_a_message', 'tables_round', 'message_id', 'devices_message', 'id');
CALL make_orphans_refused('a_hold_is_a_message', 'tables_hold', 'message_id', 'devices_message', 'id');
"""

UNDO = "DROP SEQUENCE devices_receipt"


class Migration(migrations.Migration):
    dependencies = [("devices", "0001_initial"), ("tables", "0002_guards")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
