"""Pages of long reports: having one made by a worker, watching it, fetching its file."""

from datetime import UTC, date, datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounting.jobs import MAKE
from accounting.office import queries as office
from accounting.office.callers import person_of
from accounting.office.services import jobs, results
from accounting.reporting import making, registry
from accounting.reporting.forms import FILES
from accounting.reporting.views import LONG, seen
from accounting.rules import parameters
from accounting.rules.retention import kinds
from accounting.shell.downloads import hand_out
from accounting.shell.pages import page

LISTED = 50
OVER = ("done", "failed", "cancelled", "lost")


@require_POST
@page("reports")
def make(request: HttpRequest, report: str) -> HttpResponse:
    """Ask a worker for a report in a form, or go to the one that is being made."""
    wanted, at, me = seen(request, report), timezone.now(), person_of(request)
    query = [(name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"]
    making.asked(wanted, query, at=at, also=("form",))  # refused here, and not by the worker
    given = parameters.read(query, (*making.names(wanted), "form"))
    form = given.choice("form", FILES)
    if form is None:
        raise BadRequest(f"form: one of {', '.join(FILES)} is expected")
    asked = {
        "report": wanted.code, "form": form, "by": me.name, "at": at.isoformat(),
        "given": {name: value for name, value in given.given.items() if name != "form"},
    }  # fmt: skip
    try:
        job = jobs.start(MAKE, by=me, at=at, asked=asked)
    except jobs.AlreadyRunning as running:
        messages.info(request, "You have asked for this report already: here it is.")
        return redirect("report-made", running.job_id)
    transaction.on_commit(lambda: jobs.call(job.pk))
    return redirect("report-made", job.pk)


@page("reports")
def register(request: HttpRequest) -> HttpResponse:
    """The reports that workers made last, of those that somebody sees."""
    parameters.read(request.GET.lists(), ())
    at, known, mine = timezone.now(), registry.reports(), person_of(request).roles
    rows = [
        {"job": job, "report": known[job.asked["report"]], "standing": office.standing(job, at)}
        for job in office.jobs(MAKE.name, LISTED)
        if job.asked["report"] in known and not known[job.asked["report"]].roles.isdisjoint(mine)
    ]
    term = kinds()["job_files"].in_force(at.astimezone(UTC).date())
    context = {"rows": rows, "term": term.words if term else "", "from_days": LONG.days}
    return render(request, "accounting/made_reports.html", context)


@page("reports")
def made(request: HttpRequest, job_id: int) -> HttpResponse:
    """A report that a worker makes: how far it is, and its file once it is done."""
    job, at = _job(request, job_id), timezone.now()
    standing = office.standing(job, at)
    context: dict[str, Any] = {
        "job": job,
        "report": registry.reports()[job.asked["report"]],
        "standing": standing,
        "over": standing in OVER,
        "files": office.result_files(job),
        "until": _kept_until(job.finished_at, at) if job.finished_at else None,
    }
    part = "accounting/made_report_now.html" if request.headers.get("HX-Request") else "accounting/made_report.html"
    return render(request, part, context)


@page("reports")
def file(request: HttpRequest, job_id: int, number: int) -> HttpResponseBase:
    """A file that a worker made."""
    job = _job(request, job_id)
    kept = office.result_file(job, number)
    if kept is None:
        raise Http404(f"job {job_id} has no file {number}, or its term is over")
    results.taken_away(kept, job.kind, by=person_of(request), at=timezone.now())
    return hand_out(request, office.content_of(kept), name=kept.name, content_type=kept.media_type, size=kept.size)


def _kept_until(finished_at: datetime, at: datetime) -> date | None:
    """The last day on which a file is kept, as of now."""
    return kinds()["job_files"].kept_until(finished_at.astimezone(UTC).date(), at.astimezone(UTC).date())


def _job(request: HttpRequest, job_id: int) -> Any:
    job = office.job(job_id)
    if job is None or job.kind != MAKE.name:
        raise Http404(f"there is no report {job_id}")
    report = registry.reports().get(job.asked["report"])
    if report is None:
        raise Http404(f"there is no report {job.asked['report']}")
    if report.roles.isdisjoint(person_of(request).roles):
        raise PermissionDenied(f"The report {report.title} is not for your role.")
    return job


urlpatterns = [
    path("reports/<str:report>/make", make, name="report-make"),
    path("reports/made/", register, name="reports-made"),
    path("reports/made/<int:job_id>/", made, name="report-made"),
    path("reports/made/<int:job_id>/files/<int:number>", file, name="report-file"),
]
