"""Machines of their own: network namespaces on one bridge with this one, whose links may be cut. For root, with iproute2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any
from unittest.mock import patch

from jackpot.config import embedded_postgres

ROOT = Path(__file__).resolve().parents[2]
NEEDS = "It is for root, on Linux with iproute2: machines of its own are made"


def possible() -> bool:
    """Whether machines can be made here."""
    return os.geteuid() == 0 and shutil.which("ip") is not None


class Network:
    """A bridge that this machine and those made on it stand on. `here` are addresses of this machine."""

    def __init__(self, *, machines: int, addresses: int = 1) -> None:
        number = os.getpid()
        self.bridge = f"jb{number}"
        self.prefix = f"10.213.{number % 250}"
        self.here = [f"{self.prefix}.{each}" for each in range(1, addresses + 1)]
        self.machines = [
            Machine(self.bridge, f"jackpot-{number}-{each}", f"jp{number}-{each}", f"{self.prefix}.{100 + each}")
            for each in range(1, machines + 1)
        ]

    @property
    def everybody(self) -> str:
        """Their addresses, as PostgreSQL names a net."""
        return f"{self.prefix}.0/24"

    def __enter__(self) -> Network:
        try:
            _ip("link", "add", self.bridge, "type", "bridge")
            for address in self.here:
                _ip("addr", "add", f"{address}/24", "dev", self.bridge)
            _ip("link", "set", self.bridge, "up")
            for machine in self.machines:
                machine.make()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for machine in self.machines:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", machine.name)
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", self.bridge)


class Machine:
    """One of them; `address` is where it is reached."""

    def __init__(self, bridge: str, name: str, link: str, address: str) -> None:
        self.bridge, self.name, self.link, self.address = bridge, name, link, address

    def make(self) -> None:
        """A namespace with a link to the bridge."""
        _ip("netns", "add", self.name)
        _ip("link", "add", self.link, "type", "veth", "peer", "name", "up0", "netns", self.name)
        _ip("link", "set", self.link, "master", self.bridge)
        _ip("link", "set", self.link, "up")
        _ip("-n", self.name, "link", "set", "lo", "up")
        _ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "up0")
        _ip("-n", self.name, "link", "set", "up0", "up")

    def cut(self) -> None:
        """From now on every packet is lost."""
        _ip("-n", self.name, "link", "set", "up0", "down")

    def mend(self) -> None:
        """The link is there again."""
        _ip("-n", self.name, "link", "set", "up0", "up")

    def run(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        stdin: int | IO[Any] = subprocess.PIPE,
        stdout: int | IO[Any] = subprocess.PIPE,
        stderr: int | IO[Any] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start Python on this machine, in a session of its own."""
        command = ["ip", "netns", "exec", self.name, sys.executable, *words]
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
        )


class Listening:
    """Of an embedded server: it listens at an address, and asks whom it does not know by the socket as `asks` says."""

    address: str
    everybody: str
    asks = "trust"

    def at(self, address: str, everybody: str) -> None:
        """Where, and for whom; before its first start."""
        self.address, self.everybody = address, everybody

    def _launch(self) -> None:
        with patch.dict(embedded_postgres.SETTINGS, {"listen_addresses": self.address}):
            super()._launch()  # type: ignore[misc]

    def let_in(self) -> None:
        """Once, on a server that runs."""
        rule = f"host all all {self.everybody} {self.asks}\n"
        file: Path = self.data / "pg_hba.conf"  # type: ignore[attr-defined]
        if rule not in file.read_text():
            with file.open("a") as rules:
                rules.write(rule)
        with self.connect() as owner:  # type: ignore[attr-defined]
            owner.execute("SELECT pg_reload_conf()")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
