"""A machine whose link is cut in the middle of a batch, in every phase, and with many sessions of its own.

    python3 -m tests.faults.cut_off

makes a network namespace as that machine, a PostgreSQL that listens on the other end of its link, and cuts the link: nothing is
said good-bye to, and nothing answers any more. It says how long a stream was kept, when the last session of the machine was gone,
and whether all is there when the link is back. For root, on Linux with iproute2.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from jackpot.config.embedded_postgres import EmbeddedPostgres
from tests.faults.halting import PHASES
from tests.faults.machines import NEEDS, ROOT, Listening, Network, possible

EACH = 300
IDLE = 20
PATIENCE_SECONDS = 60.0
HOLD_SESSIONS = """
import os, sys, psycopg
held = [psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) for _ in range(int(sys.argv[1]))]
print("halted", flush=True)
sys.stdin.readline()
"""


class Server(Listening, EmbeddedPostgres):
    """One that other machines reach."""


@contextmanager
def listening(folder: Path, network: Network) -> Iterator[EmbeddedPostgres]:
    """A server that this machine and the other reach."""
    server = Server(folder / "postgres", durable=False)
    server.at(network.here[0], network.everybody)
    server.start()
    try:
        server.let_in()
        yield server
    finally:
        server.stop()


def main() -> None:
    """One run."""
    if not possible():
        sys.exit(NEEDS)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jackpot-cut-off-")))
        folder.chmod(0o711)
        network = stack.enter_context(Network(machines=1))
        server = stack.enter_context(listening(folder, network))
        os.environ |= {
            "JACKPOT_DATA": str(folder), "JACKPOT_NO_VENV": "1", "DJANGO_SETTINGS_MODULE": "jackpot.config.settings",
            "DATABASE_URL": server.database_url, "CELERY_BROKER_URL": server.broker_url,
        }  # fmt: skip
        import django

        django.setup()
        _cut_off(network, server, stack)


def _cut_off(network: Network, server: EmbeddedPostgres, stack: ExitStack) -> None:
    from django.core.management import call_command

    from tables.services import floors
    from tests.conftest import WORKER
    from tests.faults.test_halted import lone_tables, unsettled
    from tests.services import auditor
    from tests.services.house import FLOOR, OPENED, House, message, seat, value, verify

    (machine,) = network.machines
    call_command("migrate", verbosity=0)
    floors.install(FLOOR, at=OPENED)
    house = House()
    # Another worker is there already, and looks as soon as the link is cut.
    local = {**os.environ, "JACKPOT_ROLE": "settle", "DATABASE_URL": server.url_of("jackpot_settle")}
    worker = subprocess.Popen([sys.executable, *WORKER], cwd=ROOT, env=local)
    stack.callback(worker.kill)
    while not value("SELECT count(*) FROM devices_heartbeat WHERE name = 'sweep'"):
        time.sleep(0.1)
    worker.send_signal(signal.SIGSTOP)
    house.play(message("before"))  # the gaming day is there
    codes = dict(zip(PHASES, lone_tables(len(PHASES)), strict=True))
    for code in codes.values():
        house.post(*(message(f"R-{n}", seat(1, "3s 7d"), table=code) for n in range(EACH)))
    address = f"postgresql://%s@{network.here[0]}:5432/jackpot"
    settling = {**os.environ, "JACKPOT_ROLE": "settle", "DATABASE_URL": address % "jackpot_settle"}
    far = {
        phase: machine.run(["-m", "tests.faults.halting", str(House.stream(code)), phase, "wait"], settling)
        for phase, code in codes.items()
    }
    for role in ("jackpot_service", "jackpot_auditor"):
        idle = str(min(IDLE, 8))
        far[role] = machine.run(["-c", HOLD_SESSIONS, idle], {**os.environ, "DATABASE_URL": address % role})
    for process in far.values():
        stack.callback(process.kill)
        assert process.stdout is not None and process.stdout.readline() == b"halted\n"

    def sessions() -> int:
        return int(value("SELECT count(*) FROM pg_stat_activity WHERE client_addr = %s::inet", machine.address))

    print(f"{sessions()} sessions of the other machine; {len(unsettled())} streams wait", flush=True)
    machine.cut()
    cut = time.monotonic()
    worker.send_signal(signal.SIGCONT)
    for process in far.values():
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    gone = settled = 0.0
    while not (gone and settled):
        now = time.monotonic() - cut
        assert now < PATIENCE_SECONDS, (unsettled(), sessions())
        settled = settled or (now if not unsettled() else 0.0)
        gone = gone or (now if not sessions() else 0.0)
        time.sleep(0.02)
    print(
        f"all streams settled {settled:.1f} s after the cut; the last session of the machine was gone after {gone:.1f} s",
        flush=True,
    )
    machine.mend()
    for phase in PHASES:
        said = far[phase].communicate(timeout=PATIENCE_SECONDS)[0].decode().split()
        print(f"  {phase}: {' '.join(said)}")
    worker.terminate()
    worker.wait(20)
    assert value("SELECT count(*) FROM tables_round") == 1 + len(PHASES) * EACH
    auditor.everything_agrees()
    assert verify().rounds == 1 + len(PHASES) * EACH
    print("nothing lost, nothing doubled")


if __name__ == "__main__":
    main()
