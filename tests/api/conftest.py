"""The real web process on a floor of its own; tests share it and keep out of each other's way by their references."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from django.db import connections
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from devices import demo
from devices.intake import settler, settling
from tables.services import floors
from tests.conftest import serving
from tests.services.fixtures import Databases
from tests.services.house import FLOOR, Message, message

OPENED_BEFORE = timedelta(days=7)
NUMBERS = itertools.count(1)


def reference(name: str = "R") -> str:
    """A reference that no other test uses."""
    return f"{name}-{next(NUMBERS):05d}"


def now_dealt(ago: float = 1.0) -> str:
    """A time of deal just now."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).isoformat(timespec="milliseconds")


@dataclass
class Api:
    """The service as a gateway meets it."""

    url: str
    database: str
    keys: dict[str, str]
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def key(self, table: str = "MS-101") -> dict[str, str]:
        """The header of a table's device."""
        return {"Authorization": f"Api-Key {self.keys[table]}"}

    def round(self, *seats: Message, **more: Any) -> Message:
        """A round of a table under a reference of its own, dealt just now."""
        return message(more.pop("round", None) or reference(), *seats, **{"dealt_at": now_dealt()} | more)

    def post(self, body: object, *, table: str = "MS-101", wait: float | None = None, **headers: str) -> httpx.Response:
        """POST a body, JSON unless it is bytes, with the key of a table."""
        content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        prefer = {} if wait is None else {"Prefer": f"wait={wait}"}
        return self.client.post("/api/v1/rounds", content=content, headers=self.key(table) | prefer | headers)

    def get(self, path: str, *, key: bool = True, **parameters: Any) -> httpx.Response:
        """GET below /api/v1."""
        return self.client.get(f"/api/v1/{path}", params=parameters or None, headers=self.key() if key else {})

    def found(self, path: str, **parameters: Any) -> Any:
        """The JSON of a GET that must succeed."""
        answer = self.get(path, **parameters)
        assert answer.status_code == 200, (answer.status_code, answer.text)
        assert answer.headers["content-type"] == "application/json"
        return answer.json()

    def settle(self) -> int:
        """Empty every queue and tell whoever listens, as a worker would."""
        return sum(settler.empty(stream, clock=timezone.now) for stream in settling.streams_waiting())

    def play(self, *messages: Message) -> list[Message]:
        """Post rounds, each with its table's key, and settle them; what GET then shows of each."""
        for sent in messages:
            answer = self.post(sent, table=sent["table"])
            assert answer.status_code == 202, answer.text
        self.settle()
        return [self.shown(sent) for sent in messages]

    def shown(self, sent: Message) -> Message:
        """GET a round."""
        found: Message = self.found(f"rounds/{quote(sent['table'], safe='')}/{quote(sent['round'], safe='')}")
        return found

    @contextmanager
    def settling(self) -> Iterator[None]:
        """A settling worker at work in the background."""
        stop = threading.Event()

        def work() -> None:
            try:
                while not stop.wait(0.02):
                    self.settle()
            finally:
                connections.close_all()

        worker = threading.Thread(target=work)
        worker.start()
        try:
            yield
        finally:
            stop.set()
            worker.join(60)


@contextmanager
def serving_floor(databases: Databases, migrated: str) -> Iterator[Api]:
    """The web process, on a database of its own that was opened a week ago."""
    name = databases.create(like=migrated)
    with databases.entered(name):
        floors.install(FLOOR, at=timezone.now() - OPENED_BEFORE)
        keys = {table: device["api_key"] for table, device in demo.ensure()["devices"].items()}
        web = serving()
        service = web.__enter__()
    try:
        yield Api(service.url, name, keys)
    finally:
        web.__exit__(None, None, None)
        databases.drop(name)


@pytest.fixture(scope="session")
def served(databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker) -> Iterator[Api]:
    """The floor that tests share."""
    with django_db_blocker.unblock(), serving_floor(databases, migrated) as shared:
        yield shared


@pytest.fixture
def api(databases: Databases, served: Api, django_db_blocker: DjangoDbBlocker) -> Iterator[Api]:
    """The served floor, with this process on the same database."""
    with django_db_blocker.unblock(), databases.entered(served.database):
        yield served


@pytest.fixture
def quiet_api(databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker) -> Iterator[Api]:
    """A floor on which nothing happened for a week, so that something can be recorded as of a minute ago."""
    with django_db_blocker.unblock(), serving_floor(databases, migrated) as own, databases.entered(own.database):
        yield own
