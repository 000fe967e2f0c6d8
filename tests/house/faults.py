"""The faults of a house, one after the other, under load. Each strikes, and comes back when what was broken is whole again.

What it returns is for how long nothing could have been settled by anybody, in seconds: the database away, or told not to commit.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.faults.brokers import Process as BrokerProcess
from tests.faults.hall import eventually
from tests.faults.machines import ROOT
from tests.faults.pooler import pooling
from tests.faults.replica import kill
from tests.faults.traffic import Traffic
from tests.house.hosts import Host
from tests.house.place import SETTLE, Place

AWAY_SECONDS = 15.0
STANDS_SECONDS = 12.0
REFUSAL = "pool_mode = session"
THROUGH = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'jackpot_settle' AND client_addr IS NULL"
SYNCHRONOUS = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens, and for how many seconds more than nothing could be settled a round may wait at most."""

    name: str
    goal: float
    strike: Callable[[Place, Traffic], float]


def nothing(place: Place, traffic: Traffic) -> float:
    """A quiet evening, with which the others are to be compared."""
    traffic.goes_on(8)
    return 0.0


def broker_away(place: Place, traffic: Traffic) -> float:
    """Killed, and started again."""
    assert isinstance(place.broker, BrokerProcess)
    place.broker.stop()
    traffic.goes_on(AWAY_SECONDS)
    place.broker.start()
    return 0.0


def _amid_a_batch(place: Place, strike: Callable[[Host], None], undo: Callable[[Host], None]) -> Host:
    """Strike a host while its worker is amid a batch: again, where that had been over by then."""
    for _ in range(200):
        host, session = place.who_writes()
        strike(host)
        if place.amid_a_batch(session):
            return host
        undo(host)
    raise AssertionError("no batch was ever met")


def worker_stopped(place: Place, traffic: Traffic) -> float:
    """SIGSTOP amid a batch."""

    def signalled(number: signal.Signals) -> Callable[[Host], None]:
        return lambda host: host.processes["settle"].signal(number)

    host = _amid_a_batch(place, signalled(signal.SIGSTOP), signalled(signal.SIGCONT))
    traffic.goes_on(STANDS_SECONDS)
    host.processes["settle"].signal(signal.SIGCONT)
    return 0.0


def worker_killed(place: Place, traffic: Traffic) -> float:
    """SIGKILL amid a batch."""
    host, _ = place.who_writes()
    host.processes["settle"].signal(signal.SIGKILL)
    traffic.goes_on(6)
    return 0.0


def host_cut_off(place: Place, traffic: Traffic) -> float:
    """Its link is cut amid a batch, with its sessions, its web process and all."""
    host = _amid_a_batch(place, lambda host: host.machine.cut(), lambda host: host.machine.mend())
    traffic.goes_on(STANDS_SECONDS)
    left = place.number("SELECT count(*) FROM pg_stat_activity WHERE client_addr = %s::inet", host.machine.address)
    assert left == 0, f"{left} sessions of the machine are still there"
    host.machine.mend()
    return 0.0


def web_killed(place: Place, traffic: Traffic) -> float:
    """kill -9, then whoever looks after it starts it again."""
    place.hosts[1].processes["web"].signal(signal.SIGKILL)
    traffic.goes_on(6)
    return 0.0


def database_restarted(place: Place, traffic: Traffic) -> float:
    """Stopped and started, as for an update of the server."""
    began = time.monotonic()
    place.server.stop()
    place.server.start()
    return time.monotonic() - began


def database_killed(place: Place, traffic: Traffic) -> float:
    """kill -9 for all its processes, and started."""
    began = time.monotonic()
    kill(place.server)
    place.server.start()
    return time.monotonic() - began


