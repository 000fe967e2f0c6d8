"""A link's meters on an axis of time: hits, resets, adjustments and suspensions marked; a range of dates; another link beside."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounting.queries import the_property
from accounting.rules.gaming_day import began
from accounting.rules.parameters import BadParameter, Parameters, read
from accounting.shell.pages import page
from accounting.shell.templatetags.pages import money, second
from devices.foresight.history import Happened, History, history
from jackpot.drawing import Drawing, Line, Mark, draw
from jackpot.queries import link_keys

SHORTEST = timedelta(minutes=1)
EARLIEST, LATEST = 0.0, 4_102_444_800.0
"""Seconds since 1970 between which one may zoom: up to the year 2100."""


@page("jackpots")
def show(request: HttpRequest, code: str) -> HttpResponse:
    """The meters of a link over a period, and over the same of another link where one is named."""
    given = read(request.GET.lists(), ("from", "to", "with"))
    now = timezone.now()
    home = the_property()
    zone = ZoneInfo(home.time_zone)
    since, until = _span(given, zone, home.gaming_day_starts)
    found = history(code, since, until)
    if found is None:
        raise Http404(f"no link {code}")
    others = [other for other, _, _ in link_keys() if other != code]
    beside = given.choice("with", others)
    other = history(beside, since, until) if beside else None
    span = _shown(found, since, until, now)
    context: dict[str, Any] = {
        "code": code,
        "levels": [{"code": level, "drawing": _drawing(found, other, level, span, zone)} for level in found.levels],
        "happened": found.happened,
        "further_hits": found.further_hits,
        "events": found.events,
        "others": others,
        "beside": beside,
        "given": given.given,
        "since": datetime.fromtimestamp(span[0], zone),
        "until": datetime.fromtimestamp(span[1], zone),
        "closer": _zoomed(span, 0.25, -0.25, zone, beside),
        "wider": _zoomed(span, -0.5, 0.5, zone, beside),
        "earlier": _zoomed(span, -0.5, -0.5, zone, beside),
        "later": _zoomed(span, 0.5, 0.5, zone, beside) if span[1] < now.timestamp() else None,
        "all": f"?{urlencode({'with': beside})}" if beside else "?",
    }
    return render(request, "devices/meters.html", context)


def _span(given: Parameters, zone: ZoneInfo, starts: Any) -> tuple[datetime | None, datetime | None]:
    """The period asked for: gaming days from the first's beginning to the last's end, or moments."""
    first, last = given.day_or_moment("from"), given.day_or_moment("to")

    def instant(day: date | datetime | None, *, end: bool = False) -> datetime | None:
        if day is None or isinstance(day, datetime):
            return day
        return began(day + timedelta(days=1) if end else day, zone=zone, starts=starts)

    since, until = instant(first), instant(last, end=True)
    if since is not None and until is not None and until <= since:
        raise BadParameter("to", "it must be after from")
    return since, until


def _shown(found: History, since: datetime | None, until: datetime | None, now: datetime) -> tuple[float, float]:
    """The seconds that the axis shows: what was asked for, else the whole record."""
    points = [at for line in found.levels.values() for at, _ in line]
    first = since.timestamp() if since else min(points, default=now.timestamp())
    last = until.timestamp() if until else max(points, default=now.timestamp())
    return first, max(last, first + SHORTEST.total_seconds())


def _zoomed(span: tuple[float, float], left: float, right: float, zone: ZoneInfo, beside: str | None) -> str:
    """The address of the same page with both ends of its span moved by parts of its length."""
    length = span[1] - span[0]
    moved = (max(span[0] + left * length, EARLIEST), min(span[1] + right * length, LATEST))
    ends = [datetime.fromtimestamp(at, zone).replace(microsecond=0).isoformat() for at in moved]
    values = {"from": ends[0], "to": ends[1]} | ({"with": beside} if beside else {})
    return f"?{urlencode(values)}"


def _drawing(
    found: History, other: History | None, level: str, span: tuple[float, float], zone: ZoneInfo
) -> Drawing | None:
    points = _until(found.levels[level], span[1])
    lines = [Line(f"{found.code} {level}", "first", points)]
    if other is not None:
        # The level of the same name, else the other link's first.
        name = level if level in other.levels else next(iter(other.levels), "")
        points_beside = _until(other.levels.get(name, []), span[1])
        lines.append(Line(f"{other.code} {name}, at the right", "second", points_beside, own_scale=True))
    marks = [Mark(one.at.timestamp(), one.kind, in_words(one)) for one in found.happened if one.level in (None, level)]
    return draw(lines, marks, zone, _words(level, points, marks), span)


def _until(points: list[tuple[float, int]], end: float) -> list[tuple[float, int]]:
    """A line up to the end of the span, or to now: a meter stands until it is moved."""
    end = min(end, timezone.now().timestamp())
    return [*points, (end, points[-1][1])] if points and points[-1][0] < end else points


def _words(level: str, points: list[tuple[float, int]], marks: list[Mark]) -> str:
    if not points:
        return f"Level {level}: nothing on record in this period."
    cents = [each for _, each in points]
    hits = sum(mark.kind in ("hit", "reset") for mark in marks)
    return (
        f"Level {level}: from {money(cents[0])} to {money(cents[-1])}, between {money(min(cents))} and {money(max(cents))};"
        f" {hits:,} hits and {len(marks) - hits:,} other marks."
    )


def in_words(one: Happened) -> str:
    """What happened, said."""
    if one.kind in ("hit", "reset"):
        return f"{second(one.at)}: {one.what} paid {money(one.cents)}"
    moved = "" if one.cents is None else f" by {money(one.cents)}"
    return f"{second(one.at)}: {one.what}{moved}"
