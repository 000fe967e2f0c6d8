"""Long work: starting it from the page that it is about, watching it, asking it to stop.

Whoever reads the audit trail watches all of it; whoever may start a kind watches that.
"""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounting.office import queries, registry
from accounting.office.callers import person_of
from accounting.office.models import Job
from accounting.office.refusals import Conflict, NotYours
from accounting.office.services import jobs, results
from accounting.office.work import JobKind
from accounting.rules.retention import kinds
from accounting.shell.downloads import hand_out
from accounting.shell.navigation import may_use
from accounting.shell.pages import page, roles_of

OVER = ("done", "failed", "cancelled", "lost")


@require_POST
@page(None)
def start(request: HttpRequest, kind: str) -> HttpResponse:
    """Start a job, or go to the one of its kind that is running."""
    wanted = registry.jobs().get(kind)
    _only_watchers(request, wanted)
    if (
        wanted is None or wanted.address or wanted.started_on
    ):  # one that must be told what to do is started where that is said
        raise Http404(f"there is no job {kind}")
    try:
        job = jobs.start(wanted, by=person_of(request), at=timezone.now())
    except NotYours as refusal:
        raise PermissionDenied(str(refusal)) from None
    except jobs.AlreadyRunning as running:
        messages.warning(request, f"{str(running).capitalize()}.")
        return redirect("job", running.job_id)
    transaction.on_commit(lambda: jobs.call(job.pk))
    return redirect("job", job.pk)


@require_POST
@page(None)
def cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    """Ask a job to stop."""
    _only_watchers(request, _kind_of(job_id))
    try:
        jobs.cancel(job_id, by=person_of(request), at=timezone.now())
    except jobs.NoSuchJob as missing:
        raise Http404(str(missing)) from None
    except NotYours as refusal:
        raise PermissionDenied(str(refusal)) from None
    except Conflict as conflict:
        messages.warning(request, f"{str(conflict).capitalize()}.")
    return redirect("job", job_id)


@page(None)
def show(request: HttpRequest, job_id: int) -> HttpResponse:
    """A job with its progress, which reads itself anew until the job is over, and its result."""
    kind = _kind_of(job_id)
    _only_watchers(request, kind)
    if kind is not None and kind.address:
        return redirect(kind.address, job_id)
    part = "office/job_now.html" if request.headers.get("HX-Request") else "office/job.html"
    return render(request, part, _context(request, job_id))


@page(None)
def file(request: HttpRequest, job_id: int, number: int) -> StreamingHttpResponse:
    """A file that came of a job, part by part; that it is taken away is on the audit trail before its first byte leaves."""
    kind = _kind_of(job_id)
    _only_watchers(request, kind)
    if kind is not None and kind.address:  # who sees that page may be fewer: it gives out its files itself
        raise Http404(f"the files of job {job_id} are on its own page")
    job = queries.job(job_id)
    found = queries.result_file(job, number) if job else None
    if job is None or found is None:
        raise Http404(f"job {job_id} has no file {number}, or keeps it no longer")
    results.taken_away(found, job.kind, by=person_of(request), at=timezone.now())
    content = queries.content_of(found)
    return hand_out(request, content, name=found.name, content_type=found.media_type, size=found.size)


def _kind_of(job_id: int) -> JobKind | None:
    found = queries.job(job_id)
    return registry.jobs().get(found.kind) if found else None


def _only_watchers(request: HttpRequest, kind: JobKind | None) -> None:
    roles = roles_of(request)
    if not may_use("audit", roles) and (kind is None or kind.roles.isdisjoint(roles)):
        raise PermissionDenied("This work is not for your role.")


def _context(request: HttpRequest, job_id: int) -> dict[str, object]:
    job = queries.job(job_id)
    if job is None:
        raise Http404(f"there is no job {job_id}")
    at = timezone.now()
    standing = queries.standing(job, at)
    kind = registry.jobs().get(job.kind)
    mine = kind is not None and not kind.roles.isdisjoint(person_of(request).roles)
    return {
        "job": job,
        "title": kind.title if kind else job.kind,
        "standing": standing,
        "over": standing in OVER,
        "reads_audit": may_use("audit", roles_of(request)),
        "may_cancel": mine and standing in ("queued", "running") and job.cancel_asked_at is None,
        "seconds": int(((job.finished_at or at) - job.started_at).total_seconds()) if job.started_at else None,
        "result": _result(job),
        "files": queries.result_files(job),
        "kept_until": kinds()["job_files"].kept_until(job.finished_at.date(), at.date()) if job.finished_at else None,
        "started_on": kind.started_on if kind and not kind.roles.isdisjoint(roles_of(request)) else "",
    }


def _result(job: Job) -> list[tuple[str, object]]:
    """A result's figures and words, the summary apart."""
    if job.result is None:
        return []
    flat: list[tuple[str, object]] = []
    for key, value in job.result.items():
        if key in ("ok", "summary"):
            continue
        flat += value.items() if isinstance(value, dict) else [(key, value)]
    return flat


urlpatterns = [
    path("audit/jobs/new/<str:kind>", start, name="job-start"),
    path("audit/jobs/<int:job_id>/", show, name="job"),
    path("audit/jobs/<int:job_id>/files/<int:number>", file, name="job-file"),
    path("audit/jobs/<int:job_id>/cancel", cancel, name="job-cancel"),
]
