"""Event streams: who may watch is asked of Django, what is told needs neither a thread nor a connection to the database.

A view that lets somebody watch answers with an invitation (`jackpot.feeds.invitation`). It is done then, with its thread,
its middleware and its session; the stream goes on here for as long as the client stays.
"""

import asyncio
import json
from collections import Counter
from contextlib import suppress
from typing import Any, Protocol

import msgspec
import structlog
from django.conf import settings

from jackpot.bounds import Application, Bodies, BodyRefused, Receive, Scope, Send, SenderGone, host_is_ours
from jackpot.feeds import DISPLAYED, INVITATION, NUMBERED, FeedEnded, Watcher, feed

log = structlog.get_logger()

ASKED_AT_ONCE = 4  # so many threads at most find out who may watch
ASK_AGAIN_SECONDS = 5.0  # a stream ends soon after the session that it was opened in
MOST_ASKED_AGAIN = 10  # a second, over all who watch
OPENS_WITHIN_SECONDS = 30.0
SIGNS_KNOWN_SECONDS = 60.0

encode = msgspec.json.Encoder().encode

Invitation = tuple[str, tuple[tuple[str, int, int], ...]]


def problem(status: int, code: str, detail: str) -> tuple[int, bytes, bytes]:
    """A refusal in the form of RFC 9457: status, body and its type."""
    titles = {400: "Bad Request", 408: "Request Timeout", 413: "Too large", 429: "Too Many Requests", 503: "Try again"}
    body = {"type": "about:blank", "title": titles[status], "status": status, "code": code, "detail": detail}
    return status, encode(body), b"application/problem+json"


async def respond(send: Send, status: int, body: bytes, kind: bytes, *headers: tuple[bytes, bytes]) -> None:
    """A whole response."""
    length = (b"content-length", b"%d" % len(body))
    await send({
        "type": "http.response.start", "status": status, "headers": [(b"content-type", kind), length, *headers],
    })  # fmt: skip
    await send({"type": "http.response.body", "body": body})


async def respond_refused(send: Send, refused: BodyRefused) -> None:
    """Say why a body is not taken; who has not sent all of it is not listened to any longer."""
    headers = [] if refused.finished else [(b"connection", b"close")]
    if refused.status == 503:
        headers.append((b"retry-after", b"1"))
    await respond(send, *problem(refused.status, refused.code, refused.detail), *headers)


