"""Attempts to get past what guards the tables of `tables`."""

from __future__ import annotations

from datetime import UTC, date, datetime

from jackpot import models as jackpot
from tables import models as tables
from tests.services.attempts.rows import (
    against,
    new_envy_end,
    new_envy_unclaimed,
    new_hold,
    new_payout,
    new_paytable,
    new_round,
    new_table,
    new_table_terms,
    new_voided_round,
    new_week_review,
    new_week_sheet,
    the_link,
    the_table,
)
from tests.services.house import (
    ALONE,
    LINKED,
    House,
    message,
    royal,
    run,
)


@against("a_table_has_its_links_paytable_and_decks")
def _table_with_other_decks(house: House) -> object:
    return new_table(decks=2)


@against("a_table_has_its_links_paytable_and_decks")
def _table_with_another_paytable(house: House) -> object:
    return new_table(link_paytable=the_link("twin").paytable)


@against("a_table_has_its_links_paytable_and_decks")
def _table_that_changes_decks(house: House) -> object:
    return tables.Table.objects.filter(code=LINKED).update(decks=2)


@against("a_table_has_its_links_paytable_and_decks")
def _link_that_changes_decks(house: House) -> object:
    return jackpot.Link.objects.filter(code="ms-mg01").update(decks=2)


@against("a_level_is_on_its_links_paytable")
def _link_that_changes_paytable(house: House) -> object:
    run("UPDATE tables_table SET link_id = NULL, link_paytable_id = NULL")
    return jackpot.Link.objects.filter(code="ms-mg01").update(paytable=the_link("twin").paytable)


@against("a_tables_game_fits_its_links_paytable")
def _game_that_does_not_fit(house: House) -> object:
    return new_table(game="mini-tex")


@against("a_tables_game_fits_its_links_paytable")
def _game_that_fits_only_the_other_link(house: House) -> object:
    twin = the_link("twin")
    return new_table(game="let-it-ride", link=twin, link_paytable=twin.paytable, stream=twin.stream)


@against("a_table_is_on_its_links_stream")
def _table_on_another_stream(house: House) -> object:
    return new_table(stream=the_link("twin").stream)


@against("a_table_is_on_its_links_stream")
def _table_that_changes_stream(house: House) -> object:
    return tables.Table.objects.filter(code=LINKED).update(stream=the_table(ALONE).stream)


@against("a_linked_table_carries_its_links_paytable")
def _link_without_paytable(house: House) -> object:
    return new_table(link_paytable=None)


@against("a_linked_table_carries_its_links_paytable")
def _paytable_without_link(house: House) -> object:
    return new_table(link=None)


@against("a_table_has_at_least_one_deck")
def _table_without_cards(house: House) -> object:
    return tables.Table.objects.filter(code=ALONE).update(decks=0)


@against("one_edition_of_a_table_is_in_force_at_a_time")
def _overlapping_table_terms(house: House) -> object:
    return new_table_terms(in_force=(datetime(2026, 11, 20, tzinfo=UTC), None))


@against("a_table_has_seats")
def _table_without_seats(house: House) -> object:
    return new_table_terms(seats=0)


@against("a_minimum_is_positive_and_not_above_the_maximum")
def _minimum_above_maximum(house: House) -> object:
    return new_table_terms(minimum_cents=3)


@against("a_minimum_is_positive_and_not_above_the_maximum")
def _free_ante(house: House) -> object:
    return new_table_terms(minimum_cents=0)


@against("terms_only_end")
def _minimum_changed_in_place(house: House) -> object:
    return tables.TableTerms.objects.filter(table__code=LINKED).update(minimum_cents=1)


@against("terms_only_end")
def _table_terms_removed(house: House) -> object:
    run("ALTER TABLE tables_tablepaytable DISABLE TRIGGER append_only")
    tables.TablePaytable.objects.all().delete()
    return tables.TableTerms.objects.all().delete()


@against("terms_are_of_the_tables_game")
def _terms_of_another_game(house: House) -> object:
    return new_table_terms(game="red-dog")


@against("a_paytable_is_of_terms_with_game_and_seats")
def _paytable_with_other_seats(house: House) -> object:
    return new_paytable(seats=5)


@against("a_wagers_edition_is_of_that_game_and_wager")
def _bonus_edition_for_the_base(house: House) -> object:
    return new_paytable(edition=tables.WagerEdition.objects.get(code="3cs-01"))


