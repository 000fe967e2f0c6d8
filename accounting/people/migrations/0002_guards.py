"""What Django cannot declare on its own tables: roles that go together, and account names that are one whatever their case."""

from django.db import migrations

# The same sentences as accounting/rules/roles.py, by the same names. The account is locked first, so that two who give
# roles to one person at the same time see each other.
ROLES = """
CREATE FUNCTION refuse_roles_that_do_not_go_together() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    gaming CONSTANT text[] := ARRAY['supervisor', 'manager', 'administrator'];
    books CONSTANT text[] := ARRAY['accounting', 'controller', 'cage'];
    held text[];
    rule text;
BEGIN
    PERFORM FROM auth_user WHERE id = NEW.user_id FOR NO KEY UPDATE;
    SELECT array_agg(auth_group.name::text) INTO held FROM auth_user_groups membership
        JOIN auth_group ON auth_group.id = membership.group_id WHERE membership.user_id = NEW.user_id;
    rule := CASE
        WHEN NOT held <@ (gaming || books || ARRAY['auditor', 'security']) THEN 'a_role_is_one_of_the_house'
        WHEN 'auditor' = ANY (held) AND cardinality(held) > 1 THEN 'an_auditor_holds_no_other_role'
        WHEN 'security' = ANY (held) AND held && (gaming || books) THEN 'security_holds_no_role_that_decides_money'
        WHEN held && gaming AND held && books THEN 'nobody_holds_gaming_and_accounting_roles'
    END;
    IF rule IS NOT NULL THEN
        RAISE EXCEPTION 'account %: % refused (%)', NEW.user_id, array_to_string(held, ', '), rule
            USING ERRCODE = 'check_violation', CONSTRAINT = rule, TABLE = TG_TABLE_NAME;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER roles_of_a_person_go_together AFTER INSERT OR UPDATE ON auth_user_groups
    FOR EACH ROW EXECUTE FUNCTION refuse_roles_that_do_not_go_together();

-- Renamed, a group would turn into another role behind the back of all who hold it.
CREATE TRIGGER a_role_keeps_its_name BEFORE UPDATE OF name ON auth_group
    FOR EACH ROW WHEN (NEW.name IS DISTINCT FROM OLD.name) EXECUTE FUNCTION refuse_change('a_role_keeps_its_name');
"""

# Names are unique already; written in small letters only, they are so whatever the case. `root` of createsuperuser
# and whoever else was there before is brought into this form; two accounts that differ by case alone stop the migration.
NAMES = """
UPDATE auth_user SET username = lower(username) WHERE username <> lower(username);
ALTER TABLE auth_user ADD CONSTRAINT an_account_name_is_one_whatever_its_case
    CHECK (username ~ '^[a-z0-9][a-z0-9._@+-]*$');
"""

UNDO = """
ALTER TABLE auth_user DROP CONSTRAINT an_account_name_is_one_whatever_its_case;
DROP TRIGGER a_role_keeps_its_name ON auth_group;
DROP TRIGGER roles_of_a_person_go_together ON auth_user_groups;
DROP FUNCTION refuse_roles_that_do_not_go_together;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("people", "0001_initial"),
        ("accounting", "0002_guards"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunSQL([ROLES, NAMES], UNDO)]
