"""Files that jobs make, in pieces, each kept for its term (`accounting/terms/retention.toml`)."""

import django.db.models.deletion
from django.db import migrations, models

# A new edition of the term comes with a migration that gives the trigger its interval; a test compares the two.
GUARDS = """
CREATE FUNCTION refuse_to_remove_a_file_early() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM office_job job WHERE job.id = OLD.job_id
            AND (job.finished_at IS NULL OR job.finished_at + TG_ARGV[0]::interval > now())) THEN
        RAISE EXCEPTION 'the file of job % is kept for % (a_file_is_kept_for_its_term)', OLD.job_id, TG_ARGV[0]
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'a_file_is_kept_for_its_term', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER a_file_is_kept_for_its_term BEFORE DELETE ON office_jobpiece
    FOR EACH ROW EXECUTE FUNCTION refuse_to_remove_a_file_early('90 days');
CREATE TRIGGER a_file_is_not_truncated BEFORE TRUNCATE ON office_jobpiece
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a_file_is_not_truncated');
"""
UNDO = """
DROP TRIGGER a_file_is_not_truncated ON office_jobpiece;
DROP FUNCTION refuse_to_remove_a_file_early CASCADE;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('office', '0005_results_are_kept'),
    ]

    operations = [
        migrations.CreateModel(
            name='JobPiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField()),
                ('content', models.BinaryField()),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pieces', to='office.job')),
            ],
            options={
                'ordering': ['job', 'number'],
                'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='a_piece_of_a_file_is_kept_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='pieces_of_a_file_count_from_one')],
            },
        ),
        migrations.RunSQL(GUARDS, UNDO),
    ]
