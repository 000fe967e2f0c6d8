"""Gaming days: the register of closed ones, a day with its checklist, and the sheet of meter readings."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST

from accounting import reconciliation
from accounting.addresses import day_named
from accounting.day_queries import days_around, house_days
from accounting.office import queries as office
from accounting.office.callers import person_of
from accounting.office.refusals import Conflict, NotYours
from accounting.office.rules.dollars import cents_of
from accounting.office.services import jobs, proposals
from accounting.queries import the_property
from accounting.rules import parameters
from accounting.rules.acts import ActRefused
from accounting.rules.heads import to_file
from accounting.rules.roles import ACCOUNTING, CONTROLLER
from accounting.services import closed_days, readings
from accounting.services.readings import LARGEST_PHOTO, Photo
from accounting.services.signing import public_key
from accounting.shell.pages import page
from devices.closing import checklist, drift, sheet
from devices.closing.work import VERIFY_DAY
from devices.packing.work import PACK

USUAL = "End of the gaming day"
"""Why a day is closed, unless somebody has more to say."""
READERS = frozenset({ACCOUNTING, CONTROLLER})
"""Who reads meters, explains and signs off (R98, R99)."""


@page("accounting")
def register(request: HttpRequest) -> HttpResponse:
    """The closed days with what was signed, newest first, and the days that are open."""
    parameters.read(request.GET.lists(), ())
    at = timezone.now()
    days = closed_days.signed_days()[::-1]
    first, today = house_days(at)
    through = the_property().closed_through
    begins = through if through and through >= first else None
    still = checklist.days_between(begins, first, today)
    context = {"closed": days, "open": still, "today": today, "key": public_key().hex()}
    return render(request, "days/register.html", context)


@page("accounting")
def heads(request: HttpRequest) -> HttpResponse:
    """The signed heads as a file, to be kept elsewhere; `manage.py verify --heads` compares it."""
    given = parameters.read(request.GET.lists(), ("from", "to"))
    answer = HttpResponse(
        to_file(closed_days.signed_days(since=given.day("from"), until=given.day("to"))),
        content_type="application/json",
    )
    answer.headers["Content-Disposition"] = 'attachment; filename="heads.json"'
    return answer


@page("accounting")
def day_page(request: HttpRequest, day: str) -> HttpResponse:
    """A gaming day: what stands in the way of closing it, or what was signed when it was."""
    parameters.read(request.GET.lists(), ())
    return _day(request, day_named(day))


def _day(request: HttpRequest, day: date, *, refusal: str = "", reason: str = USUAL, status: int = 200) -> HttpResponse:
    at, me = timezone.now(), person_of(request)
    first, today = house_days(at)
    if not first <= day <= today:
        raise Http404("this gaming day is before the house, or has not begun")
    found = checklist.look(day, at=at)
    earlier, later = days_around(day)
    signed = next(iter(closed_days.signed_days(since=day)), None) if found.is_closed else None
    waiting = office.waiting_about("day", day.isoformat(), at)
    job = next((job for job in office.jobs(limit=100) if job.kind == VERIFY_DAY.name), None)
    context = {
        "day": day,
        "look": found,
        "items": [(item, [(thing, _page_of(item.code, thing)) for thing in item.things]) for item in found.items],
        "signed": signed,
        "key": public_key().hex(),
        "earlier": earlier if earlier and earlier >= first else None,
        "later": later if later and later <= today else None,
        "waiting": waiting,
        "may_propose": not READERS.isdisjoint(me.roles) and not waiting and not found.is_closed,
        "may_pack": not PACK.roles.isdisjoint(me.roles) and signed is not None and signed.statement.day == day,
        "may_verify": not VERIFY_DAY.roles.isdisjoint(me.roles),
        "job": job,
        "standing": office.standing(job, at) if job else "",
        "refusal": refusal,
        "reason": reason,
    }
    return render(request, "days/day.html", context, status=status)


def _page_of(code: str, thing: str) -> str:
    """Where a thing that the checklist names is looked at; "" where it has no page of its own."""
    if code == "held":
        return reverse("round-page", args=[thing])
    return reverse("hit-page", args=[thing.partition(" ")[0]]) if code == "hits" else ""


@require_POST
@page("accounting")
def close(request: HttpRequest, day: str) -> HttpResponse:
    """Propose to close a day as the page showed it; it lands on the proposal, where somebody else agrees."""
    chosen, at = day_named(day), timezone.now()
    reason = request.POST.get("reason", "").strip()
    body = {
        "act": "day.close",
        "subject": chosen.isoformat(),
        "payload": {"sequences": checklist.look(chosen, at=at).sequences},
        "reason": reason,
    }
    try:
        return redirect("decision", proposals.propose(body, by=person_of(request), at=at).pk)
    except NotYours as refusal:
        raise PermissionDenied(str(refusal)) from None
    except (ActRefused, Conflict) as refusal:
        return _day(request, chosen, refusal=str(refusal), reason=reason, status=422)


@require_POST
@page("accounting")
def verify(request: HttpRequest, day: str) -> HttpResponse:
    """Have every stream verified from its last signed head on."""
    chosen = day_named(day)
    try:
        job = jobs.start(VERIFY_DAY, by=person_of(request), at=timezone.now())
        transaction.on_commit(lambda: jobs.call(job.pk))
    except NotYours as refusal:
        raise PermissionDenied(str(refusal)) from None
    except Conflict as conflict:
        messages.warning(request, f"{str(conflict).capitalize()}.")
    return redirect("gaming-day", chosen.isoformat())


@page("accounting")
def readings_sheet(request: HttpRequest, day: str) -> HttpResponse:
    """The readings of a day beside what the movements come to; typed down the column, explained and signed off."""
    parameters.read(request.GET.lists(), ())
    return _sheet(request, day_named(day))


def _sheet(
    request: HttpRequest, day: date, *, refusal: str = "", typed: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    at, me = timezone.now(), person_of(request)
    first, today = house_days(at)
    if not first <= day <= today:
        raise Http404("this gaming day is before the house, or has not begun")
    found = sheet.lines(day, at=at)
    closed = closed_days.is_closed(day)
    places, taken = sheet.columns_of(found), reconciliation.readings_of(day)
    led = {
        line.level: led_back
        for line in found
        if line.reading and line.reading.variance_cents and line.reading.method == "machine"
        and (led_back := drift.find(line.level, line.stream_id, after=line.prior.sequence if line.prior else -1))
    }  # fmt: skip
    context = {
        "day": day,
        "closed": closed,
        "columns": [sheet.COLUMNS[place][1] for place in places],
        "rows": [
            {
                "line": line,
                "columns": line.shown(places),
                "typed": (typed or {}).get(line.level, ""),
                "drift": led.get(line.level),
                "played": played,
            }
            for line, played in zip(found, sheet.played(found, most=sheet.MOST_COUNTED), strict=True)
        ],
        "may_read": not READERS.isdisjoint(me.roles) and not closed,
        "may_say": not READERS.isdisjoint(me.roles),
        "me": me.name,
        "read_at": request.POST.get("read_at", timezone.localtime(at).strftime("%Y-%m-%dT%H:%M")),
        "note": request.POST.get("note", ""),
        "refusal": refusal,
        "unread": any(line.reading is None for line in found),
        "unexplained": next((each.id for each in taken if each.variance_cents and not each.explanations), None),
        "all": taken,
        "total": {
            "opening": sum(line.opening_cents for line in found),
            "columns": [sum(column) for column in zip(*(line.shown(places) for line in found), strict=True)],
            "expected": sum(line.expected_cents for line in found),
            "reserve": sum(line.reserve_cents for line in found),
            "overflow": sum(line.overflow_cents for line in found),
        },
    }
    return render(request, "days/readings.html", context, status=status)


@require_POST
@page("accounting")
def read(request: HttpRequest, day: str) -> HttpResponse:
    """Take readings: of every meter by machine, or those that were typed."""
    chosen, at, me = day_named(day), timezone.now(), person_of(request)
    _only_readers(me.roles)
    typed = {key.removeprefix("level:"): str(text) for key, text in request.POST.items() if key.startswith("level:")}
    try:
        if "machine" in request.POST:
            number = sheet.read_by_machine(chosen, at=at, by=me.name)
        else:
            number = sheet.read_by_hand(
                chosen, _amounts(typed), read_at=_moment(request.POST.get("read_at", ""), at), at=at, by=me.name,
                note=request.POST.get("note", "").strip(), origin=me.origin, photo=_photo(request),
            )  # fmt: skip
    except ActRefused as refusal:
        return _sheet(request, chosen, refusal=str(refusal), typed=typed, status=422)
    messages.success(request, f"{number} {'reading is' if number == 1 else 'readings are'} on record.")
    return redirect("readings", chosen.isoformat())


@require_POST
@page("accounting")
def say(request: HttpRequest, day: str, reading_id: int) -> HttpResponse:
    """Explain a reading, or sign it off."""
    chosen, at, me = day_named(day), timezone.now(), person_of(request)
    _only_readers(me.roles)
    try:
        if "sign" in request.POST:
            readings.sign_off(reading_id, at=at, by=me.name, origin=me.origin)
        else:
            text = request.POST.get("text", "")
            readings.explain(reading_id, text, at=at, by=me.name, origin=me.origin)
    except ActRefused as refusal:
        return _sheet(request, chosen, refusal=str(refusal), status=422)
    return redirect("readings", chosen.isoformat())


def _only_readers(roles: frozenset[str]) -> None:
    if READERS.isdisjoint(roles):
        raise PermissionDenied("Meters are read, explained and signed off by accounting.")


def _photo(request: HttpRequest) -> Photo | None:
    """What was handed in with readings, if anything was."""
    file = request.FILES.get("photo")
    if file is None:
        return None
    if (file.size or 0) > LARGEST_PHOTO:
        raise ActRefused("invalid_value", "/photo", f"photo: a file of 1 to {LARGEST_PHOTO:,} bytes is expected")
    return Photo(file.name or "", file.read())


@page("accounting")
def photo(request: HttpRequest, number: int) -> HttpResponse:
    """The file that was handed in with readings, to be kept and not opened by the browser."""
    found = reconciliation.photo(number)
    if found is None:
        raise Http404(f"there is no photo {number}")
    answer = HttpResponse(bytes(found.content), content_type="application/octet-stream")
    answer.headers["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=found.name) or ""
    return answer


def _amounts(typed: dict[str, str]) -> dict[str, int]:
    found = {}
    for level, text in typed.items():
        if text.strip():
            try:
                found[level] = cents_of(text)
            except ValueError as fault:
                raise ActRefused("invalid_value", f"/readings/{level}", f"the reading of {level}: {fault}") from None
    return found


def _moment(text: str, at: datetime) -> datetime:
    """The moment that was typed on the property's clock; this minute is now."""
    zone = ZoneInfo(the_property().time_zone)
    try:
        found = datetime.strptime(text, "%Y-%m-%dT%H:%M").replace(tzinfo=zone)
    except ValueError:
        raise ActRefused("invalid_value", "/read_at", "when the meters were read: a moment is expected") from None
    return at if found <= at < found + checklist.MINUTE else found


urlpatterns = [
    path("accounting/days/", register, name="gaming-days"),
    path("accounting/days/heads.json", heads, name="signed-heads"),
    path("accounting/days/photos/<int:number>", photo, name="reading-photo"),
    path("accounting/days/<str:day>/", day_page, name="gaming-day"),
    path("accounting/days/<str:day>/close", close, name="gaming-day-close"),
    path("accounting/days/<str:day>/verify", verify, name="gaming-day-verify"),
    path("accounting/days/<str:day>/readings/", readings_sheet, name="readings"),
    path("accounting/days/<str:day>/readings/read", read, name="readings-read"),
    path("accounting/days/<str:day>/readings/<int:reading_id>", say, name="reading-say"),
]
