"""Files that come of long work: kept in parts, given out once their job is done, and gone when it came to nothing."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest

from accounting.models import AuditRecord
from accounting.office import queries, registry
from accounting.office.models import Job
from accounting.office.services import jobs, results
from accounting.office.work import SILENT, JobKind, Progress
from tests.services.attempts.office import new_job
from tests.services.house import House, value
from tests.services.played import tamper
from tests.services.test_jobs import AT, AUDITOR, Clock

Content = Callable[[Progress], Iterator[bytes]]
MIB = 1024**2


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[Content], Job]:
    """A job that keeps one file of this content, run to its end."""

    def of(content: Content) -> Job:
        def work(progress: Progress) -> dict[str, Any]:
            file = progress.file("a report/of: día.txt", "text/plain", content(progress))
            return {"summary": f"{file.name}, {file.size} bytes, {file.sha256}"}

        kind = JobKind(name="write", title="Write", roles=frozenset({"auditor"}), run=work)
        monkeypatch.setattr(registry, "jobs", lambda: {"write": kind})
        job = jobs.start(kind, by=AUDITOR, at=AT)
        try:
            jobs.run(job.pk, clock=Clock(), beat_seconds=3_600)  # another connection sees nothing of this test
        finally:
            job.refresh_from_db()
        return job

    return of


def kept() -> tuple[int, int]:
    """How many files and parts there are."""
    return value("SELECT count(*) FROM office_resultfile"), value("SELECT count(*) FROM office_resultpart")


def uneven(progress: Progress) -> Iterator[bytes]:
    """Chunks of every length, none among them and some longer than a part."""
    for length in (1, 0, 700, results.PART, results.PART - 1, 3 * results.PART + 17, 5):
        yield bytes(number % 251 for number in range(length))


def test_a_file_is_given_out_as_it_was_made_however_it_came(house: House, run: Callable[[Content], Job]) -> None:
    job = run(uneven)
    whole = b"".join(uneven(jobs.Report()))
    (file,) = queries.result_files(job)
    assert file.name == "a-report-of-d-a.txt"
    assert (file.size, file.sha256) == (len(whole), sha256(whole).hexdigest())
    assert job.detail == f"{file.name}, {len(whole)} bytes, {sha256(whole).hexdigest()}"
    parts = list(queries.content_of(file))
    assert b"".join(parts) == whole
    assert {len(part) for part in parts[:-1]} == {results.PART}
    assert queries.result_file(job, 2) is None


def test_each_job_gives_out_its_own_files_and_each_file_its_own_parts(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several parts each; with one that is gone the file is not given out short."""
    monkeypatch.setattr(results, "PART", 3)
    done = [new_job(kind=kind, state="done", finished_at=AT) for kind in ("one", "two")]
    kept = {
        results.keep(job.pk, name, "text/plain", iter([content])).pk: content
        for name, content in (("a.txt", b"a first "), ("b.txt", b"the others"))
        for job, content in ((job, content + job.kind.encode()) for job in done)
    }
    files = [file for job in done for file in queries.result_files(job)]
    assert {file.pk: b"".join(queries.content_of(file)) for file in files} == kept
    assert [(queries.result_file(job, 2) or files[0]).name for job in done] == ["b.txt", "b.txt"]
    tamper(f"DELETE FROM office_resultpart WHERE job_id = {done[0].pk} AND file = 1 AND number = 1")
    for file, whole in zip(files, (False, True, True, True), strict=True):
        if whole:
            assert b"".join(queries.content_of(file)) == kept[file.pk]
        else:
            with pytest.raises(LookupError, match=f"part 1 of file 1 of job {done[0].pk} is not kept any more"):
                list(queries.content_of(file))


