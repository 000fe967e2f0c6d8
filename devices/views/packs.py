"""What an auditor takes away: choosing a stretch of a stream or a closed gaming day, and the packs that were made."""

from hashlib import sha256

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounting.addresses import day_named
from accounting.office.callers import person_of
from accounting.office.refusals import NotYours
from accounting.office.services import jobs
from accounting.queries import stream_heads
from accounting.rules.parameters import BadParameter, read
from accounting.services.closed_days import signed_days
from accounting.services.signing import public_key
from accounting.shell.pages import page
from devices.packing.stretch import verifier
from devices.packing.work import PACK, Chosen, chosen, of_day

FIELDS = {"stream": "Stream", "from": "From event", "to": "To event", "day": "Gaming day"}
DAYS_OFFERED = 60


@page("audit")
def packs(request: HttpRequest) -> HttpResponse:
    """The form of what to pack, the packs that were made, and how one is verified; or a pack is begun."""
    sent = request.POST if request.method == "POST" else request.GET
    values = [(name, all_) for name, all_ in sent.lists() if name != "csrfmiddlewaretoken"]
    given = read(values, FIELDS)
    context = {
        "typed": given.given,
        "heads": stream_heads(),
        "days": signed_days()[::-1][:DAYS_OFFERED],
        "key": public_key().hex(),
        "verifier": sha256(verifier()).hexdigest(),
    }
    if request.method != "POST":
        return render(request, "packs/packs.html", context)
    try:
        return _start(request, chosen(given))
    except BadParameter as refusal:
        context["refusal"] = {"field": refusal.name, "name": FIELDS[refusal.name], "detail": refusal.detail}
        return render(request, "packs/packs.html", context, status=422)


@require_POST
@page("accounting")
def of_closed_day(request: HttpRequest, day: str) -> HttpResponse:
    """Pack every stream of a closed gaming day, from its page."""
    try:
        return _start(request, of_day(day_named(day)))
    except BadParameter as refusal:
        messages.warning(request, f"{refusal.detail.capitalize()}.")
        return redirect("gaming-day", day)


def _start(request: HttpRequest, what: Chosen) -> HttpResponse:
    """Begin the pack, or go to the one that is being made."""
    try:
        job = jobs.start(PACK, by=person_of(request), at=timezone.now(), asked=what.asked())
    except NotYours as refusal:
        raise PermissionDenied(str(refusal)) from None
    except jobs.AlreadyRunning as running:
        messages.info(request, "You have asked for this pack already: here it is.")
        return redirect("job", running.job_id)
    transaction.on_commit(lambda: jobs.call(job.pk))
    return redirect("job", job.pk)


urlpatterns = [
    path("audit/packs/", packs, name="packs"),
    path("accounting/days/<str:day>/pack", of_closed_day, name="gaming-day-pack"),
]
