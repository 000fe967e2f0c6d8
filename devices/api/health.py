"""Whether rounds can be accepted and are being settled. Open to everyone (CONTRACT §5)."""

from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from devices import queries
from devices.services import directory

SILENT_SECONDS = 10.0


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """200 once rounds can be accepted, 503 while they cannot; `status` says what is missing, if anything is."""
    try:
        found = queries.health()
    except DatabaseError:
        return JsonResponse({"status": "no database", "queued": None, "oldest_unsettled_seconds": None}, status=503)
    now = timezone.now()
    waited = (now - found.oldest_received_at).total_seconds() if found.oldest_received_at else 0.0
    swept = (now - found.swept_at).total_seconds() if found.swept_at else None
    alive = swept is not None and swept < SILENT_SECONDS
    body: dict[str, Any] = {
        "status": "ok" if found.has_floor else "no floor",
        "queued": found.queued,
        "oldest_unsettled_seconds": round(max(0.0, waited), 3),
        "database": "ok",
        "settling": "ok" if alive else "silent",
        "last_sweep_seconds": None if swept is None else round(swept, 3),
    }
    if found.has_floor and not alive:
        body["status"] = "settling is silent"
    return JsonResponse(body, status=200 if found.has_floor else 503)


class Queue(Collector):
    """What waits, read from the database when somebody asks."""

    def collect(self) -> list[GaugeMetricFamily]:
        """The queue's length and the age of its oldest message; nothing while there is no database."""
        try:
            found = queries.health()
        except DatabaseError:
            return []
        oldest = found.oldest_received_at
        waited = (timezone.now() - oldest).total_seconds() if oldest else 0.0
        return [
            GaugeMetricFamily("jackpot_queued_messages", "messages accepted and not settled yet", found.queued),
            GaugeMetricFamily("jackpot_oldest_unsettled_seconds", "age of the oldest of them", max(0.0, waited)),
        ]

    def describe(self) -> list[GaugeMetricFamily]:
        """Registering must not read the database."""
        return []


REGISTRY.register(Queue())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics: for a scraper on this machine, a device key or a signed-in person."""
    local = request.META.get("REMOTE_ADDR") in ("127.0.0.1", "::1", "") and "X-Forwarded-For" not in request.headers
    known = request.user.is_authenticated or directory.caller(
        request.headers.get("Authorization", ""), directory.current()
    )
    if not ((local and not settings.HTTPS) or known):
        raise PermissionDenied("metrics are for this machine, a device key or a signed-in person")
    return ExportToDjangoView(request)