def test_what_was_kept_before_a_job_began_anew_is_gone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of which the replica went away half-way is made again here, under the same name."""

    def work(progress: Progress) -> dict[str, Any]:
        progress.file("report.txt", "text/plain", iter([b"half of it"]))
        progress.advance(7)
        assert isinstance(progress, jobs.Report)
        progress.begin_anew()
        progress.file("report.txt", "text/plain", iter([b"all of it"]))
        return {"summary": "made"}

    kind = JobKind(name="write", title="Write", roles=frozenset({"auditor"}), run=work)
    monkeypatch.setattr(registry, "jobs", lambda: {"write": kind})
    job = jobs.start(kind, by=AUDITOR, at=AT)
    jobs.run(job.pk, clock=Clock(), beat_seconds=3_600)
    job.refresh_from_db()
    assert (job.state, job.done) == ("done", 0)
    assert [b"".join(queries.content_of(file)) for file in queries.result_files(job)] == [b"all of it"]


def test_a_long_file_is_never_held_as_a_whole(house: House, run: Callable[[Content], Job]) -> None:
    """Written and read, with 24 MiB in it: what is held at a time is a few parts."""
    some = bytes(range(256)) * 256

    def long(progress: Progress) -> Iterator[bytes]:
        for _ in range(24 * MIB // len(some)):
            yield some

    tracemalloc.start()
    try:
        job = run(long)
        (file,) = queries.result_files(job)
        assert sum(len(part) for part in queries.content_of(file)) == file.size == 24 * MIB
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * MIB


def test_what_came_to_nothing_leaves_no_file(house: House, run: Callable[[Content], Job]) -> None:
    def broken(progress: Progress) -> Iterator[bytes]:
        yield bytes(results.PART)
        assert kept() == (0, 1), "parts are written as they come"
        raise ValueError("a broken assumption")

    with pytest.raises(ValueError, match="a broken assumption"):
        run(broken)
    assert kept() == (0, 0)

    def unwanted(progress: Progress) -> Iterator[bytes]:
        yield bytes(results.PART)
        (job_id,) = Job.objects.filter(state="running").values_list("id", flat=True)
        jobs.cancel(job_id, by=AUDITOR, at=AT)
        jobs.write_down(job_id, progress, AT)  # type: ignore[arg-type]
        yield b"more"
        raise AssertionError("it was asked to stop")

    assert run(unwanted).state == "cancelled"
    assert kept() == (0, 0)


def test_a_worker_that_died_leaves_no_file(house: House, run: Callable[[Content], Job]) -> None:
    def forgotten(progress: Progress) -> Iterator[bytes]:
        yield bytes(results.PART)
        Job.objects.update(beat_at=AT)
        assert jobs.find_lost(AT + SILENT + timedelta(seconds=1)) == 1
        assert kept() == (0, 0)
        yield bytes(results.PART)  # it was only slow
        assert kept() == (0, 1)
        jobs.write_down(Job.objects.get().pk, progress, AT)  # type: ignore[arg-type]
        yield b"more"

    job = run(forgotten)
    assert job.state == "lost"
    assert queries.result_files(job) == []
    assert kept() == (0, 0), "what it wrote afterwards is gone too"


def test_no_file_is_longer_than_any_may_be(
    house: House, run: Callable[[Content], Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LARGEST", 2 * results.PART)
    with pytest.raises(results.TooLarge):
        run(lambda progress: iter([bytes(2 * results.PART), b"1"]))
    assert kept() == (0, 0)


def test_files_are_removed_after_their_term(house: House, run: Callable[[Content], Job]) -> None:
    job = run(lambda progress: iter([b"some"]))
    (file,) = queries.result_files(job)
    # The database judges by its own clock: the job is moved into the past, which nothing forbids a test.
    now = datetime.now(UTC)
    for days, left in ((90, (1, 1)), (92, (0, 0))):
        Job.objects.update(finished_at=now - timedelta(days=days))
        jobs.remove_results(now)
        assert kept() == left
    with pytest.raises(LookupError, match="not kept any more"):
        list(queries.content_of(file))


def test_who_takes_a_file_away_is_on_the_audit_trail(house: House, run: Callable[[Content], Job]) -> None:
    (file,) = queries.result_files(run(lambda progress: iter([b"some"])))
    results.taken_away(file, "write", by=AUDITOR, at=AT)
    record = AuditRecord.objects.latest("id")
    assert (record.actor, record.action, record.subject) == (AUDITOR.name, "take away", f"job {file.job_id}")
    assert record.detail == {"what": "write", "file": file.name, "bytes": 4, "sha256": sha256(b"some").hexdigest()}


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("ms-mg01-0-99.zip", "ms-mg01-0-99.zip"),
        ("../../etc/passwd", "etc-passwd"),
        ('a"b\r\nc.csv', "a-b-c.csv"),
        ("...", "file"),
        ("x" * 200 + ".csv", "x" * 116 + ".csv"),
    ],
)
def test_a_file_s_name_is_taken_by_every_system(said: str, name: str) -> None:
    assert results.file_name(said) == name
