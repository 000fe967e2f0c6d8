"""A disk of a few megabytes under a hall's database: a file system in memory, seen only by that hall's own processes.

It is mounted in a mount namespace, as root or, for others, in a user namespace of their own; it is gone with the last
process in it. The server gets the very error that a full disk gives: ENOSPC, from data files and from the log alike.
"""

from __future__ import annotations

import os
import subprocess
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
        self.bytes = used + spare_megabytes * 1024 * 1024
        own = () if os.geteuid() == 0 else ("--user", "--map-root-user")
        self.small = self.data.with_name("small")
        words = [f"SMALL={self.small}", f"SIZE={self.bytes}", f"DATA={self.data}"]
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

    def fill(self) -> None:
        """Leave no room: the disk is made as large as what is on it."""
        for _ in range(20):
            disk = os.statvfs(self.hall.server.data)
            if self._resize((disk.f_blocks - disk.f_bfree) * disk.f_frsize):
                return
        raise AssertionError("the disk could not be filled")

    def free(self) -> None:
        """Make room."""
        assert self._resize(self.bytes)

    def _resize(self, size: int) -> bool:
        """False when more than that was written meanwhile."""
        remount = ["mount", "-o", f"remount,size={size}", str(self.small)]
        return subprocess.run([*self.hall.before, *remount], capture_output=True).returncode == 0
