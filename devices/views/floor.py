"""The floor: every link with its live meters and tables, the last rounds, hits and what waits for a supervisor."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from accounting.day_queries import gaming_day
from accounting.event_queries import decided_on
from accounting.rules import parameters
from accounting.rules.moments import instant, is_moment
from accounting.shell.navigation import home, may_use
from accounting.shell.pages import page, roles_of
from accounting.shell.templatetags.pages import money, words
from devices import queries
from devices.intake import contact
from devices.intake.contact import Silent
from devices.queries import Health, boards
from devices.views.concerns import concerns
from jackpot import hit_queries
from jackpot import queries as jackpot_queries
from tables.addresses import round_address
from tables.queries import floor as tables_queries
from tables.queries.days import tables_on
from tables.queries.floor import RoundLine, TableNow

if TYPE_CHECKING:
    from tables.models import Hold

ROUNDS_SHOWN = 20
HITS_SHOWN = 10
SHOWN_SINGLY = 2
"""So many tables with the same trouble have an alert each."""
NAMED = 6
MADE_ANEW_SECONDS = 1
TABLE_ROUNDS_SHOWN = 50
SETTLING_SILENT_SECONDS = 10
HIT_IS_NEWS = timedelta(minutes=15)
SILENT_AFTER = timedelta(minutes=15)
SILENT_UNTIL = timedelta(hours=8)
NEWEST = (datetime.max.replace(tzinfo=UTC) - timedelta(days=2), 0)


@page("floor")
def floor(request: HttpRequest) -> HttpResponse:
    """The whole floor at a glance."""
    return render(request, "floor/floor.html", _now(sees_devices=may_use("devices", roles_of(request))))


@page(None)
def start(request: HttpRequest) -> HttpResponseBase:
    """Where everybody begins: the floor, or for whoever does not use it the page where their roles begin."""
    roles = roles_of(request)
    section = home(roles)
    if may_use("floor", roles) or section is None:
        return floor(request)
    return redirect(section.address)


@page("floor")
def floor_now(request: HttpRequest) -> HttpResponse:
    """What the floor page reads anew while it is open: rounds, tables, hits and holds in one answer.

    It is made once a second however many are looking: for those who see devices, and for those who do not.
    """
    sees_devices = may_use("devices", roles_of(request))
    name = "floor-now-devices" if sees_devices else "floor-now"
    kept: str | None = cache.get(name)
    if kept is None:
        kept = render_to_string("floor/now.html", _now(sees_devices=sees_devices))
        cache.set(name, kept, MADE_ANEW_SECONDS)
    return HttpResponse(kept)


def _now(*, sees_devices: bool) -> dict[str, Any]:
    now = timezone.now()
    tables = tables_queries.tables_now(*gaming_day(now))
    links = jackpot_queries.links_with_terms(at=timezone.now())
    for link in links:
        link["stream"] = reverse("live")
        link["tables"] = [table for table in tables if table.link == link["code"]]
        games = {table.game for table in link["tables"]}
        link["game"] = games.pop() if len(games) == 1 else None
    silent = contact.silent()
    unheard = [each.table for each in silent]
    held, held_count = tables_queries.waiting()
    hits = hit_queries.last_hits(limit=HITS_SHOWN)
    return {
        "stopped": queries.stopped(),
        "pulse": _pulse(queries.health(), now),
        "alerts": [
            *_held(held, held_count, now),
            *_hit(hits, now),
            *_without_contact(silent, now),
            *_silent([table for table in tables if table.code not in unheard], now),
        ],
        "without_contact": unheard,
        "links": links,
        "lone_tables": [table for table in tables if table.link is None],
        "table_count": len(tables),
        "rounds": with_boards(tables_queries.last_rounds(limit=ROUNDS_SHOWN)),
        "hits": hits,
        "held": held,
        "held_count": held_count,
        "concerns": concerns(now, sees_devices=sees_devices),
        "sees_devices": sees_devices,
    }


def _pulse(health: Health, now: datetime) -> dict[str, Any]:
    """The queue, its age, and how long ago settling was seen at work; ages in whole seconds."""
    settling = None if health.swept_at is None else _seconds(health.swept_at, now)
    return {
        "queued": health.queued,
        "oldest": _seconds(health.oldest_received_at, now) if health.oldest_received_at else 0,
        "settling": settling,
        "silent": settling is not None and settling >= SETTLING_SILENT_SECONDS,
    }


def _seconds(since: datetime, now: datetime) -> int:
    return max(0, int((now - since).total_seconds()))


def _held(held: "list[Hold]", count: int, now: datetime) -> list[dict[str, Any]]:
    """Rounds that wait for a supervisor, as one alert that leads to the only one, or to the list of them."""
    if not held:
        return []
    oldest = held[0]
    return [{
        "key": f"held-{count}-{oldest.message_id}",
        "kind": "warn",
        "title": f"{count} round{'s' if count > 1 else ''} held",
        "detail": f"oldest at {oldest.table.code}, waiting",
        "age": _seconds(oldest.held_at, now),
        "address": reverse("held-rounds") if count > 1 else round_address(oldest.table.code, oldest.reference),
    }]  # fmt: skip


def _hit(hits: list[dict[str, Any]], now: datetime) -> list[dict[str, Any]]:
    """Hits that nobody has dealt with yet, while they are news."""
    return [
        {
            "key": f"hit-{hit['hit']}",
            "kind": "hit",
            "title": f"{words(hit['hand'])} pays {money(hit['paid_cents'])}",
            "detail": f"{hit['table']} seat {hit['seat']}, detected",
            "age": _seconds(hit["detected_at"], now),
            "after": " ago",
            "address": round_address(hit["table"], hit["round"]),
        }
        for hit in hits
        if hit["state"] == "detected" and now - hit["detected_at"] < HIT_IS_NEWS
    ]


def _without_contact(tables: list[Silent], now: datetime) -> list[dict[str, Any]]:
    """Tables whose devices fell silent: their progressive is closed until they are heard of again."""
    if len(tables) > SHOWN_SINGLY:
        detail = "progressives closed until their gateways give signs of life, base games open; nothing heard for"
        first = min((each.last for each in tables if each.last), default=now)
        return [_of_many("contact", [each.table for each in tables], "have lost contact", detail, first, now)]
    return [
        {
            "key": f"contact-{each.table}",
            "kind": "bad",
            "title": f"{each.table} has lost contact",
            "detail": "its progressive is closed until its gateway gives a sign of life, its base game open; nothing heard for",
            "age": _seconds(each.last, now) if each.last else 0,
            "address": reverse("table-page", args=[each.table]),
        }
        for each in tables
    ]


def _silent(tables: list[TableNow], now: datetime) -> list[dict[str, Any]]:
    """Open tables that dealt today and then fell silent: a controller that stands still, or nobody to play."""
    found = [
        (table.code, table.last_at)
        for table in tables
        if table.state == "open"
        and table.rounds_today
        and table.last_at
        and SILENT_AFTER < now - table.last_at < SILENT_UNTIL
    ]
    if len(found) > SHOWN_SINGLY:
        first = min(last for _, last in found)
        return [_of_many("silent", [code for code, _ in found], "are silent", "no round for", first, now)]
    return [
        {
            "key": f"silent-{code}",
            "kind": "bad",
            "title": f"{code} is silent",
            "detail": "no round for",
            "age": _seconds(last, now),
            "address": reverse("table-page", args=[code]),
        }
        for code, last in found
    ]


def _of_many(key: str, codes: list[str], what: str, detail: str, since: datetime, now: datetime) -> dict[str, Any]:
    """One alert for many tables: a line that is down would otherwise push the meters off the screen."""
    named = ", ".join(codes[:NAMED]) + (f" and {len(codes) - NAMED:,} more" if len(codes) > NAMED else "")
    return {
        "key": f"{key}-{len(codes)}-tables",
        "kind": "bad",
        "title": f"{len(codes):,} tables {what}",
        "detail": f"{named}: {detail}",
        "age": _seconds(since, now),
        "address": reverse("table-page", args=[codes[0]]),
    }


@page("floor")
def table(request: HttpRequest, code: str) -> HttpResponse:
    """One table and its rounds, newest first."""
    given = parameters.read(request.GET.lists(), ("before",))
    today, began = gaming_day(timezone.now())
    tables = tables_queries.tables_now(today, began)
    shown = next((table for table in tables if table.code == code), None)
    if shown is None:
        raise Http404(f"no table {code}")
    before = given.text("before") or ""
    rounds = with_boards(
        tables_queries.rounds_of_table(code, before=_key(before) if before else NEWEST, limit=TABLE_ROUNDS_SHOWN + 1)
    )
    last = rounds[TABLE_ROUNDS_SHOWN - 1] if len(rounds) > TABLE_ROUNDS_SHOWN else None
    context = {
        "table": shown,
        "has_contact": code not in [each.table for each in contact.silent()],
        "today": today,
        "day": tables_on(today, table=code)[0],
        "decided": decided_on(tables_queries.stream_of(code), subject=code),
        "rounds": rounds[:TABLE_ROUNDS_SHOWN],
        "before": before.partition("/")[0],
        "older": f"{last.counts_at.isoformat()}/{last.sequence}" if last else None,
    }
    return render(request, "floor/table.html", context)


def _key(text: str) -> tuple[datetime, int]:
    """The place in a table's rounds that a page's address names: a moment that counts and a stream sequence."""
    at, _, sequence = text.partition("/")
    if not is_moment(at):
        raise Http404("no place in a table's rounds")
    return instant(at), parameters.Parameters({"before": sequence or "-"}).whole("before") or 0


def with_boards(rounds: list[RoundLine]) -> list[RoundLine]:
    """The same rounds with their community cards, which are in their messages."""
    dealt = boards([round.message_id for round in rounds])
    return [replace(round, community=dealt.get(round.message_id, ())) for round in rounds]
