"""Pages of reports: which there are, and each with its parameters, its first rows, its totals, and its files."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby, islice
from typing import Any, NamedTuple
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone

from accounting import addresses  # noqa: F401  # registers `anything`
from accounting.elsewhere import reads_elsewhere
from accounting.reporting import making, registry
from accounting.reporting.forms import FILES, pdf
from accounting.reporting.making import Made
from accounting.reporting.shape import AS_IT_STANDS, DAY, DAYS, MOMENT, MONEY, ONE_DAY, ONE_WEEK, Column, Report, Row
from accounting.reporting.written import shown
from accounting.rules import parameters
from accounting.rules.parameters import BadParameter
from accounting.rules.weeks import week_name
from accounting.shell.navigation import may_use
from accounting.shell.pages import page, roles_of

SHOWN = 200
LONG = timedelta(days=31)
"""From so many days on a page offers to have the file made by a worker."""
SHORT = 12
"""A word of so many signs stands on one line."""
LOOKED_THROUGH = 20_000
"""So many rows are read for the totals of a page; what is longer is for a file."""


@page("reports")
def register(request: HttpRequest) -> HttpResponse:
    """The reports that somebody sees, by what they are about."""
    parameters.read(request.GET.lists(), ())
    seen = registry.seen_by(roles_of(request))
    groups = [(group, list(reports)) for group, reports in groupby(seen, key=lambda report: report.group)]
    return render(request, "reporting/reports.html", {"groups": groups})


class Cell(NamedTuple):
    """A value on the page: what it says, the classes that it is drawn with, and the page that it leads to."""

    text: str
    classes: str
    address: str

    @property
    def is_one_line(self) -> bool:
        """Whether it is not to be broken."""
        return bool(self.classes)


@page("reports")
@reads_elsewhere
def report(request: HttpRequest, report: str) -> HttpResponse:
    """One report: its first rows, its totals over all of them, and its files."""
    wanted, at = seen(request, report), timezone.now()
    context: dict[str, Any] = {
        "report": wanted,
        "is_one_day": wanted.period == ONE_DAY,
        "is_week": wanted.period == ONE_WEEK,
        "is_days": wanted.period == DAYS,
        "stands": wanted.period == AS_IT_STANDS,
        "parameters": [
            (each, [(option, each.words(option)) for option in each.options()] if each.options else None)
            for each in wanted.parameters
        ],
        "typed": {name: request.GET.get(name, "") for name in making.names(wanted)},
    }
    try:
        asked = making.asked(wanted, request.GET.lists(), at=at)
        made = making.made(wanted, asked, by=request.user.get_username())
    except BadParameter as refusal:
        titles = {each.name: each.title for each in wanted.parameters}
        context["refusal"] = {"name": titles.get(refusal.name, refusal.name), "detail": refusal.detail}
        return render(request, "reporting/report.html", context, status=400)
    kept: dict[str, dict[str, object]] = {
        DAYS: {"from": asked.first, "to": asked.last}, ONE_DAY: {"day": asked.first},
        ONE_WEEK: {"week": week_name(asked.first)}, AS_IT_STANDS: {},
    }  # fmt: skip
    days = kept[wanted.period]
    file = urlencode({name: str(day) for name, day in days.items()} | dict(asked.given))
    context |= _shown(made, roles_of(request))
    context |= {
        "made": made,
        "asks": asked.last - asked.first >= LONG or made.totals.count > pdf.MOST_ROWS,
        "typed": {name: str(day) for name, day in days.items()} | dict(asked.given),
        "files": [
            (form, f"{reverse('api-report', args=[wanted.code])}?{file}{'&' if file else ''}form={form}")
            for form in FILES
        ],
    }
    return render(request, "reporting/report.html", context)


def _shown(made: Made, roles: frozenset[str]) -> dict[str, Any]:
    columns = [(place, column) for place, column in enumerate(made.report.columns) if not column.only_in_files]

    def cells(row: Row) -> list[Cell]:
        return [_cell(column, row[place], made.zone, roles) for place, column in columns]

    rows = made.rows()
    first = [cells(row) for row in islice(rows, SHOWN)]
    looked = len(first) + sum(1 for _ in islice(rows, LOOKED_THROUGH - len(first)))
    is_whole = looked < LOOKED_THROUGH or next(rows, None) is None
    totals = cells(made.totals.row())
    return {
        "columns": [column for _, column in columns],
        "in_files": [column.title for column in made.report.columns if column.only_in_files],
        "rows": first,
        "is_whole": is_whole,
        "more": made.totals.count - len(first) if is_whole else None,
        "shown": SHOWN,
        "totals": totals if any(cell.text for cell in totals) else [],
        "verdicts": made.totals.verdicts(),
    }


def _cell(column: Column, value: Any, zone: ZoneInfo, roles: frozenset[str]) -> Cell:
    text = shown(column, value, zone)
    classes = ""
    if column.is_figure:
        classes = "n" if value or column.kind != MONEY else "n zero"
    elif column.kind in (DAY, MOMENT) or (len(text) <= SHORT and " " not in text):
        classes = "nowrap"
    if column.as_written:
        classes = "mono"
    return Cell(text, classes, _address(column, value, roles))


def _address(column: Column, value: Any, roles: frozenset[str]) -> str:
    """The page that a value is the name of; an event's is its stream and its sequence. Nothing for whoever may not go there."""
    if column.page is None or value is None or not may_use(column.page.section, roles):
        return ""
    if column.page.name == "event":
        stream, _, sequence = str(value).rpartition("/")
        return reverse("event", args=[stream, int(sequence)])
    return reverse(column.page.name, args=[value])


def seen(request: HttpRequest, code: str) -> Report:
    """A report that whoever is signed in may see; Http404, PermissionDenied."""
    found = registry.reports().get(code)
    if found is None:
        raise Http404(f"there is no report {code}")
    if found.roles.isdisjoint(roles_of(request)):
        raise PermissionDenied(f"The report {found.title} is not for your role.")
    return found


urlpatterns = [
    path("reports/", register, name="reports"),
    path("reports/<str:report>/", report, name="report"),
]
