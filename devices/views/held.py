"""Every round that waits for a supervisor; the floor shows the oldest of them."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounting.rules import parameters
from accounting.shell.pages import page
from tables.queries import floor, set_up
from tables.rules.held import HELD_REASONS

SHOWN = 50


@page("floor")
def held(request: HttpRequest) -> HttpResponse:
    """Held rounds, oldest first, page by page; of a table or for a reason where one is chosen."""
    given = parameters.read(request.GET.lists(), ("table", "reason", "after"))
    tables = list(set_up.table_ids())
    table, reason = given.choice("table", tables), given.choice("reason", HELD_REASONS)
    after = given.whole("after") or 0
    found = floor.held_rounds(after=after, table=table, reason=reason, limit=SHOWN + 1)
    chosen = {name: value for name, value in (("table", table), ("reason", reason)) if value}
    context = {
        "held": found[:SHOWN],
        "all": floor.waiting(limit=0)[1],
        "tables": tables,
        "reasons": HELD_REASONS,
        "table": table,
        "reason": reason,
        "after": after,
        "first": urlencode(chosen),
        "next": urlencode(chosen | {"after": found[SHOWN - 1].message_id}) if len(found) > SHOWN else None,
    }
    return render(request, "floor/held.html", context)
