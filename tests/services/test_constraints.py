"""Every named constraint and trigger of the schema, each by somebody who tries to get past it (ARCHITECTURE §4)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounting import models as accounting
from devices import models as devices
from jackpot import models as jackpot
from tables import models as tables
from tests.services.house import (
    ALONE,
    DEALT,
    LINKED,
    OPENED,
    RECEIVED,
    TWIN,
    House,
    message,
    refused_by,
    rows,
    royal,
    run,
)

DAY = date(2026, 11, 27)
DIGEST = bytes(32)
ATTEMPTS: dict[str, list[Callable[[House], object]]] = {}

Attempt = Callable[[House], object]


def against(rule: str) -> Callable[[Attempt], Attempt]:
    """Name the rule that an attempt must fail at."""

    def entered(attempt: Attempt) -> Attempt:
        ATTEMPTS.setdefault(rule, []).append(attempt)
        return attempt

    return entered


# Unique only so that composite foreign keys can name them: each holds the primary key, so nothing can break it.
TARGETS = {
    "a_link_has_one_paytable_and_decks",
    "a_link_has_one_paytable",
    "a_link_has_one_stream",
    "a_table_deals_one_game",
    "an_edition_is_of_one_game_and_wager",
    "terms_are_of_one_game_and_seats",
}


def _stream() -> accounting.Stream:
    return accounting.Stream.objects.get(code="ms-mg01")


def _link(code: str = "ms-mg01") -> jackpot.Link:
    return jackpot.Link.objects.get(code=code)


def _level(code: str = "major") -> jackpot.Level:
    return jackpot.Level.objects.get(code=code)


def _table(code: str) -> tables.Table:
    return tables.Table.objects.get(code=code)


def _terms(code: str) -> tables.TableTerms:
    return tables.TableTerms.objects.get(table__code=code)


def _event(**changes: Any) -> accounting.Event:
    stream = _stream()
    values: dict[str, Any] = {
        "stream": stream, "sequence": stream.next_sequence, "kind": "round", "subject": "x", "gaming_date": DAY,
        "recorded_at": RECEIVED, "message_digest": DIGEST, "result_digest": DIGEST, "previous": DIGEST, "hash": DIGEST,
    }  # fmt: skip
    return accounting.Event.objects.create(**values | changes)


def _transfer(**changes: Any) -> accounting.Transfer:
    accounts = {account.code: account for account in accounting.Account.objects.all()}
    values: dict[str, Any] = {
        "stream": _stream(), "sequence": 0, "line": 99, "debit": accounts["cage"], "credit": accounts["wagers"],
        "amount_cents": 1, "reason": "wager",
    }  # fmt: skip
    return accounting.Transfer.objects.create(**values | changes)


def _hit(**changes: Any) -> jackpot.Hit:
    values: dict[str, Any] = {
        "link": _link(), "number": 99, "level": _level(), "sequence": 1, "order": 9, "table": LINKED, "round": "x",
        "seat": 1, "hand": "royal_flush", "share_ppm": 1_000_000, "meter_before_cents": 1, "paid_cents": 1,
        "meter_after_cents": 1, "dealt_at": DEALT, "detected_at": DEALT,
    }  # fmt: skip
    return jackpot.Hit.objects.create(**values | changes)


def _new_link(**changes: Any) -> jackpot.Link:
    stream = accounting.Stream.objects.create(code="another", head=DIGEST)
    values: dict[str, Any] = {
        "code": "another", "name": "Another", "paytable": _link("ms-mg01").paytable, "decks": 1, "stream": stream,
        "opened_at": OPENED,
    }  # fmt: skip
    return jackpot.Link.objects.create(**values | changes)


def _level_terms(**changes: Any) -> jackpot.LevelTerms:
    jackpot.LevelTerms.objects.filter(level=_level()).update(in_force=(OPENED, DEALT))
    values: dict[str, Any] = {"level": _level(), "in_force": (DEALT, None), "reset_cents": 1000, "rate_ppm": 1}
    values |= {"hit_numerator": 1, "hit_denominator": 100_000_000}
    return jackpot.LevelTerms.objects.create(**values | changes)


def _new_table(**changes: Any) -> tables.Table:
    link = _link()
    values: dict[str, Any] = {
        "code": "NEW-1", "game": "mississippi-stud", "decks": 1, "link": link, "link_paytable": link.paytable,
        "stream": link.stream, "opened_at": OPENED,
    }  # fmt: skip
    return tables.Table.objects.create(**values | changes)


def _table_terms(**changes: Any) -> tables.TableTerms:
    table = _table(LINKED)
    tables.TableTerms.objects.filter(table=table).update(in_force=(OPENED, DEALT))
    values: dict[str, Any] = {
        "table": table, "game": table.game, "in_force": (DEALT, None), "seats": 6, "minimum_cents": 1,
        "maximum_cents": 2,
    }  # fmt: skip
    return tables.TableTerms.objects.create(**values | changes)


def _paytable(**changes: Any) -> tables.TablePaytable:
    terms = _table_terms()
    values: dict[str, Any] = {
        "terms": terms, "game": terms.game, "seats": terms.seats, "wager": "base",
        "edition": tables.WagerEdition.objects.get(code="ms-base"),
    }  # fmt: skip
    return tables.TablePaytable.objects.create(**values | changes)


def _message(**changes: Any) -> devices.Message:
    values: dict[str, Any] = {
        "stream": _stream(), "table": _table(LINKED), "reference": "by hand", "received_at": RECEIVED, "raw": b"{}",
        "digest": DIGEST,
    }  # fmt: skip
    return devices.Message.objects.create(**values | changes)


def _round(**changes: Any) -> tables.Round:
    event = _event()
    values: dict[str, Any] = {
        "stream": event.stream, "sequence": event.sequence, "message_id": _message().pk, "table": _table(LINKED),
        "terms": _terms(LINKED), "reference": "by hand", "outcome": "settled", "dealt_at": DEALT, "settlement": b"{}",
    }  # fmt: skip
    return tables.Round.objects.create(**values | changes)


def _payout(**changes: Any) -> tables.Payout:
    round = _round()
    values: dict[str, Any] = {
        "stream": round.stream, "sequence": round.sequence, "line": 1, "table": round.table, "seat": 1, "kind": "base",
        "wager": "ante", "hand": "pair", "cents": 1, "dealt_at": DEALT,
    }  # fmt: skip
    return tables.Payout.objects.create(**values | changes)


def _hold(**changes: Any) -> tables.Hold:
    values: dict[str, Any] = {
        "table": _table(LINKED), "reference": "by hand", "reasons": ["duplicate_card"], "settlement": b"{}",
        "dealt_at": DEALT, "held_at": RECEIVED,
    }  # fmt: skip
    if "message_id" not in changes:
        values["message_id"] = _message().pk
    return tables.Hold.objects.create(**values | changes)


def _edition(**changes: Any) -> jackpot.ProgressiveEdition:
    values: dict[str, Any] = {
        "code": "other", "wager_cents": 100, "definition": {}, "digest": DIGEST, "published_at": OPENED,
    }  # fmt: skip
    return jackpot.ProgressiveEdition.objects.create(**values | changes)


# ── accounting ──────────────────────────────────────────────────────────────────────────────────────────────────
@against("a_service_serves_one_property")
def _second_property(house: House) -> object:
    return run('UPDATE accounting_property SET "only" = false')


@against("a_stream_counts_from_one")
def _stream_at_nought(house: House) -> object:
    return accounting.Stream.objects.create(code="s", head=DIGEST, next_sequence=0)


@against("an_event_is_numbered_from_the_opening")
def _event_before_the_opening(house: House) -> object:
    # PostgreSQL names the first check in the order of names; a negative opening breaks this one alone.
    run("ALTER TABLE accounting_event DROP CONSTRAINT only_an_opening_is_number_zero")
    return _event(sequence=-1)


@against("only_an_opening_is_number_zero")
def _second_opening(house: House) -> object:
    return _event(kind="opened")


@against("only_an_opening_is_number_zero")
def _round_number_nought(house: House) -> object:
    stream = accounting.Stream.objects.create(code="s", head=DIGEST)
    return _event(stream=stream, sequence=0)


@against("an_event_is_on_a_stream")
def _event_on_no_stream(house: House) -> object:
    return _event(stream_id=999_999)


@against("an_owner_has_one_account_of_a_kind")
def _second_cage(house: House) -> object:
    return accounting.Account.objects.create(code="cage 2", kind="cage")


@against("transfer_amount_is_positive")
def _nothing_moved(house: House) -> object:
    return _transfer(amount_cents=0)


@against("transfer_amount_is_positive")
def _moved_backwards(house: House) -> object:
    return _transfer(amount_cents=-5)


@against("transfer_moves_between_two_accounts")
def _to_itself(house: House) -> object:
    cage = accounting.Account.objects.get(code="cage")
    return _transfer(debit=cage, credit=cage)


@against("a_transfer_belongs_to_an_event")
def _transfer_of_no_event(house: House) -> object:
    return _transfer(sequence=4711)


@against("a_transfer_debits_an_account")
def _debit_of_nobody(house: House) -> object:
    return _transfer(debit_id=999_999)


@against("a_transfer_credits_an_account")
def _credit_to_nobody(house: House) -> object:
    return _transfer(credit_id=999_999)


@against("totals_only_grow_from_zero")
def _negative_total(house: House) -> object:
    return run("UPDATE accounting_total SET debit_cents = -1")


# ── jackpot ─────────────────────────────────────────────────────────────────────────────────────────────────────
@against("a_hit_number_is_used_once")
def _hit_number_again(house: House) -> object:
    _hit()
    return _hit(sequence=2)


@against("an_award_is_one_hit")
def _award_twice(house: House) -> object:
    _hit()
    return _hit(number=100)


@against("a_share_is_part_of_the_level")
def _more_than_everything(house: House) -> object:
    return _hit(share_ppm=1_000_001)


@against("a_share_is_part_of_the_level")
def _share_of_nothing(house: House) -> object:
    return _hit(share_ppm=0)


@against("an_award_is_not_negative")
def _player_pays(house: House) -> object:
    return _hit(paid_cents=-1)


@against("a_hit_takes_each_step_once")
def _verified_twice(house: House) -> object:
    step = {"hit": _hit(), "state": "verified", "at": DEALT, "by": "somebody"}
    jackpot.HitStep.objects.create(**step)
    return jackpot.HitStep.objects.create(**step)


@against("a_link_has_one_to_eight_decks")
def _nine_decks(house: House) -> object:
    return _new_link(decks=9)


@against("a_link_has_one_to_eight_decks")
def _no_decks(house: House) -> object:
    return _new_link(decks=0)


@against("envy_is_paid_at_the_same_table")
def _envy_everywhere(house: House) -> object:
    return _new_link(envy_scope="link")


@against("simultaneous_hits_are_sequential")
def _split_ties(house: House) -> object:
    return _new_link(tie_policy="split")


@against("hits_are_numbered_from_one")
def _hit_number_nought(house: House) -> object:
    return _new_link(next_hit=0)


@against("a_link_has_every_level_its_paytable_pays_from")
def _link_without_level(house: House) -> object:
    return _new_link()


@against("a_link_has_every_level_its_paytable_pays_from")
def _level_without_meter(house: House) -> object:
    link = _new_link()
    return jackpot.Level.objects.create(link=link, paytable=link.paytable, code="major")


@against("a_level_is_on_its_links_paytable")
def _level_of_another_paytable(house: House) -> object:
    return jackpot.Level.objects.create(link=_link(), paytable=_link("twin").paytable, code="grand")


@against("a_level_is_one_the_paytable_pays_from")
def _level_nobody_pays_from(house: House) -> object:
    return jackpot.Level.objects.create(link=_link(), paytable=_link().paytable, code="mystery")


@against("a_link_has_a_level_once")
def _level_twice(house: House) -> object:
    return jackpot.Level.objects.create(link=_link(), paytable=_link().paytable, code="major")


@against("one_edition_of_a_level_is_in_force_at_a_time")
def _overlapping_level_terms(house: House) -> object:
    return _level_terms(in_force=(datetime(2026, 11, 20, tzinfo=UTC), None))


@against("a_level_is_hit_once_in_a_hundred_million_at_least")
def _jackpot_nobody_hits(house: House) -> object:
    return _level_terms(hit_denominator=100_000_001)


@against("a_level_is_hit_once_in_a_hundred_million_at_least")
def _jackpot_beyond_certain(house: House) -> object:
    return _level_terms(hit_numerator=2, hit_denominator=1)


@against("a_reset_is_not_negative")
def _negative_reset(house: House) -> object:
    return _level_terms(reset_cents=-1)


@against("rates_are_shares_of_the_wager")
def _more_than_the_wager(house: House) -> object:
    return _level_terms(rate_ppm=600_000, reserve_ppm=400_001)


@against("rates_are_shares_of_the_wager")
def _negative_reserve(house: House) -> object:
    return _level_terms(reserve_ppm=-1)


@against("a_limit_is_not_below_the_reset")
def _limit_below_reset(house: House) -> object:
    return _level_terms(limit_cents=999)


@against("an_unreasonable_contribution_is_not_negative")
def _nothing_is_unreasonable(house: House) -> object:
    return _level_terms(unreasonable_cents=-1)


@against("overflow_joins_the_reset_or_is_revenue")
def _overflow_vanishes(house: House) -> object:
    return _level_terms(overflow_policy="vanish")


@against("a_seed_comes_from_the_house_or_the_reserve_first")
def _seed_from_heaven(house: House) -> object:
    return _level_terms(seed_funding="heaven")


@against("below_the_reset_is_allowed_or_topped_up")
def _floor_is_lava(house: House) -> object:
    return _level_terms(floor_policy="lava")


@against("a_meter_is_not_negative")
def _negative_meter(house: House) -> object:
    return jackpot.Meter.objects.update(overflow_cents=-1)


@against("a_residual_is_a_fraction_of_a_cent")
def _whole_cent_as_fraction(house: House) -> object:
    return jackpot.Meter.objects.update(reserve_residual_millionths=1_000_000)


@against("lifetime_meters_are_not_negative")
def _fewer_hits_than_none(house: House) -> object:
    return jackpot.Meter.objects.update(hits=-1)


@against("a_progressive_wager_is_positive")
def _free_wager(house: House) -> object:
    return _edition(wager_cents=0)


@against("a_game_fits_an_edition_once")
def _game_twice(house: House) -> object:
    return jackpot.ProgressiveGame.objects.create(edition=_link().paytable, game="mississippi-stud")


@against("an_edition_names_a_level_once")
def _edition_level_twice(house: House) -> object:
    return jackpot.ProgressiveLevel.objects.create(edition=_link().paytable, code="major")


@against("terms_only_end")
def _rate_changed_in_place(house: House) -> object:
    return jackpot.LevelTerms.objects.filter(level=_level()).update(rate_ppm=1)


@against("terms_only_end")
def _begun_earlier(house: House) -> object:
    return jackpot.LevelTerms.objects.filter(level=_level()).update(in_force=(datetime(2020, 1, 1, tzinfo=UTC), None))


@against("terms_only_end")
def _end_moved(house: House) -> object:
    jackpot.LevelTerms.objects.filter(level=_level()).update(in_force=(OPENED, DEALT))
    return jackpot.LevelTerms.objects.filter(level=_level()).update(in_force=(OPENED, RECEIVED))


@against("terms_only_end")
def _level_terms_removed(house: House) -> object:
    return jackpot.LevelTerms.objects.all().delete()


@against("a_meter_stays")
def _meter_removed(house: House) -> object:
    return jackpot.Meter.objects.all().delete()


@against("a_meter_stays")
def _meters_truncated(house: House) -> object:
    return run("TRUNCATE jackpot_meter")


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────────
@against("a_table_has_its_links_paytable_and_decks")
def _table_with_other_decks(house: House) -> object:
    return _new_table(decks=2)


@against("a_table_has_its_links_paytable_and_decks")
def _table_with_another_paytable(house: House) -> object:
    return _new_table(link_paytable=_link("twin").paytable)


@against("a_table_has_its_links_paytable_and_decks")
def _table_that_changes_decks(house: House) -> object:
    return tables.Table.objects.filter(code=LINKED).update(decks=2)


@against("a_table_has_its_links_paytable_and_decks")
def _link_that_changes_decks(house: House) -> object:
    return jackpot.Link.objects.filter(code="ms-mg01").update(decks=2)


@against("a_level_is_on_its_links_paytable")
def _link_that_changes_paytable(house: House) -> object:
    run("UPDATE tables_table SET link_id = NULL, link_paytable_id = NULL")
    return jackpot.Link.objects.filter(code="ms-mg01").update(paytable=_link("twin").paytable)


@against("a_tables_game_fits_its_links_paytable")
def _game_that_does_not_fit(house: House) -> object:
    return _new_table(game="mini-tex")


@against("a_tables_game_fits_its_links_paytable")
def _game_that_fits_only_the_other_link(house: House) -> object:
    twin = _link("twin")
    return _new_table(game="let-it-ride", link=twin, link_paytable=twin.paytable, stream=twin.stream)


@against("a_table_is_on_its_links_stream")
def _table_on_another_stream(house: House) -> object:
    return _new_table(stream=_link("twin").stream)


@against("a_table_is_on_its_links_stream")
def _table_that_changes_stream(house: House) -> object:
    return tables.Table.objects.filter(code=LINKED).update(stream=_table(ALONE).stream)


@against("a_linked_table_carries_its_links_paytable")
def _link_without_paytable(house: House) -> object:
    return _new_table(link_paytable=None)


@against("a_linked_table_carries_its_links_paytable")
def _paytable_without_link(house: House) -> object:
    return _new_table(link=None)


@against("a_table_has_at_least_one_deck")
def _table_without_cards(house: House) -> object:
    return tables.Table.objects.filter(code=ALONE).update(decks=0)


@against("one_edition_of_a_table_is_in_force_at_a_time")
def _overlapping_table_terms(house: House) -> object:
    return _table_terms(in_force=(datetime(2026, 11, 20, tzinfo=UTC), None))


@against("a_table_has_seats")
def _table_without_seats(house: House) -> object:
    return _table_terms(seats=0)


@against("a_minimum_is_positive_and_not_above_the_maximum")
def _minimum_above_maximum(house: House) -> object:
    return _table_terms(minimum_cents=3)


@against("a_minimum_is_positive_and_not_above_the_maximum")
def _free_ante(house: House) -> object:
    return _table_terms(minimum_cents=0)


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
    return _table_terms(game="red-dog")


@against("a_paytable_is_of_terms_with_game_and_seats")
def _paytable_with_other_seats(house: House) -> object:
    return _paytable(seats=5)


@against("a_wagers_edition_is_of_that_game_and_wager")
def _bonus_edition_for_the_base(house: House) -> object:
    return _paytable(edition=tables.WagerEdition.objects.get(code="3cs-01"))


@against("a_wager_pays_by_one_edition")
def _two_base_editions(house: House) -> object:
    base = _paytable()
    return tables.TablePaytable.objects.create(
        terms=base.terms, game=base.game, seats=base.seats, wager="base", edition=base.edition
    )


@against("a_cover_all_table_has_six_seats_at_most")
def _cover_all_with_seven_seats(house: House) -> object:
    terms = _table_terms(seats=7)
    return tables.TablePaytable.objects.create(
        terms=terms, game=terms.game, seats=7, wager="cover_all",
        edition=tables.WagerEdition.objects.get(code="ms-cover-all"),
    )  # fmt: skip


@against("a_message_is_settled_once")
def _settled_twice(house: House) -> object:
    house.play(message("R-1"))
    return _round(message_id=tables.Round.objects.get().message_id)


@against("a_round_is_settled_or_void")
def _round_held(house: House) -> object:
    return _round(outcome="held")


@against("a_round_is_an_event")
def _round_without_event(house: House) -> object:
    return _round(sequence=4711)


@against("a_round_has_terms")
def _round_without_terms(house: House) -> object:
    return _round(terms_id=999_999)


@against("a_round_is_a_message")
def _round_without_message(house: House) -> object:
    return _round(message_id=999_999)


@against("a_hold_has_a_reason")
def _held_for_nothing(house: House) -> object:
    return _hold(reasons=[])


@against("a_hold_is_a_message")
def _hold_without_message(house: House) -> object:
    return _hold(message_id=999_999)


@against("a_payout_is_positive")
def _payout_of_nothing(house: House) -> object:
    return _payout(cents=0)


@against("a_payout_belongs_to_a_round")
def _payout_without_round(house: House) -> object:
    return _payout(sequence=4711)


@against("a_payout_is_from_a_level")
def _payout_from_no_level(house: House) -> object:
    return _payout(level_id=999_999)


# ── devices ─────────────────────────────────────────────────────────────────────────────────────────────────────
@against("a_message_is_a_lock_or_a_result")
def _message_of_another_kind(house: House) -> object:
    return _message(kind="letter")


@against("a_message_is_on_a_stream")
def _message_on_no_stream(house: House) -> object:
    return _message(stream_id=999_999)


@against("a_message_is_from_a_table")
def _message_from_no_table(house: House) -> object:
    return _message(table_id=999_999)


@pytest.mark.parametrize(
    ("rule", "attempt"),
    [(rule, attempt) for rule, attempts in ATTEMPTS.items() for attempt in attempts],
    ids=lambda each: each if isinstance(each, str) else each.__name__.strip("_"),
)
def test_the_database_refuses(rule: str, attempt: Attempt, house: House) -> None:
    with refused_by(rule):
        attempt(house)


def test_every_named_rule_of_the_schema_is_tried(house: House) -> None:
    named = {
        name
        for (name,) in rows("""
            SELECT constraint_name FROM (
                SELECT conname::text AS constraint_name, conrelid AS relation FROM pg_constraint WHERE contype <> 'n'
                UNION SELECT tgname::text, tgrelid FROM pg_trigger WHERE NOT tgisinternal
                UNION SELECT relname::text, indrelid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
                    WHERE indisunique
            ) rules JOIN pg_class ON pg_class.oid = relation
            WHERE relnamespace = 'public'::regnamespace
                AND split_part(relname, '_', 1) IN ('accounting', 'jackpot', 'tables', 'devices')
                AND NOT starts_with(constraint_name, relname)
                AND constraint_name !~ '^(accounting|jackpot|tables|devices)_.*_(fk_.*|uniq|like)$'
        """)
    }
    assert named - TARGETS - {"append_only", "append_only_truncate"} == set(ATTEMPTS)
    assert named >= TARGETS


def test_there_is_one_property(house: House) -> None:
    for changes in ('{"id": 99, "code": "X"}', '{"id": 99}'):
        with pytest.raises(IntegrityError, match="duplicate key value"), transaction.atomic():
            run(
                "INSERT INTO accounting_property SELECT (jsonb_populate_record(home, %s)).* FROM accounting_property home",
                changes,
            )


@pytest.mark.parametrize(
    "removed",
    [
        "DELETE FROM jackpot_level",
        "DELETE FROM jackpot_link",
        "DELETE FROM accounting_stream",
        "DELETE FROM tables_table",
    ],
)
def test_what_rounds_were_settled_under_cannot_be_removed(removed: str, house: House) -> None:
    """Terms, tables, links and streams stay for ever: rounds name them (ARCHITECTURE §4.9)."""
    house.play(royal("R-1"), royal("R-2", table=TWIN))
    with pytest.raises(IntegrityError):
        run(removed)
        run("SET CONSTRAINTS ALL IMMEDIATE")
