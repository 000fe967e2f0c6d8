"""What Django cannot declare: composite foreign keys between links, levels and editions, and append-only rows."""

from django.db import migrations

GUARDS = """
CALL make_append_only('jackpot_progressiveedition');
CALL make_append_only('jackpot_progressivegame');
CALL make_append_only('jackpot_progressivelevel');
CALL make_append_only('jackpot_hit');
CALL make_append_only('jackpot_hitstep');
CALL make_terms_only_end('jackpot_levelterms');

-- A meter is written all day and stays for ever: without it nobody knows what the level owes.
CREATE TRIGGER a_meter_stays BEFORE DELETE OR TRUNCATE ON jackpot_meter
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a_meter_stays');

ALTER TABLE jackpot_level
    ADD CONSTRAINT a_level_is_on_its_links_paytable FOREIGN KEY (link_id, paytable_id)
        REFERENCES jackpot_link (id, paytable_id),
    ADD CONSTRAINT a_level_is_one_the_paytable_pays_from FOREIGN KEY (paytable_id, code)
        REFERENCES jackpot_progressivelevel (edition_id, code);

-- A link has every level its paytable pays from (SPEC 6.8); checked at commit, when all of them are there.
CREATE FUNCTION refuse_missing_levels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    missing text;
BEGIN
    SELECT wanted.code INTO missing FROM jackpot_progressivelevel wanted
        WHERE wanted.edition_id = NEW.paytable_id AND NOT EXISTS (
            SELECT FROM jackpot_level level JOIN jackpot_meter meter ON meter.level_id = level.id
            WHERE level.link_id = NEW.id AND level.code = wanted.code)
        LIMIT 1;
    IF missing IS NOT NULL THEN
        RAISE EXCEPTION 'link % has no level %, which its paytable pays from', NEW.code, missing
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'a_link_has_every_level_its_paytable_pays_from';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER a_link_has_every_level_its_paytable_pays_from
    AFTER INSERT OR UPDATE OF paytable_id ON jackpot_link DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION refuse_missing_levels();
"""

UNDO = """
DROP FUNCTION refuse_missing_levels CASCADE;
ALTER TABLE jackpot_level
    DROP CONSTRAINT a_level_is_on_its_links_paytable, DROP CONSTRAINT a_level_is_one_the_paytable_pays_from;
"""


class Migration(migrations.Migration):
    dependencies = [("jackpot", "0001_initial"), ("accounting", "0002_guards")]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
