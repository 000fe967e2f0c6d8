"""Every named constraint and trigger of the schema, each by somebody who tries to get past it (ARCHITECTURE §4)."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

import tests.services.attempts  # noqa: F401  (enters every attempt)
from tests.services.attempts.bounds import WITHIN
from tests.services.attempts.rows import ATTEMPTS, Attempt
from tests.services.house import (
    TWIN,
    House,
    refused_by,
    rows,
    royal,
    run,
)

# Unique only so that composite foreign keys can name them: each holds the primary key, so nothing can break it.
TARGETS = {
    "a_link_has_one_paytable_and_decks",
    "a_link_has_one_paytable",
    "a_link_has_one_stream",
    "a_table_deals_one_game",
    "an_edition_is_of_one_game_and_wager",
    "terms_are_of_one_game_and_seats",
}


@pytest.mark.parametrize(
    ("rule", "attempt"),
    [(rule, attempt) for rule, attempts in ATTEMPTS.items() for attempt in attempts],
    ids=lambda each: each if isinstance(each, str) else each.__name__.strip("_"),
)
def test_the_database_refuses(rule: str, attempt: Attempt, house: House) -> None:
    with refused_by(rule):
        attempt(house)


@pytest.mark.parametrize("within", WITHIN)
def test_the_database_takes_what_stands_at_the_very_bound(within: Attempt, house: House) -> None:
    assert within(house)


def test_a_guard_that_another_took_the_place_of_guards_as_before_when_that_is_taken_back(house: House) -> None:
    migration = import_module("jackpot.migrations.0005_terms_ahead")
    run(migration.ONLY_END)
    for change in ("UPDATE jackpot_levelterms SET rate_ppm = rate_ppm + 1", "DELETE FROM jackpot_levelterms"):
        with refused_by("terms_only_end"):
            run(change)
    run(import_module("accounting.slips.migrations.0003_who_won_is_let_go").UNDO)
    for change in ('UPDATE slips_particulars SET "by" = "by"', "DELETE FROM slips_particulars"):
        with refused_by("append_only"):
            run(change)


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
                AND split_part(relname, '_', 1) IN ('accounting', 'office', 'jackpot', 'tables', 'devices', 'slips')
                AND NOT starts_with(constraint_name, relname)
                AND constraint_name !~ '^(accounting|office|jackpot|tables|devices|slips)_.*_(fk_.*|uniq|like)$'
        """)
    }
    assert named - TARGETS - {"append_only", "append_only_truncate"} == set(ATTEMPTS)
    assert named >= TARGETS


def test_the_schema_has_every_rule_that_the_models_state() -> None:
    """Migrations made it: each bound, each list and each name in them is the models', so none would be made anew."""
    loader = MigrationLoader(None)
    detector = MigrationAutodetector(loader.project_state(), ProjectState.from_apps(apps))
    changes = detector.changes(graph=loader.graph)
    assert {app: [each.operations for each in found] for app, found in changes.items()} == {}


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
