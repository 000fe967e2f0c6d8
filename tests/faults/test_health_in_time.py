"""Health and metrics answer within three seconds and tell the truth, whatever is down: the server frozen, a standby missing,
the pool used up, the broker gone, the way to the database dead."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx
import pytest

from tests.faults.hall import eventually
from tests.faults.house_of_its_own import TOKEN, OwnHouse, timed

pytestmark = [pytest.mark.alone, pytest.mark.timeout(300)]

WITHIN_SECONDS = 3.0
HANGING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
STANDBY_GONE = (
    "ALTER SYSTEM SET synchronous_standby_names = 'nobody'",
    "SELECT pg_reload_conf()",
)
STANDBY_BACK = ("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")


def in_time(client: httpx.Client, path: str = "/api/v1/health", **headers: str) -> httpx.Response:
    seconds, answer = timed(client, path, **headers)
    assert seconds < WITHIN_SECONDS, f"{path} took {seconds:.1f} s"
    return answer


def server(house: OwnHouse, *statements: str) -> None:
    with house.server.connect() as connection:
        for statement in statements:
            connection.execute(statement.encode())


def count(house: OwnHouse, query: str) -> int:
    with house.server.connect() as connection:
        return int(connection.execute(query.encode()).fetchone()[0])  # type: ignore[index]


def hang(house: OwnHouse, client: httpx.Client) -> None:
    """A post that nobody answers."""
    with suppress(httpx.HTTPError, RuntimeError):
        house.post(client, house.deal(3))


def test_what_waits_too_long_is_a_stall_with_its_reason(own_house: OwnHouse) -> None:
    """A worker that hangs with its stream in hand, or none at all: accepted all the same, and unwell for who is strict."""
    house = own_house
    with house.web(JACKPOT_STALLED_SECONDS="2") as client, house.server.connect("jackpot") as worker:
        assert in_time(client, "/api/v1/health?strict").status_code == 503, "nothing settles here"
        worker.execute(
            "INSERT INTO devices_heartbeat VALUES ('sweep', now() + interval '1 hour')"
            " ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at"
        )
        answer = in_time(client, "/api/v1/health?strict")
        assert (answer.status_code, answer.json()["status"], answer.json()["broker"]) == (200, "ok", "ok")
        assert house.post(client, house.deal(1)).json()[0]["status"] == "accepted"
        assert in_time(client).json()["status"] == "ok", "it has not waited long"
        time.sleep(2.1)
        for address, code in (
            ("/api/v1/health", 200),
            ("/api/v1/health?strict", 503),
            ("/api/v1/health?strict=1", 503),
        ):
            answer = in_time(client, address)
            assert (answer.status_code, answer.json()["status"]) == (code, "stalled")
        (stream,) = answer.json()["streams"]
        assert (stream["stream"], stream["queued"], stream["reason"]) == ("soak", 1, "no worker is at it")
        assert 2 <= stream["oldest_unsettled_seconds"] < 60
        assert "jackpot_stalled_streams 1.0" in in_time(client, "/metrics").text
        worker.execute("SET application_name = 'jackpot settle'")
        worker.execute(
            "SELECT pg_advisory_lock((1784767339::bigint << 32) + id) FROM accounting_stream WHERE code = 'soak'"
        )
        (stream,) = in_time(client).json()["streams"]
        assert stream["reason"] == (
            f"a worker is at it, session {worker.info.backend_pid} (jackpot settle), and does not get on"
        )
        worker.execute("DELETE FROM devices_heartbeat WHERE name = 'sweep'")


def test_a_frozen_server_is_told_in_time_to_everybody_who_asks(own_house: OwnHouse) -> None:
    house = own_house
    with house.web() as client:
        assert in_time(client).status_code == 200
        with house.frozen():
            with ThreadPoolExecutor(12) as crowd:
                answers = list(crowd.map(lambda _: in_time(client, Cookie="sessionid=of-a-person"), range(24)))
            assert {answer.status_code for answer in answers} == {503}
            assert {answer.json()["status"] for answer in answers} == {"no database"}
            figures = in_time(client, "/metrics", Authorization=f"Bearer {TOKEN}", **{"X-Forwarded-For": "192.0.2.7"})
            assert figures.status_code == 200
            assert "jackpot_database_up 0.0" in figures.text and "jackpot_commits_up 0.0" in figures.text
        eventually(lambda: in_time(client).status_code == 200, "not well again", 20)
        assert "jackpot_commits_up 1.0" in in_time(client, "/metrics").text


def test_a_missing_synchronous_standby_is_told_and_sessions_do_not_pile_up(own_house: OwnHouse) -> None:
    house = own_house
    try:
        with house.web() as client:
            assert in_time(client).json()["commit"] == "ok"
            server(house, *STANDBY_GONE)
            post = threading.Thread(target=hang, args=[house, client], daemon=True)
            post.start()
            eventually(lambda: in_time(client).status_code == 503, "nobody notices", 20)
            answer = in_time(client)
            assert (answer.status_code, answer.json()["status"]) == (503, "no commits")
            assert answer.json()["queued"] == 1, "it can be read all the same, and what hangs is not in it"
            figures = in_time(client, "/metrics").text
            assert "jackpot_database_up 1.0" in figures and "jackpot_commits_up 0.0" in figures
        # Web processes come and go; what hangs is one session in the house.
        with house.web() as client:
            for _ in range(3):
                assert in_time(client).json()["status"] == "no commits"
        assert count(house, HANGING) <= 2, "one look, and the post"
        server(house, *STANDBY_BACK)
        with house.web() as client:
            eventually(lambda: in_time(client).status_code == 200, "not well again", 20)
        assert count(house, HANGING) == 0
    finally:
        server(house, *STANDBY_BACK)


def test_a_pool_used_up_by_posts_that_hang_does_not_keep_health_waiting(own_house: OwnHouse) -> None:
    house = own_house
    with house.web(JACKPOT_POOL="2", JACKPOT_DEMO="1") as client, house.server.connect("jackpot") as blocker:
        blocker.execute("BEGIN")
        blocker.execute("LOCK TABLE django_session, people_session, auth_user IN ACCESS EXCLUSIVE MODE")

        def sign_in(_: int) -> int:
            with httpx.Client(base_url=client.base_url, timeout=60, trust_env=False) as person:
                return person.get("/sign-in", headers={"Cookie": "sessionid=" + "x" * 32}).status_code

        with ThreadPoolExecutor(6) as crowd:
            waiting = [crowd.submit(sign_in, number) for number in range(6)]
            time.sleep(1)
            assert in_time(client).status_code == 200
            assert not any(each.done() for each in waiting), "they do not wait"
            blocker.execute("ROLLBACK")


def test_a_way_to_the_database_that_is_dead_is_told_in_time(own_house: OwnHouse) -> None:
    house = own_house
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        url = f"postgresql://jackpot_service@127.0.0.1:{silent.getsockname()[1]}/jackpot?connect_timeout=1"
        with house.web(DATABASE_URL=url) as client:
            for _ in range(2):
                answer = in_time(client)
                assert (answer.status_code, answer.json()) == (
                    503,
                    {"status": "no database", "queued": None, "oldest_unsettled_seconds": None},
                )


def test_without_a_broker_health_says_so_and_is_not_kept_waiting(own_house: OwnHouse) -> None:
    house = own_house
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        with house.web(CELERY_BROKER_URL=f"amqp://guest@127.0.0.1:{silent.getsockname()[1]}//") as client:
            eventually(lambda: in_time(client).json()["broker"] == "away", "the broker is never missed", 30)
            assert in_time(client).status_code == 200
