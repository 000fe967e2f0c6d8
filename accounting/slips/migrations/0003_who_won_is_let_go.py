"""What Django cannot declare: who won is emptied after its term, and nothing else of it is ever changed.

The term is that of `winners` in `accounting/terms/retention.toml`, from the taking down and from the payment.
"""

from django.db import migrations

# A new edition of the term comes with a migration that gives the trigger its interval; a test compares the two.
GUARDS = """
DROP TRIGGER append_only ON slips_particulars;
CREATE TRIGGER append_only BEFORE DELETE ON slips_particulars FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_to_let_winners_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF octet_length(NEW.sealed) > 0 OR to_jsonb(NEW) - 'sealed' <> to_jsonb(OLD) - 'sealed'
        OR OLD.at + TG_ARGV[0]::interval > now()
        OR EXISTS (SELECT FROM slips_slippayment payment JOIN slips_slip slip ON slip.number = payment.slip_id
            WHERE slip.subject = OLD.subject AND payment.at + TG_ARGV[0]::interval > now()) THEN
        RAISE EXCEPTION 'who won % is kept for %, and only emptied (%)', OLD.subject, TG_ARGV[0], TG_NAME
            USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER who_won_is_kept_for_its_term BEFORE UPDATE ON slips_particulars FOR EACH ROW
    EXECUTE FUNCTION refuse_to_let_winners_go('4 years');
"""
UNDO = """
DROP TRIGGER who_won_is_kept_for_its_term ON slips_particulars;
DROP FUNCTION refuse_to_let_winners_go;
DROP TRIGGER append_only ON slips_particulars;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON slips_particulars
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("slips", "0002_guards"), ("accounting", "0002_guards")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
