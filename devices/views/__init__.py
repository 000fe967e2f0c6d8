"""Pages that show messages: the floor, rounds, explanations of payouts, the finder, and the devices themselves."""

from django.urls import path

from accounting import addresses  # noqa: F401  # registers `anything`
from devices.views import floor, gateways, held, rounds

urlpatterns = [
    path("", floor.floor, name="floor"),
    path("floor/now", floor.floor_now, name="floor-now"),
    path("floor/held/", held.held, name="held-rounds"),
    path("floor/tables/<anything:code>/", floor.table, name="table-page"),
    path("find", rounds.find, name="find"),
    path("rounds/<anything:reference>", rounds.round_page, name="round-page"),
    path("payouts/<anything:payout_id>/", rounds.payout_page, name="payout-page"),
    path("devices/", gateways.devices, name="devices"),
]