@against("a_wager_pays_by_one_edition")
def _two_base_editions(house: House) -> object:
    base = new_paytable()
    return tables.TablePaytable.objects.create(
        terms=base.terms, game=base.game, seats=base.seats, wager="base", edition=base.edition
    )


@against("a_cover_all_table_has_six_seats_at_most")
def _cover_all_with_seven_seats(house: House) -> object:
    terms = new_table_terms(seats=7)
    return tables.TablePaytable.objects.create(
        terms=terms, game=terms.game, seats=7, wager="cover_all",
        edition=tables.WagerEdition.objects.get(code="ms-cover-all"),
    )  # fmt: skip


@against("a_message_is_settled_once")
def _settled_twice(house: House) -> object:
    house.play(message("R-1"))
    return new_round(message_id=tables.Round.objects.get().message_id)


@against("a_round_is_settled_or_void")
def _round_held(house: House) -> object:
    return new_round(outcome="held")


@against("a_round_is_an_event")
def _round_without_event(house: House) -> object:
    return new_round(sequence=4711)


@against("a_round_has_terms")
def _round_without_terms(house: House) -> object:
    return new_round(terms_id=999_999)


@against("a_round_is_a_message")
def _round_without_message(house: House) -> object:
    return new_round(message_id=999_999)


@against("a_table_is_open_or_closed")
def _table_ajar(house: House) -> object:
    return run("UPDATE tables_table SET state = 'ajar'")


@against("a_payout_is_of_a_known_kind")
def _payout_of_another_kind(house: House) -> object:
    return new_payout(kind="gift")


@against("a_hold_names_its_rules_edition")
def _held_under_no_rules(house: House) -> object:
    return new_hold(rules=0)


@against("a_hold_is_for_reasons_of_the_list")
def _held_for_no_known_reason(house: House) -> object:
    return new_hold(reasons=["whim"])


@against("a_hold_has_a_reason")
def _held_for_nothing(house: House) -> object:
    return new_hold(reasons=[])


@against("a_hold_is_a_message")
def _hold_without_message(house: House) -> object:
    return new_hold(message_id=999_999)


@against("a_payout_is_positive")
def _payout_of_nothing(house: House) -> object:
    return new_payout(cents=0)


@against("a_payout_belongs_to_a_round")
def _payout_without_round(house: House) -> object:
    return new_payout(sequence=4711)


@against("a_payout_is_from_a_level")
def _payout_from_no_level(house: House) -> object:
    return new_payout(level_id=999_999)


@against("a_round_that_is_voided_is_there")
def _void_of_a_round_that_never_was(house: House) -> object:
    house.play(royal("R-1"))
    return new_voided_round(sequence=0)


@against("a_round_is_voided_by_an_event")
def _void_by_nothing(house: House) -> object:
    house.play(royal("R-1"))
    return new_voided_round(event=4711)


@against("owed_envy_is_paid_cancelled_or_remitted")
def _envy_that_is_lost(house: House) -> object:
    house.play(royal("R-1"))
    return new_envy_end(state="lost")


@against("envy_that_ends_was_a_payout")
def _end_of_no_payout(house: House) -> object:
    house.play(royal("R-1"))
    return new_envy_end(line=99)


@against("unclaimed_envy_was_a_payout")
def _unclaimed_without_a_payout(house: House) -> object:
    house.play(royal("R-1"))
    return new_envy_unclaimed(line=99)


@against("envy_is_unclaimed_by_an_event")
def _unclaimed_by_nothing(house: House) -> object:
    house.play(royal("R-1"))
    return new_envy_unclaimed(event=4711)


@against("envy_ends_by_an_event")
def _envy_that_ends_by_nothing(house: House) -> object:
    house.play(royal("R-1"))
    return new_envy_end(event=4711)


@against("a_week_begins_on_a_monday")
def _week_from_a_tuesday(house: House) -> object:
    return new_week_sheet(first=date(2026, 11, 24))


@against("a_sheet_has_its_digest")
def _sheet_under_another_digest(house: House) -> object:
    return new_week_sheet(digest=bytes(32))


@against("one_signs_a_week_once")
def _two_signatures_of_one(house: House) -> object:
    sheet = new_week_sheet()
    new_week_review(sheet=sheet)
    return new_week_review(sheet=sheet)


@against("who_signs_a_week_says_something")
def _signature_without_a_word(house: House) -> object:
    return new_week_review(sheet=new_week_sheet(), note="")
