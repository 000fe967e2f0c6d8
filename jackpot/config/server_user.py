"""As whom the embedded PostgreSQL runs. It refuses root, and root is who runs a container."""

import contextlib
import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class ServerUser:
    """A command to put in front of the server's, and the user who owns its files where that is another one."""

    prefix: tuple[str, ...] = ()
    owner: pwd.struct_passwd | None = None

    def own(self, folder: Path) -> None:
        """Give the folder, and what is in it, to whom the server runs as."""
        if self.owner is None or folder.stat().st_uid == self.owner.pw_uid:
            return
        for place, folders, files in os.walk(folder):
            for name in [".", *folders, *files]:
                os.chown(Path(place, name), self.owner.pw_uid, self.owner.pw_gid, follow_symlinks=False)

    def options(self) -> dict[str, Any]:
        """What `subprocess` needs to become that user, where no command in front does it."""
        if self.owner is None or self.prefix:
            return {}
        return {"user": self.owner.pw_uid, "group": self.owner.pw_gid, "extra_groups": []}


def server_user(data: Path) -> ServerUser:
    """Ourselves, unless we are root. For root the first of these that this machine allows:

    whoever owns the data folder already, if that is not root; a user namespace in which root's files are nobody's (nobody, for
    initdb wants an id that has a name); nobody with the one capability to reach folders below root's own; plain nobody.
    JACKPOT_PG_AS=nobody leaves the namespace out.
    """
    if os.geteuid() != 0:
        return ServerUser()
    owner = pwd.getpwnam("nobody")
    with contextlib.suppress(OSError, KeyError):
        owner = pwd.getpwuid(data.stat().st_uid or owner.pw_uid)
        if data.stat().st_uid != 0:
            return _as(owner)
    if os.environ.get("JACKPOT_PG_AS") != "nobody":
        namespace = ("unshare", "--user", f"--map-user={owner.pw_uid}", f"--map-group={owner.pw_gid}")
        if _works(namespace):
            return ServerUser(prefix=namespace)
    return _as(owner)


def _as(owner: pwd.struct_passwd) -> ServerUser:
    reaching = (
        "setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups",
        "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
    )  # fmt: skip
    return ServerUser(prefix=reaching if _works(reaching) else (), owner=owner)


def _works(prefix: tuple[str, ...]) -> bool:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run([*prefix, "true"], capture_output=True, timeout=5).returncode == 0
    return False
