"""A plugin for pytest (`-p tests.planted.chosen`): runs the tests that PLANTED_CHOSEN lists, in that order, until one fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop what is not listed and put the rest in the order of the list."""
    if (there := os.environ.get("PLANTED_CHOSEN")) is None:
        return
    place = {test: number for number, test in enumerate(Path(there).read_text("utf-8").splitlines())}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
    items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name the test that failed, and why it did."""
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be read any more sees the fault too."""
    _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.failed and (there := os.environ.get("PLANTED_SEEN")):
        crash = getattr(report.longrepr, "reprcrash", None)
        why = str(crash.message if crash is not None else report.longrepr)
        with Path(there).open("a", encoding="utf-8") as out:
            out.write(f"{report.nodeid or 'collection'}\t{' '.join(why.split())[:300]}\n")
