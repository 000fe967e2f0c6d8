"""What is kept, for how long, and that it is refused to go earlier (R100, R75, R81)."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from axes.models import AccessLog
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from accounting.keeping import queries
from accounting.keeping.services import cleaning
from accounting.keeping.tasks import clean
from accounting.office.models import Job
from accounting.office.services import proposals
from accounting.people.models import Session
from accounting.rules.retention import EMPTIED, NEVER, REMOVED, kinds
from accounting.rules.roles import ACCOUNTING, AUDITOR
from tests.pages.conftest import person, text_of
from tests.services.desk import ANYBODY
from tests.services.house import House, refused_by, rows, royal, run, value

PRIVILEGES = Path(__file__).parents[2] / "jackpot" / "config" / "database_roles" / "privileges.toml"


def test_every_table_stands_under_one_kind(house: House) -> None:
    tables = [table for kind in kinds().values() for table in kind.tables]
    assert sorted(tables) == sorted(set(tables)), "a table has one term"
    there = {
        name
        for (name,) in rows(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
        )
    }
    assert set(tables) == there, "put every table under a kind of accounting/terms/retention.toml"


def test_nothing_of_the_record_may_be_deleted_by_the_service() -> None:
    """Beside the triggers: who works has no right to it."""
    changed = tomllib.loads(PRIVILEGES.read_text("utf-8"))["changed"]
    may_delete = {table for table, row in changed.items() if "DELETE" in row["may"]}
    kept = {table for kind in kinds().values() if kind.ends in (NEVER, EMPTIED) for table in kind.tables}
    assert may_delete & kept == set()
    assert may_delete >= set(kinds()["sign_ins"].tables)


def test_triggers_have_the_terms_of_the_file(house: House) -> None:
    for kind in kinds().values():
        if kind.ends not in (REMOVED, EMPTIED):
            continue
        (term,) = [
            bytes(arguments).rstrip(b"\0").decode()
            for (arguments,) in rows("SELECT tgargs FROM pg_trigger WHERE tgname = %s", kind.guard)
        ]
        edition = kind.in_force(datetime.now(UTC).date())
        assert edition is not None
        asked = value("SELECT %s::interval = make_interval(years => %s, days => %s)", term, edition.years, edition.days)
        assert asked, f"{kind.guard} keeps for {term}, the file says {edition.words}"


def signed_in_at(at: datetime) -> AccessLog:
    record = AccessLog.objects.create(username="maria", ip_address="10.0.0.7")
    AccessLog.objects.filter(pk=record.pk).update(attempt_time=at)  # it is dated when it is made
    return record


def test_sign_ins_go_after_their_term_and_not_before(house: House) -> None:
    now = datetime.now(UTC)
    young, old = signed_in_at(now - timedelta(days=364)), signed_in_at(now - timedelta(days=368))
    assert signed_in_at(value("SELECT now() - interval '1 year'")).delete(), "just over"
    with refused_by("sign_ins_are_kept_for_their_term"):
        young.delete()
    with refused_by("sign_ins_are_kept_for_their_term"):
        run("DELETE FROM axes_accesslog")
    with refused_by("sign_ins_are_not_truncated"):
        run("TRUNCATE axes_accesslog")
    assert AccessLog.objects.count() == 2
    assert cleaning.clean(now)["sign_ins"] == 1
    assert list(AccessLog.objects.values_list("pk", flat=True)) == [young.pk] != [old.pk]


def test_the_cleaner_takes_what_passed_its_term_alone(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    now = datetime.now(UTC)
    person("maria", AUDITOR)
    for days in (10, 80, 92, 400):
        ended = now - timedelta(days=days)
        Job.objects.create(kind="verify", by="a", asked_at=ended, state="done", finished_at=ended, result={"ok": True})
    for key, ends in (("over", now - timedelta(minutes=1)), ("on", now + timedelta(hours=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=ends, person=User.objects.get())
    house.play(royal("R-1"))
    before = {table: value(f"SELECT count(*) FROM {table}") for table in kinds()["progressive"].tables}
    assert clean() == {"job_results": 2, "sign_ins": 0, "sessions": 1, "winners": 0}
    assert clean() == {"job_results": 0, "sign_ins": 0, "sessions": 0, "winners": 0}
    assert Job.objects.count() == 4, "that they ran stays"
    assert [key for (key,) in rows("SELECT session_key FROM people_session")] == ["on"]
    assert before == {table: value(f"SELECT count(*) FROM {table}") for table in before}
    call_command("retention", clean=True)
    assert "job results: 0 removed" in capsys.readouterr().out


def test_a_table_of_the_same_name_elsewhere_in_the_database_is_not_the_house_s(house: House) -> None:
    before = queries.overview(datetime.now(UTC))
    (free, *_) = (table for held in before for table in held.unguarded)
    run("CREATE SCHEMA elsewhere")
    run(f"CREATE TABLE elsewhere.{free} (id int)")
    run(f"CREATE TRIGGER never BEFORE DELETE ON elsewhere.{free} EXECUTE FUNCTION refuse_change('never')")
    after = queries.overview(datetime.now(UTC))
    assert [(held.unguarded, held.guards) for held in after] == [(held.unguarded, held.guards) for held in before]


def test_a_decision_says_until_when_its_evidence_is_kept_at_least(house: House) -> None:
    at = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)  # 22:00 of the 27th in the house
    change = {"part": "display", "cents": 500, "reason": "correction"}
    body = {"act": "level.adjust", "subject": "ms-mg01/major", "payload": change, "reason": "counted"}
    asked = proposals.propose(body | {"evidence": "Ticket 4711"}, by=ANYBODY[ACCOUNTING], at=at)
    client = Client()
    client.force_login(person("ann", AUDITOR), backend="django.contrib.auth.backends.ModelBackend")
    page = text_of(client.get(f"/decisions/{asked.pk}/"))
    assert "Reference Ticket 4711 Kept at least until Fri 4 Dec 2026" in page


def test_the_page_and_the_command_say_what_is_kept(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.play(royal("R-1"))
    auditor = person("ann", AUDITOR)
    old = datetime.now(UTC) - timedelta(days=200)
    Job.objects.create(kind="verify", by="a", asked_at=old, state="done", finished_at=old)
    client = Client()
    client.force_login(auditor, backend="django.contrib.auth.backends.ModelBackend")
    assert 'href="/audit/retention/"' in client.get("/audit/").content.decode()
    page = text_of(client.get("/audit/retention/"))
    assert (
        "Progressive records: messages, rounds, locks, meters, awards, hits 5 years counts from Thu 1 Jan 2026" in page
    )
    assert (
        "68 IAC 2-6-34(c)" in page and "stays at any age refused: a lock only ends, a meter stays, append only" in page
    )
    assert "no right to delete: " in page
    for table in (table for kind in kinds().values() for table in kind.tables):
        assert table not in page, f"{table}: people have words for it"
    tables = kinds()["progressive"].tables
    run(f"ANALYZE {', '.join(tables)}")
    held = {one.kind.code: one for one in queries.overview(datetime.now(UTC))}
    assert held["progressive"].rows == sum(value(f"SELECT count(*) FROM {table}") for table in tables) > 0
    assert held["progressive"].oldest is not None and not held["progressive"].has_passed
    assert "append_only" in held["progressive"].guards
    for code in ("progressive", "slips", "tax_forms", "evidence"):
        assert held[code].unguarded == (), code
    assert {held[code].guards for code in ("job_results", "sign_ins")} == {
        ("a_job_stays_on_record", "a_result_is_kept_for_its_term"), ("sign_ins_are_kept_for_their_term",)
    }  # fmt: skip
    assert held["job_results"].has_passed and held["job_results"].kept_until == (old + timedelta(days=90)).date()
    later = queries.overview(datetime.now(UTC) + timedelta(days=6 * 366))
    assert {one.kind.code for one in later if one.has_passed} >= {"progressive", "job_results"}
    call_command("retention")
    said = capsys.readouterr().out
    for kind in kinds().values():
        assert kind.title in said
        assert not kind.guard or kind.guard in said
    for one in held.values():
        assert one.what in said
        assert one.edition is None or f"since {one.edition.counts_from}, {one.edition.source}\n" in said
        assert not one.guards or f"refused: {', '.join(one.guards)}\n" in said
        assert not one.unguarded or f"no right to delete: {', '.join(one.unguarded)}\n" in said
        state = "passed" if one.has_passed else "kept"
        assert not one.oldest or f"oldest {one.oldest:%Y-%m-%d}, until {one.kept_until}: {state}\n" in said
