"""Every broker that a house may have, as real processes, stopped for a while under load.

    python3 -m tests.faults.brokers --seconds 60 [--only rabbitmq redis postgresql]

brings up a service with each that is installed, deals rounds, stops the broker for so long and starts it again, and says how
long any round waited, how soon wakes and jobs came through again, and whether every cent is there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.faults.account import account
from tests.faults.hall import Hall, eventually, free_port

LOOK_SECONDS = 0.05
BETWEEN_ROUNDS_SECONDS = 0.05
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


class Process:
    """A broker in a process of its own, with its folder and its ports. A stop is a kill: nothing is said good-bye to."""

    name = ""
    missing: str | None = None

    def __init__(self, folder: Path, listen: str = "127.0.0.1") -> None:
        self.folder = folder
        self.listen = listen
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """How it is started."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """What it is told."""
        return {}

    @property
    def url(self) -> str:
        """CELERY_BROKER_URL."""
        raise NotImplementedError

    def start(self) -> None:
        """Return when it answers."""
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                self.command(), env={**os.environ, **self.environment()}, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        eventually(self.answers, f"{self.name} does not answer")

    def answers(self) -> bool:
        """Whether somebody listens."""
        with socket.socket() as probe:
            return probe.connect_ex((self.listen, self.port)) == 0

    def stop(self) -> None:
        """Kill it and whatever it has started."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    @contextmanager
    def away(self, hall: Hall) -> Iterator[None]:
        """It is stopped, and started again at the end."""
        self.stop()
        try:
            yield
        finally:
            self.start()


class Redis(Process):
    """Debian's redis-server."""

    name = "redis"
    missing = None if shutil.which("redis-server") else "redis-server is not installed"

    def command(self) -> list[str]:
        """It keeps nothing."""
        where = ["--port", str(self.port), "--bind", self.listen, "--protected-mode", "no"]
        return ["redis-server", *where, "--save", "", "--appendonly", "no"]

    @property
    def url(self) -> str:
        """Its first database."""
        return f"redis://{self.listen}:{self.port}/0"


