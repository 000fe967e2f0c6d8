"""What Django cannot declare: a table fits its link in SQL too, editions fit their table, rows are append-only."""

from django.db import migrations

GUARDS = """
ALTER TABLE tables_table
    ADD CONSTRAINT a_table_has_its_links_paytable_and_decks FOREIGN KEY (link_id, link_paytable_id, decks)
        REFERENCES jackpot_link (id, paytable_id, decks),
    ADD CONSTRAINT a_table_is_on_its_links_stream FOREIGN KEY (link_id, stream_id)
        REFERENCES jackpot_link (id, stream_id),
    ADD CONSTRAINT a_tables_game_fits_its_links_paytable FOREIGN KEY (link_paytable_id, game)
        REFERENCES jackpot_progressivegame (edition_id, game);
ALTER TABLE tables_tableterms
    ADD CONSTRAINT terms_are_of_the_tables_game FOREIGN KEY (table_id, game) REFERENCES tables_table (id, game);
ALTER TABLE tables_tablepaytable
    ADD CONSTRAINT a_paytable_is_of_terms_with_game_and_seats FOREIGN KEY (terms_id, game, seats)
        REFERENCES tables_tableterms (id, game, seats),
    ADD CONSTRAINT a_wagers_edition_is_of_that_game_and_wager FOREIGN KEY (edition_id, game, wager)
        REFERENCES tables_wageredition (id, game, wager);

CALL make_append_only('tables_wageredition');
CALL make_append_only('tables_tablepaytable');
CALL make_terms_only_end('tables_tableterms');
CALL make_append_only('tables_round');
CALL make_append_only('tables_payout');
CALL make_append_only('tables_hold');
CALL make_orphans_refused(
    'a_round_is_an_event', 'tables_round', 'stream_id,sequence', 'accounting_event', 'stream_id,sequence');
CALL make_orphans_refused('a_round_has_terms', 'tables_round', 'terms_id', 'tables_tableterms', 'id');
CALL make_orphans_refused(
    'a_payout_belongs_to_a_round', 'tables_payout', 'stream_id,sequence', 'tables_round', 'stream_id,sequence');
CALL make_orphans_refused('a_payout_is_from_a_level', 'tables_payout', 'level_id', 'jackpot_level', 'id');
"""

UNDO = """
ALTER TABLE tables_table
    DROP CONSTRAINT a_table_has_its_links_paytable_and_decks, DROP CONSTRAINT a_table_is_on_its_links_stream,
    DROP CONSTRAINT a_tables_game_fits_its_links_paytable;
ALTER TABLE tables_tableterms DROP CONSTRAINT terms_are_of_the_tables_game;
ALTER TABLE tables_tablepaytable
    DROP CONSTRAINT a_paytable_is_of_terms_with_game_and_seats, DROP CONSTRAINT a_wagers_edition_is_of_that_game_and_wager;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("tables", "0001_initial"),
        ("accounting", "0002_guards"),
        ("jackpot", "0002_guards"),
    ]

    operations = [migrations.RunSQL(GUARDS, UNDO)]
