"""What one request may cost, from inside: how much of a body is taken, how much is read for nothing, and what is said of it."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
import uvicorn
from uvicorn.server import ServerState

from jackpot import asgi, bounds
from jackpot.bounds import Bodies, BodyRefused, SenderGone, declared_bytes
from jackpot.config import web
from jackpot.feeds import INVITATION, NUMBERED

Part = tuple[int, bool]
"""So many bytes, and whether more will come."""


class Sender:
    """Somebody who sends a body part by part, and how many bytes of it were taken from him."""

    def __init__(self, parts: Iterable[Part], then: dict[str, Any] | None = None) -> None:
        self.parts: Iterator[Part] = iter(parts)
        self.then = then
        self.taken = 0

    async def receive(self) -> dict[str, Any]:
        """The next part; after the last he waits for ever, or what comes then."""
        for size, more in self.parts:
            self.taken += size
            return {"type": "http.request", "body": b"x" * size, "more_body": more}
        if self.then is None:
            await asyncio.Event().wait()
        return self.then or {}


def scope(declared: int | None = None) -> dict[str, Any]:
    return {"headers": [] if declared is None else [(b"content-length", b"%d" % declared)]}


def few(**other: Any) -> Bodies:
    return Bodies(**{"most_bytes": 10, "most_held": 15, "seconds": 5.0} | other)


async def taking(bodies: Bodies, sender: Sender, declared: int | None = None) -> int | tuple[int, str, bool]:
    """How long the body was that was taken; else the status, the code, and whether its sender has sent all of it."""
    try:
        async with bodies.taken(scope(declared), sender.receive) as body:
            assert bodies.held >= len(body)
            return len(body)
    except BodyRefused as refused:
        return refused.status, refused.code, refused.finished


@pytest.mark.parametrize(
    ("parts", "declared", "outcome", "taken"),
    [
        ([(0, False)], None, 0, 0),
        ([(10, False)], 10, 10, 10),
        ([(4, True), (6, False)], None, 10, 10),
        ([(4, True), (6, True), (0, False)], 10, 10, 10),
        ([(11, False)], None, (413, "too_large", True), 11),
        ([(11, False)], 11, (413, "too_large", True), 11),
        ([(6, True), (6, True), (8, False)], None, (413, "too_large", True), 20),
        ([(6, True)] * 9, None, (413, "too_large", False), 24),
        ([(6, True)] * 9, 54, (413, "too_large", False), 24),
        ([(10, True), (14, True), (1, False)], 25, (413, "too_large", False), 24),
    ],
)  # fmt: skip
def test_so_much_is_taken_and_so_much_read_for_nothing(
    parts: list[Part], declared: int | None, outcome: Any, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose body is too long hears why when he has sent it; not one who sends on and on."""
    monkeypatch.setattr(bounds, "MOST_READ_FOR_NOTHING", 24)
    bodies, sender = few(), Sender(parts)
    assert asyncio.run(taking(bodies, sender, declared)) == outcome
    assert (sender.taken, bodies.held) == (taken, 0)


def test_all_together_hold_so_much_and_whoever_is_done_makes_room() -> None:
    async def several() -> None:
        bodies = few()
        async with bodies.taken(scope(), Sender([(10, False)]).receive):
            assert await taking(bodies, Sender([(6, False)])) == (503, "try_again", True)
            assert await taking(bodies, Sender([(3, True), (3, True)])) == (503, "try_again", False)
            assert await taking(bodies, Sender([(5, False)])) == 5
            assert bodies.held == 10
        assert bodies.held == 0
        assert await taking(bodies, Sender([(6, False)])) == 6

    asyncio.run(several())


def test_who_is_slow_is_told_and_who_has_gone_is_let_go() -> None:
    bodies = few(seconds=0.01)
    for declared in (None, 11):
        assert asyncio.run(taking(bodies, Sender([(4, True)]), declared)) == (408, "too_slow", False)
        with pytest.raises(SenderGone):
            asyncio.run(taking(bodies, Sender([(4, True)], {"type": "http.disconnect"}), declared))
    assert bodies.held == 0


