"""`python3 -m tests.images.weaknesses`: whether anything that requirements.txt pins has a known weakness, by `pip-audit`.

A house without a network brings what is known: `--advisories FILE`, the export of advisories about Python packages in the OSV
format (a zip or a folder of JSON files), which is answered from on loopback as the service itself would. Without it the service
is asked. Exit code 1: something is known; 2: it could not be asked.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tests.images.compose import ROOT

TOOL: Final = "pip-audit==2.10.1"  # asks, and is no part of the product
Advisory = dict[str, Any]


class Unreadable(ValueError):
    """What was brought is no export of advisories."""


class Advisories:
    """Advisories by the package that they are about; those that were withdrawn are none."""

    def __init__(self, found: Iterable[Advisory]) -> None:
        self._about: dict[str, list[Advisory]] = {}
        for advisory in found:
            for name in {name for name, _ in _parts(advisory)} if "withdrawn" not in advisory else ():
                self._about.setdefault(name, []).append(advisory)

    @cached_property
    def count(self) -> int:
        """How many there are."""
        return len({advisory["id"] for each in self._about.values() for advisory in each})

    def of(self, package: str, version: str) -> list[Advisory]:
        """What is known of this version of a package."""
        name = canonicalize_name(package)
        return [
            advisory
            for advisory in self._about.get(name, ())
            if any(about == name and affects(part, version) for about, part in _parts(advisory))
        ]


def _parts(advisory: Advisory) -> Iterator[tuple[str, dict[str, Any]]]:
    """The Python packages that an advisory is about, and what it says of each."""
    for part in advisory.get("affected", ()):
        if part.get("package", {}).get("ecosystem") == "PyPI":
            yield canonicalize_name(part["package"]["name"]), part


def affects(part: dict[str, Any], version: str) -> bool:
    """Whether a version is one that is named, or lies in a range from `introduced` to `fixed` or `last_affected`."""
    if version in part.get("versions", ()):
        return True
    return any(
        _reached(each["events"], Version(version)) for each in part.get("ranges", ()) if each["type"] == "ECOSYSTEM"
    )


def _reached(events: list[dict[str, str]], version: Version) -> bool:
    inside = False
    for event in sorted(events, key=lambda each: _place(next(iter(each.values())))):
        match event:
            case {"introduced": since} if _place(since) <= version:
                inside = True
            case {"fixed": since} if _place(since) <= version:
                inside = False
            case {"last_affected": last} if _place(last) < version:
                inside = False
    return inside


def _place(version: str) -> Version:
    """Where a version of an advisory stands; one that packages cannot have, before all."""
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0.dev0")


def brought(place: Path) -> Advisories:
    """The advisories in a zip or a folder. Unreadable where there are none."""
    try:
        if place.is_dir():
            found = [json.loads(file.read_bytes()) for file in sorted(place.rglob("*.json"))]
        else:
            with zipfile.ZipFile(place) as export:
                found = [json.loads(export.read(name)) for name in export.namelist() if name.endswith(".json")]
    except (OSError, ValueError, zipfile.BadZipFile) as problem:
        raise Unreadable(f"{place}: {problem}") from None
    if not found or not all(isinstance(each, dict) and "id" in each for each in found):
        raise Unreadable(f"{place}: no advisories in the OSV format")
    return Advisories(found)


@contextmanager
def answering(known: Advisories) -> Iterator[str]:
    """Answer on loopback what the service answers; the address to ask."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = known.of(asked["package"]["name"], asked["version"])
            body = json.dumps({"vulns": found} if found else {}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/query"
        finally:
            server.shutdown()
            thread.join()


def ask(pinned: Path, tool: Path, *where: str) -> subprocess.CompletedProcess[str]:
    """Have pip-audit ask about every package of a list, as it is pinned there: nothing is resolved, fetched or installed."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--requirement",
        str(pinned),
        "--no-deps",
        "--disable-pip",
        "--strict",
    ]
    environment = {"PYTHONPATH": str(tool), "PATH": "/usr/bin:/bin", "HOME": str(tool)}
    return subprocess.run(
        [*command, "--progress-spinner=off", "--vulnerability-service=osv", f"--cache-dir={tool / 'cache'}", *where],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip


def main() -> int:
    """0 where nothing is known, 1 where something is, 2 where it could not be asked."""
    options = argparse.ArgumentParser(prog="python3 -m tests.images.weaknesses", description=__doc__)
    options.add_argument("--advisories", type=Path, metavar="FILE", help="an export of advisories: a zip or a folder")
    options.add_argument("--list", type=Path, default=ROOT / "requirements.txt", help="what is pinned")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="jackpot-weaknesses-") as name:
        tool = Path(name)
        fetch = [sys.executable, "-m", "pip", "install", "-q", "--target", str(tool), TOOL]
        if subprocess.run(fetch, capture_output=True).returncode:
            print(f"pip could not fetch {TOOL}", file=sys.stderr)
            return 2
        if given.advisories is None:
            answer = ask(given.list, tool)
        else:
            try:
                known = brought(given.advisories)
            except Unreadable as problem:
                print(problem, file=sys.stderr)
                return 2
            print(f"{known.count:,} advisories")
            with answering(known) as address:
                answer = ask(given.list, tool, f"--osv-url={address}")
    said = [line for line in answer.stderr.strip().splitlines() if not line.startswith("WARNING:")]
    if answer.returncode == 0 or any(line.startswith("Found ") for line in said):
        print("\n".join([*answer.stdout.strip().splitlines(), *said]))
        return answer.returncode
    print(f"it could not be asked: {said[-1] if said else 'it said nothing'}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
