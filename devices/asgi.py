"""The route a round takes in: POST /api/v1/rounds, answered without a framework in between (ARCHITECTURE §3, §8).

Everything else goes to Django. What is read and answered here is the same as in `devices.api.Rounds.post`, which serves
the same route where there is no event loop.
"""

import asyncio
import re
import time
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import msgspec
import structlog
from django.conf import settings
from django.db import Error, connections

from devices.gathering import Gatherer
from devices.intake import directory, inbox, significant, wakes
from devices.intake.directory import Caller, Directory
from devices.intake.inbox import ACCEPTED, Arrival, Verdict
from devices.posting import Answer, Problem, answer, read, reused
from jackpot.bounds import (
    Application,
    Bodies,
    BodyRefused,
    Receive,
    Scope,
    Send,
    SenderGone,
    host_is_ours,
    read_for_nothing,
)
from jackpot.services.listening import HUB
from tables.queries.record import settlements

log = structlog.get_logger()

ROUTE = "/api/v1/rounds"
LONGEST_WAIT_SECONDS = 30.0
LOOK_AGAIN_SECONDS = 0.25
MOST_FROM_STRANGERS = 1024 * 1024  # so much of a body is read before its sender hears that nobody knows him
STRANGERS_SECONDS = 5.0
READ_ASIDE = 64 * 1024  # bigger bodies are read in a thread, so that other requests do not wait for them

encode = msgspec.json.Encoder().encode
PREFER_WAIT = re.compile(rb"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})", re.IGNORECASE)


def _accept(posts: list[list[Arrival]]) -> list[list[Verdict]]:
    verdicts = iter(inbox.accept(list(chain.from_iterable(posts))))
    return [[next(verdicts) for _ in post] for post in posts]


def _directory() -> Directory:
    try:
        return directory.current()
    finally:
        connections.close_all()  # any thread may be asked; one that kept a connection would fail with it when that dies


def _look(message_ids: list[int]) -> list[bytes | None]:
    found = settlements(set(message_ids))
    return [found.get(message_id) for message_id in message_ids]


class Posting:
    """Takes posts of rounds; hands every other request to `others`."""

    def __init__(self, others: Application) -> None:
        self.others = others
        # Bodies of those who have a key: nobody else can use up what there is for them.
        self.bodies = Bodies(
            most_bytes=settings.MOST_BODY_BYTES,
            most_held=8 * settings.MOST_BODY_BYTES,
            seconds=settings.REQUEST_SECONDS,
        )
        self.inbox: Gatherer[list[Arrival], list[Verdict]] = Gatherer(_accept, name="inbox", most=200)
        self.results: Gatherer[int, bytes | None] = Gatherer(_look, name="results")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One ASGI request."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != ROUTE:
            await self.others(scope, receive, send)
            return
        try:
            status, content, kind, extra = await self._answer(scope, receive)
        except SenderGone:
            return  # the client went away; nothing was stored
        except BodyRefused as refused:
            extra = [] if refused.finished else [(b"connection", b"close")]
            if refused.status == 503:
                extra.append((b"retry-after", b"1"))
            status, content, kind = _problem(Problem(refused.status, refused.code, refused.detail))
        except Error as error:
            log.error("round_not_accepted", error=str(error))
            unknown = Problem(503, "try_again", "the message may not be stored: send the same message again")
            status, content, kind, extra = *_problem(unknown), [(b"retry-after", b"1")]
        await send({
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", kind), (b"content-length", str(len(content)).encode()), *extra],
        })  # fmt: skip
        await send({"type": "http.response.body", "body": content})

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, bytes, bytes, list[Any]]:
        """Who asks is looked at before anything that was sent is kept."""
        if not host_is_ours(scope):
            unknown = Problem(400, "bad_request", "this is not a host of this house")
            return *_problem(unknown), await _dismissed(receive)
        known = directory.kept()
        if known is None:
            known = await asyncio.to_thread(_directory)
        headers = dict(scope["headers"])
        caller = directory.caller(headers.get(b"authorization", b"").decode("latin-1"), known)
        if caller is None:
            refused = Problem(401, "unknown_key", "a device key is required: Authorization: Api-Key KEY")
            return *_problem(refused), [(b"www-authenticate", b"Api-Key"), *await _dismissed(receive)]
        async with self.bodies.taken(scope, receive) as body:
            return await self._post(headers, body, caller, known)

    async def _post(
        self, headers: dict[bytes, bytes], body: bytes, caller: Caller, known: Directory
    ) -> tuple[int, bytes, bytes, list[Any]]:
        now = datetime.now(UTC)
        if len(body) > READ_ASIDE:
            post = await asyncio.to_thread(read, body, caller, known, now)
        else:
            post = read(body, caller, known, now)
        if isinstance(post, Problem):
            if post.noted is not None:
                significant.note([post.noted])
            return *_problem(post), []
        arrivals = post.arrivals
        verdicts = await self.inbox.ask(arrivals) if arrivals else []
        if noted := reused(post, verdicts, caller):
            significant.note(noted)
        wakes.wake({
            arrival.stream_id
            for arrival, verdict in zip(arrivals, verdicts, strict=True)
            if verdict.status == ACCEPTED
        })  # fmt: skip
        said = answer(post, verdicts)
        wait = PREFER_WAIT.search(headers.get(b"prefer", b""))
        if wait and post.single and said.status in (200, 202):
            seconds = min(float(wait[1]), LONGEST_WAIT_SECONDS)
            settled = await self._wait(arrivals[0].stream_id, verdicts[0].message_id, seconds)
            applied = [(b"preference-applied", b"wait=%d" % int(wait[1]))]
            if settled is not None:
                return 200, settled, b"application/json", applied
            return 202, encode(said.body), b"application/json", applied
        return *_worded(said), []

    async def _wait(self, stream_id: int, message_id: int, seconds: float) -> bytes | None:
        """The settlement of a message, as soon as it is there; None when it is not in time."""
        deadline = time.monotonic() + seconds
        heard = HUB.subscribe(stream_id)
        try:
            while True:
                heard.clear()
                settled = await self.results.ask(message_id)
                left = deadline - time.monotonic()
                if settled is not None or left <= 0:
                    return settled
                try:
                    await asyncio.wait_for(heard.wait(), min(left, LOOK_AGAIN_SECONDS))
                except TimeoutError:
                    continue
        finally:
            HUB.unsubscribe(stream_id, heard)


async def _dismissed(receive: Receive) -> list[tuple[bytes, bytes]]:
    """Read what else a stranger sends, within reason, so that he hears our answer; then he is not listened to."""
    try:
        async with asyncio.timeout(STRANGERS_SECONDS):
            if await read_for_nothing(receive, most=MOST_FROM_STRANGERS):
                return []
    except TimeoutError:
        pass
    return [(b"connection", b"close")]


def _problem(problem: Problem) -> tuple[int, bytes, bytes]:
    return problem.status, encode(problem.body()), b"application/problem+json"


def _worded(said: Answer) -> tuple[int, bytes, bytes]:
    kind = b"application/problem+json" if said.problem else b"application/json"
    return said.status, encode(said.body), kind
