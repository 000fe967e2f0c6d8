"""Files that are written while they are sent, however long they are."""

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from typing import AnyStr

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from django.http import HttpRequest, StreamingHttpResponse

PARTS_AT_ONCE = 2_000


def download(request: HttpRequest, parts: Iterable[str], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A file of this name, part by part; behind a server that must not wait each run of parts is read in a thread."""
    rows = iter(parts)
    return StreamingHttpResponse(
        _unhurried(rows, "", PARTS_AT_ONCE) if isinstance(request, ASGIRequest) else rows,
        content_type=f"{content_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def hand_out(
    request: HttpRequest, parts: Iterable[bytes], *, name: str, content_type: str, size: int
) -> StreamingHttpResponse:
    """A file of so many bytes that lies there already, part by part."""
    rows = iter(parts)
    return StreamingHttpResponse(
        _unhurried(rows, b"", 1) if isinstance(request, ASGIRequest) else rows,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)},
    )


async def _unhurried(rows: Iterator[AnyStr], joined_by: AnyStr, at_once: int) -> AsyncIterator[AnyStr]:
    def part() -> AnyStr:
        try:
            return joined_by.join(islice(rows, at_once))
        finally:
            connections.close_all()  # a slow reader must not keep a connection

    read = sync_to_async(part, thread_sensitive=False)
    while text := await read():
        yield text
