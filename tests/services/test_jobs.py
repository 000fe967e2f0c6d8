"""Long work: progress, one of a kind at a time, cancelling, a worker that dies, results kept for a term; and verifying."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import connections, transaction
from structlog.testing import capture_logs

from accounting.models import AuditRecord
from accounting.office import queries, registry, tasks
from accounting.office.models import Job
from accounting.office.refusals import Conflict, NotYours
from accounting.office.rules.person import Person
from accounting.office.services import jobs
from accounting.office.work import SILENT, JobKind, Progress
from devices.closing.work import VERIFY_DAY
from devices.jobs import JOBS
from tests.services.desk import ANYBODY
from tests.services.house import TWIN, House, royal, run, two_hits

AT = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)
AUDITOR = ANYBODY["auditor"]
Work = Callable[[Progress], dict[str, Any]]


class Clock:
    """A clock that goes on by a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = AT

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], JobKind]:
    """The one kind of job there is, with a test's own function as its work."""

    def of(function: Work) -> JobKind:
        kind = JobKind(name="count", title="Count", roles=frozenset({"auditor"}), run=function)
        monkeypatch.setattr(registry, "jobs", lambda: {"count": kind})
        return kind

    return of


def three(progress: Progress) -> dict[str, Any]:
    progress.expect(3)
    for _ in range(3):
        progress.advance()
    return {"ok": True, "summary": "three"}


def broken(progress: Progress) -> dict[str, Any]:
    progress.advance()
    raise ValueError("a broken assumption")


def test_a_job_from_its_start_to_its_result(house: House, work: Callable[[Work], JobKind]) -> None:
    job = jobs.start(work(three), by=AUDITOR, at=AT)
    assert jobs.run(job.pk, clock=Clock())
    job.refresh_from_db()
    assert (job.state, job.done, job.total, job.result, job.detail, job.ok) == (
        "done", 3, 3, {"ok": True, "summary": "three"}, "three", True,
    )  # fmt: skip
    assert job.started_at is not None and job.finished_at is not None and job.started_at < job.finished_at
    trail = AuditRecord.objects.filter(subject=f"job {job.pk}").order_by("id")
    assert list(trail.values_list("action", "actor")) == [
        ("start count", "auditor.one"), ("end count", "auditor.one"),
    ]  # fmt: skip
    assert not jobs.run(job.pk, clock=Clock()), "a call that comes twice does the work once"


def test_what_the_work_raises_is_its_failure(house: House, work: Callable[[Work], JobKind]) -> None:
    job = jobs.start(work(broken), by=AUDITOR, at=AT)
    with pytest.raises(ValueError, match="a broken assumption"):
        jobs.run(job.pk, clock=Clock())
    job.refresh_from_db()
    assert (job.state, job.detail, job.done) == ("failed", "ValueError: a broken assumption", 1)


def test_who_may_start_one_and_only_one_at_a_time(house: House, work: Callable[[Work], JobKind]) -> None:
    kind = work(three)
    for role, person in ANYBODY.items():
        if role != "auditor":
            with pytest.raises(NotYours):
                jobs.start(kind, by=person, at=AT)
    first = jobs.start(kind, by=AUDITOR, at=AT)
    Job.objects.create(kind="another", by="a", asked_at=AT)
    with pytest.raises(jobs.AlreadyRunning, match="running already") as again:
        jobs.start(kind, by=AUDITOR, at=AT)
    assert again.value.job_id == first.pk, "not that of another kind, which is asked for later"
    jobs.run(first.pk, clock=Clock())
    assert jobs.start(kind, by=AUDITOR, at=AT).pk != first.pk


