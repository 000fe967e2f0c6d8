"""Pages of links: their meters, charts and hits, liabilities against meters, and the public sign."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.views.decorators.http import require_GET

from accounting.queries import the_property
from accounting.shell.navigation import may_use
from accounting.shell.pages import page, roles_of
from jackpot import queries
from jackpot.feeds import DISPLAYED, UNNUMBERED, invitation

SPANS = (200, 2_000, 20_000)
HITS_SHOWN = 25


@page("jackpots")
def jackpots(request: HttpRequest) -> HttpResponse:
    """Every link with its levels as they stand."""
    links = queries.links_with_terms()
    for link in links:
        link["stream"] = reverse("live")
        link["charts"] = _charts(link["code"], events=SPANS[0])
    return render(request, "jackpot/jackpots.html", {"links": links, "hits": queries.last_hits(limit=HITS_SHOWN)})


@page("jackpots")
def jackpot(request: HttpRequest, code: str) -> HttpResponse:
    """One link: meters, terms, a chart of each level, and its hits."""
    found = queries.links_with_terms(code)
    if not found:
        raise Http404(f"no link {code}")
    link = found[0]
    asked, before = request.GET.get("span", ""), request.GET.get("before", "")
    span = next((span for span in SPANS if str(span) == asked), SPANS[1])
    hits = queries.last_hits(link=code, before=int(before) if before.isdecimal() else None, limit=HITS_SHOWN + 1)
    context = {
        "link": link | {"stream": f"{reverse('live')}?{urlencode({'link': code})}"},
        "charts": _charts(code, events=span),
        "span": span,
        "spans": SPANS,
        "hits": hits[:HITS_SHOWN],
        "before": before,
        "older": hits[HITS_SHOWN - 1]["id"] if len(hits) > HITS_SHOWN else None,
    }
    return render(request, "jackpot/jackpot.html", context)


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
            },
        })  # fmt: skip
    return charts


@page("accounting")
def liabilities(request: HttpRequest) -> HttpResponse:
    """Every level's liability, reserve and overflow in the ledger beside the meter, of one moment."""
    levels = queries.liabilities()
    context = {
        "levels": levels,
        "agree": all(level.agrees for level in levels),
        "meters_cents": sum(level.meter_cents for level in levels),
        "liability_cents": sum(level.liability_cents for level in levels),
        "reserve_cents": sum(level.reserve_cents for level in levels),
        "overflow_cents": sum(level.overflow_cents for level in levels),
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
    """The floor display of a link: its meters, large. Open to everyone, as a sign is."""
    found = queries.links_with_terms(code)
    if not found:
        raise Http404(f"no link {code}")
    return render(request, "jackpot/sign.html", {"link": found[0] | {"stream": reverse("sign-stream", args=[code])}})


@require_GET
def sign_stream(request: HttpRequest, code: str) -> HttpResponse:
    """What a sign hears: the displayed meters, hits and the link's state, and nothing that is not displayed."""
    key = queries.link_key(code)
    if key is None:
        raise Http404(f"no link {code}")
    return invitation([(code, *key)], DISPLAYED)


urlpatterns = [
    path("jackpots/", jackpots, name="jackpots"),
    path("jackpots/<path:code>/", jackpot, name="jackpot"),
    path("accounting/liabilities/", liabilities, name="liabilities"),
    path("live", live, name="live"),
    path("sign/<path:code>/stream", sign_stream, name="sign-stream"),
    path("sign/<path:code>", sign, name="sign"),
]
