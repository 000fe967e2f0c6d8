"""A real PgBouncer before a server, in a folder and on a port of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jackpot.config.database_roles.privileges import SERVICE, SETTLE
from jackpot.config.embedded_postgres import OWNER, EmbeddedPostgres
from jackpot.config.server_user import server_user
from tests.faults.hall import eventually, free_port

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

SETTINGS = """
[databases]
* = host={socket} port=5432

[pgbouncer]
listen_addr = {listen}
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = {mode}
default_pool_size = 60
max_client_conn = 500
"""
LETS_GO = """
tcp_keepalive = 1
tcp_keepidle = 2
tcp_keepintvl = 1
tcp_keepcnt = 3
tcp_user_timeout = 3000
"""
"""What docker/README.md says of a pooler: a machine that is gone is found out by it, for the server sees the pooler only."""


@contextmanager
def pooling(folder: Path, server: EmbeddedPostgres, mode: str, *, listen: str = "127.0.0.1") -> Iterator[int]:
    """A pooler that answers at this address; its port."""
    assert PGBOUNCER is not None
    port = free_port()
    as_whom = server_user(server.data)  # like the server it refuses to be root
    folder.mkdir(exist_ok=True)
    users, settings = folder / "users", folder / "pgbouncer.ini"
    users.write_text("".join(f'"{role}" ""\n' for role in (OWNER, SERVICE, SETTLE)))
    settings.write_text(
        SETTINGS.format(socket=server.socket, port=port, mode=mode, folder=folder, listen=listen) + LETS_GO
    )
    as_whom.own(folder)
    with (folder / "pgbouncer.log").open("ab") as log:
        process = subprocess.Popen(
            [*as_whom.prefix, PGBOUNCER, str(settings)],
            cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, **as_whom.options(),
        )  # fmt: skip
    try:
        eventually(lambda: _answers(process, listen, port), "the pooler does not answer")
        yield port
    finally:
        process.terminate()
        process.wait(20)


def _answers(process: subprocess.Popen[bytes], listen: str, port: int) -> bool:
    if process.poll() is not None:
        raise RuntimeError("PgBouncer ended at once; its words are in pgbouncer.log")
    with socket.socket() as probe:
        return probe.connect_ex((listen, port)) == 0
