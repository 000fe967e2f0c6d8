"""`manage.py up`: database, migrations, a floor, web, workers and beat; and it keeps them running until it is told to stop."""

import argparse
import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, TextIO

import psutil
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from jackpot.config.command_line import use_database
from jackpot.config.data_folder import ROOT, DataFolder, open_private
from jackpot.config.embedded_postgres import DatabaseProblem, EmbeddedPostgres
from jackpot.config.processes import Child, Known, State, end
from jackpot.config.supervisor import TICK_SECONDS, Supervisor
from jackpot.config.words import Parser

DEMO_FLOOR = Path(__file__).parent / "demo" / "floor.toml"
HOST = "127.0.0.1"
PATIENCE_SECONDS = 90.0
SETTLING_PATIENCE_SECONDS = 20.0


class Refused(Exception):
    """`up` cannot start; the words say why and what to do."""


def arguments() -> argparse.ArgumentParser:
    """The options of CONTRACT §6."""
    parser = Parser(
        prog="manage.py up",
        description="Start everything and keep it running: database, web, workers. Ctrl-C stops it, the data stays.",
        epilog="Example: python3 manage.py up --simulate --speed 20 --rig royal@50 (options of `simulate` follow --simulate)",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--data", metavar="DIR", help="data folder (default: JACKPOT_DATA, or .jackpot beside manage.py)"
    )
    parser.add_argument(
        "--port", type=int, default=8000, metavar="N", help="port of web and API on this machine (8000)"
    )
    parser.add_argument(
        "--floor", type=Path, metavar="FLOOR.toml", help="floor for an empty database instead of the demo's"
    )
    parser.add_argument("-c", "--settlers", type=int, default=1, metavar="N", help="settling worker processes (1)")
    parser.add_argument("--simulate", action="store_true", help="play the floor, so that there is something to see")
    parser.add_argument("--exit-when-ready", action="store_true", help="start everything, check it, stop everything")
    parser.add_argument("--detach", action="store_true", help="return when ready and leave it running; `down` stops it")
    parser.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)
    return parser


def main(argv: list[str]) -> int:
    """Run `up` and return its exit code."""
    parser = arguments()
    options, rest = parser.parse_known_args(argv)
    if rest and not options.simulate:
        parser.error(f"unknown: {' '.join(rest)}")
    if options.floor is not None:
        options.floor = options.floor.absolute()
        if not options.floor.is_file():
            parser.error(f"--floor: there is no file {options.floor}")
    if options.data:
        os.environ["JACKPOT_DATA"] = str(Path(options.data).expanduser().absolute())
    data = DataFolder()
    os.environ["JACKPOT_DATA"] = str(data.path)  # for children, which work elsewhere: it may have been said from here
    try:
        data.create()
    except OSError as error:
        return _refuse(f"Cannot use {data.path} as data folder: {error.strerror}. Choose another with --data.")
    if options.detach:
        return _detach([word for word in argv if word != "--detach"], data)
    try:
        return Up(data, options, rest).run()
    except Refused as refused:
        return _refuse(str(refused))


def _refuse(words: str) -> int:
    """One line on standard error, and the exit code that goes with it."""
    print(" ".join(words.split()), file=sys.stderr, flush=True)
    return 2


def say(words: str) -> None:
    """One line of `up` itself."""
    with contextlib.suppress(BrokenPipeError):  # whoever read along has gone
        print(f"[up] {time.strftime('%H:%M:%S')} {words}", flush=True)


def _detach(argv: list[str], data: DataFolder) -> int:
    """Start `up` in a session of its own and wait until it says that it is ready, or ends."""
    reading, writing = os.pipe()
    log_file = data.logs / "up.log"
    with log_file.open("ab") as log:
        begin = log.tell()
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "up", *argv, "--ready-fd", str(writing)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, pass_fds=[writing],
        )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as ready:
        said = ready.read()  # ends when the other side closes it: ready, or dead
    words = log_file.read_bytes()[begin:].decode(errors="replace")
    if said.strip() == "ready":
        print(words, end="", flush=True)
        return 0
    for line in words.splitlines():
        print(line, file=sys.stdout if line.startswith("[up] ") else sys.stderr, flush=True)
    return process.wait() or 1


