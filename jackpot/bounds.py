"""What one request may cost: the size of its body, the time it takes to arrive, and a share of the memory for all."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_READ_FOR_NOTHING = 32 * 1024 * 1024  # so much of a body that is refused is read, so that its sender hears why


class BodyRefused(Exception):
    """A body that is not taken: the status and code to answer. `finished` when its sender has sent all of it."""

    def __init__(self, status: int, code: str, detail: str, *, finished: bool) -> None:
        super().__init__(status, code, detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.finished = finished


class SenderGone(Exception):
    """Whoever sent the body went away in the middle of it."""


class Bodies:
    """Takes bodies of up to `most_bytes`, each within `seconds`, and together no more than `most_held` at a time."""

    def __init__(self, *, most_bytes: int, most_held: int, seconds: float) -> None:
        self.most_bytes = most_bytes
        self.most_held = most_held
        self.seconds = seconds
        self.held = 0

    @asynccontextmanager
    async def taken(self, scope: Scope, receive: Receive) -> AsyncIterator[bytes]:
        """The whole body for as long as it is needed; BodyRefused, or SenderGone."""
        parts: list[bytes] = []
        size = 0
        try:
            try:
                async with asyncio.timeout(self.seconds):
                    if declared_bytes(scope) > self.most_bytes:
                        await self._too_large(receive, 0)
                    more = True
                    while more:
                        part, more = await _part(receive)
                        size += len(part)
                        self.held += len(part)
                        parts.append(part)
                        if size > self.most_bytes:
                            parts.clear()
                            await self._too_large(receive, size, finished=not more)
                        if self.held > self.most_held:
                            raise BodyRefused(503, "try_again", "too much is being sent at once", finished=not more)
            except TimeoutError:
                detail = f"the body did not arrive within {self.seconds:g} seconds"
                raise BodyRefused(408, "too_slow", detail, finished=False) from None
            yield parts[0] if len(parts) == 1 else b"".join(parts)
        finally:
            self.held -= size

    async def _too_large(self, receive: Receive, size: int, *, finished: bool = False) -> None:
        finished = finished or await read_for_nothing(receive, most=MOST_READ_FOR_NOTHING - size)
        raise BodyRefused(413, "too_large", f"{self.most_bytes:,} bytes at most", finished=finished)


async def read_for_nothing(receive: Receive, *, most: int) -> bool:
    """Read a body and keep nothing of it; whether it ended before so many bytes."""
    while most > 0:
        part, more = await _part(receive)
        if not more:
            return True
        most -= len(part)
    return False


async def _part(receive: Receive) -> tuple[bytes, bool]:
    event = await receive()
    if event["type"] == "http.disconnect":
        raise SenderGone
    return event.get("body", b""), bool(event.get("more_body"))


def declared_bytes(scope: Scope) -> int:
    """The length that the request says its body has; 0 where it says none."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0


def host_is_ours(scope: Scope) -> bool:
    """Whether the request names one host, and one that this house answers to."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    return len(hosts) == 1 and _is_ours(hosts[0])


@lru_cache(maxsize=256)
def _is_ours(host: bytes) -> bool:
    domain, _ = split_domain_port(host.decode("latin-1"))
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
