"""A plugin for pytest (`-p tests.planted.tracing`): writes which functions of the product each test enters.

Lines of JSON: the test, how long it took, whether it passed, its functions as "file:first line" in the test itself and, apart,
while its fixtures were made, which other tests may share.  Of a test with many parameters a few are run; the others are taken to
enter what these do, and are listed with them.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = tuple(f"{ROOT}/{app}/" for app in ("accounting", "jackpot", "tables", "devices"))

EACH = 2  # of a test, with how many of its parameters it is run
WHOLLY = "tests/shown/"  # where each parameter enters something else

_entered: set[CodeType] = set()
_parts: dict[str, dict[str, list[str]]] = {}
_others: dict[str, list[str]] = {}


def _enter(frame: FrameType, event: str, argument: object) -> None:
    _entered.add(frame.f_code)


def _taken() -> list[str]:
    """The product's functions since the last time."""
    codes = [code for code in tuple(_entered) if code.co_filename.startswith(APPS)]
    _entered.clear()
    return sorted({f"{code.co_filename.removeprefix(f'{ROOT}/')}:{code.co_firstlineno}" for code in codes})


def _part(test: str, name: str) -> None:
    _parts.setdefault(test, {})[name] = _taken()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the first and the last parameters of each test."""
    of: dict[str, list[pytest.Item]] = {}
    for item in items:
        of.setdefault(function(item.nodeid), []).append(item)
    kept = {item.nodeid for those in of.values() for item in (*those[: EACH // 2], *those[-(EACH - EACH // 2) :])}
    for item in items:
        if item.nodeid.startswith(WHOLLY):
            kept.add(item.nodeid)
        elif item.nodeid not in kept:
            _others.setdefault(function(item.nodeid), []).append(item.nodeid)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in kept])
    items[:] = [item for item in items if item.nodeid in kept]


def function(test: str) -> str:
    """A test without its parameters."""
    return test.partition("[")[0]


def pytest_configure() -> None:
    """Watch every thread from here on."""
    threading.settrace(_enter)
    sys.settrace(_enter)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """What fixtures enter is apart: the first test that asks for one pays for all."""
    sys.settrace(_enter)
    _taken()
    yield
    _part(item.nodeid, "fixtures")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """The test itself."""
    sys.settrace(_enter)
    yield
    _part(item.nodeid, "test")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """One line a test, when it has run."""
    if report.when != "call" or "PYTEST_XDIST_WORKER" not in os.environ:
        return
    line = {"id": report.nodeid, "seconds": round(report.duration, 3), "passed": report.passed}
    line["others"] = _others.pop(function(report.nodeid), [])
    with Path(f"{os.environ['PLANTED_MAP']}.{os.getpid()}").open("a") as out:
        out.write(json.dumps(line | _parts.pop(report.nodeid, {})) + "\n")
