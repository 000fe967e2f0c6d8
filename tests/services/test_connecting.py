"""Whoever connects goes to the server that the address means, and trusts it no further than the address says.

Django, the listening hub, sessions beside Django's, the broker's pool and its listener are each asked, on real servers with TLS.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from django.db.utils import Error
from kombu.connection import Connection
from pytest_django import DjangoDbBlocker
from structlog.testing import capture_logs

from accounting import connecting
from jackpot.config import address, broker
from jackpot.services import listening
from tests.services.house import House, run
from tests.services.servers import Authority, Server

STANDBY = "SELECT pg_is_in_recovery()"


class Pair:
    """A server, a standby of it, and a port at which nobody is."""

    def __init__(self, folder: Path) -> None:
        folder.chmod(0o711)
        self.authority = Authority(folder)
        self.primary, self.standby = (Server(folder / name, self.authority) for name in ("primary", "standby"))
        with socket.create_server(("127.0.0.1", 0)) as left:
            self.nobody = left.getsockname()[1]

    def url(self, hosts: str, *more: str) -> str:
        """An address with hosts, and how far they are trusted."""
        said = ["sslmode=verify-full", f"sslrootcert={self.authority.certificate}", *more]
        return f"postgresql://jackpot@{hosts}/postgres?{'&'.join(said)}"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    made = Pair(tmp_path_factory.mktemp("servers"))
    try:
        made.primary.make()
        made.standby.follow(made.primary)
        made.primary.start()
        made.standby.start()
        yield made
    finally:
        made.primary.stop()
        made.standby.stop()


@contextmanager
def at(url: str) -> Iterator[None]:
    """Every connection of this process goes by this address."""
    settings = connections.settings["default"]
    wanted = address.for_django(url)
    connections.close_all()
    before = {name: settings[name] for name in wanted}
    settings |= wanted
    try:
        yield
    finally:
        connections.close_all()
        settings |= before


def said(session: psycopg.Connection[Any]) -> Any:
    """Whether it is one to a standby, and whether it is by TLS."""
    ((standby,),) = session.execute(STANDBY).fetchall()
    return standby, session.pgconn.ssl_in_use


def by_django(url: str) -> Any:
    with at(url), connection.cursor() as cursor:
        cursor.execute(STANDBY)
        return cursor.fetchone()[0], connection.connection.pgconn.ssl_in_use


def beside_django(url: str) -> Any:
    with at(url), psycopg.connect(**connecting.parameters()) as session:
        return said(session)


def by_the_hub(url: str) -> Any:
    """What its one connection says of itself, from the moment it listens."""

    async def listen() -> Any:
        hub, found = listening.Hub(), list[Any]()
        plain = psycopg.AsyncConnection.connect

        async def connect(**where: Any) -> psycopg.AsyncConnection[Any]:
            try:
                session = await plain(**where)
                (standby,) = await (await session.execute(STANDBY)).fetchone()  # type: ignore[misc]
                found.append((standby, session.pgconn.ssl_in_use))
                return session
            except Exception as error:
                found.append(error)
                raise

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(psycopg.AsyncConnection, "connect", connect)
            hub.subscribe(1)
            assert hub.task is not None
            async with asyncio.timeout(60):
                while not found:
                    await asyncio.sleep(0.01)
            assert not hub.task.done()
            hub.task.cancel()
            await asyncio.gather(hub.task, return_exceptions=True)
        if isinstance(found[0], Exception):
            raise found[0]
        return found[0]

    with at(url):
        return asyncio.run(listen())


def by_the_broker(url: str) -> Any:
    options = {"conn_string": address.conninfo(url), "pool_size": 1, "pool_timeout": 3}
    connected: Any = Connection
    with connected("pgmq://database/", transport=broker.Transport, transport_options=options) as client:
        pool = client.transport._get_pgmq_client().pool
        try:
            with pool.connection() as session:
                return said(session)
        finally:
            pool.close()


def by_the_broker_s_listener(url: str) -> Any:
    listener, found = broker.Listener(address.conninfo(url)), []

    def read_from(session: psycopg.Connection[Any]) -> None:
        found.append(said(session))
        listener.heard.set()

    listener._read_from = read_from  # type: ignore[method-assign]
    listener.register("wakes")
    listener.wait(60)
    return found[0]


WAYS: list[Callable[[str], Any]] = [by_django, beside_django, by_the_hub, by_the_broker, by_the_broker_s_listener]
ON_THE_PRIMARY_WITH_TLS = (False, True)


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__)
def way(request: pytest.FixtureRequest, django_db_blocker: DjangoDbBlocker) -> Iterator[Callable[[str], Any]]:
    with django_db_blocker.unblock():
        yield request.param


def test_a_server_is_trusted_by_its_name(way: Callable[[str], Any], pair: Pair) -> None:
    assert way(pair.url(f"localhost:{pair.primary.port}")) == ON_THE_PRIMARY_WITH_TLS


def test_a_server_of_another_name_is_refused(way: Callable[[str], Any], pair: Pair) -> None:
    """It is the same server; its certificate is not for that name."""
    with pytest.raises((psycopg.OperationalError, Error)) as refused:
        way(pair.url(f"127.0.0.1:{pair.primary.port}"))
    assert "127.0.0.1" in str(refused.value) or way is by_the_broker, "the pool says only that nothing came"


@pytest.mark.parametrize("notation", ["hosts", "parameters"])
def test_where_the_first_is_down_or_a_standby_it_is_the_next(
    way: Callable[[str], Any], pair: Pair, notation: str
) -> None:
    ports = [pair.nobody, pair.standby.port, pair.primary.port]
    writable = "target_session_attrs=read-write"
    if notation == "hosts":
        url = pair.url(",".join(f"localhost:{port}" for port in ports), writable)
    else:
        url = pair.url("", "host=localhost,localhost,localhost", f"port={','.join(map(str, ports))}", writable)
    assert way(url) == ON_THE_PRIMARY_WITH_TLS


# ── the hub never dies ──────────────────────────────────────────────────────────────────────────────────────────
GARBAGE = ["", "x", ":", "1", "7:", "-7:1", "٧:1", "9" * 400, "7" * 30 + ":1", "7:\n"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("trouble", ["garbage", "ended", "refused", "no address"])
def test_the_hub_hears_again_whatever_happens_to_it(
    trouble: str, busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "RECONNECT_SECONDS", 0.05)
    real, failures = connecting.parameters, list[bool]()

    def parameters() -> dict[str, Any]:
        if not failures and trouble == "refused":
            failures.append(True)
            return {**real(), "options": "-c no.such=1 -c transaction_read_only=maybe"}
        if not failures and trouble == "no address":
            failures.append(True)
            raise RuntimeError("no address can be said")
        return real()

    monkeypatch.setattr(listening, "parameters", parameters)

    async def listen() -> None:
        hub = listening.Hub()
        heard = hub.subscribe(7)
        task = hub.task
        assert task is not None

        async def tells() -> None:
            async with asyncio.timeout(30):
                await hub.connected.wait()
                heard.clear()
                await asyncio.to_thread(listening.tell, 7, 1)
                await heard.wait()

        await tells()
        if trouble == "garbage":
            for said in GARBAGE:
                await asyncio.to_thread(run, "SELECT pg_notify('settled', %s)", said)
        elif trouble == "ended":
            ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN settled'"
            assert await asyncio.to_thread(run, ended) == 1
            give_up = time.monotonic() + 30
            while hub.connected.is_set() and time.monotonic() < give_up:
                await asyncio.sleep(0.01)
        await tells()
        assert hub.task is task and not task.done(), "the same task as ever"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(connections.close_all)

    with capture_logs() as logged:
        asyncio.run(listen())
    said = [line["error"] for line in logged if line["event"] == "listening_again"]
    assert [bool(error) for error in said] == [True] * (trouble != "garbage"), "why it had to, once"