@pytest.mark.parametrize(
    ("refused", "headers"),
    [
        (BodyRefused(413, "too_large", "so long", finished=True), {}),
        (BodyRefused(413, "too_large", "so long", finished=False), {b"connection": b"close"}),
        (BodyRefused(503, "try_again", "later", finished=True), {b"retry-after": b"1"}),
        (BodyRefused(408, "too_slow", "slow", finished=False), {b"connection": b"close"}),
    ],
)
def test_a_refusal_says_why_and_closes_on_who_has_not_sent_all(
    refused: BodyRefused, headers: dict[bytes, bytes]
) -> None:
    sent: list[dict[str, Any]] = []

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    asyncio.run(asgi.respond_refused(send, refused))
    start, body = sent
    said = msgspec.json.decode(body["body"])
    assert start["status"] == said["status"] == refused.status
    assert (said["code"], said["detail"]) == (refused.code, refused.detail)
    common = {b"content-type": b"application/problem+json", b"content-length": b"%d" % len(body["body"])}
    assert dict(start["headers"]) == common | headers


@pytest.mark.parametrize(
    ("headers", "length"),
    [
        ([], 0), ([(b"content-length", b"12")], 12), ([(b"content-length", b"-1")], 0), ([(b"length", b"12")], 0),
        ([(b"host", b"1"), (b"content-length", b"9" * 99)], int("9" * 20)),
    ],
)  # fmt: skip
def test_the_length_that_is_declared_is_read(headers: list[tuple[bytes, bytes]], length: int) -> None:
    assert declared_bytes({"headers": headers}) == length


def test_a_stream_says_nothing_more_when_it_is_over() -> None:
    """At once where the server helps and has room, else by waiting for it; its end is said once."""
    sent: list[tuple[bytes, bool]] = []
    at_once: list[bytes] = []
    aborted: list[bool] = []

    async def send(event: dict[str, Any]) -> None:
        sent.append((event["body"], event.get("more_body", False)))

    class Server:
        room = True

        def write_part(self, text: bytes) -> bool:
            at_once.append(text)
            return self.room

        def abort(self) -> None:
            aborted.append(True)

    async def said(server: Server | None) -> list[bool]:
        stream = asgi.Stream({"extensions": {"jackpot.server": {"connection": server}}} if server else {}, send)
        found = [stream.write_now(b"1")]
        Server.room = False
        found.append(stream.write_now(b"2"))
        await stream.write(b"3")
        Server.room = True
        for _ in range(2):
            await stream.close()
            await stream.write(b"4")
            found.append(stream.write_now(b"5"))
        stream.abort()
        return found

    assert asyncio.run(said(Server())) == [True, False, False, False]
    assert (sent, at_once, aborted) == ([(b"3", True), (b"", False)], [b"1", b"2"], [True])
    assert asyncio.run(said(None)) == [False] * 4
    assert (sent[2:], len(at_once), len(aborted)) == ([(b"3", True), (b"", False)], 2, 1)


