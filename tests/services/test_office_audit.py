"""The audit trail as a chain: whatever is changed past the triggers is found, and named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import Q
from pytest_django import DjangoDbBlocker

from accounting import queries
from accounting.models import AuditHead, AuditRecord
from accounting.office.templatetags.office import said
from accounting.rules.chain import GENESIS, record_hash
from accounting.services import audit
from accounting.services.audit import check_audit_trail
from tests.services.fixtures import Databases
from tests.services.house import House, run

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)


@pytest.fixture
def trail(house: House) -> list[AuditRecord]:
    """What installing wrote, and three more."""
    for number in range(3):
        audit.record(
            at=AT, actor="ada", action="look", subject=f"S-{number}", origin="10.0.0.7",
            detail={"ü": [1, None, True, {"b": "x", "a": "\n"}]},
        )  # fmt: skip
    assert check_audit_trail() == []
    return list(AuditRecord.objects.order_by("id"))


def past_the_guards(statement: str, *values: Any) -> None:
    """What somebody does who owns the database."""
    run("SET LOCAL session_replication_role = replica")
    assert run(statement, *values)
    run("SET LOCAL session_replication_role = origin")


def found() -> str:
    """The one finding there is."""
    (finding,) = check_audit_trail()
    return finding


@pytest.mark.parametrize(
    "changed",
    [
        "actor = 'eve'", "action = 'open'", "subject = 'other'", "origin = ''", "detail = '{}'",
        "recorded_at = recorded_at + interval '1 microsecond'", "hash = sha256('x')",
    ],
)  # fmt: skip
def test_a_changed_record_is_named(changed: str, trail: list[AuditRecord]) -> None:
    past_the_guards(f"UPDATE accounting_auditrecord SET {changed} WHERE id = %s", trail[-2].pk)
    assert f"audit record {trail[-2].pk} " in found()
    assert "changed" in found()


def test_a_removed_record_is_missed_by_the_next(trail: list[AuditRecord]) -> None:
    past_the_guards("DELETE FROM accounting_auditrecord WHERE id = %s", trail[2].pk)
    assert f"audit record {trail[3].pk} " in found()
    assert "removed" in found()


def test_a_removed_beginning_is_missed(trail: list[AuditRecord]) -> None:
    past_the_guards("DELETE FROM accounting_auditrecord WHERE id = %s", trail[0].pk)
    assert f"audit record {trail[1].pk} " in found()


def test_two_records_in_each_others_place(trail: list[AuditRecord]) -> None:
    past_the_guards(
        "UPDATE accounting_auditrecord one SET subject = other.subject FROM accounting_auditrecord other"
        " WHERE one.id IN (%s, %s) AND other.id IN (%s, %s) AND one.id <> other.id",
        trail[-1].pk, trail[-2].pk, trail[-1].pk, trail[-2].pk,
    )  # fmt: skip
    assert f"audit record {trail[-2].pk} " in found()


def test_a_tail_that_was_cut_off_is_missed_by_the_head(trail: list[AuditRecord]) -> None:
    past_the_guards("DELETE FROM accounting_auditrecord WHERE id >= %s", trail[-2].pk)
    assert "its end was cut off" in found()


def test_an_appended_record_that_the_head_does_not_know(trail: list[AuditRecord]) -> None:
    previous = bytes(trail[-1].hash)
    hashed = record_hash(previous, recorded_at=AT, actor="eve", action="look", subject="s", origin="", detail={})
    past_the_guards(
        "INSERT INTO accounting_auditrecord (recorded_at, actor, action, subject, origin, detail, previous, hash)"
        " VALUES (%s, 'eve', 'look', 's', '', '{}', %s, %s)",
        AT, previous, hashed,
    )  # fmt: skip
    assert "the head was removed or changed" in found()


def test_a_head_that_was_removed_or_moved(trail: list[AuditRecord]) -> None:
    past_the_guards("UPDATE accounting_audithead SET hash = sha256('x')")
    assert f"audit record {trail[-1].pk} " in found()
    past_the_guards("DELETE FROM accounting_audithead")
    assert "has no head" in found()
    # Whoever writes next begins the head anew, and it shows.
    audit.record(at=AT, actor="ada", action="look", subject="after")
    assert "the head of the audit trail says" in found()


def test_a_detail_that_would_come_back_otherwise_is_not_recorded(house: House) -> None:
    for value in (0.5, "\0", [{"a": 1.0}], {"\0": 1}):
        with pytest.raises(TypeError):
            audit.record(at=AT, actor="ada", action="look", subject="s", detail={"x": value})


@pytest.mark.parametrize("at_once", [1, 2, 1_000])
def test_what_is_on_the_trail_is_read_in_its_order_and_from_a_moment_to_before_another(
    at_once: int, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "AUDIT_AT_ONCE", at_once)
    moments = [AT + timedelta(minutes=minutes) for minutes in range(4)]
    written = [(moments[minutes], action) for minutes, action in
               ((1, "look"), (2, "look"), (1, "print"), (2, "print"), (2, "look"), (3, "look"))]  # fmt: skip
    for number, (at, action) in enumerate(written):
        audit.record(at=at, actor="ada", action=action, subject=str(number))
    stirred_trail()
    for first in moments:
        for end in moments:
            for about, actions in ((Q(), ("look", "print")), (Q(action="print"), ("print",))):
                expected = [
                    str(number)
                    for number, (at, action) in enumerate(written)
                    if first <= at < end and action in actions
                ]
                assert [one.subject for one in queries.audit_between(first, end, about=about)] == expected
    of = [str(number) for number, (_, action) in enumerate(written) if action == "look"]
    assert [one.subject for one in queries.audit_of(["look", "nothing"])] == of
    assert [one.subject for one in queries.audit_records(limit=2)] == ["5", "4"]
    (third,) = queries.audit_records(subject="3")
    assert [one.subject for one in queries.audit_records(before=third.pk, limit=2)] == ["2", "1"]


def stirred_trail() -> None:
    """Let the rows of the trail lie in another order than they were written."""
    past_the_guards("UPDATE accounting_auditrecord SET actor = actor WHERE id %% 2 = %s", 0)
    for way in ("indexscan", "indexonlyscan", "bitmapscan"):
        run(f"SET LOCAL enable_{way} = off")


def test_what_was_written_before_the_chain_is_chained_by_the_migration(
    databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker
) -> None:
    with django_db_blocker.unblock():
        name = databases.create(like=migrated)
        with databases.entered(name):
            call_command("migrate", "office", "zero", verbosity=0)
            call_command("migrate", "accounting", "0002_guards", verbosity=0, skip_checks=True)
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO accounting_auditrecord (recorded_at, actor, action, subject, detail)"
                    " VALUES (%s, 'ada', 'look', %s, %s)",
                    [(AT, f"S-{number}", '{"b": [1, "é"], "a": null}') for number in range(3)],
                )
            call_command("migrate", verbosity=0)
            assert check_audit_trail() == []
            assert AuditHead.objects.get().records == AuditRecord.objects.count() == 3
            assert bytes(AuditRecord.objects.order_by("id")[0].previous) == GENESIS
            audit.record(at=AT, actor="ada", action="look", subject="after")
            assert check_audit_trail() == []
        databases.drop(name)


def test_a_record_is_told_without_what_its_row_shows_and_what_is_empty() -> None:
    detail = {"act": "hit.pay", "proposal": 7, "note": "", "until": None, "copies": 0, "by": "ann"}
    assert said(detail) == {"copies": 0, "by": "ann"}
