"""What Django cannot declare: sign-ins stay on record for their term (`accounting/terms/retention.toml`)."""

from django.db import migrations

# A new edition of the term comes with a migration that gives the trigger its interval; a test compares the two.
GUARDS = """
CREATE FUNCTION refuse_to_remove_early() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.attempt_time + TG_ARGV[0]::interval > now() THEN
        RAISE EXCEPTION 'sign-in % is kept for % (%)', OLD.id, TG_ARGV[0], TG_NAME
            USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER sign_ins_are_kept_for_their_term BEFORE DELETE ON axes_accesslog FOR EACH ROW
    EXECUTE FUNCTION refuse_to_remove_early('1 year');
CREATE TRIGGER sign_ins_are_not_truncated BEFORE TRUNCATE ON axes_accesslog
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('sign_ins_are_not_truncated');
"""
UNDO = """
DROP TRIGGER sign_ins_are_not_truncated ON axes_accesslog;
DROP FUNCTION refuse_to_remove_early CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("people", "0002_guards"), ("accounting", "0002_guards"), ("axes", "0006_remove_accesslog_trusted")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
