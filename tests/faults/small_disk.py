"""A disk of a few megabytes under a hall's database: a file system in memory, seen only by that hall's own processes.

It is mounted in a mount namespace, as root or, for others, in a user namespace of their own; it is gone with the last
process in it. The server gets the very error that a full disk gives: ENOSPC, from data files and from the log alike.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from jackpot.config.processes import State
from tests.faults.hall import ROOT, Hall

# The data that is there goes along; what is mounted over it is what the server sees.
MOUNT = """
set -e
mkdir -p "$SMALL"
mount -t tmpfs -o size="$SIZE" jackpot-small-disk "$SMALL"
cp -a "$DATA/." "$SMALL/"
mount --bind "$SMALL" "$DATA"
exec "$@"
"""


class SmallDisk:
    """Puts a hall that is down on a disk with so much room to spare, brings it up there, and fills and frees the disk."""

    def __init__(self, hall: Hall, *, spare_megabytes: int) -> None:
        self.hall = hall
        self.data = hall.server.data
        used = sum(file.stat().st_blocks * 512 for file in self.data.rglob("*") if file.is_file())
        own = () if os.geteuid() == 0 else ("--user", "--map-root-user")
        words = [
            f"SMALL={self.data.with_name('small')}",
            f"SIZE={used + spare_megabytes * 1024 * 1024}",
            f"DATA={self.data}",
        ]
        self.enter = ("unshare", *own, "--mount", "--propagation", "private", "env", *words, "sh", "-c", MOUNT, "sh")

    def start(self) -> None:
        """Bring the hall up on the small disk; its commands go there too from now on."""
        self.hall.before = self.enter
        self.hall.start()
        up = State.read(self.hall.data / "up.json").up
        assert up is not None
        inside = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        self.hall.before = ("nsenter", "--target", str(up.pid), *inside, "--mount", f"--wd={ROOT}", "--")
        self.hall.server.data = Path(f"/proc/{up.pid}/root{self.data}")

    @property
    def _ballast(self) -> Path:
        return self.hall.server.data / "ballast"

    def fill(self) -> None:
        """Leave no room, to the last page."""
        with self._ballast.open("wb", buffering=0) as ballast:
            for size in (1024 * 1024, 4096):
                with suppress(OSError):
                    while ballast.write(bytes(size)) == size:
                        pass

    def free(self) -> None:
        """Give the room back."""
        self._ballast.unlink()
