"""Pages of links: their meters, charts and hits, liabilities against meters, and the public sign."""

from datetime import datetime
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounting import addresses  # noqa: F401  # registers `anything`
from accounting.event_queries import decided_on
from accounting.queries import the_property
from accounting.rules import parameters
from accounting.rules.roles import FORESIGHT
from accounting.shell.navigation import may_use
from accounting.shell.pages import page, roles_of
from accounting.shell.templatetags.pages import clock, money
from jackpot import history, hit_queries, queries
from jackpot.feeds import DISPLAYED, UNNUMBERED, invitation
from jackpot.fund_queries import funds
from jackpot.services.acts import as_it_stands

SPANS = (200, 2_000, 20_000)
HITS_SHOWN = 25
MADE_ANEW_SECONDS = 1


@page("jackpots")
def jackpots(request: HttpRequest) -> HttpResponse:
    """Every link with its levels as they stand."""
    links = queries.links_with_terms(at=timezone.now())
    for link in links:
        link["stream"] = reverse("live")
        link["charts"] = _charts(link["code"], events=SPANS[0])
    context = {"links": links, "hits": hit_queries.last_hits(limit=HITS_SHOWN), "series": reverse("jackpot-series")}
    return render(request, "jackpot/jackpots.html", context)


@page("jackpots")
def jackpots_hits(request: HttpRequest) -> HttpResponse:
    """The last hits of all links, for a page that is open while they come."""
    return render(request, "jackpot/last_hits.html", {"hits": hit_queries.last_hits(limit=HITS_SHOWN)})


@page("jackpots")
def series(request: HttpRequest) -> HttpResponse:
    """The data of the charts on an open page, by their ids: of one link where `link` names it, else of every one."""
    given = parameters.read(request.GET.lists(), ("link", "span"))
    span = int(given.choice("span", [str(span) for span in SPANS]) or SPANS[0])
    wanted = given.text("link")
    codes = [code for code, _, _ in queries.link_keys() if wanted in (None, code)]
    kept = f"series-{span}-{'/'.join(sorted(codes))}"
    found: dict[str, Any] | None = cache.get(kept)
    if found is None:
        found = {chart["id"]: chart["data"] for code in codes for chart in _charts(code, events=span)}
        cache.set(kept, found, MADE_ANEW_SECONDS)
    return JsonResponse(found)


@page("jackpots")
def jackpot(request: HttpRequest, code: str) -> HttpResponse:
    """One link: meters, terms, a chart of each level, and its hits."""
    found = queries.links_with_terms(code, at=timezone.now())
    if not found:
        raise Http404(f"no link {code}")
    link = found[0]
    given = parameters.read(request.GET.lists(), ("span", "before"))
    span = int(given.choice("span", [str(span) for span in SPANS]) or SPANS[1])
    before = given.whole("before", least=1)
    hits = hit_queries.last_hits(link=code, before=before, limit=HITS_SHOWN + 1)
    for level in link["levels"]:
        level["subject"] = f"{code}/{level['code']}"
    now, standing = timezone.now(), as_it_stands(code)
    context = {
        "short": standing.short,
        "states": history.states(standing, now),
        "members": history.members(link["stream_id"], code, now),
        "terms": history.terms(standing, now),
        "decided": decided_on(code),
        "foresees": not FORESIGHT.isdisjoint(roles_of(request)),
        "series": f"{reverse('jackpot-series')}?{urlencode({'link': code, 'span': span})}",
        "link": link | {"stream": f"{reverse('live')}?{urlencode({'link': code})}"},
        "charts": _charts(code, events=span),
        "span": span,
        "spans": SPANS,
        "hits": hits[:HITS_SHOWN],
        "before": before,
        "older": hits[HITS_SHOWN - 1]["id"] if len(hits) > HITS_SHOWN else None,
    }
    return render(request, "jackpot/jackpot.html", context)


@page("jackpots")
def jackpot_hits(request: HttpRequest, code: str) -> HttpResponse:
    """The latest hits of a link, for a page that is open while they come."""
    context = {"link": {"code": code}, "hits": hit_queries.last_hits(link=code, limit=HITS_SHOWN)}
    return render(request, "jackpot/hits.html", context)


