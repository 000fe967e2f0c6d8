"""A streaming copy of a server, made by PostgreSQL's own tools, that a test or a benchmark may stop, hold up or promote."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from jackpot.config.embedded_postgres import OWNER, EmbeddedPostgres, find_binaries
from jackpot.config.server_user import server_user

DIES_WITHIN_SECONDS = 30.0


def kill(server: EmbeddedPostgres) -> None:
    """kill -9 for every process of a server: as if its machine were gone. It is dead when this returns."""
    running = server.process()
    assert running is not None
    for process in [running, *running.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    give_up = time.monotonic() + DIES_WITHIN_SECONDS
    while server.process() is not None:
        assert time.monotonic() < give_up, "the server does not die"
        time.sleep(0.01)
    server.reap()


class Copy(EmbeddedPostgres):
    """Follows `house` from a base backup on. It is started as it is: nothing is furnished on a server that cannot be written."""

    def __init__(self, folder: Path, house: EmbeddedPostgres) -> None:
        folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        super().__init__(folder, durable=False)
        self.house = house

    def _furnish(self) -> None:
        """Everything comes from the house."""

    def follow(self) -> None:
        """Take a base backup and stream from then on."""
        as_whom = server_user(self.house.data)
        made = [
            *as_whom.prefix, str(find_binaries() / "pg_basebackup"), "-h", str(self.house.socket), "-U", OWNER,
            "-D", str(self.data), "-R", "-X", "stream", "-c", "fast",
        ]  # fmt: skip
        self.data.mkdir(mode=0o700)
        as_whom.own(self.data)
        subprocess.run(made, cwd="/", check=True, capture_output=True, text=True, timeout=120, **as_whom.options())
        self.start()

    def let_go(self) -> None:
        """The line to the house fails: nothing comes any more."""
        with self.connect() as here:
            here.execute("ALTER SYSTEM SET primary_conninfo = ''")
            here.execute("SELECT pg_reload_conf()")

    def promote(self) -> None:
        """Take over from the house."""
        with self.connect() as here:
            assert here.execute("SELECT pg_promote(true, 60)").fetchone() == (True,)

    def caught_up(self, within: float = 30) -> None:
        """Wait until everything that the house has committed is here."""
        with self.house.connect("jackpot") as house:
            (until,) = house.execute("SELECT pg_current_wal_lsn()").fetchone() or (None,)
        give_up = time.monotonic() + within
        while self.value("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [until]) is not True:
            assert time.monotonic() < give_up, "the copy does not catch up"
            time.sleep(0.05)

    def value(self, statement: str, values: list[Any] | None = None) -> Any:
        """One value, asked here."""
        with self.connect("jackpot") as here:
            (found,) = here.execute(statement.encode(), values).fetchone() or (None,)
            return found

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """It replays nothing meanwhile."""
        self.value("SELECT pg_wal_replay_pause()::text")
        try:
            yield
        finally:
            self.value("SELECT pg_wal_replay_resume()::text")
