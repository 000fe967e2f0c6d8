"""The fast way in from inside the process: trouble of the database, and what must not be done in the event loop."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, InterfaceError, OperationalError

from devices.asgi import Posting
from devices.intake import directory, inbox
from tests.api.conftest import Api
from tests.api.test_posting import is_stored


async def answered(posting: Posting, api: Api, body: bytes) -> tuple[int, dict[bytes, bytes], Any]:
    """What the fast way in says to a post: status, headers and JSON."""
    told: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(event: dict[str, Any]) -> None:
        told.append(event)

    headers = [(b"host", b"localhost:8000"), (b"authorization", api.key()["Authorization"].encode())]
    await posting({"type": "http", "method": "POST", "path": "/api/v1/rounds", "headers": headers}, receive, send)
    return told[0]["status"], dict(told[0]["headers"]), json.loads(told[1]["body"])


async def nobody(scope: Any, receive: Any, send: Any) -> None:
    """Django, where it must not be asked."""
    raise AssertionError("this is not Django's")


@pytest.mark.parametrize("deadlocks", [4, 5])
def test_deadlocks_are_tried_again_and_five_in_a_row_are_answered_503(
    deadlocks: int, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = inbox._accept_once
    tries = 0

    def clash(arrivals: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries <= deadlocks:
            raise OperationalError("deadlock detected") from psycopg.errors.DeadlockDetected()
        return real(arrivals)

    monkeypatch.setattr(inbox, "_accept_once", clash)
    sent = api.round()

    async def ask() -> list[tuple[int, dict[bytes, bytes], Any]]:
        posting = Posting(nobody)
        return [await answered(posting, api, json.dumps(sent).encode()) for _ in range(2)]

    (status, headers, body), again = asyncio.run(ask())
    if deadlocks == 5:
        assert (status, headers[b"retry-after"], body["code"]) == (503, b"1", "try_again")
        assert headers[b"content-type"] == b"application/problem+json"
        assert again[0] == 202, "nothing was stored, and the same message again is taken"
    else:
        assert (status, again[0]) == (202, 200)
    assert tries == 6
    assert is_stored(sent)


@pytest.mark.parametrize("error", [DatabaseError("refused"), InterfaceError("the connection is closed")])
def test_any_trouble_of_the_database_is_503_and_says_send_it_again(
    error: Exception, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(arrivals: Any) -> Any:
        raise error

    monkeypatch.setattr(inbox, "_accept_once", broken)
    status, _, body = asyncio.run(answered(Posting(nobody), api, json.dumps(api.round()).encode()))
    assert (status, body["code"]) == (503, "try_again")


@pytest.mark.parametrize(
    ("host", "key", "status", "megabytes"),
    [("elsewhere", "known", 400, 1), ("localhost", "wrong", 401, 1), ("localhost", "known", 413, 32)],
)
def test_of_what_is_not_taken_so_much_is_read_and_no_more(
    host: str, key: str, status: int, megabytes: int, api: Api
) -> None:
    """Whoever goes on sending is answered, and told that nobody listens; who has sent all of it keeps the connection."""
    shown = api.key()["Authorization"] if key == "known" else "Api-Key wrong"
    scope = {
        "type": "http", "method": "POST", "path": "/api/v1/rounds",
        "headers": [(b"host", host.encode()), (b"authorization", shown.encode())],
    }  # fmt: skip

    async def sending(most: int) -> tuple[int, int, bool]:
        """How much was read, in megabytes, of a body of so many: the status, and whether the connection is to close."""
        read, told = 0, []

        async def receive() -> dict[str, Any]:
            nonlocal read
            read += 1
            return {"type": "http.request", "body": bytes(1024 * 1024), "more_body": read < most}

        async def send(event: dict[str, Any]) -> None:
            told.append(event)

        await Posting(nobody)(scope, receive, send)
        return read, told[0]["status"], (b"connection", b"close") in told[0]["headers"]

    assert asyncio.run(sending(99)) == (megabytes, status, True)
    assert asyncio.run(sending(megabytes)) == (megabytes, status, False)


def test_no_post_reads_the_database_in_the_event_loop(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of tables and devices grows old between two looks at the clock: it is then read aside, never here."""
    clock = itertools.count(1_000.0, 0.6)
    monkeypatch.setattr("devices.intake.directory.time.monotonic", lambda: next(clock))
    read_in: list[str] = []
    real = directory._read

    def watched() -> directory.Directory:
        read_in.append(threading.current_thread().name)
        return real()

    monkeypatch.setattr(directory, "_read", watched)

    async def ask() -> list[int]:
        posting = Posting(nobody)
        return [(await answered(posting, api, b"[]"))[0] for _ in range(20)]

    directory.forget()
    assert asyncio.run(ask()) == [202] * 20
    assert len(read_in) > 3
    assert threading.current_thread().name not in read_in