@pytest.mark.parametrize("soft", [300, 65_536])
def test_a_web_process_has_as_many_connections_as_it_may(soft: int) -> None:
    """Whoever starts it gives it a thousand, as a rule."""
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = web.MOST_FILES if hard == resource.RLIM_INFINITY else min(web.MOST_FILES, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, most), hard))
        web._allow_many_connections()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (most, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


def test_who_watches_as_somebody_is_asked_again_the_less_often_the_more_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten a second over all, and each every five seconds at most; whoever leaves is not counted any longer."""
    waited: list[float | None] = []

    async def left(receive: Any, *, within: float | None = None) -> bool:
        waited.append(within)
        return True

    async def view(scope: Any, receive: Any, send: Any) -> None:
        invitation = msgspec.json.encode([NUMBERED, []])
        await send({"type": "http.response.start", "status": 200, "headers": [(INVITATION.encode(), invitation)]})

    async def send(event: dict[str, Any]) -> None:
        """Nobody reads it."""

    async def watched(streams: asgi.Streams) -> None:
        await streams({"type": "http", "method": "GET", "path": "/live", "headers": []}, Sender([]).receive, send)

    async def one_after_another() -> None:
        streams = asgi.Streams(view)
        await watched(streams)
        monkeypatch.setattr(asgi, "ASK_AGAIN_SECONDS", 0)
        await watched(streams)
        await watched(streams)

    monkeypatch.setattr(asgi, "_left", left)
    asyncio.run(one_after_another())
    assert waited == [5.0, 0.1, 0.1]


@pytest.mark.parametrize(
    ("answer", "stays"),
    [("invited", True), (500, True), (503, True), (200, True), (302, False), (403, False), (401, False)],
)
def test_who_may_watch_no_longer_is_let_go_and_one_who_cannot_be_found_out_about_stays(
    answer: int | str, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[int | str] = ["invited", answer, answer]
    waited: list[float | None] = []
    sent: list[dict[str, Any]] = []

    async def left(receive: Any, *, within: float | None = None) -> bool:
        await asyncio.sleep(0)
        waited.append(within)
        return len(waited) > 2

    async def view(scope: Any, receive: Any, send: Any) -> None:
        said = answers.pop(0)
        headers = [(INVITATION.encode(), msgspec.json.encode([NUMBERED, []]))] if said == "invited" else []
        await send({"type": "http.response.start", "status": said if headers == [] else 200, "headers": headers})

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    monkeypatch.setattr(asgi, "_left", left)
    watched = {"type": "http", "method": "GET", "path": "/live", "headers": []}
    asyncio.run(asgi.Streams(view)(watched, Sender([]).receive, send))
    assert waited == ([5.0] * 3 if stays else [5.0, asgi.OPENS_WITHIN_SECONDS])
    assert answers == ([] if stays else [answer])
    assert (sent[-1] == {"type": "http.response.body", "body": b""}) is not stays, "closed"
    assert sent[0]["status"] == 200


class Wire(asyncio.Transport):
    """What is written to a connection."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


async def connected(wire: Wire) -> web.Bounded:
    """Somebody who connects to the web process."""
    connection = web.Bounded(config=uvicorn.Config(asgi.Pages), server_state=ServerState(), app_state={})
    connection.connection_made(wire)
    return connection


@pytest.mark.parametrize(("size", "said"), [(65_536, b""), (65_537, b"HTTP/1.1 431 Request Header Fields Too Large")])
def test_a_head_may_go_on_for_so_long_after_its_first_line_and_no_byte_more(size: int, said: bytes) -> None:
    wire = Wire()

    async def sending() -> None:
        connection = await connected(wire)
        connection.data_received(b"GET / HTTP/1.1\r\n")
        connection.data_received(b"x: ".ljust(size, b"y"))
        assert wire.closed is bool(said)
        connection.connection_lost(None)

    asyncio.run(sending())
    assert wire.written.partition(b"\r\n")[0] == said


def test_a_part_is_sent_at_once_or_not_at_all() -> None:
    wire = Wire()

    async def writing() -> list[bool]:
        connection = await connected(wire)
        taken = [connection.write_part(b"a sign of life")]
        connection.flow.pause_writing()
        taken.append(connection.write_part(b"too much"))
        connection.flow.resume_writing()
        taken.append(connection.write_part(b"more"))
        wire.close()
        taken.append(connection.write_part(b"too late"))
        connection.connection_lost(None)
        return taken

    assert asyncio.run(writing()) == [True, False, True, False]
    assert wire.written == b"e\r\na sign of life\r\n4\r\nmore\r\n"


ENDLESS = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("soft", "hard", "asked"),
    [
        (1_024, ENDLESS, (65_536, ENDLESS)), (1_024, 4_096, (4_096, 4_096)), (1_024, 100_000, (65_536, 100_000)),
        (4_096, 4_096, None), (65_536, ENDLESS, None), (100_000, ENDLESS, None), (ENDLESS, ENDLESS, None),
    ],
)  # fmt: skip
def test_the_web_process_opens_as_many_files_as_it_may_and_needs(
    soft: int, hard: int, asked: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda what: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda what, most: found.append(most))
    web._allow_many_connections()
    assert found == ([] if asked is None else [asked])
