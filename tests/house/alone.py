"""What the test of a house has done beside its faults: what is to be watched, one machine without hosts, proofs of their own."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.faults.account import account
from tests.faults.hall import Hall
from tests.faults.traffic import Traffic

if TYPE_CHECKING:
    from tests.house.handbook import Handbook
    from tests.house.place import Place

RESTORE = "python3 manage.py restore DIR --to 2026-11-29T02:15:00-05:00"
RESEND = "python3 manage.py simulate --floor FLOOR.toml --resend FILE"


@dataclass(frozen=True, slots=True)
class Proof:
    """A proof that stands for itself: its words, and how its output says how long something stood still, where it does."""

    name: str
    words: Sequence[str]
    stall: str | None = None
    goal: float | None = None


def _tests(*files: str) -> list[str]:
    return ["-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *(f"tests/faults/{file}.py" for file in files)]


PROOFS = (
    Proof("link cut in every phase of a batch", ["-m", "tests.faults.cut_off"], r"settled ([\d.]+) s after the cut", 6.0),
    Proof("worker stopped in every phase of a batch", _tests("test_halted")),
    Proof(
        "queue in PostgreSQL away for 15 s", ["-m", "tests.faults.brokers", "--seconds", "15", "--only", "postgresql"],
        r"longer than ([\d.]+) s", 3.0,
    ),
    Proof("disk full", _tests("test_disk_full")),
    Proof("restored to a moment in mid-traffic", _tests("test_backup")),
    Proof("promoted, all processes on sockets", _tests("test_promotion")),
    Proof("updates: newer and older programs", _tests("test_updates")),
    Proof("health in time, whatever is down", _tests("test_health_in_time")),
    Proof("reading elsewhere, and without it", _tests("test_reading_elsewhere")),
)  # fmt: skip


def lines(file: Path) -> list[dict[str, Any]]:
    """The messages in a file, one a line."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def watched(place: Place) -> None:
    """What the handbook would have somebody look at."""
    token = {"Authorization": f"Bearer {place.environment()['JACKPOT_METRICS_TOKEN']}"}
    with place.client() as client:
        for command, headers in (("GET /api/v1/health", {}), ("GET /metrics", token)):
            _, address = place.handbook.words(command)
            answer = client.get(address, headers=headers)
            assert answer.status_code == 200, (command, answer.status_code, answer.text[:300])
        del client.headers["Authorization"]
        assert client.get("/metrics").status_code == 404, "figures are not for everybody"
    said = place.do("python -m jackpot.config.alive settle", env={"JACKPOT_DATA": str(place.folder / "host1")})
    assert said == "", said


def verified(place: Place) -> None:
    """What the handbook does every evening."""
    assert "no difference" in place.do("python3 manage.py verify")
    heads = place.folder / "heads.json"
    place.do("python3 manage.py heads --out FILE", {"FILE": str(heads)})
    assert "no difference" in place.do("python3 manage.py verify --heads FILE", {"FILE": str(heads)})


def on_one_machine(folder: Path, handbook: Handbook) -> None:
    """`up`, a backup while it plays, a restore to a moment, and gateways that resend the rest."""
    folder.mkdir(mode=0o711)
    hall = Hall(folder, tables=4)
    kept = folder / "backups"

    def do(command: str, given: dict[str, str], *more: str) -> str:
        words = handbook.words(command, given)[1:]
        done = hall.python(*words, *more)
        assert done.returncode == 0, (command, done.stderr.decode())
        return done.stdout.decode()

    try:
        handbook.words("python3 manage.py up")
        hall.start()
        with Traffic(hall.service(), hall.floor_file, rate=20) as traffic:
            traffic.goes_on(1)
            do("python3 manage.py backup DIR", {"DIR": str(kept)})
            moment = datetime.now(UTC)
            traffic.goes_on(2)
            do("python3 manage.py backup DIR --log-only", {"DIR": str(kept)})
        hall.settled()
        hall.down()
        subprocess.run(["rm", "-rf", str(hall.server.data)], check=True)
        given = {"DIR": str(kept), "2026-11-29T02:15:00-05:00": moment.isoformat()}
        assert "no difference" in do(RESTORE, given)
        hall.start()
        held = folder / "held.ndjson"
        held.write_text("".join(json.dumps(message) + "\n" for message in traffic.kept.messages()))
        said = do(RESEND, {"FLOOR.toml": str(hall.floor_file), "FILE": str(held)})
        assert "accepted" in said and "duplicate" in said, said
        hall.settled()
        account(hall, {message["round"]: message for message in traffic.kept.messages()})
    finally:
        hall.down()
