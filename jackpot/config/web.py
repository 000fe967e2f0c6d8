"""The web process of `up`: uvicorn on a socket that `up` holds open, so that no connection is refused while it restarts."""

import os
import socket
import sys

import uvicorn


def main(descriptor: int) -> None:
    """Serve until told to stop; open event streams are cut after three seconds."""
    os.environ.setdefault("JACKPOT_ROLE", "web")
    config = uvicorn.Config(
        "jackpot.config.asgi:application",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=3,
        backlog=1024,
        server_header=False,
        # What a client says of its own address is believed of a proxy alone: wrong passwords are counted by it.
        proxy_headers=os.environ.get("JACKPOT_HTTPS") == "1",
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    main(int(sys.argv[1]))
