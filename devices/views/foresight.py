"""Before signing it, see it: proposed terms of a link foreseen, its own rounds replayed under them, the two side by side."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounting.office import queries as office
from accounting.office.callers import person_of
from accounting.office.refusals import Conflict
from accounting.office.services import jobs
from accounting.queries import the_property
from accounting.rules.gaming_day import began
from accounting.rules.parameters import BadParameter, Parameters, read
from accounting.rules.roles import FORESIGHT
from accounting.shell.pages import page, roles_of
from devices.foresight import proposed, typed, words
from devices.foresight.proposed import ProposedRefused, Standing
from devices.foresight.report import dollars
from devices.foresight.work import FORESEE, asked_of
from jackpot.drawing import Drawing, Line, Mark, draw
from jackpot.rules.link import LinkTerms
from jackpot.rules.probability import NoProbability
from tables.odds.foreseeing import MOST_WAGERS, Foreseen, foresee

OVER = ("done", "failed", "cancelled", "lost")
MARKED = 60
"""Hits marked on a drawing, at most: more would cover the line."""


def _only_foreseers(request: HttpRequest) -> None:
    if FORESIGHT.isdisjoint(roles_of(request)):
        raise PermissionDenied("What terms would come to is for accounting, auditors and links administrators.")


def _link(code: str) -> Standing:
    found = proposed.standing(code, timezone.now())
    if found is None:
        raise Http404(f"no link {code}")
    return found


@page("jackpots")
def look(request: HttpRequest, code: str) -> HttpResponse:
    """The form of terms with what they would come to beside what today's come to; or the replay is started."""
    _only_foreseers(request)
    link = _link(code)
    sent = request.POST if request.method == "POST" else request.GET
    values = [(name, all_) for name, all_ in sent.lists() if name not in ("csrfmiddlewaretoken", "replay")]
    given = read(values, [*typed.names(link.terms), "wagers", "from", "to"])
    # A field that was emptied is not as if it had not been sent: it takes a limit away.
    filled = typed.form(link.terms, {name: all_[-1] for name, all_ in values})
    context: dict[str, Any] = {
        "code": code,
        "name": link.terms.name,
        "levels": filled,
        "wagers": given.given.get("wagers", link.wagers_a_month or ""),
        "since": given.given.get("from", ""),
        "until": given.given.get("to", ""),
        "pace": link.wagers_a_month,
        "errors": {},
    }
    terms, refusal = link.terms, None
    try:
        terms = proposed.changed_levels(link, typed.levels_of(filled))
        wagers = given.whole("wagers", least=1, most=MOST_WAGERS) or link.wagers_a_month
        since, until = _span(given)
    except ProposedRefused as found:
        typed.show_refusal(filled, found)
        refusal = str(found)
    except BadParameter as found:
        context["errors"] = {found.name: found.detail}
        refusal = str(found)
    if refusal is not None:
        return render(request, "devices/foresee.html", context | {"refusal": refusal}, status=422)
    if "replay" in request.POST:
        return _start(request, link, terms, since, until)
    if wagers is not None:
        try:
            context |= _foreseen(link, terms, wagers, chosen=bool(values))
        except NoProbability as unknown:
            context["refusal"] = str(unknown)
    return render(request, "devices/foresee.html", context)


EXAMPLE = """code = "new-link"
name = "New link"
paytable = "ms-mg-01"
decks = 1

[[levels]]
code = "major"
reset_cents = 1000000
rate_ppm = 170000
reserve_ppm = 30000
"""


@page("jackpots")
def look_new(request: HttpRequest) -> HttpResponse:
    """What a link would come to that is not there yet."""
    _only_foreseers(request)
    context: dict[str, Any] = {"terms": EXAMPLE, "wagers": ""}
    if request.method != "POST":
        return render(request, "devices/foresee_new.html", context)
    context = {"terms": request.POST.get("terms", ""), "wagers": request.POST.get("wagers", "")}
    try:
        given = read([("wagers", request.POST.getlist("wagers"))], ["wagers"])
        wagers = given.whole("wagers", least=1, most=MOST_WAGERS)
        if wagers is None:
            raise BadParameter("wagers", "how many a month there would be is needed")
        said = proposed.read_file(context["terms"])
        terms, start = proposed.of_file(said, str(said.get("code", "")), None)
        found = foresee(terms, start, wagers)
    except (ProposedRefused, BadParameter, NoProbability) as refusal:
        return render(request, "devices/foresee_new.html", context | {"refusal": str(refusal)}, status=422)
    return render(request, "devices/foresee_new.html", context | _tables(found, None))


def _span(given: Parameters) -> tuple[datetime | None, datetime | None]:
    """The period to replay: from the first gaming day's beginning to the last one's end."""
    home = the_property()
    zone, starts = ZoneInfo(home.time_zone), home.gaming_day_starts
    first, last = given.day("from"), given.day("to")
    if first and last and last < first:
        raise BadParameter("to", f"a day not before {first} is expected")

    def begins(day: date | None) -> datetime | None:
        return None if day is None else began(day, zone=zone, starts=starts)

    return begins(first), begins(last + timedelta(days=1) if last else None)


