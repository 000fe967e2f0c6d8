"""Proposals are locked by a function: whoever records decisions has no right to change the row, which a lock would need.

The triggers that lock it run with the rights of its owner for the same reason.
"""

from django.db import migrations

LOCKS = """
CREATE FUNCTION lock_proposal(wanted bigint) RETURNS SETOF office_proposal LANGUAGE sql
    SECURITY DEFINER SET search_path = public, pg_temp
    AS $$ SELECT * FROM office_proposal WHERE id = wanted FOR NO KEY UPDATE $$;
ALTER FUNCTION nobody_approves_their_own_proposal SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION only_what_waits_is_approved SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION an_approval_counts_for_a_need SECURITY DEFINER SET search_path = public, pg_temp;
ALTER FUNCTION what_is_done_was_approved SECURITY DEFINER SET search_path = public, pg_temp;
"""
UNDO = """
DROP FUNCTION lock_proposal;
ALTER FUNCTION nobody_approves_their_own_proposal SECURITY INVOKER RESET search_path;
ALTER FUNCTION only_what_waits_is_approved SECURITY INVOKER RESET search_path;
ALTER FUNCTION an_approval_counts_for_a_need SECURITY INVOKER RESET search_path;
ALTER FUNCTION what_is_done_was_approved SECURITY INVOKER RESET search_path;
"""


class Migration(migrations.Migration):
    dependencies = [("office", "0002_guards")]
    operations = [migrations.RunSQL(LOCKS, UNDO)]
