"""docs/requirements.md names for each requirement the tests that hold it; here it is held to that."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "requirements.md"
WITH_TESTS = {*range(1, 42), *range(71, 114)}
"""The requirements that must be on the page, each with a test. Others may be there; what is there is judged alike."""
HEADING = re.compile(r"## R(\d+) \S.*")
TEST = re.compile(r"- `(tests/[a-z_0-9/]+\.py)::(test_[a-z_0-9]+)`")


class Requirement(NamedTuple):
    """A requirement as the page has it: its number, what it asks, the tests by path and name."""

    number: int
    words: str
    tests: list[tuple[str, str]]


def read(text: str) -> list[Requirement]:
    """The requirements of a page, in its order. ValueError for a line that is none of its form."""
    found: list[Requirement] = []
    for line in text.splitlines():
        if line.startswith("## "):
            heading = HEADING.fullmatch(line)
            if heading is None:
                raise ValueError(f"no heading of a requirement: {line}")
            found.append(Requirement(int(heading[1]), "", []))
        elif found and line.startswith("-"):
            test = TEST.fullmatch(line)
            if test is None:
                raise ValueError(f"no test by path and name: {line}")
            found[-1].tests.append((test[1], test[2]))
        elif found and line and not found[-1].tests:
            found[-1] = found[-1]._replace(words=f"{found[-1].words} {line}".strip())
    return found


@cache
def names(path: str) -> frozenset[str]:
    """The functions of a module of tests that a test runner would take; none where it is not there."""
    file = ROOT / path
    if not file.is_file():
        return frozenset()
    return frozenset(each.name for each in ast.parse(file.read_bytes()).body if isinstance(each, ast.FunctionDef))


REQUIREMENTS = read(PAGE.read_text("utf-8"))


def test_every_requirement_is_there_once_in_its_order() -> None:
    numbers = [each.number for each in REQUIREMENTS]
    assert [number for number, times in Counter(numbers).items() if times > 1] == []
    assert numbers == sorted(numbers)
    assert WITH_TESTS - set(numbers) == set()


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda each: f"R{each.number}")
def test_it_says_what_is_asked_and_names_tests_that_are_there(requirement: Requirement) -> None:
    assert len(requirement.words) > 20, "what it asks, in a few words"
    assert requirement.tests, "a requirement without a test"
    assert [f"{path}::{name}" for path, name in requirement.tests if name not in names(path)] == []


def test_a_line_of_another_form_is_not_passed_over() -> None:
    assert read("## R1 Words\nAsked.\n- `tests/a.py::test_b`\n") == [
        Requirement(1, "Asked.", [("tests/a.py", "test_b")])
    ]
    for wrong in ("## R1", "## Other", "## R1 Words\n- `tests/a.py`", "## R1 Words\n- tests/a.py::test_b"):
        with pytest.raises(ValueError, match=r"no (heading|test)"):
            read(wrong)
    assert "test_no_such_thing" not in names("tests/rules/test_requirements.py")
    assert names("tests/rules/test_that_is_not_there.py") == frozenset()
