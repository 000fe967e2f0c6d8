"""How `.venv` is filled: once, anew where pins or Python are others, and in words where it cannot be.

The Python that makes it stands in for the real one: a script that writes down what it is asked, and fails where it is told to.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jackpot.config import bootstrap

Captured = pytest.CaptureFixture[str]

PYTHON = """#!/bin/sh
case "$*" in
"-m venv "*)
    echo venv >> {asked}
    if [ -e {folder}/no-venv ]; then cat {folder}/no-venv >&2; echo half a word; exit 1; fi
    mkdir -p {venv}/bin && cp "$0" {venv}/bin/python;;
"-c "*)
    echo probe >> {asked}
    cat {folder}/version;;
*)
    echo "${{PYTHONDONTWRITEBYTECODE-unset}} $*" >> {asked}
    for last; do :; done
    grep -q cannot-be-had "$last" && exit 1
    exit 0;;
esac
"""
PIP = "-m pip install -qq --disable-pip-version-check -r"


class Executed(Exception):
    """The process went on as another: what became of the call."""


class Place:
    """A tree of its own with pins, and the Python that fills its .venv."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pins, self.tests = folder / "requirements.txt", folder / "tests" / "requirements.txt"
        self.tests.parent.mkdir()
        self.pins.write_text("django==5\nembedded-postgres==18\n")
        self.tests.write_text("pytest==8\n")
        (folder / "version").write_text(sys.version)
        self.python = folder / "python"
        self.python.write_text(PYTHON.format(folder=folder, venv=folder / ".venv", asked=folder / "asked"))
        self.python.chmod(0o755)

    def asked(self) -> list[str]:
        """What the stand-in was asked since the last look."""
        written = self.folder / "asked"
        found = written.read_text().splitlines() if written.exists() else []
        written.unlink(missing_ok=True)
        return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(tmp_path)
    venv = tmp_path / ".venv"
    for name, path in (
        ("ROOT", tmp_path), ("VENV", venv), ("PYTHON", venv / "bin" / "python"), ("RUN_TIME", found.pins),
        ("TESTS", found.tests),
    ):  # fmt: skip
        monkeypatch.setattr(bootstrap, name, path)
    monkeypatch.delenv("JACKPOT_NO_VENV", raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(sys, "executable", str(found.python))

    def execute(*call: Any) -> None:
        raise Executed(*call)

    monkeypatch.setattr(os, "execve", execute)
    return found


def filled(*, tests: bool = False) -> tuple[Any, ...]:
    """Fill .venv and go on inside it: the call that the process went on with."""
    with pytest.raises(Executed) as executed:
        bootstrap.ensure(["manage.py", "verify", "--help"], tests=tests)
    return executed.value.args


def refused(capsys: Captured, *, tests: bool = False) -> str:
    """What is said last where it cannot be filled."""
    with pytest.raises(SystemExit) as ended:
        bootstrap.ensure(["manage.py"], tests=tests)
    assert ended.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_it_is_filled_once_and_the_command_goes_on_inside_it(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    program, words, environment = filled()
    assert program == bootstrap.PYTHON
    assert words == [str(program), str(Path("manage.py").resolve()), "verify", "--help"]
    assert environment == {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    assert place.asked() == ["venv", f"unset {PIP} {place.pins}"], "what is installed is compiled, whatever is set"
    said = capfd.readouterr().err.splitlines()
    assert said[0] == "[setup] installing requirements.txt into .venv (once)"
    assert len(said) == 2 and said[1].startswith("[setup] packages are ready after ")

    filled()
    assert (place.asked(), capfd.readouterr().err) == ([], "")


def test_packages_of_tests_come_on_top_of_what_is_there(place: Place, capsys: Captured) -> None:
    filled()
    place.asked()
    filled(tests=True)
    assert place.asked() == ["probe", f"unset {PIP} {place.tests}"]
    assert "installing tests/requirements.txt into" in capsys.readouterr().err
    filled(tests=True)
    filled()
    assert place.asked() == []


def other_pins(place: Place) -> None:
    place.pins.write_text("django==6\n")


def another_python(place: Place) -> None:
    (place.folder / ".venv" / ".filled").unlink()
    (place.folder / "version").write_text("3.10.0 (main)")


def half_filled(place: Place) -> None:
    (place.folder / ".venv" / ".filled").unlink()


@pytest.mark.parametrize(
    ("change", "asked"),
    [(other_pins, ["probe"]), (half_filled, ["probe"]), (another_python, ["probe", "venv"])],
)
def test_it_is_filled_anew_where_something_is_other_than_it_was(
    change: Callable[[Place], None], asked: list[str], place: Place
) -> None:
    """Made anew as well where its Python is not the one that runs."""
    filled()
    place.asked()
    change(place)
    filled()
    assert place.asked() == [*asked, f"unset {PIP} {place.pins}"]


def test_inside_it_nothing_is_started_anew(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(bootstrap.VENV))
    bootstrap.ensure(["manage.py"])


def test_a_venv_that_cannot_be_made_is_said_with_why(
    place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, said in (("no\n room\n", "no room"), ("", "half a word")):
        (place.folder / "no-venv").write_text(words)
        assert refused(capfd) == f"[setup] Cannot make .venv: {said}"
    (place.folder / "no-venv").unlink()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "apt install python3-venv" in refused(capfd)
    assert place.asked() == ["venv", "venv"]


def test_a_folder_that_cannot_be_written_is_named(place: Place, capsys: Captured) -> None:
    bootstrap.VENV.touch()
    assert (
        refused(capsys)
        == f"[setup] Cannot write {bootstrap.VENV}: File exists. Run this once as the owner of the folder."
    )


def test_where_there_are_no_binaries_of_a_database_the_rest_is_installed(place: Place, capsys: Captured) -> None:
    place.pins.write_text("django==5\nembedded-postgres==cannot-be-had\nrich==1\n")
    filled()
    rest = bootstrap.VENV / "requirements-without-database.txt"
    assert place.asked()[1:] == [f"unset {PIP} {place.pins}", f"unset {PIP} {rest}"]
    assert rest.read_text() == "django==5\nrich==1\n"
    assert "[setup] trying without the embedded database" in capsys.readouterr().err


@pytest.mark.parametrize("tests", [False, True])
def test_packages_that_cannot_be_had_are_said_and_asked_for_again(tests: bool, place: Place, capsys: Captured) -> None:
    wanted = place.tests if tests else place.pins
    wanted.write_text("cannot-be-had==1\n")
    said = (
        f"[setup] pip could not install {wanted.relative_to(place.folder)}; its words stand above. Nothing was started."
    )
    for _ in range(2):
        assert refused(capsys, tests=tests) == said
        *_, last = place.asked()
        assert last.endswith(str(wanted) if tests else "requirements-without-database.txt")


def test_who_has_installed_them_is_told_what_is_missing(
    place: Place, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACKPOT_NO_VENV", "1")
    bootstrap.ensure(["manage.py"])
    there = [SimpleNamespace(metadata={"Name": name}) for name in ("A_b", "c")]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: there)
    for pins, missing in (
        ("a-b==1\nC==2\n# no pin\n", None), ("x==1\nc==1\n", "x"), ("x==1\ny==1\nz==1\n", "x, y, z"),
        ("v==1\nx==1\ny==1\nz==1\n", "v, x, y and 1 more"),
    ):  # fmt: skip
        place.tests.write_text(pins)
        if missing is None:
            bootstrap.ensure(["manage.py"], tests=True)
        else:
            assert f"are missing here: {missing}. Install them" in refused(capsys, tests=True)
    assert place.asked() == []