def standby_missing(place: Place, traffic: Traffic) -> float:
    """Every commit waits for the standby, which is stopped for a while."""
    with place.server.connect() as superuser:
        superuser.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        superuser.execute("SELECT pg_reload_conf()")
    try:
        eventually(lambda: place.number(SYNCHRONOUS) == 1, "the standby is not waited for")
        traffic.goes_on(2)
        began = time.monotonic()
        place.standby.stop()
        eventually(lambda: place.health().get("status") == "no commits", "health does not say it", 15)
        traffic.goes_on(5)
        place.standby.start()
        eventually(lambda: place.number(SYNCHRONOUS) == 1, "the standby does not come back")
        away = time.monotonic() - began
        traffic.goes_on(2)
    finally:
        with place.server.connect() as superuser:
            superuser.execute("ALTER SYSTEM RESET synchronous_standby_names")
            superuser.execute("SELECT pg_reload_conf()")
    return away


@contextmanager
def _behind_a_pooler(place: Place, host: Host) -> Iterator[ExitStack]:
    """A host's processes reach the database through a pooler of sessions only; the pooler ends with what is entered."""
    before = {role: process.environment["DATABASE_URL"] for role, process in host.processes.items()}
    with ExitStack() as stack:
        listen = place.network.here[0]
        port = stack.enter_context(pooling(place.folder / "pooler", place.server, "session", listen=listen))
        for role, process in host.processes.items():
            named = "settle" if role == "settle" else "service"
            process.environment["DATABASE_URL"] = place.url(named, where=f"{listen}:{port}")
        host.told_to_end()
        try:
            yield stack
        finally:
            for role, process in host.processes.items():
                process.environment["DATABASE_URL"] = before[role]
            host.told_to_end()


def pooler_of_sessions(place: Place, traffic: Traffic) -> float:
    """One host is put behind a pooler, works there, loses it, and is put back."""
    host = place.hosts[2]
    with _behind_a_pooler(place, host) as pooler:
        eventually(lambda: place.number(THROUGH) > 0, "nobody comes through the pooler")
        place.ready()
        traffic.goes_on(5)
        pooler.close()  # and whoever was connected through it is cut off
        traffic.goes_on(4)
    return 0.0


def pooler_of_transactions(place: Place, traffic: Traffic) -> float:
    """A worker that is to work behind one refuses, in one line."""
    listen = place.network.here[0]
    with pooling(place.folder / "pooler", place.server, "transaction", listen=listen) as port:
        environment = place.environment(
            "settle", database=place.url("settle", where=f"{listen}:{port}"), data="refused"
        )
        words = place.handbook.words(SETTLE)
        done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stderr.splitlines() if REFUSAL in line]
    assert (done.returncode, len(lines)) == (1, 1), (done.returncode, done.stderr)
    return 0.0


def promotion(place: Place, traffic: Traffic) -> float:
    """The line to the standby fails, the server is killed two seconds later, the standby takes over."""
    place.standby.let_go()
    traffic.goes_on(2)
    began = time.monotonic()
    kill(place.server)
    place.standby.promote()
    place.server = place.standby
    return time.monotonic() - began


FAULTS = (
    Fault("nothing", 3.0, nothing),
    Fault("broker killed, away for 15 s", 3.0, broker_away),
    Fault("settling worker stopped amid a batch", 6.0, worker_stopped),
    Fault("settling worker killed amid a batch", 6.0, worker_killed),
    Fault("host cut off amid a batch", 6.0, host_cut_off),
    Fault("web killed", 6.0, web_killed),
    Fault("PostgreSQL restarted", 6.0, database_restarted),
    Fault("PostgreSQL killed", 6.0, database_killed),
    Fault("synchronous standby missing", 6.0, standby_missing),
    Fault("pooler of sessions, and lost", 6.0, pooler_of_sessions),
    Fault("pooler of transactions: refused", 3.0, pooler_of_transactions),
    Fault("standby promoted", 6.0, promotion),
)
"""Seconds are those of the goals: without a broker three, whoever holds a stream six; the last takes the server away for good."""