class Pages:
    """Hands a request on when its whole body is there: a half-sent one costs a few bytes here and nothing behind."""

    def __init__(self, others: Application) -> None:
        self.others = others
        self.bodies = Bodies(
            most_bytes=settings.MOST_BODY_BYTES,
            most_held=8 * settings.MOST_BODY_BYTES,
            seconds=settings.REQUEST_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI request."""
        if scope["type"] != "http":
            await self.others(scope, receive, send)
            return
        try:
            async with self.bodies.taken(scope, receive) as body:
                whole: list[dict[str, Any]] = [{"type": "http.request", "body": body}]

                async def received() -> dict[str, Any]:
                    return whole.pop() if whole else await receive()

                await self.others(scope, received, send)
        except BodyRefused as refused:
            await respond_refused(send, refused)
        except SenderGone:
            return


class Server(Protocol):
    """What our web process lets a stream do with its connection (`jackpot.config.web`)."""

    def write_part(self, text: bytes) -> bool:
        """Send a part of the response that goes on, unless earlier ones still wait to be taken."""

    def abort(self) -> None:
        """Break the connection off."""


class Stream:
    """One response that goes on: what a watcher is told through."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.send = send
        self.server: Server | None = scope.get("extensions", {}).get("jackpot.server", {}).get("connection")
        self.closed = False

    async def start(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Send the head of the response."""
        headers = [*headers, (b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache")]
        headers.append((b"x-accel-buffering", b"no"))
        await self.send({"type": "http.response.start", "status": 200, "headers": headers})

    async def write(self, text: bytes) -> None:
        """Send; returns when there is room for more."""
        if not self.closed:
            await self.send({"type": "http.response.body", "body": text, "more_body": True})

    def write_now(self, text: bytes) -> bool:
        """Send if there is room at once; whether that was done. Without the server's help it never is."""
        return self.server is not None and not self.closed and self.server.write_part(text)

    async def close(self) -> None:
        """Say that this was all."""
        if not self.closed:
            self.closed = True
            await self.send({"type": "http.response.body", "body": b""})

    def abort(self) -> None:
        """Break the connection off, where the server lets us."""
        self.closed = True
        if self.server is not None:
            self.server.abort()


class Streams:
    """Serves event streams to whom Django's views invite; hands every other request on."""

    def __init__(self, others: Application) -> None:
        self.others = others
        self.asking = asyncio.Semaphore(ASKED_AT_ONCE)
        self.signs: dict[str, tuple[float, Invitation]] = {}
        self.strangers: Counter[str] = Counter()  # those who watch a sign, by their address
        self.people = 0  # those who watch as somebody

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI request."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})  # 403: nothing here speaks that
            return
        path = scope.get("path", "")
        if scope["type"] != "http" or scope["method"] != "GET" or not (path == "/live" or path.endswith("/stream")):
            await self.others(scope, receive, send)
        elif path.startswith("/sign/"):
            await self._sign(scope, receive, send)
        else:
            await self._people(scope, receive, send)

    async def _sign(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A sign's stream, for anybody: only so many for one address, and so many for all."""
        if not host_is_ours(scope):
            await respond(send, *problem(400, "bad_request", "this is not a host of this house"))
            return
        client = (scope.get("client") or ("",))[0]
        if self.strangers[client] >= settings.MOST_WATCHERS_PER_CLIENT:
            detail = f"{settings.MOST_WATCHERS_PER_CLIENT:,} signs at most watch from one address"
            await respond(send, *problem(429, "too_many_watchers", detail), (b"retry-after", b"30"))
            return
        if self.strangers.total() >= settings.MOST_WATCHERS:
            detail = f"{settings.MOST_WATCHERS:,} signs at most are served by one process"
            await respond(send, *problem(503, "too_many_watchers", detail), (b"retry-after", b"30"))
            return
        self.strangers[client] += 1
        try:
            invited = self._sign_known(scope["path"])
            if invited is None:
                async with self.asking:
                    # Many signs come back at once; one of them asked for all.
                    invited = self._sign_known(scope["path"]) or (await self._ask(scope, receive, send))[0]
                if invited is None:
                    return
                self.signs[scope["path"]] = (asyncio.get_running_loop().time(), invited)
            await self._serve(scope, receive, send, invited, [(b"x-content-type-options", b"nosniff")])
        finally:
            self.strangers[client] -= 1
            if not self.strangers[client]:
                del self.strangers[client]

    def _sign_known(self, path: str) -> Invitation | None:
        asked_at, invited = self.signs.get(path, (0.0, None))
        return invited if asyncio.get_running_loop().time() - asked_at < SIGNS_KNOWN_SECONDS else None

    async def _people(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.asking:
            invited, headers = await self._ask(scope, receive, send)
        if invited is None:
            return
        self.people += 1
        try:
            await self._serve(scope, receive, send, invited, headers)
        finally:
            self.people -= 1

    async def _ask(
        self, scope: Scope, receive: Receive, send: Send
    ) -> tuple[Invitation | None, list[tuple[bytes, bytes]]]:
        """What a view says to this request. Where it is no invitation, it has been sent as it is."""
        invited: Invitation | None = None
        headers: list[tuple[bytes, bytes]] = []

        async def hear(event: dict[str, Any]) -> None:
            nonlocal invited
            if event["type"] == "http.response.start":
                for name, value in event.get("headers", ()):
                    if name.lower() == INVITATION.lower().encode():
                        how, keys = json.loads(value)
                        invited = how, tuple((code, link_id, stream_id) for code, link_id, stream_id in keys)
                    elif name.lower() not in (b"content-type", b"content-length", b"cache-control"):
                        headers.append((name, value))
            if invited is None:
                await send(event)

        await self.others(scope, receive, hear)
        return invited, headers

    async def _serve(
        self, scope: Scope, receive: Receive, send: Send, invited: Invitation, headers: list[tuple[bytes, bytes]]
    ) -> None:
        how, keys = invited
        stream = Stream(scope, send)
        watcher = Watcher([feed(*key) for key in keys], stream, how)
        try:
            await stream.start(headers)
            async with asyncio.timeout(OPENS_WITHIN_SECONDS):
                await watcher.open(_last_event_id(scope) if how == NUMBERED else None)
            if how == DISPLAYED:
                await _left(receive)
                return
            while not await _left(receive, within=max(ASK_AGAIN_SECONDS, self.people / MOST_ASKED_AGAIN)):
                if not await self._still_invited(scope):
                    watcher.end()
                    await _left(receive, within=OPENS_WITHIN_SECONDS)
                    return
        except FeedEnded:
            await stream.close()
        except asyncio.CancelledError:
            # The server stops. This was all, and the task ends here: there is nothing wrong to be written down.
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await stream.close()
        except TimeoutError:
            log.warning("stream_not_opened", path=scope["path"])
            stream.abort()
        finally:
            watcher.leave()

    async def _still_invited(self, scope: Scope) -> bool:
        """Whether the view would let the same request watch now; an invitation is not told to `hear`."""
        status = 200

        async def hear(event: dict[str, Any]) -> None:
            nonlocal status
            status = event.get("status", status)

        async def no_body() -> dict[str, Any]:
            if asked:
                await asyncio.Event().wait()  # whether the client has left is looked at elsewhere
            asked.append(True)
            return {"type": "http.request", "body": b""}

        asked: list[bool] = []
        async with self.asking:
            await self._ask(scope, no_body, hear)
        return status == 200 or status >= 500  # one that we cannot find out about stays


async def _left(receive: Receive, *, within: float | None = None) -> bool:
    """Wait until the client has left; whether it has, within so many seconds."""
    try:
        async with asyncio.timeout(within):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True


def _last_event_id(scope: Scope) -> int | None:
    """The sequence after which a client resumes; what is no sequence is none."""
    found = dict(scope["headers"]).get(b"last-event-id", b"")
    return int(found) if found.isdigit() and len(found) < 19 else None