def _foreseen(link: Standing, terms: LinkTerms, wagers: int, *, chosen: bool) -> dict[str, Any]:
    today = foresee(link.terms, link.meters, wagers)
    found: Foreseen = foresee(terms, link.meters, wagers) if terms != link.terms else today
    return _tables(found, today) | {"chosen": chosen and terms != link.terms}


def _tables(found: Foreseen, today: Foreseen | None) -> dict[str, Any]:
    """The figures for the page; of a link that is not there yet, the proposed ones alone."""
    known = {level.terms.code: level for level in today.levels} if today else {}
    return {
        "basis": words.basis(found),
        "chosen": True,
        "alone": today is None,
        "tables": [
            (
                f"Level {level.terms.code}",
                words.level_lines(level, known.get(level.terms.code))
                + words.return_lines(level, known.get(level.terms.code)),
            )
            for level in found.levels
        ]
        + [("The link", words.link_lines(found, today))],
    }


def _start(
    request: HttpRequest, link: Standing, terms: LinkTerms, since: datetime | None, until: datetime | None
) -> HttpResponse:
    asked = asked_of(link, terms, since, until)
    if asked is None:
        messages.warning(request, "There are no rounds on record in this period.")
        return redirect("foresee", link.code)
    try:
        job = jobs.start(FORESEE, by=person_of(request), at=timezone.now(), asked=asked)
    except jobs.AlreadyRunning as running:
        messages.warning(request, f"{str(running).capitalize()}.")
        return redirect("foreseen", running.job_id)
    transaction.on_commit(lambda: jobs.call(job.pk))
    return redirect("foreseen", job.pk)


def _job(request: HttpRequest, job_id: int) -> Any:
    _only_foreseers(request)
    job = office.job(job_id)
    if job is None or job.kind != FORESEE.name:
        raise Http404(f"there is no replay {job_id}")
    return job


@page("jackpots")
def foreseen(request: HttpRequest, job_id: int) -> HttpResponse:
    """A replay: how far it is, and both sides of the link once it is done."""
    job = _job(request, job_id)
    at = timezone.now()
    standing = office.standing(job, at)
    context: dict[str, Any] = {
        "job": job,
        "asked": job.asked,
        "standing": standing,
        "over": standing in OVER,
        "may_cancel": standing in ("queued", "running") and job.cancel_asked_at is None,
        "seconds": int(((job.finished_at or at) - job.started_at).total_seconds()) if job.started_at else None,
    }
    if job.result and job.result.get("levels"):
        context |= _both(job.result)
    part = "devices/foreseen_now.html" if request.headers.get("HX-Request") else "devices/foreseen.html"
    return render(request, part, context)


def _both(result: Mapping[str, Any]) -> dict[str, Any]:
    """The sides of a replay for the page: figures, and a drawing of each level."""
    zone = ZoneInfo(the_property().time_zone)
    levels = [
        {
            "code": level["code"],
            "terms": level["terms"],
            "lines": words.replayed_lines(level),
            "drawing": _drawing(level, result["hits"], zone),
        }
        for level in result["levels"]
    ]
    return {"levels": levels, "hits": result["hits"], "result": result}


def _drawing(level: Mapping[str, Any], hits: list[dict[str, Any]], zone: ZoneInfo) -> Drawing | None:
    points = level["series"]
    marks = [
        Mark(datetime.fromisoformat(hit["at"]).timestamp(), "hit", _hit_in_words(hit))
        for hit in hits
        if hit["level"] == level["code"]
    ]
    was, would = level["was"], level["would"]
    return draw(
        [
            Line("as it was", "first", [(at, cents) for _, at, cents, _ in points]),
            Line("as it would have been", "second", [(at, cents) for _, at, _, cents in points]),
        ],
        marks[:MARKED],
        zone,
        f"Level {level['code']}: the meter ended at {dollars(was['display'])} and would have ended at"
        f" {dollars(would['display'])}; {was['hits']:,} hits paid {dollars(was['paid'])} and"
        f" {would['hits']:,} would have paid {dollars(would['paid'])}.",
    )


def _hit_in_words(hit: Mapping[str, Any]) -> str:
    paid = [
        "nothing" if cents is None else dollars(cents * 1_000_000) for cents in (hit["was_cents"], hit["would_cents"])
    ]
    return f"{hit['hand'].replace('_', ' ')}: paid {paid[0]}, would have paid {paid[1]}"


@require_POST
@page("jackpots")
def cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    """Ask a replay to stop."""
    _job(request, job_id)
    try:
        jobs.cancel(job_id, by=person_of(request), at=timezone.now())
    except Conflict as conflict:
        messages.warning(request, f"{str(conflict).capitalize()}.")
    return redirect("foreseen", job_id)
