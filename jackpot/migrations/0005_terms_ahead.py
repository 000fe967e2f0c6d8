"""Terms of a level may be decided ahead, and others still be put before them: what was to last then ends earlier."""

from django.db import migrations

ENDS_EARLIER = """
CREATE FUNCTION refuse_changed_level_terms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR to_jsonb(NEW) - 'in_force' <> to_jsonb(OLD) - 'in_force'
        OR isempty(OLD.in_force) OR NOT (NEW.in_force <@ OLD.in_force) OR NEW.in_force = OLD.in_force
        OR NOT (isempty(NEW.in_force) OR lower(NEW.in_force) = lower(OLD.in_force)) THEN
        RAISE EXCEPTION '% %: terms only end, others follow them', TG_TABLE_NAME, OLD.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'terms_only_end', TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER terms_only_end ON jackpot_levelterms;
CREATE TRIGGER terms_only_end BEFORE UPDATE OR DELETE ON jackpot_levelterms
    FOR EACH ROW EXECUTE FUNCTION refuse_changed_level_terms();
"""
ONLY_END = """
DROP TRIGGER terms_only_end ON jackpot_levelterms;
CREATE TRIGGER terms_only_end BEFORE UPDATE OR DELETE ON jackpot_levelterms
    FOR EACH ROW EXECUTE FUNCTION refuse_changed_terms();
DROP FUNCTION refuse_changed_level_terms;
"""


class Migration(migrations.Migration):
    dependencies = [("jackpot", "0004_bounds"), ("accounting", "0002_guards")]

    operations = [migrations.RunSQL(ENDS_EARLIER, ONLY_END)]
