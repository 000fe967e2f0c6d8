"""Files that come of long work, in parts: a file is there only when every one of its parts is, and for its term."""

import django.db.models.deletion
from django.db import migrations, models

GUARDS = """
-- What is packed already is not packed again, and a part is read without unpacking it.
ALTER TABLE office_resultpart ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE office_resultpart ADD CONSTRAINT a_part_of_a_file_is_some_of_it
    CHECK (number >= 0 AND octet_length(content) BETWEEN 1 AND 1048576);
ALTER TABLE office_resultfile ADD CONSTRAINT a_file_of_a_job_has_a_digest CHECK (octet_length(digest) = 32);

CREATE FUNCTION a_file_has_all_its_parts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM office_resultpart WHERE job_id = NEW.job_id AND file = NEW.number
            HAVING count(*) = NEW.parts AND coalesce(sum(octet_length(content)), 0) = NEW.size) THEN
        CALL refuse_to_record(format('parts are missing of file %s', NEW.name), TG_NAME, TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER a_file_has_all_its_parts BEFORE INSERT ON office_resultfile
    FOR EACH ROW EXECUTE FUNCTION a_file_has_all_its_parts();

-- Its term as `accounting/terms/retention.toml` has it; a test compares the two. What came to nothing may go at once.
CREATE FUNCTION refuse_to_remove_a_file_early() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM office_job WHERE id = OLD.job_id AND state = 'done'
            AND finished_at + TG_ARGV[0]::interval > now()) THEN
        RAISE EXCEPTION 'file % of job % is kept for % (a_file_is_kept_for_its_term)', OLD.number, OLD.job_id, TG_ARGV[0]
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'a_file_is_kept_for_its_term', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER a_file_is_kept_for_its_term BEFORE DELETE ON office_resultfile
    FOR EACH ROW EXECUTE FUNCTION refuse_to_remove_a_file_early('90 days');

CREATE FUNCTION refuse_to_remove_a_part() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM office_resultfile WHERE job_id = OLD.job_id AND number = OLD.file) THEN
        RAISE EXCEPTION 'part % of file % of job % goes with its file', OLD.number, OLD.file, OLD.job_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'a_part_goes_with_its_file', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER a_part_goes_with_its_file BEFORE DELETE ON office_resultpart
    FOR EACH ROW EXECUTE FUNCTION refuse_to_remove_a_part();
CREATE TRIGGER a_file_is_not_truncated BEFORE TRUNCATE ON office_resultfile
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a_file_is_not_truncated');
"""
UNDO = """
DROP TRIGGER a_file_is_not_truncated ON office_resultfile;
DROP FUNCTION a_file_has_all_its_parts, refuse_to_remove_a_file_early, refuse_to_remove_a_part CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("office", "0005_results_are_kept")]

    operations = [
        migrations.CreateModel(
            name="ResultPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("file", models.SmallIntegerField()),
                ("number", models.IntegerField()),
                ("content", models.BinaryField()),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="office.job"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(name="a_part_of_a_file_comes_once", fields=["job", "file", "number"])
                ]
            },
        ),
        migrations.CreateModel(
            name="ResultFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.SmallIntegerField()),
                ("name", models.CharField(max_length=120)),
                ("media_type", models.CharField(max_length=80)),
                ("size", models.BigIntegerField()),
                ("parts", models.IntegerField()),
                ("digest", models.BinaryField(max_length=32)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="files", to="office.job"
                    ),
                ),
            ],
            options={
                "ordering": ["job", "number"],
                "constraints": [
                    models.UniqueConstraint(name="files_of_a_job_are_numbered_once", fields=["job", "number"]),
                    models.UniqueConstraint(name="files_of_a_job_have_their_own_names", fields=["job", "name"]),
                    models.CheckConstraint(
                        name="a_file_of_a_job_has_a_name",
                        condition=models.Q(("name", ""), _negated=True) & models.Q(("media_type", ""), _negated=True),
                    ),
                    models.CheckConstraint(
                        name="files_of_a_job_count_from_one", condition=models.Q(("number__gte", 1))
                    ),
                ],
            },
        ),
        migrations.RunSQL(GUARDS, UNDO),
    ]
