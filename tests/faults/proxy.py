"""Debian's Caddy with the file of docker/, on a port and with a certificate of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.hall import ROOT, free_port

CADDY = shutil.which("caddy")


@contextmanager
def proxied(web: str, name: str, certificate: tuple[Path, Path], folder: Path) -> Iterator[int]:
    """A proxy before one web process, or several with blanks between, that is asked for by name; its port."""
    assert CADDY is not None
    port = free_port()
    file = folder / "Caddyfile"
    here = "{\n\tadmin off\n\tauto_https disable_redirects\n}\n"  # one of many on this machine
    file.write_text(here + (ROOT / "docker" / "Caddyfile").read_text())
    environment = {
        **os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder),
        "JACKPOT_HOST": f"{name}:{port}", "JACKPOT_TLS": f"tls {certificate[0]} {certificate[1]}",
        "JACKPOT_WEB": web,
    }  # fmt: skip
    command = [CADDY, "run", "--config", str(file), "--adapter", "caddyfile"]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield port
    finally:
        process.terminate()
        process.wait(20)
