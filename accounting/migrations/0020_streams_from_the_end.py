"""Rows that every batch changes are found from the end of their index, where the newest version is.

All versions are kept while somebody's snapshot is held. Whether a row's stream is there is looked for so, too. And the newest do
lie at the end: a page of such a table takes in rows of other pages only while most of it is free. So the rest of it is for the next
versions of those rows, and none goes to what is left of an older page.
"""

from django.db import migrations

FROM_THE_END = """
CREATE PROCEDURE find_the_stream_from_the_end(rule text) LANGUAGE plpgsql AS $make$
BEGIN
    EXECUTE format($function$
        CREATE OR REPLACE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql
        SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off AS $body$
        DECLARE
            orphan text;
        BEGIN
            SELECT arrival::text INTO orphan FROM (SELECT DISTINCT stream_id FROM arrivals) arrival
                WHERE arrival.stream_id IS NOT NULL AND NOT EXISTS (
                    SELECT FROM (
                        SELECT id FROM accounting_stream WHERE id <= arrival.stream_id ORDER BY id DESC LIMIT 1
                    ) AS newest WHERE newest.id = arrival.stream_id
                ) LIMIT 1;
            IF orphan IS NOT NULL THEN
                RAISE EXCEPTION '%%: %% refers to no accounting_stream', TG_TABLE_NAME, orphan
                    USING ERRCODE = 'foreign_key_violation', CONSTRAINT = %L, TABLE = TG_TABLE_NAME;
            END IF;
            RETURN NULL;
        END $body$ $function$, rule, rule);
END $make$;
"""
# What was looked for so stays so: it answers the same.
UNDO = "DROP PROCEDURE find_the_stream_from_the_end"


class Migration(migrations.Migration):
    dependencies = [("accounting", "0019_totals_of_a_gaming_day")]

    operations = [
        migrations.RunSQL([FROM_THE_END, "CALL find_the_stream_from_the_end('an_event_is_on_a_stream')"], UNDO),
        *(
            migrations.RunSQL(f"ALTER TABLE {table} SET (fillfactor = 10)", f"ALTER TABLE {table} RESET (fillfactor)")
            for table in ("accounting_stream", "accounting_total")
        ),
    ]
