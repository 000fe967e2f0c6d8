"""`manage.py test`: which checks and tests it runs, what it answers, and what it fetches for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from jackpot.config import testing
from jackpot.config.data_folder import ROOT
from jackpot.config.embedded_postgres import DatabaseProblem

Captured = pytest.CaptureFixture[str]
Asked = list[list[str]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The commands that were called; none of them is run, and each is well."""
    found: Asked = []

    def called(command: list[str], **how: Any) -> int:
        assert how.get("cwd", ROOT) == ROOT
        found.append(command)
        return 0

    def run(command: list[str], **how: Any) -> Any:
        return SimpleNamespace(returncode=subprocess.call(command), stdout="said ", stderr="at length")

    monkeypatch.setattr(subprocess, "call", called)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("CHROMIUM", "there")
    monkeypatch.setattr(shutil, "which", lambda name: "there")
    return found


def failing(asked: Asked, monkeypatch: pytest.MonkeyPatch, codes: dict[str, int]) -> None:
    """Let the commands in which one of these words stands end with its code."""

    def called(command: list[str], **how: Any) -> int:
        asked.append(command)
        return next((code for word, code in codes.items() if word in command), 0)

    monkeypatch.setattr(subprocess, "call", called)


def test_without_words_it_is_every_check_and_every_test(asked: Asked, capsys: Captured) -> None:
    assert testing.run([]) == 0
    checks, tests = asked[: len(testing.CHECKS)], asked[len(testing.CHECKS) :]
    assert checks == [[sys.executable, *command] for _, command in testing.CHECKS]
    assert tests == [[sys.executable, "-m", "pytest", *words] for _, words in testing.RUNS]
    written = capsys.readouterr()
    assert [line.partition(" (")[0] for line in written.out.splitlines()] == [
        f"[test] {name}: well" for name, _ in testing.CHECKS
    ]
    assert written.err == ""


def test_what_is_not_well_is_named_and_the_rest_is_tried_all_the_same(
    asked: Asked, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run in which no test was chosen is well."""
    failing(asked, monkeypatch, {"mypy": 1, "browser": 1, "alone": 5})
    assert testing.run([]) == 1
    assert len(asked) == len(testing.CHECKS) + len(testing.RUNS)
    written = capsys.readouterr()
    assert written.err == "\nNot well: types, tests in a browser\n"
    assert "[test] types: failed" in written.out and written.out.count("said at length\n") == 1


def test_words_are_pytests_and_help_is_its_own(asked: Asked, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(asked, monkeypatch, {"-k": 5, "tests.house": 3})
    assert testing.run(["tests/rules", "-k", "meter"]) == 5
    assert asked.pop() == [sys.executable, "-m", "pytest", "tests/rules", "-k", "meter"]
    assert testing.run(["--house", "--help"]) == 3
    assert asked.pop() == [sys.executable, "-m", "tests.house", "--help"]
    for words in (["-h"], ["tests", "--help"]):
        assert testing.run(words) == 0
        assert "Example: python3 manage.py test tests/rules" in capsys.readouterr().out
    assert asked == []


def test_a_server_that_does_not_start_is_said(asked: Asked, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def called(command: list[str], **how: Any) -> int:
        raise DatabaseProblem("no binaries")

    monkeypatch.setattr(subprocess, "call", called)
    assert testing.run(["tests"]) == 1
    assert capsys.readouterr().err == "no binaries\n"


@pytest.mark.parametrize(
    ("ensure", "package", "there"),
    [
        (testing.ensure_chromium, "chromium", ("chromium", "google-chrome")),
        (testing.ensure_hledger, "hledger", ("hledger",)),
    ],
)
def test_a_program_that_is_missing_is_fetched_by_root_where_debian_is(
    ensure: Callable[[], None], package: str, there: tuple[str, ...], asked: Asked, capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("CHROMIUM")
    for name in there:
        monkeypatch.setattr(shutil, "which", lambda wanted, name=name: wanted if wanted == name else None)
        ensure()
    assert (asked, capsys.readouterr().out) == ([], "")
    for user, programs in ((1, ["apt-get"]), (0, [])):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        monkeypatch.setattr(shutil, "which", lambda wanted, programs=programs: wanted if wanted in programs else None)
        ensure()
        assert (asked, "only root can install it" in capsys.readouterr().out) == ([], True)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda wanted: wanted if wanted == "apt-get" else None)
    ensure()
    assert asked == [
        ["apt-get", "-qq", "update"],
        ["apt-get", "-qq", "install", "-y", "--no-install-recommends", package],
    ]
    assert f"installing {package} for" in capsys.readouterr().out


def test_a_browser_that_is_named_is_not_looked_for(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    testing.ensure_chromium()
    assert asked == []
