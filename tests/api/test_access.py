"""No route is open to somebody who is neither a device nor signed in, except the sign, health and the way in (CONTRACT §5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.api.conftest import Api

# Open to everyone, and why.
OPEN = {
    "/api/v1/health": "whether the service is up",
    "/metrics": "for a scraper on this machine only; see test_health",
    "/sign/ms-mg01": "what hangs over the tables",
    "/sign/ms-mg01/stream": "what hangs over the tables",
    "/sign-in": "the way in",
    "/sign-out": "the way out",
    "/first-sign-in/auditor": "the way in by a one-time link",
}
FILLED = {
    "code": "ms-mg01",
    "path": "MS-101/R-1",
    "payout_id": "ms-mg01-1-1",
    "reference": "MS-101/R-1",
    "day": "2026-11-27",
    "name": "auditor",
    "proposal_id": "1",
    "foresight_id": "1",
    "report": "trial-balance",
}


def routes(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[str]:
    """Every address of the service, its places filled."""
    for pattern in patterns:
        here = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, here)
            continue
        for converter in pattern.pattern.converters:
            for kind in ("path", "str", "anything", "int", "slug"):
                here = here.replace(f"<{kind}:{converter}>", FILLED.get(converter, "1"))
            here = here.replace(f"<{converter}>", FILLED.get(converter, "1"))
        assert "<" not in here, f"a converter this test does not know: {here}"
        yield here


ALL = sorted(set(routes(get_resolver().url_patterns)))


@pytest.mark.parametrize("route", [route for route in ALL if route not in OPEN])
def test_a_stranger_sees_nothing(route: str, api: Api) -> None:
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"):
        answer = httpx.request(method, api.url + route, trust_env=False)
        if route.startswith("/api/"):
            assert answer.status_code in (401, 403, 405), (method, answer.status_code)
            if method not in ("HEAD",):
                assert answer.headers["content-type"] == "application/problem+json", method
        elif answer.status_code == 302:
            assert answer.headers["location"].startswith("/sign-in?next="), method
        else:
            assert answer.status_code in (401, 403, 405), (method, answer.status_code)


def test_what_is_open_is_there_and_nothing_else(api: Api) -> None:
    assert set(OPEN) <= set(ALL)
    for route in OPEN:
        if route.endswith("/stream"):
            with httpx.stream("GET", api.url + route, trust_env=False) as answer:
                assert answer.status_code == 200
        else:
            assert httpx.get(api.url + route, trust_env=False).status_code in (200, 302, 405), route


@pytest.mark.parametrize("route", ALL)
def test_no_browser_and_no_proxy_keeps_an_answer(route: str, api: Api) -> None:
    """Whoever signs in on the same screen next finds nothing with its Back; a stream says itself that it is of the moment."""
    client = Client()
    client.force_login(User.objects.get(username="auditor"))
    signed_in = {"Cookie": f"sessionid={client.cookies['sessionid'].value}"}
    for who in ({}, api.key(), signed_in):
        with httpx.stream("GET", api.url + route, trust_env=False, headers=who) as answer:
            streamed = answer.headers.get("content-type") == "text/event-stream"
            assert (
                answer.headers.get("cache-control", "").split(", ").count("no-cache" if streamed else "no-store") == 1
            ), who


# Not for devices to read, and why.
FOR_PEOPLE = {
    "/api/v1/proposals/1/approvals": "is only posted to",
    "/api/v1/proposals/1/withdrawal": "is only posted to",
    "/api/v1/proposals/1/refusal": "is only posted to",
    "/api/v1/foresights": "is only posted to, by people",
    "/api/v1/foresights/1": "what the house plans",
    "/api/v1/proposals/1/evidence": "what was handed in may show guests",
    "/api/v1/readings/1/explanations": "is only posted to, by people",
    "/api/v1/readings/1/signature": "is only posted to, by people",
    "/api/v1/slips/auditor/prints": "is only posted to, by people",
    "/api/v1/winners": "is only posted to, by people",
    "/api/v1/winners/looks": "is only posted to, by people",
}
# For people to read, not for devices, and why.
OF_THE_BOOKS = {
    "/api/v1/books/accounts/ms-mg01": "what the house earns",
    "/api/v1/books/general-ledger": "what the house earns",
    "/api/v1/books/trial-balance": "what the house earns",
    "/api/v1/days": "how the books are closed",
    "/api/v1/days/2026-11-27": "how the books are closed",
    "/api/v1/days/2026-11-27/readings": "how the books are closed",
    "/api/v1/days/heads": "how the books are closed",
    "/api/v1/reports": "what the house earns, and who did what",
    "/api/v1/reports/trial-balance": "what the house earns, and who did what",
    "/api/v1/slips": "who was paid",
    "/api/v1/slips/auditor": "who was paid",
}
READING = [
    route
    for route in ALL
    if route.startswith("/api/v1/") and route not in OPEN | FOR_PEOPLE and not route.endswith("/stream")
]


@pytest.mark.parametrize("route", FOR_PEOPLE | OF_THE_BOOKS)
def test_a_device_may_not(route: str, api: Api) -> None:
    for method in ("GET", "POST"):
        answer = httpx.request(method, api.url + route, trust_env=False, headers=api.key())
        assert answer.status_code in (403, 405), method


@pytest.mark.parametrize("route", READING)
def test_a_device_and_a_signed_in_person_may_read(route: str, api: Api) -> None:
    client = Client()
    client.force_login(User.objects.get(username="auditor"))
    cookies = {"sessionid": client.cookies["sessionid"].value}
    route = f"{route}?stream=ms-mg01" if route == "/api/v1/rounds" else route
    readers: list[dict[str, Any]] = [{"cookies": cookies}]
    if route not in OF_THE_BOOKS:
        readers.append({"headers": api.key()})
    for who in readers:
        answer = httpx.get(api.url + route, trust_env=False, **who)
        assert answer.status_code in (200, 404), (who, answer.status_code)


@pytest.mark.parametrize("key", ["", "wrong", "a b", "\u00e9" * 8, "x" * 10_000, "%00"])
def test_an_unknown_key_reads_nothing(key: str, api: Api) -> None:
    header = httpx.Headers({"Authorization": f"Api-Key {key}".strip()}, encoding="latin-1")
    answer = httpx.get(f"{api.url}/api/v1/links", headers=header, trust_env=False)
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    assert answer.headers["www-authenticate"] == "Api-Key"
