"""The handbook and its neighbours name commands, options, variables and pages that there are; what it commands is run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.utils.module_loading import import_string

from jackpot.config.command_line import HOUSE
from tests.house import handbook
from tests.images import compose

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docker/README.md",
    "docs/running.md",
    "docs/updates.md",
    "docs/limits.md",
    "jackpot/config/README.md",
)
CALLED = re.compile(r"manage\.py ([a-z_]+)((?: +[^`|\n,;()]*)?)")
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]*|-[a-z])(?=[\s=`]|$)")
VARIABLE = re.compile(r"\b((?:JACKPOT|READ|DATABASE|CELERY)_[A-Z_]*[A-Z])\b")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
OF_THE_PROXY = {"JACKPOT_HOST", "JACKPOT_TLS", "JACKPOT_WEB"}
OF_SIMULATE = {"--speed", "--rig"}  # `up --simulate` hands them on


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def options_of(command: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The options that a command knows."""
    if command in HOUSE:
        with pytest.raises(SystemExit):
            raise SystemExit(import_string(HOUSE[command])(["--help"]))
        return set(re.findall(r"--?[a-z][a-z-]*", capsys.readouterr().out))
    parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
    return set(parser._option_string_actions)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_is_there_and_knows_its_options(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    called = CALLED.findall(text_of(page))
    assert called
    for command, words in called:
        assert command in HOUSE or command in get_commands(), command
        if named := set(OPTION.findall(words)) - OF_SIMULATE:
            assert named <= options_of(command, capsys), (command, words)


def run_as_they_stand() -> set[str]:
    """What the test of a whole house runs of the handbook: every text of its modules that a call could name."""
    files = [file for file in (ROOT / "tests" / "house").glob("*.py") if file.name != "handbook.py"]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    return {
        " ".join(node.value.split()) for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_every_command_of_the_handbook_is_run_by_the_test_of_a_whole_house() -> None:
    """`manage.py test --house` counts at its end what it has really run; what may go unrun stands in EXCUSED with the reason."""
    there = handbook.commands()
    assert len(there) > 15
    assert [command for command in there if command not in run_as_they_stand() | set(handbook.EXCUSED)] == []
    assert set(handbook.EXCUSED) <= set(there), "an excuse for what does not stand there"


def test_what_is_no_command_of_the_handbook_is_not_run_for_one() -> None:
    book = handbook.Handbook()
    with pytest.raises(KeyError):
        book.words("python3 manage.py verify --faster")
    assert book.words("python3 manage.py heads --out FILE", {"FILE": "h.json"})[1:] == [
        "manage.py",
        "heads",
        "--out",
        "h.json",
    ]
    assert "python3 manage.py heads --out FILE" not in book.left()
    assert "python3 manage.py verify" in book.left()


@pytest.mark.parametrize("service", ["settle", "worker", "beat"])
def test_containers_start_what_the_handbook_starts(service: str) -> None:
    assert " ".join(compose.services()[service]["command"]) in handbook.commands()


@pytest.mark.parametrize("page", PAGES)
def test_every_variable_is_read_somewhere(page: str) -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "jackpot/config").rglob("*.py"))
    assert {name for name in VARIABLE.findall(text_of(page)) if name not in source} <= OF_THE_PROXY


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    assert [link for link in LINK.findall(text_of(page)) if not (ROOT / page).parent.joinpath(link).exists()] == []
