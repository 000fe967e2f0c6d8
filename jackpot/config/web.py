"""The web process of `up`: uvicorn on a socket that `up` holds open, so that no connection is refused while it restarts."""

import asyncio
import os
import resource
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES = 64 * 1024
MOST_FILES = 65_536

REFUSALS = {
    408: b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    431: b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
}


class Bounded(HttpToolsProtocol):
    """One connection, whose requests must say what they want in so many bytes and so many seconds.

    `uvicorn --http jackpot.config.web:Bounded` uses it as well.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        from django.conf import settings

        self.patience: float = settings.REQUEST_SECONDS
        self.head_bytes = 0  # of the request whose head is arriving
        self.head_is_open = True
        self.out_of_patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connected, and is to say what for."""
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """More of a request, or of several."""
        if self.head_is_open:
            self.head_bytes += len(data)
            self._expect_head()
        super().data_received(data)
        if self.cycle is not None and self.cycle.response_complete and self.timeout_keep_alive_task is None:
            self._expect_head()  # what came begins no request: blank lines, or more of a body that was refused
        if self.head_is_open and self.head_bytes > MOST_HEAD_BYTES:
            self._refuse(431)

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self.head_is_open = True
        self.head_bytes = 0
        self.scope["extensions"] = {"jackpot.server": {"connection": self}}
        self._expect_head()

    def on_headers_complete(self) -> None:
        """The head is there; how long the body may take is for the application to say."""
        self.head_is_open = False
        self._stop_waiting()
        super().on_headers_complete()

    def write_part(self, text: bytes) -> bool:
        """Send a part of a response of no declared length, unless earlier ones still wait to be taken.

        It is what uvicorn's own `send` would write; telling thousands through that took three times as long.
        """
        if self.flow.write_paused or self.transport.is_closing():
            return False
        self.transport.write(b"%x\r\n%b\r\n" % (len(text), text))
        return True

    def abort(self) -> None:
        """Break the connection off, whatever still waits to be taken."""
        self.transport.abort()

    def _expect_head(self) -> None:
        if self.out_of_patience is None:
            self.out_of_patience = self.loop.call_later(self.patience, self._refuse, 408)

    def _stop_waiting(self) -> None:
        if self.out_of_patience is not None:
            self.out_of_patience.cancel()
            self.out_of_patience = None

    def _refuse(self, status: int) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.write(REFUSALS[status])
            self.transport.close()


def main(descriptor: int) -> None:
    """Serve until told to stop; open event streams are cut after three seconds."""
    os.environ.setdefault("JACKPOT_ROLE", "web")
    _allow_many_connections()
    config = uvicorn.Config(
        "jackpot.config.asgi:application",
        http=Bounded,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=3,
        backlog=1024,
        server_header=False,
        # Where somebody connects from is what a proxy says only if there is one, and it is named.
        proxy_headers="FORWARDED_ALLOW_IPS" in os.environ,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


def _allow_many_connections() -> None:
    """Thousands may watch; a process may usually have a thousand files open, and as many more as it asks for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


if __name__ == "__main__":
    main(int(sys.argv[1]))
