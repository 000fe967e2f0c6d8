"""What is closed is everything up to a date: it stands on the property's row, which settling and closing both lock."""

from django.db import migrations, models

# Before the day's row is written: whoever settles holds the property's row first and may then want to write a day's.
CLOSED_THROUGH = """
CREATE FUNCTION close_all_days_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE accounting_property SET closed_through = greatest(closed_through, NEW.date);
    RETURN NEW;
END $$;
CREATE TRIGGER accounting_gamingday_closes_all_before BEFORE INSERT OR UPDATE ON accounting_gamingday
    FOR EACH ROW WHEN (NEW.closed_at IS NOT NULL) EXECUTE FUNCTION close_all_days_before();
UPDATE accounting_property SET closed_through = (SELECT max(date) FROM accounting_gamingday WHERE closed_at IS NOT NULL);
"""
UNDO = "DROP TRIGGER accounting_gamingday_closes_all_before ON accounting_gamingday; DROP FUNCTION close_all_days_before"


class Migration(migrations.Migration):
    dependencies = [("accounting", "0003_audit_chain")]

    operations = [
        migrations.AddField("property", "closed_through", models.DateField(null=True, editable=False)),
        migrations.RunSQL(CLOSED_THROUGH, UNDO),
    ]
