"""A PostgreSQL that asks for passwords, with the roles of `docker/roles.sql`, and a broker: on loopback, thrown away after."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from jackpot.config.embedded_postgres import find_binaries
from jackpot.config.server_user import server_user
from tests.images.compose import ROOT

WITHIN = 60.0
ROLES = ("owner", "service", "settle", "auditor")
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


class NotThere(RuntimeError):
    """Something that the proof needs is not on this machine, or did not start; the words say what."""


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def postgres(folder: Path, passwords: Mapping[str, str]) -> Iterator[int]:
    """The port of a server as compose.yaml's: passwords by SCRAM over TCP, the roles of `docker/roles.sql`, nothing migrated."""
    binaries = find_binaries()
    folder.mkdir(mode=0o700)
    user = server_user(folder)
    data, log = folder / "data", folder / "log"
    secret = folder / "password"
    secret.write_text(passwords["POSTGRES_PASSWORD"])
    user.own(folder)
    plain = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    made = [str(binaries / "initdb"), "-D", str(data), "-U", "postgres", "--auth=scram-sha-256", f"--pwfile={secret}"]
    subprocess.run([*user.prefix, *made], cwd="/", env=plain, check=True, stdout=subprocess.DEVNULL, **user.options())
    port = free_port()
    settings = {"listen_addresses": "127.0.0.1", "port": str(port), "unix_socket_directories": "", "jit": "off"}
    command = [str(binaries / "postgres"), "-D", str(data)]
    command += [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with log.open("wb") as written:
        server = subprocess.Popen(
            [*user.prefix, *command], cwd="/", env=plain, stdout=written, stderr=written, **user.options()
        )
    try:
        superuser = f"postgresql://postgres:{passwords['POSTGRES_PASSWORD']}@127.0.0.1:{port}/"
        _wait(lambda: _connects(f"{superuser}postgres"), f"PostgreSQL did not start, see {log}")
        with psycopg.connect(f"{superuser}postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE jackpot")
        words = [word for role in ROLES for word in ("-v", f"{role}={passwords[f'{role.upper()}_PASSWORD']}")]
        psql = [str(binaries / "psql"), "-q", "-v", "ON_ERROR_STOP=1", *words, "-f", "docker/roles.sql"]
        subprocess.run([*psql, f"{superuser}jackpot"], cwd=ROOT, check=True)
        yield port
    finally:
        _end(server, signal.SIGINT)


@contextmanager
def broker(named: str, folder: Path) -> Iterator[str]:
    """CELERY_BROKER_URL of `redis` or `rabbitmq` from Debian, started here, or of the running one that an address names."""
    if "://" in named:
        where = urlsplit(named)
        if not answers(where.port or (5672 if named.startswith("amqp") else 6379)):
            raise NotThere(f"nothing answers at {where.hostname}:{where.port}")
        yield named
        return
    folder.mkdir()
    port = free_port()
    environment = dict(os.environ)
    if named == "redis":
        program = shutil.which("redis-server")
        command = [program or "", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    else:
        program = str(RABBITMQ) if RABBITMQ.exists() else None
        command = [program or ""]
        environment |= {
            "HOME": str(folder),
            "RABBITMQ_NODENAME": f"images{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "ERL_EPMD_PORT": str(free_port()),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        }
    if program is None:
        raise NotThere(f"there is no {named} here: apt install {named}-server")
    with (folder / "output").open("wb") as written:
        server = subprocess.Popen(command, env=environment, stdout=written, stderr=written, start_new_session=True)
    try:
        _wait(lambda: answers(port), f"{named} did not start, see {folder / 'output'}")
        yield f"redis://127.0.0.1:{port}/0" if named == "redis" else f"amqp://guest:guest@127.0.0.1:{port}//"
    finally:
        _end(server, signal.SIGTERM)
        if named == "rabbitmq":  # its directory of nodes outlives it
            subprocess.run(["epmd", "-kill"], env=environment, capture_output=True)


def _connects(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _wait(there: Callable[[], bool], otherwise: str) -> None:
    give_up = time.monotonic() + WITHIN
    while not there():
        if time.monotonic() > give_up:
            raise NotThere(otherwise)
        time.sleep(0.1)


def _end(server: subprocess.Popen[bytes], sent: signal.Signals) -> None:
    server.send_signal(sent)
    try:
        server.wait(30)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
