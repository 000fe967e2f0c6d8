"""Whether rounds can be accepted and are being settled, for everybody; figures for whoever may have them (CONTRACT §5)."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from types import SimpleNamespace

import httpx
import psycopg
import pytest
from django.core.cache import cache
from django.test import Client, override_settings
from django.utils import timezone

from devices import vitals
from devices.intake import settling
from tests.api.conftest import Api
from tests.services.fixtures import Databases
from tests.services.house import House


def test_health_needs_no_key_and_counts_what_waits(api: Api) -> None:
    api.settle()
    settling.beat("sweep", timezone.now())
    answer = httpx.get(f"{api.url}/api/v1/health", trust_env=False)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert (body["status"], body["queued"], body["oldest_unsettled_seconds"]) == ("ok", 0, 0.0)
    assert (body["database"], body["settling"]) == ("ok", "ok")
    api.post([api.round(), api.round()])
    body = api.client.get("/api/v1/health").json()
    assert body["queued"] == 2
    assert 0 < body["oldest_unsettled_seconds"] < 100
    api.settle()
    assert api.client.get("/api/v1/health").json()["queued"] == 0


def test_a_silent_worker_is_told_while_rounds_are_still_accepted(api: Api) -> None:
    """Accepting does not need a worker: 200, and the status says what is missing."""
    settling.beat("sweep", timezone.now() - timedelta(seconds=60))
    answer = api.client.get("/api/v1/health")
    assert (answer.status_code, answer.json()["status"], answer.json()["settling"]) == (
        200,
        "settling is silent",
        "silent",
    )
    assert answer.json()["last_sweep_seconds"] >= 60


def test_health_is_read_only(api: Api) -> None:
    for method in ("POST", "PUT", "DELETE"):
        answer = api.client.request(method, "/api/v1/health")
        assert (answer.status_code, answer.headers["content-type"]) == (405, "application/problem+json")
    assert api.client.head("/api/v1/health").status_code == 200
    assert api.client.get("/api/v1/health", headers={"Accept": "text/html"}).status_code == 200


def test_without_a_floor_rounds_cannot_be_accepted(
    databases: Databases, migrated: str, django_db_blocker: object
) -> None:
    with django_db_blocker.unblock(), databases.entered(migrated):  # type: ignore[attr-defined]
        answer = Client().get("/api/v1/health")
        assert (answer.status_code, json.loads(answer.content)["status"]) == (503, "no floor")


def test_without_a_database_health_says_so(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(where: object) -> None:
        raise psycopg.OperationalError("no server")

    monkeypatch.setattr(vitals, "connect", gone)
    answer = Client().get("/api/v1/health")
    assert answer.status_code == 503
    assert json.loads(answer.content) == {"status": "no database", "queued": None, "oldest_unsettled_seconds": None}


def test_one_who_asks_costs_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[dict[str, str]] = []
    watch = vitals.Watch()
    monkeypatch.setattr(watch, "_look", looks.append)
    for number in range(3):
        assert watch.look({"dbname": str(number)}) == vitals.Found(None, "ok")
    assert looks == [{"dbname": "0"}, {"dbname": "1"}, {"dbname": "2"}]


def test_the_broker_is_asked_every_five_seconds_and_is_away_when_it_fails_twice_or_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, asked = SimpleNamespace(now=100.0), []
    answers = threading.Event()
    monkeypatch.setattr(vitals, "time", SimpleNamespace(monotonic=lambda: clock.now))

    def ask() -> None:
        asked.append(clock.now)
        if 110 <= clock.now < 120:
            raise ConnectionError("nobody there")
        if clock.now >= 130:
            assert answers.wait(30)

    broker = vitals.Broker(ask, every=5.0)

    def said(at: float) -> str:
        """What is said at a moment, before what is asked then is answered; where it answers, it has after this."""
        clock.now = at
        state = broker.state()
        for thread in threading.enumerate():
            if thread.name == "broker-look" and at < 130:
                thread.join(30)
        return state

    told = [said(at) for at in (100, 104.9, 105, 110, 114.9, 115, 119.9, 120, 120.1, 125)]
    assert told == ["ok"] * 6 + ["away"] * 2 + ["ok"] * 2
    assert asked == [100, 105, 110, 115, 120, 125]
    try:
        assert [said(at) for at in (130, 135, 139.9, 140, 150)] == ["ok", "ok", "ok", "away", "away"]
        assert asked[6:] == [130], "one who hangs is not asked again meanwhile"
    finally:
        answers.set()


def test_a_metrics_scraper_on_this_machine_needs_no_key(api: Api) -> None:
    api.post(api.round())
    answer = httpx.get(f"{api.url}/metrics", trust_env=False)
    assert answer.status_code == 200
    figures = {
        line.split()[0]: line.split()[1] for line in answer.text.splitlines() if line and not line.startswith("#")
    }
    assert float(figures["jackpot_queued_messages"]) >= 1
    assert float(figures["jackpot_oldest_unsettled_seconds"]) > 0
    assert float(figures["jackpot_stopped_streams"]) == 0
    api.settle()


@pytest.mark.parametrize("headers", [{"X-Forwarded-For": "198.51.100.7"}, {"X-Forwarded-For": "127.0.0.1"}])
def test_metrics_are_not_for_the_world(headers: dict[str, str], api: Api) -> None:
    assert httpx.get(f"{api.url}/metrics", headers=headers, trust_env=False).status_code == 403
    assert httpx.get(f"{api.url}/metrics", headers=headers | api.key(), trust_env=False).status_code == 200


@pytest.mark.parametrize(
    ("token", "shown", "status"),
    [
        ("t" * 24, "Bearer " + "t" * 24, 200),
        ("t" * 24, "Bearer " + "t" * 23, 403),
        ("", "Bearer ", 403),
        ("t", "", 403),
    ],
)
def test_a_scraper_elsewhere_shows_its_token(token: str, shown: str, status: int, house: House) -> None:
    headers = {"X-Forwarded-For": "192.0.2.7", **({"Authorization": shown} if shown else {})}
    with override_settings(METRICS_TOKEN=token, HTTPS=True):
        assert Client().get("/metrics", headers=headers).status_code == status


def test_keys_are_honoured_in_demo_mode_only(api: Api) -> None:
    from devices.intake import directory

    cache.clear()
    with override_settings(DEMO=False):
        directory.forget()
        client = Client()
        for answer in (
            client.get("/api/v1/links", headers=api.key()),
            client.post("/api/v1/rounds", b"[]", content_type="application/json", headers=api.key()),
        ):
            assert answer.status_code == 401
    assert Client().get("/api/v1/links", headers=api.key()).status_code == 200
