"""What Django cannot declare: append-only tables and the orphan check of rows that settling writes by COPY."""

from django.db import migrations

# One trigger function refuses every change of an append-only table and names the rule as a constraint.
APPEND_ONLY = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: % refused, correct by adding', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END $$;

CREATE PROCEDURE make_append_only(guarded regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %s
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', guarded);
    EXECUTE format('CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON %s
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', guarded);
END $$;
"""

# A foreign key checks row by row; this compares a whole COPY with its parents in one anti-join.
ORPHANS = """
CREATE FUNCTION refuse_orphans() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    orphan text;
    same text;
    filled text;
BEGIN
    SELECT string_agg(format('parent.%I = arrival.%I', theirs, ours), ' AND '),
           string_agg(format('arrival.%I IS NOT NULL', ours), ' AND ')
        INTO same, filled
        FROM unnest(string_to_array(TG_ARGV[1], ','), string_to_array(TG_ARGV[3], ',')) AS pair (ours, theirs);
    EXECUTE format('SELECT arrival::text FROM arrivals arrival WHERE %s AND NOT EXISTS
        (SELECT FROM %s parent WHERE %s) LIMIT 1', filled, TG_ARGV[2], same) INTO orphan;
    IF orphan IS NOT NULL THEN
        RAISE EXCEPTION '%: % refers to no %', TG_TABLE_NAME, orphan, TG_ARGV[2]
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = TG_ARGV[0], TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NULL;
END $$;

CREATE PROCEDURE make_orphans_refused(rule text, child regclass, ours text, parent regclass, theirs text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS arrivals
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_orphans(%L, %L, %L, %L)', rule, child, rule, ours, parent, theirs);
END $$;
"""

GUARDED = """
CALL make_append_only('accounting_event');
CALL make_append_only('accounting_transfer');
CALL make_append_only('accounting_auditrecord');
CALL make_append_only('accounting_account');
CALL make_orphans_refused('an_event_is_on_a_stream', 'accounting_event', 'stream_id', 'accounting_stream', 'id');
CALL make_orphans_refused(
    'a_transfer_belongs_to_an_event',
    'accounting_transfer', 'stream_id,sequence', 'accounting_event', 'stream_id,sequence');
CALL make_orphans_refused(
    'a_transfer_debits_an_account', 'accounting_transfer', 'debit_id', 'accounting_account', 'id');
CALL make_orphans_refused(
    'a_transfer_credits_an_account', 'accounting_transfer', 'credit_id', 'accounting_account', 'id');
"""

UNDO = """
DROP PROCEDURE make_append_only; DROP PROCEDURE make_orphans_refused;
DROP FUNCTION refuse_orphans CASCADE; DROP FUNCTION refuse_change CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("accounting", "0001_initial")]

    operations = [migrations.RunSQL([APPEND_ONLY, ORPHANS, GUARDED], UNDO)]
