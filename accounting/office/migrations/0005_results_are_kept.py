"""What Django cannot declare: a job stays on record, and its result for its term (`accounting/terms/retention.toml`)."""

from django.db import migrations

# A new edition of the term comes with a migration that gives the trigger its interval; a test compares the two.
GUARDS = """
CREATE FUNCTION refuse_to_empty_early() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.result IS NOT NULL OR OLD.finished_at + TG_ARGV[0]::interval > now() THEN
        RAISE EXCEPTION 'the result of job % is kept for % (a_result_is_kept_for_its_term)', OLD.id, TG_ARGV[0]
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'a_result_is_kept_for_its_term', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_result_is_kept_for_its_term BEFORE UPDATE OF result ON office_job FOR EACH ROW
    WHEN (OLD.result IS NOT NULL AND NEW.result IS DISTINCT FROM OLD.result)
    EXECUTE FUNCTION refuse_to_empty_early('90 days');
CREATE TRIGGER a_job_stays_on_record BEFORE DELETE ON office_job
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a_job_stays_on_record');
CREATE TRIGGER a_job_is_not_truncated BEFORE TRUNCATE ON office_job
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a_job_is_not_truncated');
"""
UNDO = """
DROP TRIGGER a_job_is_not_truncated ON office_job;
DROP TRIGGER a_job_stays_on_record ON office_job;
DROP FUNCTION refuse_to_empty_early CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("office", "0004_what_jobs_were_asked"), ("accounting", "0002_guards")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
