"""The floor: every link with its live meters and tables, the last rounds, hits and what waits for a supervisor."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from accounting.pages import day_began, page
from devices.queries import boards
from devices.views.concerns import concerns
from jackpot import queries as jackpot_queries
from tables.queries import floor as tables_queries
from tables.queries.floor import RoundLine

ROUNDS_SHOWN = 20
HITS_SHOWN = 10
MADE_ANEW_SECONDS = 1
TABLE_ROUNDS_SHOWN = 50
NEWEST = (datetime.max.replace(tzinfo=UTC), 0)


@page("floor")
def floor(request: HttpRequest) -> HttpResponse:
    """The whole floor at a glance."""
    return render(request, "floor/floor.html", _now())


@page("floor")
def floor_now(request: HttpRequest) -> HttpResponse:
    """What the floor page reads anew while it is open: rounds, tables, hits and holds in one answer.

    It is the same for everybody, and made once a second however many are looking.
    """
    kept: str | None = cache.get("floor-now")
    if kept is None:
        kept = render_to_string("floor/now.html", _now())
        cache.set("floor-now", kept, MADE_ANEW_SECONDS)
    return HttpResponse(kept)


def _now() -> dict[str, Any]:
    tables = tables_queries.tables_now(day_began(timezone.now()))
    links = jackpot_queries.links_with_terms()
    for link in links:
        link["stream"] = reverse("live")
        link["tables"] = [table for table in tables if table.link == link["code"]]
        games = {table.game for table in link["tables"]}
        link["game"] = games.pop() if len(games) == 1 else None
    held, held_count = tables_queries.waiting()
    return {
        "links": links,
        "lone_tables": [table for table in tables if table.link is None],
        "table_count": len(tables),
        "rounds": with_boards(tables_queries.last_rounds(limit=ROUNDS_SHOWN)),
        "hits": jackpot_queries.last_hits(limit=HITS_SHOWN),
        "held": held,
        "held_count": held_count,
        "concerns": concerns(timezone.now()),
    }


@page("floor")
def table(request: HttpRequest, code: str) -> HttpResponse:
    """One table and its rounds, newest first."""
    shown = next((table for table in tables_queries.tables_now(day_began(timezone.now())) if table.code == code), None)
    if shown is None:
        raise Http404(f"no table {code}")
    before = request.GET.get("before", "")
    rounds = with_boards(
        tables_queries.rounds_of_table(code, before=_key(before) if before else NEWEST, limit=TABLE_ROUNDS_SHOWN + 1)
    )
    last = rounds[TABLE_ROUNDS_SHOWN - 1] if len(rounds) > TABLE_ROUNDS_SHOWN else None
    context = {
        "table": shown,
        "rounds": rounds[:TABLE_ROUNDS_SHOWN],
        "before": before.partition("/")[0],
        "older": f"{last.dealt_at.isoformat()}/{last.sequence}" if last else None,
    }
    return render(request, "floor/table.html", context)


def _key(text: str) -> tuple[datetime, int]:
    """The place in a table's rounds that a page's address names: a deal and a stream sequence."""
    at, _, sequence = text.partition("/")
    try:
        deal, number = datetime.fromisoformat(at), int(sequence)
    except ValueError:
        raise Http404(f"{text} is no place in a table's rounds") from None
    if deal.tzinfo is None or not 0 <= number < 2**63:
        raise Http404(f"{text} is no place in a table's rounds")
    return deal, number


def with_boards(rounds: list[RoundLine]) -> list[RoundLine]:
    """The same rounds with their community cards, which are in their messages."""
    dealt = boards([round.message_id for round in rounds])
    return [replace(round, community=dealt.get(round.message_id, ())) for round in rounds]