class Up:
    """One run of `up` on one data folder."""

    def __init__(self, data: DataFolder, options: argparse.Namespace, simulate: list[str]) -> None:
        self.data = data
        self.options = options
        self.simulate = simulate
        self.url = f"http://{HOST}:{options.port}"
        self.stopping = False
        self.server = None if os.environ.get("DATABASE_URL") else EmbeddedPostgres(data.postgres)
        self.locks: list[TextIO] = []
        self.supervisor = Supervisor(self.server, say, self._note)

    def run(self) -> int:
        """Start, tell, watch, stop."""
        began = time.monotonic()
        self._lock()
        self._take_over()
        listener = self._listen()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        self.supervisor.state = State(Known.of(os.getpid()), self.url)
        self._note(self.supervisor.state)
        try:
            with listener:
                return self._serve(listener, began)
        except (Refused, DatabaseProblem) as refused:
            return _refuse(str(refused))
        finally:
            self.supervisor.stop()
            self.data.state.unlink(missing_ok=True)
            say("everything is stopped; the data stays in " + str(self.data.path))

    def _serve(self, listener: socket.socket, began: float) -> int:
        signs_with = public_half(os.environ.get("JACKPOT_SIGNING_KEY") or self.data.signing_key())
        if self.server is not None:
            self.locks.append(use_database(self.data))
            adopted = not self.server.start()
            say(f"PostgreSQL {'was running and is adopted' if adopted else 'is started'}: {self.server.socket}")
            os.environ.setdefault("JACKPOT_DEMO", "1")
        self._prepare()
        for child in self._children(listener):
            if self.stopping:
                return 0
            self.supervisor.add(child)
        self._wait_until_ready()
        if self.stopping:
            return 0
        if self.options.simulate:
            self.supervisor.add(self._simulator())
        self._tell(time.monotonic() - began, signs_with)
        if self.options.ready_fd is not None:
            os.write(self.options.ready_fd, b"ready\n")
            os.close(self.options.ready_fd)
        while not (self.stopping or self.options.exit_when_ready):
            self.supervisor.look()
            time.sleep(TICK_SECONDS)
        return 0

    def _stop(self, number: int, frame: Any) -> None:
        if self.stopping and number == signal.SIGINT:
            say("still stopping …")
        self.stopping = True

    def _note(self, state: State) -> None:
        state.write(self.data.state)

    def _lock(self) -> None:
        """One `up` per data folder. The lock ends with its process, however that ends."""
        lock = open_private(self.data.lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            state = State.read(self.data.state)
            who = f" (process {state.up.pid}, {state.url})" if state.up else ""
            raise Refused(f"Already running on {self.data.path}{who}. `manage.py down` stops it.") from None
        self.locks.append(lock)

    def _take_over(self) -> None:
        """End what an `up` that was killed has left; its database is adopted instead."""
        left = State.read(self.data.state).children.values()
        orphans = [process for known in left if (process := known.alive()) is not None]
        if orphans:
            say(f"the last `up` was killed; ending {len(orphans)} processes that it left")
            end(orphans)

    def _listen(self) -> socket.socket:
        """The web's socket, held here, so that the port is ours and no connection is refused while web restarts."""
        port = self.options.port
        if not 1 <= port <= 65535:
            raise Refused(f"--port: {port} is no port; 1 to 65535")
        try:
            listener = _bind(port)
        except PermissionError:
            raise Refused(f"Port {port} may not be used by this user. Choose one from 1024: --port 8000") from None
        except OSError:
            free = next((other for other in range(port + 1, min(port + 100, 65536)) if _is_free(other)), 8080)
            raise Refused(
                f"Port {port} is taken{_by_whom(port)}. Stop that, or choose another: --port {free}"
            ) from None
        listener.listen(1024)
        return listener

    def _prepare(self) -> None:
        floor = self.options.floor or (DEMO_FLOOR if self.server is not None else None)
        command = ["-m", "jackpot.config.prepare", "--base-url", self.url, *(["--floor", str(floor)] if floor else [])]
        done = subprocess.run([sys.executable, *command], cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        said = done.stderr.splitlines(keepends=True)
        reason = said.pop().strip() if done.returncode and said else ""
        sys.stderr.writelines(said)
        if done.returncode:
            raise Refused(f"The database could not be prepared: {reason or f'exit code {done.returncode}'}")

    def _children(self, listener: socket.socket) -> list[Child]:
        os.chdir(ROOT)
        logs = self.data.logs
        worker = ["-m", "celery", "-A", "jackpot.config.celery"]
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "WARNING"]
        scheduler = ["-S", "jackpot.config.reconnecting:Scheduler"]
        web = ["-m", "jackpot.config.web", str(listener.fileno())]
        settlers = (
            ["settle"] if self.options.settlers == 1 else [f"settle-{n + 1}" for n in range(self.options.settlers)]
        )
        return [
            Child("web", web, log=logs / "web.log", role="web", pass_fds=[listener.fileno()]),
            *(
                Child(
                    name, [*worker, "worker", "-Q", "settle", "-P", "solo", "-n", f"{name}@jackpot", *quiet],
                    log=logs / f"{name}.log", role="settle",
                )
                for name in settlers
            ),
            Child(
                "worker", [*worker, "worker", "-Q", "work", "-P", "threads", "-c", "2", "-n", "worker@jackpot", *quiet],
                log=logs / "worker.log", role="work",
            ),
            Child(
                "beat", [*worker, "beat", *scheduler, "--pidfile", "", "--loglevel", "WARNING"],
                log=logs / "beat.log", role="beat",
            ),
        ]  # fmt: skip

    def _simulator(self) -> Child:
        floor = self.data.floor if self.data.floor.is_file() else self.options.floor or DEMO_FLOOR
        command = [str(ROOT / "manage.py"), "simulate", "--floor", str(floor), "--demo", str(self.data.demo)]
        command += self.simulate or ["--show"]
        return Child("simulator", command, log=self.data.logs / "simulator.log", role="command", once=True)

    def _wait_until_ready(self) -> None:
        """Until the health route says that rounds can be accepted, and for a while longer until they are settled too."""
        began = time.monotonic()
        accepting: float | None = None
        answer = "no answer"
        while not self.stopping:
            try:
                with urllib.request.urlopen(f"{self.url}/api/v1/health", timeout=5) as response:
                    answer = str(json.load(response).get("status"))
                    accepting = accepting or time.monotonic()
                    if answer == "ok":
                        return
            except urllib.error.HTTPError as error:
                answer = f"{error.code} {error.read(500).decode(errors='replace')}"
            except (OSError, ValueError) as error:
                answer = str(error)
            self.supervisor.look()
            failing = self.supervisor.failing()
            if failing is not None:
                say(f"the end of {failing.log}:\n{failing.last_words()}")
                raise Refused(f"{failing.name} does not stay up; why is at the end of {failing.log}")
            if accepting is not None and time.monotonic() - accepting > SETTLING_PATIENCE_SECONDS:
                say(f"rounds are accepted, but {answer}; the logs are in {self.data.logs}")
                return
            if time.monotonic() - began > PATIENCE_SECONDS:
                raise Refused(f"Not ready after {PATIENCE_SECONDS:.0f} s: {answer}. The logs are in {self.data.logs}")
            time.sleep(0.1)

    def _tell(self, seconds: float, signs_with: str) -> None:
        lines = [
            f"ready after {seconds:.1f} s",
            f"  floor          {self.url}/",
            f"  API            {self.url}/api/v1/docs",
            f"  data           {self.data.path}",
            f"  logs           {self.data.logs}",
            f"  signs with     {signs_with} (Ed25519, public)",
        ]
        if self.data.demo.is_file():
            demo = json.loads(self.data.demo.read_text())
            lines.append(f"  machine keys   {self.data.demo} ({len(demo['devices'])} tables)")
            lines.append("  sign in as")
            lines += [f"    {p['username']:<14} {p['password']:<24} {', '.join(p['roles'])}" for p in demo["people"]]
        else:
            lines.append("  first person   python3 manage.py person NAME --role security")
        say("\n".join(lines))
        if self.options.ready_fd is None and not self.options.exit_when_ready:
            say("Ctrl-C stops everything")


def public_half(signing_key: str) -> str:
    """What auditors hold the house's signatures against; Refused for a key that nothing could be signed with."""
    try:
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(signing_key))
    except ValueError:
        raise Refused("JACKPOT_SIGNING_KEY: an Ed25519 private key in 64 hexadecimal digits is expected") from None
    return key.public_key().public_bytes_raw().hex()


def _bind(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
    except BaseException:
        listener.close()
        raise
    return listener


def _is_free(port: int) -> bool:
    try:
        _bind(port).close()
    except OSError:
        return False
    return True


def _by_whom(port: int) -> str:
    """Who listens there, as far as this user may know."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except psutil.Error:
        pass
    return " by another program"
