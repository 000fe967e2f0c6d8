"""The API of rounds, streams and health (CONTRACT §5)."""

from django.urls import path

from devices.api.explanations import Explanation
from devices.api.health import health
from devices.api.rounds import OneRound, Rounds, StreamEvents

urlpatterns = [
    path("rounds", Rounds.as_view(), name="rounds"),
    path("rounds/<path:path>", OneRound.as_view(), name="round"),
    path("payouts/<path:payout_id>/explanation", Explanation.as_view(), name="payout-explanation"),
    path("streams/<path:code>/events", StreamEvents.as_view(), name="stream-events"),
    path("health", health, name="health"),
]