def test_what_is_made_for_somebody_waits_beside_what_others_asked_for(
    house: House, work: Callable[[Work], JobKind], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = replace(work(three), for_each=True, apart=frozenset({"at"}))
    monkeypatch.setattr(registry, "jobs", lambda: {kind.name: kind})
    other = Person("auditor.two", frozenset({"auditor"}))
    first = jobs.start(kind, by=AUDITOR, at=AT, asked={"day": "2026-11-27", "at": "noon"})
    for by, asked in ((AUDITOR, {"day": "2026-11-28"}), (other, {"day": "2026-11-27"})):
        assert jobs.start(kind, by=by, at=AT, asked=asked).state == "queued"
    with pytest.raises(jobs.AlreadyRunning) as again:
        jobs.start(kind, by=AUDITOR, at=AT, asked={"at": "later", "day": "2026-11-27"})
    assert again.value.job_id == first.pk
    jobs.run(first.pk, clock=Clock())
    assert jobs.start(kind, by=AUDITOR, at=AT, asked={"day": "2026-11-27"}).pk != first.pk


def test_one_that_has_not_begun_is_cancelled_at_once(house: House, work: Callable[[Work], JobKind]) -> None:
    job = jobs.start(work(three), by=AUDITOR, at=AT)
    with pytest.raises(NotYours):
        jobs.cancel(job.pk, by=ANYBODY["cage"], at=AT)
    assert jobs.cancel(job.pk, by=AUDITOR, at=AT).state == "cancelled"
    assert not jobs.run(job.pk, clock=Clock())
    with pytest.raises(Conflict, match="cancelled"):
        jobs.cancel(job.pk, by=AUDITOR, at=AT)
    with pytest.raises(jobs.NoSuchJob):
        jobs.cancel(4711, by=AUDITOR, at=AT)


def test_progress_is_seen_and_cancelling_heard_while_the_work_holds_a_transaction(
    busy_house: House, work: Callable[[Work], JobKind]
) -> None:
    """The work never leaves its transaction; what it says is committed by the side of it."""
    reached, seen = threading.Event(), threading.Event()

    def long(progress: Progress) -> dict[str, Any]:
        with transaction.atomic():
            progress.expect(1_000)
            progress.advance(7)
            reached.set()
            assert seen.wait(30)
            while True:
                progress.advance(0)
                threading.Event().wait(0.01)

    job = jobs.start(work(long), by=AUDITOR, at=AT)

    def worker() -> None:
        try:
            jobs.run(job.pk, clock=Clock(), beat_seconds=0.02)
        finally:
            connections.close_all()

    thread = threading.Thread(target=worker)
    thread.start()
    assert reached.wait(30)
    until(lambda: (Job.objects.get().done, Job.objects.get().total) == (7, 1_000))
    assert Job.objects.get().beat_at is not None
    jobs.cancel(job.pk, by=AUDITOR, at=AT)
    seen.set()
    thread.join(30)
    assert not thread.is_alive()
    assert (Job.objects.get().state, Job.objects.get().result) == ("cancelled", None)


def until(true: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    for _ in range(1_500):
        if true():
            return
        threading.Event().wait(0.02)
    raise AssertionError("it never came to it")


def test_a_job_whose_worker_died_is_found_and_said(house: House, work: Callable[[Work], JobKind]) -> None:
    kind = work(three)
    job = jobs.start(kind, by=AUDITOR, at=AT)
    Job.objects.update(state="running", started_at=AT, beat_at=AT)
    alive, dead = AT + SILENT, AT + SILENT + timedelta(seconds=1)
    assert jobs.find_lost(alive) == 0
    assert queries.standing(Job.objects.get(), dead) == "lost", "said before anybody has written it"
    again = jobs.start(kind, by=AUDITOR, at=dead)
    job.refresh_from_db()
    assert (job.state, job.finished_at) == ("lost", dead)
    # Whoever wakes up after that writes nothing over it, and stops.
    report = jobs.Report()
    jobs.write_down(job.pk, report, dead)
    assert report.stop.is_set()
    job.refresh_from_db()
    assert (job.state, job.done) == ("lost", 0)
    assert Job.objects.get(id=again.pk).state == "queued"


def test_results_are_removed_after_their_term(house: House, work: Callable[[Work], JobKind]) -> None:
    job = jobs.start(work(three), by=AUDITOR, at=AT)
    clock = Clock()
    jobs.run(job.pk, clock=clock)
    job.refresh_from_db()
    assert job.finished_at is not None
    # The database judges by its own clock: the job is moved into the past, which nothing forbids a test.
    now = datetime.now(UTC)
    for days, removed in ((90, 0), (92, 1)):
        Job.objects.update(finished_at=now - timedelta(days=days))
        assert jobs.remove_results(now) == removed
    job.refresh_from_db()
    assert (job.state, job.result, job.detail) == ("done", None, "three")


def test_the_sweep_asks_again_for_what_waits(
    busy_house: House, work: Callable[[Work], JobKind], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(jobs, "call", asked.append)
    long_ago = jobs.start(work(three), by=AUDITOR, at=AT)
    tasks.sweep()
    assert asked == [long_ago.pk]


@pytest.mark.parametrize(
    ("kind", "summary"),
    [(JOBS[0], "no difference in 5 events"), (VERIFY_DAY, "no difference in 5 events of 3 streams")],
    ids=["everything", "since the last closed day"],
)
def test_verifying_finds_nothing_and_then_what_was_changed(busy_house: House, kind: JobKind, summary: str) -> None:
    busy_house.play(two_hits("R-1"), royal("R-2", table=TWIN))
    for role, person in ANYBODY.items():
        if role not in kind.roles:
            with pytest.raises(NotYours):
                jobs.start(kind, by=person, at=AT)
    first = jobs.start(kind, by=AUDITOR, at=AT)
    assert jobs.run(first.pk, clock=Clock())
    first.refresh_from_db()
    assert first.result is not None
    assert (first.result["ok"], first.ok, first.result["summary"]) == (True, True, summary)
    if kind is not VERIFY_DAY:
        assert (first.result["counts"]["rounds"], first.result["counts"]["streams"]) == (2, 3)
    assert first.done == first.total
    with transaction.atomic():
        run("SET LOCAL session_replication_role = replica")
        run("UPDATE accounting_transfer SET amount_cents = amount_cents + 1 WHERE sequence = 1 AND line = 1")
    second = jobs.start(kind, by=Person("con", frozenset({"controller"})), at=AT)
    jobs.run(second.pk, clock=Clock())
    second.refresh_from_db()
    assert second.result is not None
    assert (second.state, second.result["ok"], second.ok) == ("done", False, False)
    assert "sequence 1" in second.result["difference"]


def test_a_broker_that_is_away_costs_nothing(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def away(*call: Any) -> None:
        sent.append(call)
        raise ConnectionError("nobody there")

    monkeypatch.setattr(current_app, "send_task", away)
    with capture_logs() as logged:
        jobs.call(7)
    assert [(one["event"], one["job"], one["error"]) for one in logged] == [("job_not_called", 7, "nobody there")]
    assert sent == [("accounting.office.tasks.run_job", [7])]
    assert tasks.run_job.name == sent[0][0], "the name that is called is the task's"
