"""Whether rounds can be accepted and are being settled. Open to everyone (CONTRACT §5)."""

import hmac
import time
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from drf_spectacular.utils import OpenApiParameter, extend_schema
from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from devices import vitals
from devices.intake import directory

SILENT_SECONDS = 10.0


class StoppedShown(serializers.Serializer[Any]):
    """A stream that stands still for a fault of the service's: its rounds wait and are settled once it is mended."""

    stream = serializers.CharField()
    since = serializers.DateTimeField()
    reason = serializers.CharField()


class LateShown(serializers.Serializer[Any]):
    """A stream whose oldest message waits longer than it should, and why."""

    stream = serializers.CharField()
    queued = serializers.IntegerField()
    oldest_unsettled_seconds = serializers.FloatField()
    reason = serializers.CharField()


class HealthShown(serializers.Serializer[Any]):
    """How the service does. Without a database the first three keys are all there is."""

    status = serializers.CharField(
        help_text="ok, or what it means for the floor: `no database`, `no commits` and `no floor`: rounds cannot be"
        " accepted; `stalled`: a message waits longer than it should (`streams` has which and why); or in words"
    )
    queued = serializers.IntegerField(allow_null=True)
    oldest_unsettled_seconds = serializers.FloatField(allow_null=True)
    database = serializers.CharField(required=False)
    commit = serializers.CharField(required=False, help_text="ok, or why nothing can be written")
    broker = serializers.CharField(required=False, help_text="ok or away; without it settling goes by its own sweep")
    settling = serializers.CharField(required=False)
    last_sweep_seconds = serializers.FloatField(allow_null=True, required=False)
    stopped = StoppedShown(many=True, required=False)
    streams = LateShown(many=True, required=False)


class JsonWhateverIsAsked(BaseContentNegotiation):
    """A load balancer or browser that asks for something else gets the same answer."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The first parser."""
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first renderer."""
        return renderers[0], renderers[0].media_type


class Health(APIView):
    """Open to everyone; nobody is even asked who they are, which would need the database."""

    authentication_classes = []
    permission_classes = [AllowAny]
    content_negotiation_class = JsonWhateverIsAsked

    @extend_schema(
        responses={200: HealthShown, 503: HealthShown},
        parameters=[
            OpenApiParameter("strict", str, description="503 for every status but ok; any value, also none at all")
        ],
        auth=[],
        operation_id="health",
    )
    def get(self, request: Request) -> Response:
        """200 once rounds can be accepted, 503 while they cannot; `status` says what is missing, if anything is.

        With `strict` whatever keeps rounds from being settled is 503 as well. The answer comes within three seconds.
        """
        body, accepting = _health()
        well = body["status"] == "ok" if "strict" in request.query_params else accepting
        return Response(body, status=200 if well else 503)


def _health() -> tuple[dict[str, Any], bool]:
    """What is said, and whether rounds can be accepted."""
    found = vitals.look()
    if found.figures is None:
        return {"status": "no database", "queued": None, "oldest_unsettled_seconds": None}, False
    health, stopped = found.figures.health, found.figures.stopped
    now = timezone.now()
    waited = (now - health.oldest_received_at).total_seconds() if health.oldest_received_at else 0.0
    swept = (now - health.swept_at).total_seconds() if health.swept_at else None
    alive = swept is not None and swept < SILENT_SECONDS
    body: dict[str, Any] = {
        "status": "ok",
        "queued": health.queued,
        "oldest_unsettled_seconds": round(max(0.0, waited), 3),
        "database": "ok",
        "commit": found.commit,
        "broker": vitals.BROKER.state(),
        "settling": "ok" if alive else "silent",
        "last_sweep_seconds": None if swept is None else round(swept, 3),
        "stopped": StoppedShown(stopped, many=True).data,
        "streams": [
            {
                "stream": late.stream,
                "queued": late.queued,
                "oldest_unsettled_seconds": round(max(0.0, (now - late.oldest_received_at).total_seconds()), 3),
                "reason": late.reason,
            }
            for late in found.figures.late
        ],
    }
    if found.commit != "ok":
        body["status"] = "no commits"
    elif not health.has_floor:
        body["status"] = "no floor"
    elif found.figures.late:
        body["status"] = "stalled"
    elif not alive:
        body["status"] = "settling is silent"
    elif stopped:
        more = f" (and {len(stopped) - 1} more)" if len(stopped) > 1 else ""
        body["status"] = f"stream {stopped[0].stream}{more} stands still: {stopped[0].reason}"
    return body, body["status"] not in ("no commits", "no floor")


class Queue(Collector):
    """What waits, read from the database when somebody asks."""

    def collect(self) -> list[GaugeMetricFamily]:
        """The queue, the age of its oldest message, what stands still, and whether commits are made; within seconds.

        Without a database only that there is none.
        """
        began = time.monotonic()
        found = vitals.look()
        gauges = [
            GaugeMetricFamily(
                "jackpot_database_up", "whether the database can be read", int(found.figures is not None)
            ),
            GaugeMetricFamily(
                "jackpot_commits_up",
                "whether what is written is committed in time",
                int(found.figures is not None and found.commit == "ok"),
            ),
            GaugeMetricFamily("jackpot_look_seconds", "how long it took to find that out", time.monotonic() - began),
        ]
        if found.figures is None:
            return gauges
        health, now = found.figures.health, timezone.now()
        oldest = health.oldest_received_at
        waited = (now - oldest).total_seconds() if oldest else 0.0
        gauges += [
            GaugeMetricFamily("jackpot_queued_messages", "messages accepted and not settled yet", health.queued),
            GaugeMetricFamily("jackpot_oldest_unsettled_seconds", "age of the oldest of them", max(0.0, waited)),
            GaugeMetricFamily(
                "jackpot_stopped_streams", "streams that stand still for a fault of ours", len(found.figures.stopped)
            ),
            GaugeMetricFamily(
                "jackpot_stalled_streams", "streams whose oldest message waits too long", len(found.figures.late)
            ),
        ]
        if health.swept_at is not None:
            swept = max(0.0, (now - health.swept_at).total_seconds())
            gauges.append(
                GaugeMetricFamily("jackpot_last_sweep_seconds", "since settling was last seen at work", swept)
            )
        return gauges

    def describe(self) -> list[GaugeMetricFamily]:
        """Registering must not read the database."""
        return []


REGISTRY.register(Queue())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus metrics: for a scraper on this machine or with the token, a device key or a signed-in person."""
    local = request.META.get("REMOTE_ADDR") in ("127.0.0.1", "::1", "") and "X-Forwarded-For" not in request.headers
    if not ((local and not settings.HTTPS) or _shows_the_token(request) or _is_known(request)):
        raise PermissionDenied(
            "metrics are for this machine, a scraper with JACKPOT_METRICS_TOKEN, a device key or a signed-in person"
        )
    return ExportToDjangoView(request)


def _shows_the_token(request: HttpRequest) -> bool:
    """Looked at first: it needs no database, and a scraper is to see a house that has none."""
    shown = request.headers.get("Authorization", "").encode()
    return bool(settings.METRICS_TOKEN) and hmac.compare_digest(shown, f"Bearer {settings.METRICS_TOKEN}".encode())


def _is_known(request: HttpRequest) -> bool:
    return request.user.is_authenticated or bool(
        directory.caller(request.headers.get("Authorization", ""), directory.current())
    )
