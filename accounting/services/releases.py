"""Which software ran when: put on record by itself whenever it is another than the last time (REQUIREMENTS R41)."""

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from accounting.queries import SOFTWARE, software
from accounting.services import audit

PARTS: Final = ("accounting", "jackpot", "tables", "devices")
BESIDE: Final = ("manage.py", "requirements.txt", "pyproject.toml")
LEFT_OUT: Final = ("__pycache__",)


class Build(NamedTuple):
    """The software as it lies there: how many files, and the SHA-256 over their names and contents, in hexadecimal."""

    files: int
    digest: str


def build(root: Path) -> Build:
    """The software below a folder, whatever is compiled or cached of it left out."""
    whole, files = sha256(), 0
    for path in _files(root):
        name = path.relative_to(root).as_posix().encode()
        content = path.read_bytes()
        whole.update(b"%d %b %d " % (len(name), name, len(content)))
        whole.update(content)
        files += 1
    return Build(files, whole.hexdigest())


def _files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in BESIDE if (root / name).is_file())
    for part in PARTS:
        for path in sorted((root / part).rglob("*")):
            if path.is_file() and not any(name in LEFT_OUT for name in path.parts):
                yield path


def put_on_record(root: Path, *, at: datetime) -> bool:
    """Put the software below a folder on the audit trail where it is not what was put there last; whether it was not."""
    found = build(root)
    last = software() or None
    if last == found.digest:
        return False
    audit.record(
        at=at, actor="the service", action=SOFTWARE, subject=found.digest, detail={"files": found.files, "before": last}
    )
    return True
