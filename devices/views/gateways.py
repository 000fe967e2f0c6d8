"""Devices: who may post, what came last from each table, what waits in the queue, and significant events."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounting.rules import parameters
from accounting.shell.navigation import may_use
from accounting.shell.pages import page, roles_of
from devices import queries

EVENTS_SHOWN = 50


@page("devices")
def devices(request: HttpRequest) -> HttpResponse:
    """Gateways and the tables they post for, the queue by stream, and the latest significant events."""
    before = parameters.read(request.GET.lists(), ("before",)).whole("before", least=1)
    events = queries.significant_events(before=before, limit=EVENTS_SHOWN + 1)
    context = {
        "gateways": queries.gateways(),
        "sees_rounds": may_use("floor", roles_of(request)),  # not whoever looks after devices alone
        "queues": queries.queues(),
        "health": queries.health(),
        "now": timezone.now(),
        "events": events[:EVENTS_SHOWN],
        "before": before,
        "older": events[EVENTS_SHOWN - 1].pk if len(events) > EVENTS_SHOWN else None,
    }
    return render(request, "devices/devices.html", context)
