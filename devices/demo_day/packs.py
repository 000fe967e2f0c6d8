"""The packs of the day: every stream's record as one file, verified as its receiver does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from accounting.queries import streams
from accounting.services.signing import public_key
from devices.packing.stretch import pack, verifier, wanted

PATIENCE_SECONDS = 120


class NotVerified(RuntimeError):
    """A pack that its own verifier does not accept."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A pack on disk, with what its verifier said of it."""

    stream: str
    file: Path
    size: int
    said: str


def take_away(folder: Path) -> Iterator[Taken]:
    """Write the pack of every stream and verify each with a Python that has nothing else. Raises NotVerified, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "verifier.pyz").write_bytes(verifier())
    for _, code, _ in streams():
        content, file = pack(wanted(code)), folder / f"{code}.zip"
        file.write_bytes(content)
        command = [sys.executable, "-I", "-S", "verifier.pyz", file.name, "--key", public_key().hex()]
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            env={"PYTHONTZPATH": ""},
            timeout=PATIENCE_SECONDS,
        )
        if done.returncode:
            raise NotVerified(f"{file}: {(done.stderr or done.stdout).strip()}")
        yield Taken(code, file, len(content), done.stdout.strip())
