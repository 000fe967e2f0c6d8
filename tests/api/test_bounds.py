"""What one client may cost the house: bodies, slow requests, long heads, watchers; and that nobody else pays for it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import psutil
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounting.people.services import accounts, sessions, tokens
from accounting.people.services.acting import Actor
from devices import enrolment
from tests.api.conftest import Api
from tests.conftest import Service, serving
from tests.services.fixtures import Databases
from tests.services.house import LINKED

PATIENCE = 2.0
FEW = {"JACKPOT_REQUEST_SECONDS": str(PATIENCE), "JACKPOT_WATCHERS": "14", "JACKPOT_WATCHERS_PER_CLIENT": "10"}
MEGABYTE = 1024 * 1024
SIGN = "/sign/twin/stream"


@pytest.fixture(scope="module")
def impatient(databases: Databases, served: Api, django_db_blocker: DjangoDbBlocker) -> Iterator[Service]:
    """Another web process of the same floor, whose limits a test can reach."""
    with django_db_blocker.unblock(), databases.entered(served.database), pytest.MonkeyPatch.context() as patch:
        for name, text in FEW.items():
            patch.setenv(name, text)
        web = serving()
        service = web.__enter__()
    yield service
    web.__exit__(None, None, None)


@pytest.fixture
def web(api: Api, impatient: Service) -> psutil.Process:
    """That process, to be looked at."""
    return psutil.Process(impatient.process.pid)


@pytest.fixture
def strict(api: Api, impatient: Service) -> Api:
    """The floor, asked through that process."""
    return replace(api, url=impatient.url)


def connected(service: Service, source: str = "127.0.0.1") -> socket.socket:
    """A plain connection."""
    where = urlsplit(service.url)
    assert where.hostname is not None
    found = socket.create_connection((where.hostname, where.port or 80), timeout=30, source_address=(source, 0))
    found.settimeout(30)
    return found


def head(path: str = "/api/v1/rounds", method: str = "POST", **headers: str) -> bytes:
    """The head of a request."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {text}" for name, text in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def everything(connection: socket.socket) -> bytes:
    """All that is sent until the other side closes."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def until(connection: socket.socket, words: bytes, found: bytes = b"") -> bytes:
    """All that is sent up to some words, after what was `found` already."""
    while words not in found:
        part = connection.recv(65_536)
        assert part, found
        found += part
    return found


def resident(web: psutil.Process) -> int:
    found: int = web.memory_info().rss
    return found


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("key", ["known", "unknown"])
@pytest.mark.parametrize("size", [16 * MEGABYTE, 8 * MEGABYTE - 1])
def test_an_array_of_millions_is_413_and_costs_next_to_nothing(
    key: str, size: int, strict: Api, web: psutil.Process
) -> None:
    """Counted before anything is copied: two bytes an element, not two hundred."""
    body = b"[" + b",".join([b"1"] * (size // 2)) + b"]"
    header = strict.key() if key == "known" else {"Authorization": "Api-Key wrong"}
    strict.client.post("/api/v1/rounds", content=b"[]", headers=header)
    before, most = resident(web), 0
    for _ in range(3):
        with httpx.Client(base_url=strict.url, timeout=60, trust_env=False) as client:
            answer = client.post("/api/v1/rounds", content=body, headers=header)
        assert answer.status_code == (413 if key == "known" else 401), answer.text
        most = max(most, resident(web))
    if key == "known":
        assert answer.json()["code"] == ("too_large" if size > 8 * MEGABYTE else "too_many_messages")
    assert most - before < 64 * MEGABYTE, (most - before) / MEGABYTE


def test_a_body_of_eight_megabytes_is_read_and_a_byte_more_is_413(strict: Api) -> None:
    sent = json.dumps(strict.round()).encode()
    full = sent + b" " * (8 * MEGABYTE - len(sent))
    answer = strict.client.post("/api/v1/rounds", content=full, headers=strict.key())
    assert answer.status_code == 202, answer.text
    for longer in (full + b" ", iter([full, b" "])):
        answer = httpx.post(f"{strict.url}/api/v1/rounds", content=longer, headers=strict.key(), trust_env=False)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    answer = httpx.post(f"{strict.url}/sign-in", content=full + b" ", trust_env=False, timeout=60)
    assert answer.status_code == 413, "pages take no more either"


def test_all_bodies_together_have_a_bound_and_the_next_is_told_to_try_again(strict: Api, impatient: Service) -> None:
    """Nine of eight megabytes each, all but their last byte: the ninth is too much, and others are served meanwhile."""
    with ExitStack() as stack:
        begun = [stack.enter_context(connected(impatient)) for _ in range(9)]
        for connection in begun:
            connection.sendall(head(Host="localhost", Content_Length=str(8 * MEGABYTE), **strict.key()))
        answers = []
        for connection in begun:
            with suppress(ConnectionError):
                connection.sendall(b" " * (8 * MEGABYTE - 1))
        good = strict.client.post("/api/v1/rounds", json=strict.round(), headers=strict.key())
        answers = [everything(connection)[:12] for connection in begun]
    assert good.status_code in (202, 503)
    assert answers.count(b"HTTP/1.1 503") >= 1
    assert set(answers) <= {b"HTTP/1.1 503", b"HTTP/1.1 408"}
    assert strict.client.post("/api/v1/rounds", json=strict.round(), headers=strict.key()).status_code == 202


@pytest.mark.parametrize(
    "body", [b"x" * 200_000, b"x: " + b"y" * 200_000, b"x: y\r\n" * 40_000], ids=["line", "value", "lines"]
)
def test_a_head_without_end_is_cut_off(body: bytes, impatient: Service) -> None:
    with connected(impatient) as connection:
        connection.sendall(b"GET /sign-in HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for place in range(0, len(body), 10_000):
                connection.sendall(body[place : place + 10_000])
                time.sleep(0.005)
        except ConnectionError:
            pass
        assert everything(connection)[:12] in (b"HTTP/1.1 431", b"")


# ── time ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def half_sent(strict: Api) -> list[bytes]:
    """Requests that break off, each at another place."""
    sent = json.dumps(strict.round()).encode()
    length = {"Content_Length": str(len(sent))}
    return [
        b"",
        b"\r\n",
        b"POST",
        b"POST /api/v1/rounds HTTP/1.1\r\nHost: localhost\r\n",
        b"POST /api/v1/rounds HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"y" * 1_000,
        head(Host="localhost", **length) + sent[:20],
        head(Host="localhost", **length, **strict.key()),
        head(Host="localhost", **length, **strict.key()) + sent[:-1],
        head(Host="localhost", Transfer_Encoding="chunked", **strict.key()) + b"5\r\n[1,",
        head("/sign-in", Host="localhost", **length) + sent[:20],
    ]


def test_a_hundred_half_sent_requests_occupy_nobody_and_end(
    strict: Api, impatient: Service, web: psutil.Process
) -> None:
    strict.client.post("/api/v1/rounds", json=strict.round(), headers=strict.key())
    threads = web.num_threads()
    with ExitStack() as stack:
        begun = []
        for _ in range(10):
            for part in half_sent(strict):
                connection = stack.enter_context(connected(impatient))
                connection.sendall(part)
                begun.append(connection)
        began = time.monotonic()
        took = []
        for _ in range(20):
            at = time.monotonic()
            answer = strict.client.post("/api/v1/rounds", json=strict.round(), headers=strict.key())
            took.append(time.monotonic() - at)
            assert answer.status_code == 202
            assert strict.client.get("/sign-in").status_code == 200
        assert sorted(took)[10] < 0.5, took
        assert web.num_threads() <= threads + 8, "a half-sent request must not have a thread"
        answers = [everything(connection)[:12] for connection in begun]
    assert time.monotonic() - began < 10 * PATIENCE
    assert set(answers) <= {b"HTTP/1.1 408", b"HTTP/1.1 401"}, set(answers)
    assert answers.count(b"HTTP/1.1 401") == 10, "whoever has no key hears so"


def test_a_drop_of_data_now_and_then_buys_no_more_time(impatient: Service, strict: Api) -> None:
    for start in (b"GET / HTTP/1.1\r\nX: ", head(Host="localhost", Content_Length="1000", **strict.key())):
        with connected(impatient) as connection:
            connection.sendall(start)
            began = time.monotonic()
            try:
                while time.monotonic() - began < 5 * PATIENCE:
                    connection.sendall(b"x")
                    time.sleep(0.1)
            except ConnectionError:
                pass
            assert time.monotonic() - began < 4 * PATIENCE


# ── whom it is for ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "", "a b", "localhost, evil.example", "[::"]
)
def test_a_host_that_is_not_ours_gets_no_round_in_and_no_stream(host: str, impatient: Service, strict: Api) -> None:
    sent = json.dumps(strict.round()).encode()
    for request in (
        head(Host=host, Content_Length=str(len(sent)), **strict.key()) + sent,
        head(SIGN, "GET", Host=host),
        head("/api/v1/links/twin/stream", "GET", Host=host, **strict.key()),
        head("/sign-in", "GET", Host=host),
    ):
        with connected(impatient) as connection:
            connection.sendall(request)
            assert until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 400"), request
    with connected(impatient) as connection:
        connection.sendall(head(Host="localhost:1234", Content_Length=str(len(sent)), **strict.key()) + sent)
        assert until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 202")


def test_an_upgrade_to_a_websocket_is_refused(impatient: Service) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13"}
    for path in ("/", "/api/v1/rounds", SIGN):
        with connected(impatient) as connection:
            connection.sendall(
                head(path, "GET", Host="localhost", Sec_WebSocket_Key="AQIDBAUGBwgJCgsMDQ4PEA==", **upgrade)
            )
            assert until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 403")


# ── watchers ────────────────────────────────────────────────────────────────────────────────────────────────────────


def watching(stack: ExitStack, service: Service, path: str = SIGN, *, source: str = "127.0.0.1", **headers: str) -> Any:
    """A connection that watches, and the head of its answer."""
    connection = stack.enter_context(connected(service, source))
    connection.sendall(head(path, "GET", Host="localhost", **headers))
    return connection, until(connection, b"\r\n\r\n")


def test_one_address_watches_so_many_signs_and_all_together_so_many(impatient: Service, web: psutil.Process) -> None:
    with ExitStack() as stack:
        first, _ = watching(stack, impatient)
        threads = web.num_threads()
        for _ in range(9):
            connection, answer = watching(stack, impatient)
            assert answer.startswith(b"HTTP/1.1 200"), answer
            until(connection, b"event: meter")
        assert web.num_threads() <= threads + 2, "nobody who watches has a thread"
        _, answer = watching(stack, impatient)
        assert answer.startswith(b"HTTP/1.1 429")
        assert b"retry-after" in answer
        others = [watching(stack, impatient, source="127.0.0.2") for _ in range(4)]
        assert all(answer.startswith(b"HTTP/1.1 200") for _, answer in others)
        connection, answer = watching(stack, impatient, source="127.0.0.3")
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"14 signs at most" in until(connection, b"}", answer)
        # A claim to come from elsewhere is nobody's word: no proxy is named.
        _, answer = watching(stack, impatient, X_Forwarded_For="10.1.2.3")
        assert answer.startswith(b"HTTP/1.1 429")
        # Whoever leaves makes room for one, among all and at its address, and no more: the others are still counted.
        for leaving, comes, full in (
            (others[0][0], "127.0.0.3", b"HTTP/1.1 503"),
            (first, "127.0.0.1", b"HTTP/1.1 429"),
        ):
            leaving.close()
            give_up = time.monotonic() + 20
            while not watching(stack, impatient, source=comes)[1].startswith(b"HTTP/1.1 200"):
                assert time.monotonic() < give_up
                time.sleep(0.1)
            assert watching(stack, impatient, source=comes)[1].startswith(full)


def test_a_sign_that_is_none_is_404_and_its_methods_are_few(impatient: Service) -> None:
    assert httpx.get(f"{impatient.url}/sign/nobody/stream", trust_env=False).status_code == 404
    assert httpx.post(f"{impatient.url}{SIGN}", trust_env=False).status_code in (403, 405)
    assert httpx.head(f"{impatient.url}{SIGN}", trust_env=False).status_code == 405


@pytest.mark.parametrize("path", ["/api/v1/links/twin/stream", "/live", SIGN])
def test_what_views_and_server_say_to_each_other_leaves_by_no_other_method(path: str, strict: Api) -> None:
    for method in ("HEAD", "POST", "OPTIONS", "PUT"):
        answer = strict.client.request(method, path, headers=strict.key())
        assert "x-event-stream" not in answer.headers, (method, answer.status_code)


def test_a_person_s_stream_ends_soon_after_the_session(impatient: Service, api: Api) -> None:
    client = Client()
    client.force_login(User.objects.get(username="supervisor"))
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    for path in ("/live", "/live?link=twin", "/api/v1/links/twin/stream"):
        with ExitStack() as stack:
            connection, answer = watching(stack, impatient, path, Cookie=cookie)
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"content-type: text/event-stream" in answer
            assert b"x-event-stream" not in answer.lower(), "what views and server say to each other stays in the house"
            until(connection, b"event: meter")


LIVE, OF_A_LINK = "/live", "/api/v1/links/twin/stream"
SAM = Actor("sam")
ENDS: dict[str, Callable[[str], object]] = {
    "suspended": lambda name: accounts.suspend(name, by=SAM, at=timezone.now()),
    "without sessions": lambda name: sessions.end_of(name, None, by=SAM, at=timezone.now()),
    "without tokens": lambda name: tokens.withdraw_all(name, by=SAM, at=timezone.now()),
    "without a floor": lambda name: accounts.change_roles(name, ["security"], by=SAM, at=timezone.now()),
    "without a key": lambda name: enrolment.withdraw(name, by="sam", at=timezone.now()),
}


def came_in(way: str, name: str) -> dict[str, str]:
    """Somebody, or a device, who may look: what is shown at the door."""
    now = timezone.now()
    if way == "key":
        enrolment.enrol(name, ["TW-201"], key=name, by="sam", at=now)
        return {"Authorization": f"Api-Key {name}"}
    accounts.invite(name, ["supervisor"], secret=f"link of {name}", by=SAM, at=now)
    if way == "token":
        tokens.issue(name, secret=name, by=Actor(name), at=now)
        return {"Authorization": f"Bearer {name}"}
    client = Client()
    client.force_login(User.objects.get(username=name))
    return {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}


def test_every_stream_ends_soon_after_its_watcher_was_shut_out(impatient: Service, api: Api) -> None:
    """Whatever is watched, and by whatever way in: a session, a token of the API, the key of a device."""
    cases = [
        ("suspended", "session", LIVE), ("suspended", "session", OF_A_LINK), ("suspended", "token", OF_A_LINK),
        ("without sessions", "session", LIVE), ("without sessions", "session", OF_A_LINK),
        ("without tokens", "token", OF_A_LINK), ("without a floor", "session", LIVE), ("without a key", "key", OF_A_LINK),
    ]  # fmt: skip
    with ExitStack() as stack:
        watched = []
        for end, way, path in cases:
            name = f"w-{uuid4().hex[:12]}"
            shown = came_in(way, name)
            connection, answer = watching(stack, impatient, path, **shown)
            assert answer.startswith(b"HTTP/1.1 200"), (end, way, path)
            until(connection, b"event: meter")
            watched.append((end, name, path, shown, connection))
        stays = watching(stack, impatient, LIVE, **came_in("session", f"w-{uuid4().hex[:12]}"))[0]
        for end, name, *_ in watched:
            ENDS[end](name)
        began = time.monotonic()
        for *_, connection in watched:
            everything(connection)
        assert time.monotonic() - began < 20
        for end, _, path, shown, _ in watched:
            again = watching(stack, impatient, path, **shown)[1]
            assert again.startswith((b"HTTP/1.1 401", b"HTTP/1.1 403")), (end, path)
        until(stays, b"event: beat")
        until(stays, b"event: beat")  # nobody else's ended


def test_every_link_comes_through_one_stream_without_ids(impatient: Service, api: Api) -> None:
    client = Client()
    client.force_login(User.objects.get(username="supervisor"))
    with ExitStack() as stack:
        connection, _ = watching(stack, impatient, "/live", Cookie=f"sessionid={client.cookies['sessionid'].value}")
        api.play(api.round(table=LINKED), api.round(table="TW-201"))
        heard = until(connection, b'"link":"ms-mg01"') if api else b""
        heard += until(connection, b'"link":"twin"') if b'"link":"twin"' not in heard else b""
        assert b"\nid: " not in heard


def test_a_server_that_stops_ends_its_streams_and_says_nothing_wrong(
    api: Api, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving() as service, ExitStack() as stack:
        connections = [watching(stack, service)[0] for _ in range(20)]
        for connection in connections:
            until(connection, b"event: meter")
        service.process.terminate()
        for connection in connections:
            everything(connection)
        assert service.process.wait(20) is not None
    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err
