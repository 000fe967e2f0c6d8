"""Long work: started by somebody, done by a worker that says how far it is, cancelled, lost and forgotten.

Whoever works at a job writes its progress from a second thread, on a connection of its own: the work itself may sit in one
long transaction, and a sign of life must not wait for it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, time
from threading import Event, Thread
from typing import Any

import structlog
from celery import current_app
from django.db import DatabaseError, IntegrityError, close_old_connections, connection, transaction

from accounting import elsewhere
from accounting.office import registry
from accounting.office.models import Job
from accounting.office.refusals import Conflict, NotYours
from accounting.office.rules.person import Person
from accounting.office.services import results
from accounting.office.work import SILENT, Cancelled, JobKind, Kept
from accounting.rules.retention import kinds
from accounting.services import audit

BEAT_SECONDS = 1.0
"""How often progress is written, and the worker says that it lives."""
RUNNING = (Job.State.QUEUED, Job.State.RUNNING)

log = structlog.get_logger()

Clock = Callable[[], datetime]


class NoSuchJob(LookupError):
    """There is no job of this number."""


class AlreadyRunning(Conflict):
    """A job of this kind and lane is not over: `job_id`, the last of them, is where to look."""

    def __init__(self, kind: JobKind, lane: str) -> None:
        super().__init__("already_running", f"{kind.title} is running already")
        self.job_id = Job.objects.filter(kind=kind.name, lane=lane).values_list("id", flat=True)[0]


def start(kind: JobKind, *, by: Person, at: datetime, asked: Mapping[str, Any] | None = None) -> Job:
    """Ask for a job, to do what is `asked`. Raises NotYours, and AlreadyRunning while one of its kind and lane is not over."""
    if kind.roles.isdisjoint(by.roles):
        raise NotYours(f"{kind.title} is started by {', '.join(sorted(kind.roles))}")
    find_lost(at)
    asked = dict(asked or {})
    lane = kind.lane(by.name, asked)
    try:
        with transaction.atomic():
            job = Job.objects.create(kind=kind.name, by=by.name, asked=asked, lane=lane, asked_at=at)
            _audit(job, "start", by.name, at, job.asked, by.origin)
    except IntegrityError:
        raise AlreadyRunning(kind, lane) from None
    return job


def call(job_id: int) -> None:
    """Wake a worker for a job; where the broker is away the sweep calls again."""
    try:
        # By name: services do not import tasks, which call them.
        current_app.send_task("accounting.office.tasks.run_job", [job_id])
    except Exception as error:  # whatever the broker's client raises
        log.warning("job_not_called", job=job_id, error=str(error))


@transaction.atomic
def cancel(job_id: int, *, by: Person, at: datetime) -> Job:
    """Ask a job to stop; one that has not begun is over at once. Raises NoSuchJob, NotYours, Conflict `not_running`."""
    job = Job.objects.select_for_update().filter(id=job_id).first()
    if job is None:
        raise NoSuchJob(f"there is no job {job_id}")
    kind = registry.jobs().get(job.kind)
    if kind is None or kind.roles.isdisjoint(by.roles):
        raise NotYours("this job is not for your role to cancel")
    if job.state not in RUNNING:
        raise Conflict("not_running", f"this job is {job.state}")
    if job.cancel_asked_at is None:
        job.cancel_asked_at, job.cancel_asked_by = at, by.name
        if job.state == Job.State.QUEUED:
            job.state, job.finished_at = Job.State.CANCELLED, at
        job.save()
        _audit(job, "cancel", by.name, at, {}, by.origin)
    return job


def run(job_id: int, *, clock: Clock, beat_seconds: float = BEAT_SECONDS) -> bool:
    """Do a queued job from beginning to end; False when somebody else has it, or it is over.

    What the work itself raises is written down as its failure, and raised.
    """
    now = clock()
    if not Job.objects.filter(id=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, started_at=now, beat_at=now
    ):
        return False
    job = Job.objects.get(id=job_id)
    report = Report(job.asked, job_id)
    try:
        with _beating(job_id, report, clock, beat_seconds):
            kind = registry.jobs()[job.kind]
            if kind.reads_elsewhere:
                result = elsewhere.done_elsewhere(lambda _: kind.run(report), since=now, again=report.begin_anew)
            else:
                result = kind.run(report)
    except Cancelled:
        _end(job, report, Job.State.CANCELLED, clock())
    except Exception as error:
        _end(job, report, Job.State.FAILED, clock(), detail=f"{type(error).__name__}: {error}")
        raise
    else:
        _end(job, report, Job.State.DONE, clock(), result=result, detail=str(result.get("summary", "")))
    return True


class Report:
    """How far a job is, as its work says; read by the thread that writes it down. `asked` is what it was asked to do."""

    def __init__(self, asked: Mapping[str, Any] | None = None, job_id: int = 0) -> None:
        self.asked: Mapping[str, Any] = asked or {}
        self._job_id = job_id
        self.done = 0
        self.total: int | None = None
        self.stop = Event()

    def expect(self, total: int) -> None:
        """There are so many pieces of work."""
        self.total = total

    def advance(self, done: int = 1) -> None:
        """So many more are done. Raises Cancelled when the job was asked to stop."""
        self.done += done
        if self.stop.is_set():
            raise Cancelled

    def file(self, name: str, media_type: str, chunks: Iterable[bytes]) -> Kept:
        """Keep a file as part of the result."""

        def heard() -> Iterator[bytes]:
            for chunk in chunks:
                self.advance(0)
                yield chunk

        place = elsewhere.current()
        with elsewhere.here():
            return results.keep(self._job_id, name, media_type, place.drawn(heard()))

    def begin_anew(self) -> None:
        """Nothing of what was done until now is worth anything."""
        results.remove_of(self._job_id)
        self.done = 0


@contextmanager
def _beating(job_id: int, report: Report, clock: Clock, seconds: float) -> Iterator[None]:
    over = Event()

    def beat() -> None:
        try:
            while not over.wait(seconds):
                try:
                    write_down(job_id, report, clock())
                except DatabaseError:
                    close_old_connections()  # the next beat tries again on a new one
        finally:
            connection.close()

    thread = Thread(target=beat, name=f"beat of job {job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def write_down(job_id: int, report: Report, at: datetime) -> None:
    """Write how far a job is, and see whether somebody wants it to stop or has given it up for lost."""
    running = Job.objects.filter(id=job_id, state=Job.State.RUNNING)
    alive = running.update(done=report.done, total=report.total, beat_at=at)
    if not alive or running.filter(cancel_asked_at__isnull=False).exists():
        report.stop.set()


def find_lost(at: datetime) -> int:
    """Say of every job whose worker died that it is lost; how many there were."""
    lost = 0
    for job in Job.objects.filter(state=Job.State.RUNNING, beat_at__lt=at - SILENT):
        with transaction.atomic():
            # It may have given a sign of life meanwhile.
            if Job.objects.filter(id=job.pk, state=Job.State.RUNNING, beat_at=job.beat_at).update(
                state=Job.State.LOST, finished_at=at, detail="its worker fell silent: start it again"
            ):
                lost += 1
                results.remove_of(job.pk)
                _audit(job, "lose", "the clock", at, {})
    return lost


def waiting_since(before: datetime) -> list[int]:
    """Queued jobs that were asked for before a moment: the broker may have lost the call."""
    return list(Job.objects.filter(state=Job.State.QUEUED, asked_at__lt=before).values_list("id", flat=True))


def remove_results(at: datetime) -> int:
    """Remove results that were kept for their term, and their files; that the job ran, and its one line, stays."""
    results.remove_before(_passed("job_files", at))
    return Job.objects.filter(finished_at__lt=_passed("job_results", at), result__isnull=False).update(result=None)


def _passed(kind: str, at: datetime) -> datetime:
    """The moment before which everything of a kind has passed its term."""
    return datetime.combine(kinds()[kind].passed_before(at.astimezone(UTC).date()), time.min, UTC)


def _end(
    job: Job, report: Report, state: Job.State, at: datetime, *, result: dict[str, Any] | None = None, detail: str = ""
) -> None:
    with transaction.atomic():
        # Given up for lost meanwhile, it stays lost: somebody may have started it again.
        if Job.objects.filter(id=job.pk, state=Job.State.RUNNING).update(
            state=state,
            finished_at=at,
            done=report.done,
            total=report.total,
            result=result,
            ok=None if result is None else bool(result.get("ok", True)),
            detail=detail,
        ):
            _audit(job, "end", job.by, at, {"state": str(state), "summary": detail})
    if result is None or not Job.objects.filter(id=job.pk, state=Job.State.DONE).exists():
        results.remove_of(job.pk)


def _audit(job: Job, what: str, actor: str, at: datetime, said: dict[str, Any], origin: str = "") -> None:
    audit.record(at=at, actor=actor, action=f"{what} {job.kind}", subject=f"job {job.pk}", detail=said, origin=origin)