class RabbitMQ(Process):
    """Debian's rabbitmq-server, under a name and with a port mapper of its own."""

    name = "rabbitmq"
    missing = None if RABBITMQ.is_file() and shutil.which("epmd") else "rabbitmq-server is not installed"

    def __init__(self, folder: Path, listen: str = "127.0.0.1") -> None:
        super().__init__(folder, listen)
        self.distribution, self.mapper_port = free_port(), free_port()
        self.mapper: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """The program itself: the system's wrapper would become another user."""
        return [str(RABBITMQ)]

    def environment(self) -> dict[str, str]:
        """Nothing of the system's."""
        (self.folder / "plugins").write_text("[].\n")
        (self.folder / "rabbitmq.conf").write_text("loopback_users = none\n")  # it listens where it is told to only
        return {
            "HOME": str(self.folder),
            "ERL_EPMD_PORT": str(self.mapper_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"jackpot{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": self.listen,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self.distribution),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_PID_FILE": str(self.folder / "rabbitmq.pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(self.folder / "none"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
        }

    @property
    def url(self) -> str:
        """Its first user's."""
        return f"amqp://guest:guest@{self.listen}:{self.port}//"

    def start(self) -> None:
        """With its port mapper, which would else be started for the whole machine and stay."""
        if self.mapper is None:
            self.mapper = subprocess.Popen(
                ["epmd", "-port", str(self.mapper_port), "-address", "127.0.0.1"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        super().start()

    def close(self) -> None:
        """Both."""
        self.stop()
        if self.mapper is not None:
            self.mapper.kill()
            self.mapper.wait()


class InPostgreSQL:
    """The broker that is built in: nobody can reach its database, and who was connected is cut off."""

    name = "postgresql"
    missing = None

    @contextmanager
    def away(self, hall: Hall) -> Iterator[None]:
        """Without harm to the database in which rounds are."""
        with hall.broker_unreachable():
            yield


Broker = Redis | RabbitMQ | InPostgreSQL
BROKERS: tuple[type[Broker], ...] = (RabbitMQ, Redis, InPostgreSQL)


@contextmanager
def running(kind: type[Broker], folder: Path, listen: str = "127.0.0.1") -> Iterator[tuple[Broker, dict[str, str]]]:
    """A broker that answers, and what a service must know to use it."""
    if issubclass(kind, InPostgreSQL):
        yield kind(), {}
        return
    broker = kind(folder, listen)
    try:
        broker.start()
        yield broker, {"CELERY_BROKER_URL": broker.url}
    finally:
        broker.close() if isinstance(broker, RabbitMQ) else broker.stop()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds: the longest that any round waited, from the stop until after the start; until wakes came through again; until
    beat and whoever does long jobs were seen again."""

    posted: int
    stall: float
    wakes_back: float
    jobs_back: float


class Load:
    """Rounds one by one from every table, and a look at how long the oldest waits."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self.over = threading.Event()
        self.longest = 0.0
        self.posted = 0
        self.threads = [threading.Thread(target=work) for work in (self._post, self._look)]

    def __enter__(self) -> Load:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _post(self) -> None:
        while not self.over.is_set():
            for dealt in self.hall.deal(40):
                if self.over.wait(BETWEEN_ROUNDS_SECONDS):
                    return
                self.hall.post([dealt.message])
                self.posted += 1

    def _look(self) -> None:
        with self.hall.server.connect("jackpot") as database:
            while not self.over.wait(LOOK_SECONDS):
                waited = database.execute(
                    "SELECT coalesce(extract(epoch FROM clock_timestamp() - min(received_at)), 0) FROM devices_queued"
                ).fetchone()
                assert waited is not None
                self.longest = max(self.longest, float(waited[0]))


def woken_ms(hall: Hall, rounds: int = 7) -> float:
    """How long one round takes from its post to its settlement where nothing else happens: the median, in milliseconds."""
    took = []
    with hall.client() as client:
        for dealt in [each for each in hall.deal(rounds * 8) if each.table == "SK-1"][:rounds]:
            began = time.monotonic()
            answer = client.post("/api/v1/rounds", json=dealt.message, headers={"Prefer": "wait=5"})
            took.append((time.monotonic() - began) * 1_000)
            assert answer.status_code == 200, answer.text
            hall.answered[dealt.message["round"]] = dealt.message
    return statistics.median(took)


def job_seen(hall: Hall) -> float:
    """When beat had something done last that is sent to whoever does long jobs; seconds since the epoch."""
    with hall.server.connect("jackpot") as database:
        found = database.execute(
            "SELECT extract(epoch FROM seen_at) FROM devices_heartbeat WHERE name = 'deals'"
        ).fetchone()
    return float(found[0]) if found else 0.0


def outage(hall: Hall, broker: Broker, seconds: float) -> Outcome:
    """Stop the broker for so long under load."""
    before = woken_ms(hall)
    eventually(lambda: job_seen(hall) > 0, "nobody does jobs")
    with Load(hall) as load:
        with broker.away(hall):
            time.sleep(seconds)
        back = time.time()
        time.sleep(3)
    hall.settled()
    # A sweep finds a round after half a second on average; whoever was woken is done long before.
    soon = max(250.0, 3 * before)
    eventually(lambda: woken_ms(hall) < soon, f"nobody is woken: rounds took {before:.0f} ms before")
    wakes_back = time.time() - back
    eventually(lambda: job_seen(hall) > back, "beat or the worker did not come back")
    return Outcome(load.posted, load.longest, wakes_back, max(0.0, job_seen(hall) - back))


def main() -> None:
    """By command."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--only", nargs="+", default=[kind.name for kind in BROKERS])
    wanted = options.parse_args()
    for kind in BROKERS:
        if kind.name not in wanted.only:
            continue
        if kind.missing:
            print(f"{kind.name}: {kind.missing}")
            continue
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jackpot-brokers-")))
            folder.chmod(0o711)
            broker, environment = stack.enter_context(running(kind, folder))
            hall = stack.enter_context(Hall(folder, tables=4, settlers=2, environment=environment).up())
            with suppress(psycopg.Error):
                outcome = outage(hall, broker, wanted.seconds)
            account(hall)
            print(
                f"{kind.name}: stopped for {wanted.seconds:.0f} s, {outcome.posted} rounds posted: none waited longer than "
                f"{outcome.stall:.1f} s; wakes after {outcome.wakes_back:.1f} s, jobs after {outcome.jobs_back:.1f} s; "
                "every cent is there",
                flush=True,
            )


if __name__ == "__main__":
    main()
