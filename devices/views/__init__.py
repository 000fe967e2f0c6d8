"""Pages that show messages: the floor, rounds, hits, explanations of payouts, the finder, and the devices themselves."""

from django.urls import path

from accounting import addresses  # noqa: F401  # registers `anything`
from devices.views import dashboard, days, floor, foresight, gateways, held, hits, meters, packs, rounds

urlpatterns = [
    path("", floor.start, name="floor"),
    path("floor/now", floor.floor_now, name="floor-now"),
    path("floor/held/", held.held, name="held-rounds"),
    path("floor/tables/<anything:code>/", floor.table, name="table-page"),
    path("hits/", hits.queue, name="hits"),
    path("hits/<anything:name>/", hits.hit, name="hit-page"),
    path("find", rounds.find, name="find"),
    path("rounds/<anything:reference>", rounds.round_page, name="round-page"),
    path("payouts/<anything:payout_id>/", rounds.payout_page, name="payout-page"),
    path("jackpots/<anything:code>/meters/", meters.show, name="meter-history"),
    path("jackpots/<anything:code>/foresee/", foresight.look, name="foresee"),
    path("foreseen/new/", foresight.look_new, name="foresee-new"),
    path("foreseen/<int:job_id>/", foresight.foreseen, name="foreseen"),
    path("foreseen/<int:job_id>/cancel", foresight.cancel, name="foreseen-cancel"),
    *days.urlpatterns,
    *packs.urlpatterns,
    path("accounting/dashboard/", dashboard.dashboard, name="dashboard"),
    path("devices/", gateways.devices, name="devices"),
]
