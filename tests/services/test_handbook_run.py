"""Commands of the handbook that need a database and nothing else are run as they stand there; the others by `test --house`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from jackpot.config import command_line
from jackpot.config.command_line import execute
from tests.house.handbook import Handbook
from tests.services.house import LINKED, House, message, royal

Captured = pytest.CaptureFixture[str]
Do = Callable[..., str]


@pytest.fixture
def do(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Do:
    """Run a command of the handbook in this process, on this test's database; what it said."""
    monkeypatch.setattr(command_line, "refuse_a_wrong_address", lambda: None)
    book = Handbook()

    def run(command: str, **given: str) -> str:
        words = book.words(command, given)
        assert execute(words[1:]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def test_what_is_done_every_evening(busy_house: House, do: Do, tmp_path: Path) -> None:
    busy_house.play(message("R-1"), royal("R-2"))
    assert "no difference" in do("python3 manage.py verify")
    heads = tmp_path / "heads.json"
    do("python3 manage.py heads --out FILE", FILE=str(heads))
    assert json.loads(heads.read_text())
    assert "no difference" in do("python3 manage.py verify --heads FILE", FILE=str(heads))


def test_the_first_person_and_a_device(busy_house: House, do: Do) -> None:
    assert "http" in do("python3 manage.py person NAME --role security", NAME="sam")
    assert len(do("python3 manage.py device CODE --tables T1,T2", CODE="GW-9", **{"T1,T2": LINKED}).split()[-1]) > 20


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_key_as_the_handbook_draws_it_signs() -> None:
    from jackpot.config.up import public_half

    drawn = subprocess.run(Handbook().words("openssl rand -hex 32"), capture_output=True, text=True, check=True)
    assert len(public_half(drawn.stdout.strip())) == 64
