"""Services of compose.yaml started from the image as compose would, by podman alone: read-only, without capabilities."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.images.compose import Service

PODMAN = ("podman", "--cgroup-manager", "cgroupfs")
HEALTHY_WITHIN = 90.0
RUNS_FOR = 5.0
"""So many seconds a service without a health check must have run for to count as up."""


class Failed(RuntimeError):
    """A container did not do what it had to; the words are its own."""


@dataclass
class Image:
    """An image, and how its containers are run."""

    name: str
    runtime: str
    environment: Mapping[str, Mapping[str, str]]
    port: int
    running: list[Container] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """What the image says of itself."""
        found: list[dict[str, Any]] = json.loads(_podman("image", "inspect", self.name))
        return found[0]

    def layers(self) -> list[tuple[str, int]]:
        """What made each layer that is not empty, and its bytes; the newest first."""
        told = json.loads(_podman("history", "--format", "json", "--no-trunc", "--human=false", self.name))
        return [(layer["CreatedBy"], int(layer["size"])) for layer in told if int(layer["size"])]

    def command(self, service: Service) -> list[str]:
        """What a service runs: its own command, else the image's, on the port that is free here."""
        words = service.get("command") or self.told()["Config"]["Cmd"]
        return [word.replace("8000", str(self.port)) for word in words]

    def health(self, service: Service) -> list[str] | None:
        """The command that tells whether a service is well; None where it has none."""
        check = service.get("healthcheck", {})
        if check.get("disable"):
            return None
        words = check.get("test") or self.told()["Healthcheck"]["Test"]
        kind, *command = [words] if isinstance(words, str) else words
        if kind == "CMD":
            return [word.replace("8000", str(self.port)) for word in command]
        return ["sh", "-c", (command or [kind])[0].replace("8000", str(self.port))]

    def _arguments(self, service: Service, name: str, volumes: Sequence[str]) -> list[str]:
        # Podman's own timers for health checks need systemd, and its own limits more than a container may give.
        words = ["--network", "host", "--pull", "never", "--no-healthcheck"]
        words += ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"]
        words += ["--read-only"] if service.get("read_only") else []
        words += [word for folder in service.get("tmpfs", ()) for word in ("--tmpfs", folder)]
        words += [word for each in service.get("cap_drop", ()) for word in ("--cap-drop", each)]
        words += ["--security-opt", "no-new-privileges"] if service.get("security_opt") else []
        words += [word for key, value in self.environment[name].items() for word in ("--env", f"{key}={value}")]
        return words + [word for volume in volumes for word in ("--volume", volume)]

    def run(self, service: Service, name: str, command: Sequence[str] = (), volumes: Sequence[str] = ()) -> str:
        """Run a service, or another command in its place, to its end; what it said. Failed with its last words."""
        words = [*self._arguments(service, name, volumes), self.name, *(command or self.command(service))]
        return _podman("--runtime", self.runtime, "run", "--rm", *words)

    def start(self, service: Service, name: str) -> Container:
        """Start a service and leave it running."""
        words = [*self._arguments(service, name, ()), self.name, *self.command(service)]
        health, began = self.health(service), time.monotonic()
        number = _podman("--runtime", self.runtime, "run", "--detach", *words).strip()
        container = Container(name, number, health, began)
        self.running.append(container)
        return container

    def stop(self) -> None:
        """End whatever was started, and remove it."""
        for container in reversed(self.running):
            subprocess.run([*PODMAN, "rm", "--force", "--time", "10", container.number], capture_output=True)


@dataclass
class Container:
    """A running service."""

    name: str
    number: str
    health: list[str] | None
    began: float

    def exec(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command inside."""
        return subprocess.run([*PODMAN, "exec", self.number, *command], capture_output=True, text=True)

    def runs(self) -> bool:
        """Whether its process lives."""
        return _podman("inspect", "--format", "{{.State.Running}}", self.number).strip() == "true"

    def words(self) -> str:
        """The end of its log."""
        told = subprocess.run([*PODMAN, "logs", "--tail", "20", self.number], capture_output=True, text=True)
        return told.stdout + told.stderr

    def well(self) -> bool:
        """Whether it runs and its health check, if it has one, is content."""
        return self.runs() and (self.health is None or self.exec(*self.health).returncode == 0)

    def wait(self) -> float:
        """Seconds from its start until it was well. Failed with its last words."""
        while True:
            if self.health is None and time.monotonic() - self.began < RUNS_FOR:
                time.sleep(0.2)
            elif self.well():
                return time.monotonic() - self.began
            elif not self.runs() or time.monotonic() - self.began > HEALTHY_WITHIN:
                raise Failed(f"{self.name} is not well: {self.words()}")

    def confined(self) -> dict[str, bool]:
        """What it may not do, and whether that is so: write beside /tmp, have a capability, gain one, be root."""
        status = dict(
            line.split(":\t", 1) for line in self.exec("cat", "/proc/1/status").stdout.splitlines() if ":\t" in line
        )
        writing = [
            self.exec("python", "-c", f"open('{place}/probe', 'w')").stderr for place in ("/app", "/venv", "/var/lib")
        ]
        return {
            "reads only": all("Read-only file system" in said for said in writing),
            "no capabilities": all(int(status[name], 16) == 0 for name in ("CapEff", "CapPrm", "CapBnd")),
            "gains none": status["NoNewPrivs"].strip() == "1",
            "not root": status["Uid"].split()[0] != "0",
        }

    def memory(self) -> int:
        """Bytes that its processes alone have, and their share of what they share."""
        script = (
            "import glob\n"
            "print(sum(int(line.split()[1]) for file in glob.glob('/proc/[0-9]*/smaps_rollup')"
            " for line in open(file) if line.startswith('Pss:')))"
        )
        said = self.exec("python", "-c", script).stdout.strip()
        return int(said or 0) * 1024


def _podman(*words: str) -> str:
    done = subprocess.run([*PODMAN, *words], capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{words[0]} …: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


def keep(folder: Path, name: str, text: str) -> None:
    """Write something that was found into the folder of findings."""
    (folder / name).write_text(text, "utf-8")
