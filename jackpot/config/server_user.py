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
        """Give the folder to whom the server runs as."""
        if self.owner is not None:
            os.chown(folder, self.owner.pw_uid, self.owner.pw_gid)

    def options(self) -> dict[str, Any]:
        """What `subprocess` needs to become that user, where no command in front does it."""
        if self.owner is None or self.prefix:
            return {}
        return {"user": self.owner.pw_uid, "group": self.owner.pw_gid, "extra_groups": []}


def server_user() -> ServerUser:
    """Ourselves, unless we are root. For root the first of three that this machine allows:

    a user namespace in which root's files are nobody's (nobody, for initdb wants an id that has a name); nobody with the one
    capability to reach folders below root's own; plain nobody. JACKPOT_PG_AS=nobody leaves the namespace out.
    """
    if os.geteuid() != 0:
        return ServerUser()
    nobody = pwd.getpwnam("nobody")
    user, group = str(nobody.pw_uid), str(nobody.pw_gid)
    if os.environ.get("JACKPOT_PG_AS") != "nobody":
        namespace = ("unshare", "--user", f"--map-user={user}", f"--map-group={group}")
        if _works(namespace):
            return ServerUser(prefix=namespace)
    reaching = (
        "setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups",
        "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
    )  # fmt: skip
    return ServerUser(prefix=reaching if _works(reaching) else (), owner=nobody)


def _works(prefix: tuple[str, ...]) -> bool:
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run([*prefix, "true"], capture_output=True, timeout=5).returncode == 0
    return False
