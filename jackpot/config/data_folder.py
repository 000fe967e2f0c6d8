"""The data folder: where an installation keeps what must outlive its processes. Everything else can be deleted."""

import errno
import fcntl
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
ROOT = Path(__file__).resolve().parents[2]


class DataFolder:
    """Paths below JACKPOT_DATA (default `.jackpot` beside manage.py), and the small files that are made on demand."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path or os.environ.get("JACKPOT_DATA") or ROOT / ".jackpot").expanduser().absolute()
        self.postgres = self.path / "postgres"
        self.logs = self.path / "logs"
        self.demo = self.path / "demo.json"
        self.floor = self.path / "floor.toml"  # the floor this database was opened with
        self.compressed = self.path / "compressed"  # what browsers load, made anew when it is gone
        self.state = self.path / "up.json"
        self.lock = self.path / "up.lock"

    def create(self) -> None:
        """Make the folder, readable by its owner alone, for it holds keys and money."""
        self.path.mkdir(parents=True, exist_ok=True)
        with suppress(
            PermissionError
        ):  # a volume that is somebody else's, lent to us: who may enter it is theirs to say
            self.path.chmod(0o711)  # 711: a database that runs as another user must reach its own folder
        self.logs.mkdir(mode=0o700, exist_ok=True)

    def secret_key(self) -> str:
        """The key that signs sessions: made once, kept beside the data it protects."""
        return self._made_once("secret_key", lambda: secrets.token_urlsafe(48))

    def signing_key(self) -> str:
        """The key that signs closed gaming days, an Ed25519 private key in 64 hexadecimal digits: made once.

        It is never in the database: whoever owns that could sign what they please.
        """
        return self._for_its_owner("signing_key", lambda: secrets.token_bytes(32).hex())

    def patron_key(self) -> str:
        """The key that seals who won: 32 bytes in URL-safe base64, made once, readable by its owner alone.

        It stands beside the database, not in it: whoever has the one without the other reads nothing.
        """
        return self._for_its_owner("patron_key", lambda: secrets.token_urlsafe(32))

    def _for_its_owner(self, name: str, make: Callable[[], str]) -> str:
        """A key made once that nobody else may read, whatever became of its file since."""
        key, file = self._made_once(name, make), self.path / name
        if file.stat().st_mode & 0o777 != 0o600:
            file.chmod(0o600)
        return key

    def _made_once(self, name: str, make: Callable[[], str]) -> str:
        file = self.path / name
        try:
            return file.read_text().strip()
        except FileNotFoundError:
            pass
        self.create()
        draft = file.with_name(f"{name}.{os.getpid()}")
        write_private(draft, make())
        try:
            os.link(draft, file)  # atomic: of two first starts one wins and both read the same key
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            self._placed_under_lock(draft, file)
        finally:
            draft.unlink(missing_ok=True)
        return file.read_text().strip()

    def _placed_under_lock(self, draft: Path, file: Path) -> None:
        """The same where a file system knows no second names."""
        with open_private(self.path / f".{file.name}.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                draft.replace(file)


def write_private(file: Path, text: str) -> None:
    """Write `file` whole or not at all, readable by its owner alone."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)


def open_private(file: Path) -> TextIO:
    """Open a lock or a log for appending, for its owner alone: who could read it could also hold its lock."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "a")
