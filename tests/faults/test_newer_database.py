"""A database that a later version has migrated is served, settled and changed by no process of this one; it says so and ends."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT, WORKER, service_environment
from tests.services.house import House, message, run, value

pytestmark = [pytest.mark.alone, pytest.mark.timeout(120)]

NEWER = "The database is newer than this program, which does not know its migrations devices.0999_from_the_future"
PROCESSES = {
    "a settling worker": ("settle", 1, WORKER),
    "web": ("web", 1, ["-m", "uvicorn", "jackpot.config.asgi:application", "--port", "0"]),
    "what `up` does first": ("command", 1, ["-m", "jackpot.config.prepare", "--base-url", "http://127.0.0.1:1"]),
    "migrate": ("command", 2, ["manage.py", "migrate"]),
    "load_floor": ("command", 2, ["manage.py", "load_floor", "jackpot/config/demo/floor.toml"]),
    "verify": ("command", 2, ["manage.py", "verify"]),
}


@pytest.mark.parametrize(("role", "code", "command"), PROCESSES.values(), ids=PROCESSES.keys())
def test_it_is_refused_with_one_line(role: str, code: int, command: list[str], busy_house: House) -> None:
    busy_house.post(message("R-1"))
    run("INSERT INTO django_migrations (app, name, applied) VALUES ('devices', '0999_from_the_future', now())")
    before = value("SELECT count(*) FROM django_migrations")
    surroundings = {**service_environment(), "JACKPOT_ROLE": role, "PYTHONWARNINGS": "ignore"}
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=90
    )
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
    assert [line for line in ended.stderr.splitlines() if line.startswith(NEWER)] == [ended.stderr.splitlines()[-1]]
    assert busy_house.waiting() == 1
    assert value("SELECT count(*) FROM django_migrations") == before
