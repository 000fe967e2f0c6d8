"""`up` and `down` with real processes: what is started, what is killed comes back, what is left over is taken over."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from jackpot.config.database_roles.privileges import SERVICE, SETTLE
from jackpot.config.embedded_postgres import EmbeddedPostgres
from jackpot.config.processes import State, runs
from tests.faults.hall import eventually, free_port

pytestmark = [pytest.mark.alone, pytest.mark.timeout(170)]

MANAGE = Path(__file__).resolve().parents[2] / "manage.py"
PROMISED_WITHIN = timedelta(seconds=15)


class House:
    """A data folder and a port of its own, and the commands on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()

    def manage(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py to its end."""
        surroundings = {
            name: value
            for name, value in os.environ.items()
            if name
            not in ("DATABASE_URL", "CELERY_BROKER_URL", "JACKPOT_DATA", "JACKPOT_DEMO", "DJANGO_SETTINGS_MODULE")
        }
        return subprocess.run(
            [sys.executable, MANAGE, *words],
            env={**surroundings, **environment},
            capture_output=True,
            text=True,
            timeout=110,
        )

    def up(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """`up` on this folder and port."""
        return self.manage("up", "--data", str(self.folder), "--port", str(self.port), *words, **environment)

    def ensure_up(self) -> None:
        """Have it running, whatever the test before has left."""
        up = State.read(self.folder / "up.json").up
        if up is None or up.alive() is None:
            started = self.up("--detach")
            assert started.returncode == 0, started.stderr

    def state(self) -> dict[str, Any]:
        """What `up` wrote down about its processes."""
        try:
            return dict(json.loads((self.folder / "up.json").read_text()))
        except FileNotFoundError:
            return {}

    def child(self, name: str) -> int:
        """The process that has this part now."""
        return int(self.state()["children"][name]["pid"])

    def process(self, name: str) -> psutil.Process:
        """The same, once it is there, to be killed and watched."""
        eventually(lambda: runs(psutil.Process(self.child(name))), f"there is no {name}")
        return psutil.Process(self.child(name))

    def log(self) -> str:
        """What `up` has said."""
        return (self.folder / "logs" / "up.log").read_text()

    def said_at(self, words: str) -> datetime:
        """When `up` said this last, by its own clock, to the second."""
        line = [line for line in self.log().splitlines() if words in line][-1]
        return datetime.strptime(line.split()[1], "%H:%M:%S")  # noqa: DTZ007 (only to be subtracted)

    def health(self) -> dict[str, Any]:
        """The health route's answer."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/health", timeout=60) as answer:
            return dict(json.load(answer))

    def accepts_and_settles(self) -> None:
        """The first now, the second as soon as may be: on a slow machine `up` is ready before somebody has settled."""
        assert self.health()["database"] == "ok"
        eventually(lambda: bool(self.health()["status"] == "ok"), "nobody settles")

    def postgres(self) -> psutil.Process | None:
        """The embedded server's process."""
        return EmbeddedPostgres(self.folder / "postgres").process()

    def processes(self) -> list[psutil.Process]:
        """Every process that belongs to this house."""
        return [process for process in psutil.process_iter() if process.pid != os.getpid() and self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return str(self.folder) in " ".join(process.cmdline()) or process.environ().get("JACKPOT_DATA") == str(
                self.folder
            )
        except psutil.Error:
            return False


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    folder.chmod(0o711)
    house = House(folder)
    yield house
    house.manage("down", "--data", str(folder))


@pytest.fixture
def running(house: House) -> House:
    house.ensure_up()
    return house


def test_detached_it_is_ready_when_the_command_returns(running: House) -> None:
    demo = json.loads((running.folder / "demo.json").read_text())
    assert demo["base_url"] == f"http://127.0.0.1:{running.port}"
    assert set(demo["devices"]) == {f"MS-10{n}" for n in range(1, 9)}
    assert all(set(person) == {"username", "password", "token", "roles"} for person in demo["people"])
    assert (running.folder / "demo.json").stat().st_mode & 0o077 == 0, "keys and passwords are for the owner alone"
    running.accepts_and_settles()


def test_every_process_works_as_a_role_that_owns_nothing(running: House) -> None:
    running.accepts_and_settles()
    with EmbeddedPostgres(running.folder / "postgres").connect() as database:
        who = database.execute("""
            SELECT split_part(application_name, ' ', 2), usename FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND datname LIKE 'jackpot%' AND pid <> pg_backend_pid()
        """).fetchall()
    assert {part for part, _ in who} >= {"web", "settle"}, who
    assert {role for part, role in who if part == "settle"} == {SETTLE}
    assert {role for part, role in who if part != "settle"} == {SERVICE}


def test_a_round_an_act_and_a_check_need_no_more_than_that(running: House) -> None:
    """What the service cannot do to a database, it does not need: a hit, a decision by two, a person, a device, verify."""
    demo = json.loads((running.folder / "demo.json").read_text())
    people = {person["username"]: person["token"] for person in demo["people"]}
    royal = {
        "round": f"UP-{time.time_ns()}", "table": "MS-101", "dealt_at": datetime.now(UTC).isoformat(),
        "dealing": {"method": "hand"}, "community": ["Qs", "Js", "Ts"],
        "seats": [{"seat": 1, "cards": ["As", "Ks"], "wagers": {
            "ante": 1000, "third_street": 1000, "fourth_street": 1000, "fifth_street": 1000, "progressive": 100}}],
    }  # fmt: skip

    def ask(path: str, body: dict[str, Any], key: str) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{running.port}/api/v1/{path}", json.dumps(body).encode(),
            {"Authorization": key, "Content-Type": "application/json", "Prefer": "wait=20"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=60) as answer:
            return dict(json.load(answer))

    settled = ask("rounds", royal, f"Api-Key {demo['devices']['MS-101']['api_key']}")
    assert settled["outcome"] == "settled" and settled["awards"], settled
    link = settled["meters"][0]["link"]
    asked = {"subject": link, "payload": {}, "reason": "the sign is repaired"}
    done_at_once = ask("proposals", {"act": "link.suspend", **asked}, f"Bearer {people['manager']}")
    assert done_at_once["state"] == "done", done_at_once
    waiting = ask("proposals", {"act": "link.resume", **asked}, f"Bearer {people['administrator']}")
    assert waiting["state"] == "waiting", waiting
    proposal = ask(f"proposals/{waiting['id']}/approvals", {}, f"Bearer {people['manager']}")
    assert proposal["state"] == "done", proposal
    commands = ["verify"], ["person", "new.one", "--role", "cage"], ["device", "SHOE-1", "--tables", "MS-101"]
    for command in commands:
        done = running.manage(*command, JACKPOT_DATA=str(running.folder))
        assert done.returncode == 0, (command, done.stdout, done.stderr)


def test_a_second_up_on_the_same_folder_is_refused_and_says_where_the_first_is(running: House) -> None:
    second = running.up("--exit-when-ready")
    assert second.returncode == 2
    assert "Already running" in second.stderr and f"http://127.0.0.1:{running.port}" in second.stderr
    running.accepts_and_settles()


@pytest.mark.parametrize("name", ["web", "settle", "worker", "beat"])
def test_a_killed_child_is_back_and_up_says_so(running: House, name: str) -> None:
    killed = running.process(name)
    killed.kill()
    eventually(lambda: running.child(name) != killed.pid, f"{name} is not back")
    assert runs(running.process(name))
    again = f"{name} is started again as process {running.child(name)}"
    eventually(lambda: again in running.log(), "up does not say so")
    pause = running.said_at(again) - running.said_at(f"{name} was killed by SIGKILL")
    assert pause % timedelta(days=1) < PROMISED_WITHIN, "the contract's promise"


def test_a_killed_web_process_refuses_no_connection(running: House) -> None:
    killed = running.process("web")
    killed.kill()
    eventually(lambda: not runs(killed), "it does not die")
    assert running.health()["database"] == "ok"  # the connection waited in the queue of the socket that `up` holds


def test_a_killed_database_is_back_and_settling_goes_on(running: House) -> None:
    before = running.postgres()
    assert before is not None
    before.kill()
    eventually(lambda: (now := running.postgres()) is not None and now.pid != before.pid, "nobody took its place")
    eventually(lambda: "postgres is started again as process" in running.log(), "up does not say so")
    back = time.time()

    def settling() -> bool:
        try:
            seen = running.health()
        except OSError:
            return False
        return bool(seen["status"] == "ok" and seen["last_sweep_seconds"] < min(2.5, time.time() - back))

    eventually(settling, "nobody sweeps again")


def test_after_a_kill_of_up_the_next_one_adopts_the_database_and_takes_over_the_rest(running: House) -> None:
    known = State.read(running.folder / "up.json").children.values()
    children = [child for each in known if (child := each.alive()) is not None]
    assert len(children) >= 3
    postgres = running.postgres()
    assert postgres is not None
    os.kill(running.state()["up"]["pid"], signal.SIGKILL)
    began = time.monotonic()
    again = running.up("--detach")
    assert again.returncode == 0, again.stderr
    assert "was running and is adopted" in again.stdout
    ready = re.search(r"ready after ([0-9.]+) s", again.stdout)
    assert ready is not None and 0 < float(ready[1]) < time.monotonic() - began
    assert running.postgres() == postgres, "the server itself was not touched"
    assert not {each.pid for each in known} & {child["pid"] for child in running.state()["children"].values()}
    assert not any(map(runs, children))
    running.accepts_and_settles()


def test_down_ends_every_process_and_the_data_stays(running: House) -> None:
    assert running.processes()
    down = running.manage("down", "--data", str(running.folder))
    assert (down.returncode, down.stderr) == (0, "")
    assert running.processes() == []
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", running.port))  # the port is free again
    shown = running.manage("shell", "-c", "from tables.models import Table; print(Table.objects.count())",
                           JACKPOT_DATA=str(running.folder))  # fmt: skip
    assert shown.stdout.split()[-1] == "8", "a command that needs the database starts it"
    assert running.processes() == [], "and stops it when nobody else needs it"


def test_down_with_nothing_running_is_well(tmp_path: Path) -> None:
    down = House(tmp_path).manage("down", "--data", str(tmp_path))
    assert (down.returncode, down.stderr) == (0, "")


def test_a_taken_port_is_named_and_another_proposed(tmp_path: Path) -> None:
    house = House(tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        house.port = other.getsockname()[1]
        refused = house.up("--exit-when-ready")
    assert refused.returncode == 2
    assert f"Port {house.port} is taken" in refused.stderr and "--port " in refused.stderr
    assert f"process {os.getpid()}" in refused.stderr, "it says by whom"
    assert house.processes() == []


def test_the_data_folder_of_another_version_is_left_alone(tmp_path: Path) -> None:
    house = House(tmp_path)
    data = tmp_path / "postgres" / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("9\n")
    refused = house.up("--exit-when-ready")
    assert refused.returncode == 2
    assert "written by PostgreSQL 9" in refused.stderr and "JACKPOT_PG_BIN" in refused.stderr
    assert [file.name for file in data.iterdir()] == ["PG_VERSION"]


def test_without_binaries_it_says_what_to_install(tmp_path: Path) -> None:
    refused = House(tmp_path).up("--exit-when-ready", JACKPOT_PG_BIN=str(tmp_path))
    assert refused.returncode == 2
    assert "no PostgreSQL binaries" in refused.stderr and "DATABASE_URL" in refused.stderr


def test_an_unusable_data_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = House(tmp_path / "file" / "below").up("--exit-when-ready")
    assert refused.returncode == 2
    assert str(tmp_path / "file" / "below") in refused.stderr and "--data" in refused.stderr


def test_a_floor_that_is_refused_stops_the_start_and_leaves_nothing_running(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    house = House(tmp_path)
    floor = tmp_path / "floor.toml"
    floor.write_text('[property]\ncode = "BOS"\nspelling = "wrong"\n')
    refused = house.up("--exit-when-ready", "--floor", str(floor))
    assert refused.returncode == 2
    assert "property.spelling" in refused.stderr
    assert house.processes() == []


def test_the_server_starts_as_nobody_where_namespaces_are_not_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root; for an ordinary user the setting changes nothing, and the server must start all the same."""
    monkeypatch.setenv("JACKPOT_PG_AS", "nobody")
    server = EmbeddedPostgres(tmp_path / ("a long name " * 8) / "postgres", durable=False)
    assert server.start() is True
    try:
        assert server.start() is False, "the second start adopts it"
        process = server.process()
        assert process is not None and process.uids().effective != 0
        with server.connect() as connection:
            compression = (
                "SELECT setting, 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"
            )
            row = connection.execute(compression).fetchone()
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",), "no network at all"
        assert row in (("lz4", True), ("pglz", False)), "lz4 where this build has it"
    finally:
        server.stop()
    assert server.process() is None
    monkeypatch.delenv("JACKPOT_PG_AS")
    try:
        assert server.start() is True, "whoever made the folder goes on serving it"
    finally:
        server.stop()
