"""What Django cannot declare: sheets of weeks and signatures under them are never changed, and a sheet has its very digest."""

from django.db import migrations

GUARDS = """
CALL make_append_only('tables_weeksheet');
CALL make_append_only('tables_weekreview');
ALTER TABLE tables_weeksheet ADD CONSTRAINT a_sheet_has_its_digest CHECK (digest = sha256(content));
"""

UNDO = """
ALTER TABLE tables_weeksheet DROP CONSTRAINT a_sheet_has_its_digest;
"""


class Migration(migrations.Migration):
    dependencies = [("tables", "0017_weekly_review")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
