"""Files that are written while they are sent, however long they are."""

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from django.http import HttpRequest, StreamingHttpResponse

from accounting import elsewhere

PARTS_AT_ONCE = 2_000


def download(request: HttpRequest, parts: Iterable[str], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A file of this name, part by part; behind a server that must not wait each run of parts is read in a thread."""
    response = sent(request, (part.encode() for part in parts), content_type=f"{content_type}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def sent(
    request: HttpRequest, parts: Iterable[bytes], *, content_type: str, at_once: int = PARTS_AT_ONCE
) -> StreamingHttpResponse:
    """What is no file of its own, part by part; `at_once` parts are read together."""
    rows = elsewhere.current().drawn(parts)  # they are read when this call is long over
    return StreamingHttpResponse(
        _unhurried(rows, at_once) if isinstance(request, ASGIRequest) else rows, content_type=content_type
    )


def hand_out(
    request: HttpRequest, parts: Iterable[bytes], *, name: str, content_type: str, size: int
) -> StreamingHttpResponse:
    """A file of so many bytes that lies there already, part by part."""
    response = sent(request, parts, content_type=content_type, at_once=1)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Content-Length"] = str(size)
    return response


async def _unhurried(rows: Iterator[bytes], at_once: int) -> AsyncIterator[bytes]:
    def part() -> bytes:
        try:
            return b"".join(islice(rows, at_once))
        finally:
            connections.close_all()  # a slow reader must not keep a connection

    read = sync_to_async(part, thread_sensitive=False)
    while found := await read():
        yield found
