"""A device's sign of life over HTTP, and what its absence does to the rounds it posts later (REQUIREMENTS R22)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx

from devices.intake import contact
from devices.models import Device
from tests.api.conftest import Api
from tests.services.house import seat

HEARTBEAT = "/api/v1/heartbeat"


def post(api: Api, table: str | None) -> httpx.Response:
    return httpx.post(api.url + HEARTBEAT, headers=api.key(table) if table else {}, trust_env=False)


def test_a_device_is_heard_of_and_told_when_it_counts_as_silent(api: Api) -> None:
    before = datetime.now(UTC)
    answer = post(api, "MS-101")
    assert answer.status_code == 200
    told = answer.json()
    assert before <= datetime.fromisoformat(told["heard_at"]) <= datetime.now(UTC)
    assert told["silent_after_seconds"] == 10
    again = httpx.get(api.url + HEARTBEAT, headers=api.key("MS-101"), trust_env=False).json()
    assert again == told | {"closed": []}
    never = httpx.get(api.url + HEARTBEAT, headers=api.key("VIP-7"), trust_env=False).json()
    assert never["heard_at"] is None


def test_nobody_else_gives_signs_of_life(api: Api) -> None:
    assert post(api, None).status_code in (401, 403)
    wrong = httpx.post(api.url + HEARTBEAT, headers={"Authorization": "Api-Key wrong"}, trust_env=False)
    assert wrong.status_code == 401


def test_a_round_dealt_in_the_silence_is_held_however_the_device_comes_back(quiet_api: Api) -> None:
    api = quiet_api
    table, now = "TW-201", datetime.now(UTC)
    device = Device.objects.filter(tables__code=table).earliest("pk").pk  # other tests enrol further ones
    contact.hear(device, at=now - timedelta(seconds=60))
    assert contact.watch(at=now - timedelta(seconds=40)) == [table]
    known = httpx.get(api.url + HEARTBEAT, headers=api.key(table), trust_env=False).json()
    assert known["closed"] == [table], "the device itself can ask for it"
    contact.hear(device, at=now - timedelta(seconds=20))
    assert contact.watch(at=now - timedelta(seconds=19)) == [table]
    assert post(api, table).status_code == 200
    silent = {"table": table, "dealt_at": (now - timedelta(seconds=30)).isoformat()}
    held, base, before, since = api.play(
        api.round(seat(1, "3s 7d", progressive=500), **silent),
        api.round(seat(1, "3s 7d"), **silent),
        api.round(
            seat(1, "3s 7d", progressive=500), **silent | {"dealt_at": (now - timedelta(seconds=41)).isoformat()}
        ),
        api.round(seat(1, "3s 7d", progressive=500), table=table),
    )
    assert (held["state"], held["settlement"]["reasons"]) == ("held", ["link_not_open"])
    assert [each["state"] for each in (base, before, since)] == ["settled"] * 3
    kinds = [(each["kind"], each["by"]) for each in api.found("streams/twin/events")["items"]]
    assert kinds.count(("table.contact", "the service")) == 2
