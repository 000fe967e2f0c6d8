"""A lock that contributed or was set aside is a message."""

from django.db import migrations

GUARDS = """
CALL make_orphans_refused('a_lock_is_a_message', 'tables_lock', 'message_id', 'devices_message', 'id');
CALL make_orphans_refused(
    'a_lock_set_aside_is_a_message', 'tables_locksetaside', 'message_id', 'devices_message', 'id');
"""

UNDO = "DROP FUNCTION a_lock_is_a_message CASCADE; DROP FUNCTION a_lock_set_aside_is_a_message CASCADE;"


class Migration(migrations.Migration):
    dependencies = [("devices", "0006_deals"), ("tables", "0012_locks")]

    operations = [migrations.RunSQL([GUARDS], UNDO)]
