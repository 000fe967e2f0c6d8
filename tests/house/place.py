"""The whole house: two PostgreSQL servers, a broker, three hosts on machines of their own, a proxy with TLS.

It is opened by the commands of the handbook.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from devices.simulator.run import Service
from jackpot.config.embedded_postgres import DATABASE, EmbeddedPostgres, find_binaries
from tests.faults.brokers import Broker, RabbitMQ, Redis, running
from tests.faults.hall import NOT_INHERITED, ROOT, Message, eventually, floor_text
from tests.faults.machines import Listening, Network
from tests.faults.proxy import proxied
from tests.faults.replica import Copy
from tests.house.handbook import Handbook
from tests.house.hosts import NAME, Host, Process
from tests.services.servers import Authority

TABLES = 6
HOSTS = 3
ROLES = ("owner", "service", "settle", "auditor")
WEB = (
    "uvicorn jackpot.config.asgi:application --host ADDRESS --port 8000 --http jackpot.config.web:Bounded"
    " --forwarded-allow-ips PROXY"
)
SETTLE = "celery -A jackpot.config.celery worker -Q settle -P solo --without-gossip --without-mingle -l WARNING"
WORK = "celery -A jackpot.config.celery worker -Q work -c 2 --without-gossip --without-mingle -l WARNING"
BEAT = "celery -A jackpot.config.celery beat -S jackpot.config.reconnecting:Scheduler --pidfile= -l WARNING"
PSQL = "psql -v owner=OWNER -v service=SERVICE -v settle=SETTLE -v auditor=AUDITOR -f docker/roles.sql DATABASE"


class House(Listening, EmbeddedPostgres):
    """The server that is written: it asks for passwords, and has the roles of docker/roles.sql."""

    asks = "scram-sha-256"

    def _furnish(self) -> None:
        """By the handbook, once."""


class Standby(Listening, Copy):
    """The one that follows it and may take over."""


class Place:
    """As `tests.faults.account` and `tests.faults.replayed` look at a hall; `server` is the one that is written now."""

    def __init__(self, folder: Path, handbook: Handbook, network: Network) -> None:
        self.folder, self.handbook, self.network = folder, handbook, network
        self.floor_file = folder / "floor.toml"
        self.floor_file.write_text(floor_text(TABLES))
        self.primary = House(folder / "primary")
        self.standby = Standby(folder / "standby", self.primary)
        self.server: EmbeddedPostgres = self.primary
        self.passwords = {role: secrets.token_hex(16) for role in ROLES}
        self.keys: dict[str, str] = {}
        self.api_keys: dict[str, str] = {}
        self.answered: dict[str, Message] = {}
        self.hosts: list[Host] = []
        self.broker: Broker
        self.broker_url = ""
        self.port = 0
        self.authority = Authority(folder)
        self.trust = ssl.create_default_context(cafile=self.authority.certificate)

    # ── what stands in the surroundings of a process ────────────────────────────────────────────────────────────
    def url(self, role: str, *, where: str = "") -> str:
        """The database for a role: both servers, or who stands before them."""
        where = where or ",".join(f"{address}:5432" for address in self.network.here[:2])
        return f"postgresql://jackpot_{role}:{self.passwords[role]}@{where}/{DATABASE}?target_session_attrs=read-write"

    def environment(self, role: str = "command", *, database: str = "", data: str = "command") -> dict[str, str]:
        """Of a process or command."""
        inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        return {
            **inherited, **self.keys,
            "JACKPOT_NO_VENV": "1", "JACKPOT_ROLE": role, "JACKPOT_DATA": str(self.folder / data),
            "JACKPOT_HOSTS": NAME, "JACKPOT_HTTPS": "1", "JACKPOT_METRICS_TOKEN": "scraper-0123456789abcdef",
            "DATABASE_URL": database or self.url("settle" if role == "settle" else "service"),
            "CELERY_BROKER_URL": self.broker_url,
        }  # fmt: skip

    # ── commands ────────────────────────────────────────────────────────────────────────────────────────────────
    def do(self, command: str, given: Mapping[str, str] | None = None, env: Mapping[str, str] | None = None) -> str:
        """Run a command of the handbook; what it said. AssertionError with its words where it was refused."""
        words = self.handbook.words(command, given)
        done = subprocess.run(
            words, cwd=ROOT, env={**self.environment(), **(env or {})}, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"`{command}`: {done.stdout[-1000:]}{done.stderr[-2000:]}"
        return done.stdout

    def manage(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """A command of manage.py."""
        return self.python(str(ROOT / "manage.py"), *words, stdin=stdin)

    def python(self, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Python in the house's surroundings."""
        return subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=self.environment(), input=stdin, capture_output=True, timeout=600
        )

    def client(self) -> httpx.Client:
        """A gateway's, through the proxy."""
        headers = {"Authorization": f"Api-Key {next(iter(self.api_keys.values()))}"}
        return httpx.Client(base_url=self.base_url, headers=headers, timeout=30, trust_env=False, verify=self.trust)

    @property
    def base_url(self) -> str:
        """What people and gateways ask for."""
        return f"https://{NAME}:{self.port}"

    def service(self) -> Service:
        """Where to post, with a key for each table."""
        return Service(self.base_url, self.api_keys, trust=self.trust)

    # ── from nothing to a house ─────────────────────────────────────────────────────────────────────────────────
    def make_keys(self) -> None:
        """Step 1."""
        drawn = self.do("openssl rand -hex 32").split()[0]
        self.keys = {
            "JACKPOT_SECRET_KEY": secrets.token_hex(32), "JACKPOT_SIGNING_KEY": drawn,
            "JACKPOT_PATRON_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        }  # fmt: skip

    def make_servers(self) -> None:
        """Step 2, and a standby."""
        for server, address in zip((self.primary, self.standby), self.network.here, strict=False):
            server.at(address, self.network.everybody)
        self.primary.start()
        with self.primary.connect() as superuser:
            superuser.execute(f"CREATE DATABASE {DATABASE}")
        where = f"host={self.primary.socket} user=jackpot dbname={DATABASE}"
        binaries = f"{find_binaries()}{os.pathsep}{os.environ['PATH']}"
        passwords = {f"={role.upper()}": f"={password}" for role, password in self.passwords.items()}
        self.do(PSQL, {**passwords, "DATABASE": where}, {"PATH": binaries})
        self.primary.let_in()
        self.standby.follow()

    def open(self) -> None:
        """Steps 3 to 6."""
        owner = {"DATABASE_URL": self.url("owner")}
        self.do("python3 -m jackpot.config.prepare --base-url https://NAME", {"https://NAME": self.base_url}, owner)
        self.do("python3 manage.py load_floor FLOOR.toml", {"FLOOR.toml": str(self.floor_file)}, owner)
        link = self.do("python3 manage.py person NAME --role security", {"NAME": "sam"})
        assert "http" in link, link
        tables = [f"SK-{number}" for number in range(1, TABLES + 1)]
        given = {"CODE": "GW-1", "T1,T2": ",".join(tables)}
        key = self.do("python3 manage.py device CODE --tables T1,T2", given).split()[-1]
        self.api_keys = dict.fromkeys(tables, key)

    def start_hosts(self) -> None:
        """Step 7."""
        for number, machine in enumerate(self.network.machines, 1):
            web = self.handbook.words(WEB, {"ADDRESS": machine.address, "PROXY": self.network.here[0]})
            commands = {"web": web, "settle": self.handbook.words(SETTLE), "work": self.handbook.words(WORK)}
            if number == 1:
                commands["beat"] = self.handbook.words(BEAT)
            data = f"host{number}"
            (self.folder / data).mkdir(exist_ok=True)
            processes = [
                Process(role, words, self.environment(role, data=data), self.folder / data / f"{role}.log")
                for role, words in commands.items()
            ]
            self.hosts.append(Host(machine, processes))
        for host in self.hosts:
            host.start()

    # ── what can be asked ───────────────────────────────────────────────────────────────────────────────────────
    def number(self, query: str, *values: Any) -> Any:
        """One value out of the database."""
        with self.server.connect(DATABASE) as database:
            (found,) = database.execute(query.encode(), values).fetchone() or (None,)
            return found

    def settled(self, within: float = 100) -> None:
        """Wait until nothing is queued."""
        eventually(lambda: self.number("SELECT count(*) FROM devices_queued") == 0, "messages still wait", within)

    def ready(self, within: float = 100) -> None:
        """Wait until every host answers, and says that all is well."""

        def well() -> bool:
            for host in self.hosts:
                answer = host.health()
                assert answer.status_code == 200, answer.text
                assert all(each.process and each.process.poll() is None for each in host.processes.values())
            return True

        eventually(well, "not every host is well", within)

    def health(self) -> dict[str, Any]:
        """What the first host that answers says."""
        for host in self.hosts:
            with suppress(httpx.HTTPError, ValueError):
                found: dict[str, Any] = host.health().json()
                return found
        return {}

    def keys_file(self) -> Path:
        """What the simulator is told, as the handbook has it."""
        file = self.folder / "keys.json"
        devices = {table: {"api_key": key} for table, key in self.api_keys.items()}
        file.write_text(json.dumps({"base_url": self.base_url, "devices": devices}))
        return file

    def who_writes(self, within: float = 60) -> tuple[Host, int]:
        """A host whose settling worker is amid a batch at this moment, and its session's process of the server."""
        hosts = {host.machine.address: host for host in self.hosts}
        give_up = time.monotonic() + within
        with self.server.connect(DATABASE) as database:
            while time.monotonic() < give_up:
                for address, pid in database.execute(WRITES):
                    if address in hosts:
                        return hosts[address], pid
        raise AssertionError("nobody settles")

    def amid_a_batch(self, pid: int) -> bool:
        """Whether that session still has something that it has not committed."""
        found = self.number("SELECT backend_xid IS NOT NULL FROM pg_stat_activity WHERE pid = %s", pid)
        return found is True


WRITES = b"""
    SELECT host(client_addr), pid FROM pg_stat_activity
    WHERE application_name = 'jackpot settle' AND backend_xid IS NOT NULL AND state_change < clock_timestamp()
"""


@contextmanager
def house(folder: Path, handbook: Handbook, kind: type[RabbitMQ | Redis]) -> Iterator[Place]:
    """Open, with everybody at work."""
    with ExitStack() as stack:
        network = stack.enter_context(Network(machines=HOSTS, addresses=2))
        place = Place(folder, handbook, network)
        (folder / "broker").mkdir()
        place.broker, told = stack.enter_context(running(kind, folder / "broker", network.here[0]))
        place.broker_url = told["CELERY_BROKER_URL"]
        place.make_keys()
        stack.callback(place.primary.stop)
        stack.callback(place.standby.stop)
        place.make_servers()
        web = " ".join(f"{machine.address}:8000" for machine in network.machines)
        certificate = place.authority.issue(NAME, folder)
        place.port = stack.enter_context(proxied(web, NAME, certificate, folder))
        place.open()
        for_hosts = stack.enter_context(ExitStack())
        place.start_hosts()
        for host in place.hosts:
            for_hosts.callback(host.stop)
        place.ready(within=240)
        yield place
