"""`python3 -m tests.images`: the image, tried. Every service of compose.yaml that runs it is started from it by podman.

PostgreSQL asks for the passwords of `docker/roles.sql`, the broker is Debian's; the house is migrated first, opened with the
demo floor, and a round is posted, settled and verified. Layers, start times, memory, and what is in the image are told.
Needs root, podman and an image (docker/build_without_registry.sh).
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
import httpx
from django.utils.module_loading import import_string

from devices.simulator.irregularities import Rates
from devices.simulator.run import Plan, load_floor
from tests.images import compose, inventory, servers
from tests.images.compose import ROOT
from tests.images.containers import Failed, Image

FLOOR = ROOT / "jackpot" / "config" / "demo" / "floor.toml"
MOST_BYTES = 400_000_000
TABLE = "MS-101"
ON_RECORD = "from accounting.queries import software; print(software())"


def main() -> int:
    """0 when all of it held, 1 when something did not, 2 when it could not be tried."""
    options = argparse.ArgumentParser(prog="python3 -m tests.images", description=__doc__)
    options.add_argument("--image", default="jackpot:local", help="the image (jackpot:local)")
    options.add_argument("--broker", default="rabbitmq", help="rabbitmq or redis, started here, or the address of one")
    options.add_argument("--runtime", default="runc", help="the runtime that podman uses (runc)")
    options.add_argument("--out", type=Path, help="folder for sbom.json, wheels.txt, licences.txt and debian.txt")
    given = options.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="jackpot-images-") as name:
            folder = Path(name)
            folder.chmod(0o711)
            if given.out is not None:
                given.out.mkdir(parents=True, exist_ok=True)
            with house(given.image, given.runtime, given.broker, folder) as (image, filled):
                return 1 if tried(image, filled, given.out or folder) else 0
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    except servers.NotThere as missing:
        print(missing, file=sys.stderr)
        return 2


@contextmanager
def house(name: str, runtime: str, broker: str, folder: Path) -> Iterator[tuple[Image, dict[str, compose.Service]]]:
    """Servers as compose.yaml has them, and the image with the services' environments filled in for them."""
    given = {each: secrets.token_hex(24) for each in compose.demanded()} | {
        "JACKPOT_SIGNING_KEY": secrets.token_hex(32)
    }
    with servers.postgres(folder / "postgres", given) as port, servers.broker(broker, folder / "broker") as wakes:
        filled = {name: service for name, service in compose.services(given).items() if "build" in service}
        environment = {
            service: {
                key: value.replace("@postgres:5432/", f"@127.0.0.1:{port}/") if key.endswith("DATABASE_URL") else value
                for key, value in words["environment"].items()
            }
            | {"CELERY_BROKER_URL": wakes}
            for service, words in filled.items()
        }
        image = Image(name, runtime, {**environment, "none": {}}, servers.free_port())
        try:
            yield image, filled
        finally:
            image.stop()


def tried(image: Image, filled: dict[str, compose.Service], out: Path) -> list[str]:
    """Everything of it in turn; the sentences of what did not hold."""
    faults = told_of(image)
    migrate = filled.pop("migrate")
    began = time.monotonic()
    image.run(migrate, "migrate")
    print(f"migrate: {time.monotonic() - began:.1f} s")
    on_record = image.run(
        migrate, "migrate", ["python", "manage.py", "shell", "--verbosity", "0", "-c", ON_RECORD]
    ).strip()
    if on_record != software():
        faults.append(f"the software on the audit trail is {on_record or 'nowhere'}, not that of this clone")
    image.run(migrate, "migrate", ["python", "manage.py", "load_floor", "/floor.toml"], [f"{FLOOR}:/floor.toml:ro"])
    for name, service in filled.items():
        container = image.start(service, name)
        seconds = container.wait()
        print(f"{name}: {'healthy' if container.health else 'runs, has no health check,'} after {seconds:.1f} s")
        faults += [f"{name}: {what} is not so" for what, so in container.confined().items() if not so]
    settled = play(image, filled["web"])
    print(f"a round posted, answered and settled in {settled * 1000:.0f} ms")
    print(image.run(filled["worker"], "worker", ["python", "manage.py", "verify"]).strip())
    for container in image.running:
        print(f"{container.name}: {container.memory() / 1e6:.0f} MB of memory")
        if not container.well():
            faults.append(f"{container.name} is no longer well: {container.words()}")
    found = inventory.take(image, out)
    print(
        f"{found.distributions} distributions, {found.files:,} files as their wheels recorded them; {found.components} in"
        f" the bill of materials; {found.packages} Debian packages; {len(found.licences)} licences"
    )
    faults += found.faults
    for fault in faults:
        print(f"NOT SO: {fault}")
    return faults


def told_of(image: Image) -> list[str]:
    """Layers and size; a sentence if it is too large."""
    layers = image.layers()
    for made_by, size in layers:
        print(f"{size / 1e6:6.1f} MB  {' '.join(made_by.split())[:90]}")
    whole = sum(size for _, size in layers)
    print(f"{whole / 1e6:6.1f} MB  all of {image.name}")
    return [f"the image has {whole / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}"] if whole > MOST_BYTES else []


def play(image: Image, web: compose.Service) -> float:
    """Enrol a gateway, post a round and wait for its settlement; seconds from the post to the settlement. Failed without it."""
    key = image.run(web, "web", ["python", "manage.py", "device", "GW-1", "--tables", TABLE]).split()[-1]
    message = deal()
    with httpx.Client(base_url=f"http://127.0.0.1:{image.port}", trust_env=False, timeout=30) as client:
        headers = {"Authorization": f"Api-Key {key}", "Prefer": "wait=10", "X-Forwarded-Proto": "https"}
        began = time.monotonic()
        answer = client.post("/api/v1/rounds", json=message, headers=headers)
        seconds = time.monotonic() - began
    if answer.status_code != 200 or answer.json().get("outcome") != "settled":
        raise Failed(f"a round was answered {answer.status_code}: {json.dumps(answer.json())[:500]}")
    return seconds


def software() -> str:
    """The digest of this clone's software, as it would be put on record."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jackpot.config.settings")
    django.setup()
    return str(import_string("accounting.services.releases.build")(ROOT).digest)


def deal() -> dict[str, Any]:
    """A round of the demo floor's first table."""
    plan = Plan(floor=load_floor(FLOOR), start=datetime.now(UTC), prefix="IMAGE", seed=1, speed=0, rates=Rates(times=0))
    return next(dealt.message for dealt in plan.play().deals() if dealt.message["table"] == TABLE)


if __name__ == "__main__":
    sys.exit(main())