def _charts(code: str, *, events: int) -> list[dict[str, Any]]:
    """For each level of a link the data of its chart: sequence, seconds since 1970, whole cents."""
    zone = the_property().time_zone
    charts = []
    for meter in queries.meters_of(code):
        series = queries.meter_series(meter, events=events)
        charts.append({
            "level": meter.level.code,
            "id": f"series-{meter.pk}",
            "data": {
                "sequence": [sequence for sequence, _, _ in series],
                "at": [at.timestamp() for _, at, _ in series],
                "cents": [cents for _, _, cents in series],
                "zone": zone,
                "words": _words(series),
            },
        })  # fmt: skip
    return charts


def _words(series: list[tuple[int, datetime, int]]) -> str:
    """What a chart shows, said."""
    if len(series) < 2:
        return "Too few contributions yet for a line."
    (first, began, left), (last, ended, right) = series[0], series[-1]
    low, high = min(cents for _, _, cents in series), max(cents for _, _, cents in series)
    falls = sum(after[2] < before[2] for before, after in pairwise(series))
    return (
        f"From {money(left)} at {clock(began)} (event {first:,}) to {money(right)} at {clock(ended)} (event {last:,}),"
        f" between {money(low)} and {money(high)}; it {times(falls)}."
    )


def times(count: int) -> str:
    """How often a meter fell, in words."""
    return {0: "never fell", 1: "fell once", 2: "fell twice"}.get(count, f"fell {count:,} times")


@page("accounting")
def liabilities(request: HttpRequest) -> HttpResponse:
    """Every level's liability, reserve and overflow in the ledger beside the meter, of one moment."""
    levels, at = queries.liabilities(), timezone.now()
    context = {
        "levels": levels,
        "funds": [each for each in funds(at) if each.required or each.balance_cents is not None],
        "at": at,
        "agree": all(level.agrees for level in levels),
        "meters_cents": sum(level.meter_cents for level in levels),
        "liability_cents": sum(level.liability_cents for level in levels),
        "reserve_cents": sum(level.reserve_cents for level in levels),
        "reserve_meters_cents": sum(level.reserve_meter_cents for level in levels),
        "overflow_cents": sum(level.overflow_cents for level in levels),
        "overflow_meters_cents": sum(level.overflow_meter_cents for level in levels),
    }
    return render(request, "jackpot/liabilities.html", context)


@require_GET
def live(request: HttpRequest) -> HttpResponse:
    """The events of every link, or of the one that `link` names, in one stream.

    A browser opens six connections to a host at most, over all its tabs: a page that listened to each link by itself
    would soon have none left to load anything with.
    """
    if not may_use("floor", roles_of(request)):
        return HttpResponse(status=403 if request.user.is_authenticated else 401)
    wanted = request.GET.getlist("link")
    return invitation([key for key in queries.link_keys() if not wanted or key[0] in wanted], UNNUMBERED)


def sign(request: HttpRequest, code: str) -> HttpResponse:
    """The floor display of a link: its meters, large. Open to everyone, as a sign is.

    What was won stands on it until somebody has acknowledged it, which is its verification.
    """
    found = queries.links_with_terms(code, at=timezone.now())
    if not found:
        raise Http404(f"no link {code}")
    wins = hit_queries.wins_unacknowledged(code).get(code, [])
    shown = {
        "link": found[0] | {"stream": reverse("sign-stream", args=[code])},
        "wins": wins[:3],
        "more": len(wins) - 3,
    }
    return render(request, "jackpot/sign.html", shown)


@require_GET
def sign_stream(request: HttpRequest, code: str) -> HttpResponse:
    """What a sign hears: the displayed meters, hits and the link's state, and nothing that is not displayed."""
    key = queries.link_key(code)
    if key is None:
        raise Http404(f"no link {code}")
    return invitation([(code, *key)], DISPLAYED)


urlpatterns = [
    path("jackpots/", jackpots, name="jackpots"),
    path("jackpots/hits", jackpots_hits, name="jackpots-hits"),
    path("jackpots/series", series, name="jackpot-series"),
    path("jackpots/<anything:code>/hits", jackpot_hits, name="jackpot-hits"),
    path("jackpots/<anything:code>/", jackpot, name="jackpot"),
    path("accounting/liabilities/", liabilities, name="liabilities"),
    path("live", live, name="live"),
    path("sign/<anything:code>/stream", sign_stream, name="sign-stream"),
    path("sign/<anything:code>", sign, name="sign"),
]
