"""What Django cannot declare: append-only tables and the orphan check of rows that settling writes by COPY."""

from django.db import migrations

# One trigger function refuses every change of an append-only table and names the rule as a constraint.
APPEND_ONLY = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    rule text := coalesce(TG_ARGV[0], 'append_only');
BEGIN
    RAISE EXCEPTION '%: % refused (%), correct by adding', TG_TABLE_NAME, TG_OP, rule
        USING ERRCODE = 'restrict_violation', CONSTRAINT = rule, TABLE = TG_TABLE_NAME;
END $$;

CREATE PROCEDURE make_append_only(guarded regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON %s
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', guarded);
    EXECUTE format('CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON %s
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', guarded);
END $$;
"""

# Terms that rounds were settled under stay as they were; all that may happen to them is that they end (ARCHITECTURE 4.9).
TERMS_ONLY_END = """
CREATE FUNCTION refuse_changed_terms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR to_jsonb(NEW) - 'in_force' <> to_jsonb(OLD) - 'in_force'
        OR lower(NEW.in_force) <> lower(OLD.in_force) OR NOT upper_inf(OLD.in_force) THEN
        RAISE EXCEPTION '% %: terms only end, others follow them', TG_TABLE_NAME, OLD.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'terms_only_end', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;

CREATE PROCEDURE make_terms_only_end(guarded regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER terms_only_end BEFORE UPDATE OR DELETE ON %s
        FOR EACH ROW EXECUTE FUNCTION refuse_changed_terms()', guarded);
    EXECUTE format('CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON %s
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', guarded);
END $$;
"""

# A foreign key checks row by row; this compares a whole COPY with its parents in one anti-join. Each rule gets a
# function of its own, so that its plan is made once a connection and not once a batch. The plan must stay good while
# the parents grow from nothing to millions of rows without being made anew: one look into the parent's index for each
# different key that arrived, whatever the planner believes of sizes.
ORPHANS = """
CREATE PROCEDURE make_orphans_refused(rule text, child regclass, ours text, parent regclass, theirs text)
LANGUAGE plpgsql AS $make$
DECLARE
    same text;
    filled text;
BEGIN
    SELECT string_agg(format('parent.%I = arrival.%I', their, our), ' AND '),
           string_agg(format('arrival.%I IS NOT NULL', our), ' AND ')
        INTO same, filled
        FROM unnest(string_to_array(ours, ','), string_to_array(theirs, ',')) AS pair (our, their);
    EXECUTE format($function$
        CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql
        SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $body$
        DECLARE
            orphan text;
        BEGIN
            SELECT arrival::text INTO orphan FROM (SELECT DISTINCT %s FROM arrivals) arrival
                WHERE %s AND NOT EXISTS (SELECT FROM %s parent WHERE %s) LIMIT 1;
            IF orphan IS NOT NULL THEN
                RAISE EXCEPTION '%%: %% refers to no %s', TG_TABLE_NAME, orphan
                    USING ERRCODE = 'foreign_key_violation', CONSTRAINT = %L, TABLE = TG_TABLE_NAME;
            END IF;
            RETURN NULL;
        END $body$ $function$, rule, ours, filled, parent, same, parent, rule);
    EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %s REFERENCING NEW TABLE AS arrivals
        FOR EACH STATEMENT EXECUTE FUNCTION %I()', rule, child, rule);
END $make$;
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
DROP PROCEDURE make_append_only; DROP PROCEDURE make_orphans_refused; DROP PROCEDURE make_terms_only_end;
DROP FUNCTION refuse_change CASCADE;
DROP FUNCTION an_event_is_on_a_stream, a_transfer_belongs_to_an_event, a_transfer_debits_an_account,
    a_transfer_credits_an_account CASCADE; DROP FUNCTION refuse_changed_terms CASCADE;
"""


class Migration(migrations.Migration):
    dependencies = [("accounting", "0001_initial")]

    operations = [migrations.RunSQL([APPEND_ONLY, TERMS_ONLY_END, ORPHANS, GUARDED], UNDO)]
