"""The API of rounds, streams, gaming days and health (CONTRACT §5)."""

from django.urls import path

from accounting import addresses  # noqa: F401  # registers `anything`
from devices.api import days
from devices.api.explanations import Explanation, Verification
from devices.api.foresights import Foresights, OneForesight
from devices.api.health import Health
from devices.api.heartbeat import Heartbeat
from devices.api.rounds import OneRound, Rounds, StreamEvents

urlpatterns = [
    *days.urlpatterns,
    path("rounds", Rounds.as_view(), name="rounds"),
    path("rounds/<anything:path>", OneRound.as_view(), name="round"),
    path("payouts/<anything:payout_id>/explanation", Explanation.as_view(), name="payout-explanation"),
    path("payouts/<anything:payout_id>/verification", Verification.as_view(), name="payout-verification"),
    path("streams/<anything:code>/events", StreamEvents.as_view(), name="stream-events"),
    path("foresights", Foresights.as_view(), name="foresights"),
    path("foresights/<int:foresight_id>", OneForesight.as_view(), name="foresight"),
    path("heartbeat", Heartbeat.as_view(), name="heartbeat"),
    path("health", Health.as_view(), name="health"),
]
