"""Whether rounds can be accepted and are being settled. Open to everyone (CONTRACT §5)."""

from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from devices import queries

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
