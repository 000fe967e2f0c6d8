"""Processes that can be named again after a crash: by number and birth, so that a number used twice is never mistaken."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from jackpot.config.data_folder import write_private

PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Known:
    """A process by number and by when it was born (seconds since the epoch)."""

    pid: int
    born: float

    @classmethod
    def of(cls, pid: int) -> "Known":
        """The process that has this number now."""
        return cls(pid, psutil.Process(pid).create_time())

    def alive(self) -> psutil.Process | None:
        """The process itself, if it still runs and the number has not passed to another."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.born) < 1 and process.status() != psutil.STATUS_ZOMBIE:
                return process
        return None


@dataclass(slots=True)
class State:
    """What runs on a data folder, as the last `up` wrote it down: the next `up`, and `down`, find its processes by it."""

    up: Known | None = None
    url: str = ""
    children: dict[str, Known] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "State":
        """What the file says; an empty state if there is none or it cannot be read."""
        try:
            said = json.loads(file.read_text())
            up = Known(**said["up"]) if said["up"] else None
            return cls(up, said["url"], {name: Known(**child) for name, child in said["children"].items()})
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def write(self, file: Path) -> None:
        """Replace the file."""
        write_private(file, json.dumps(asdict(self), indent=1))


def runs(process: psutil.Process) -> bool:
    """Whether it still runs. One that has ended does not, although nobody may ever collect it (process 1 of a container)."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def still_running(processes: Iterable[psutil.Process], patience: float) -> list[psutil.Process]:
    """Wait until they have all ended; those that have not after `patience` seconds."""
    give_up = time.monotonic() + patience
    while (alive := [process for process in processes if runs(process)]) and time.monotonic() < give_up:
        time.sleep(0.02)
        processes = alive
    return alive


def end(processes: Iterable[psutil.Process], *, patience: float = 10) -> None:
    """Ask the processes and all below them to end, and kill what has not after `patience` seconds."""
    doomed: dict[int, psutil.Process] = {}
    for process in processes:
        with contextlib.suppress(psutil.Error):
            for one in [process, *process.children(recursive=True)]:
                doomed[one.pid] = one
            process.terminate()
    alive = still_running(doomed.values(), patience)
    for process in alive:
        with contextlib.suppress(psutil.Error):
            process.kill()
    still_running(alive, 5)


class Child:
    """A process that is to run as long as `up` does: its own session, its own log, and it dies with its parent."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        role: str,
        pass_fds: Sequence[int] = (),
        once: bool = False,
    ) -> None:
        self.name = name
        self.command = [sys.executable, *command]
        self.log = log
        self.pass_fds = tuple(pass_fds)
        self.environment = {**os.environ, "JACKPOT_ROLE": role, "PYTHONUNBUFFERED": "1"}
        self.once = once  # ends by itself when it has done its work
        self.process: subprocess.Popen[bytes] | None = None
        self.known: Known | None = None

    def start(self) -> Known:
        """Start it. To be called from the main thread: the kernel's death signal comes when the starting thread ends."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, pass_fds=self.pass_fds,
                preexec_fn=dies_with_parent(),  # noqa: PLW1509 (`up` has one thread)
            )  # fmt: skip
        self.known = Known.of(self.process.pid)
        return self.known

    def death(self) -> str | None:
        """How it died, in words; None while it lives. What it left behind in its session is killed."""
        if self.process is None or (code := self.process.poll()) is None:
            return None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def trim_log(self, limit: int = 20_000_000) -> None:
        """Keep the last full log as .1 and go on with an empty one; the writer appends and does not notice."""
        with contextlib.suppress(OSError):
            if self.log.stat().st_size > limit:
                self.log.with_suffix(".log.1").write_bytes(self.log.read_bytes())
                os.truncate(self.log, 0)

    def last_words(self, lines: int = 15) -> str:
        """The end of its log."""
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"


def dies_with_parent() -> Callable[[], None] | None:
    """What a child does before it becomes its program: ask the kernel (Linux) to end it when its parent dies."""
    if sys.platform != "linux":
        return None  # the next `up` finds it by the state file
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def before() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it died in between
            os._exit(1)

    return before
