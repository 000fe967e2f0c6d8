"""Files that are written while they are sent, however long they are."""

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import connections
from django.http import HttpRequest, StreamingHttpResponse

PARTS_AT_ONCE = 2_000


def download(request: HttpRequest, parts: Iterable[str], *, name: str, content_type: str) -> StreamingHttpResponse:
    """A file of this name, part by part; behind a server that must not wait each run of parts is read in a thread."""
    rows = iter(parts)
    return StreamingHttpResponse(
        _unhurried(rows) if isinstance(request, ASGIRequest) else rows,
        content_type=f"{content_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _unhurried(rows: Iterator[str]) -> AsyncIterator[str]:
    def part() -> str:
        try:
            return "".join(islice(rows, PARTS_AT_ONCE))
        finally:
            connections.close_all()  # a slow reader must not keep a connection

    read = sync_to_async(part, thread_sensitive=False)
    while text := await read():
        yield text
