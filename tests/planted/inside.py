"""A plugin for pytest (`-p tests.planted.inside`): plants faults one after another in a running process of tests.

Most faults stand in a function or in a constant at a module's top.  There the function gets other code, or the name another
value, and the tests that enter it are run at once, on databases that are there already: seconds instead of a minute.  What
cannot be planted so is left out here.  A test that fails must pass again when the fault is gone, or it has seen nothing.
"""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest
from django.core.cache import cache

from tests.planted.choosing import says, users
from tests.planted.faults import APPS, ROOT, Fault

_failed: list[tuple[str, str]] = []


class Unplantable(Exception):
    """This fault cannot be planted in a process that runs."""


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """The fault in its place while the block lasts; Unplantable where it is not in a function's body or a plain constant."""
    module = importlib.import_module(fault.file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    text = (ROOT / fault.file).read_text("utf-8")
    undo = _in_function(fault, text) if fault.entry else _in_constant(fault, text, module)
    _forget()
    try:
        yield
    finally:
        undo()
        _forget()


def _in_function(fault: Fault, text: str) -> Callable[[], None]:
    file = str(ROOT / fault.file)
    # A decorator's inner function was made when its module was read: it gets its own code beside that of the outer one.
    there = [
        one
        for one in gc.get_objects()
        if type(one) is FunctionType and one.__code__.co_filename == file and one.__code__.co_firstlineno in fault.entry
    ]
    new = {(code.co_firstlineno, code.co_qualname): code for code in _codes(compile(fault.planted(text), file, "exec"))}
    places = [(one, (one.__code__.co_firstlineno, one.__code__.co_qualname)) for one in there]
    pairs = [(one, new[place]) for one, place in places if place in new]
    if not pairs or any(one.__code__ == code or one.__code__.co_freevars != code.co_freevars for one, code in pairs):
        raise Unplantable
    before = [(one, one.__code__) for one, _ in pairs]
    for one, code in pairs:
        one.__code__ = code

    def undo() -> None:
        for one, code in before:
            one.__code__ = code

    return undo


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def _in_constant(fault: Fault, text: str, module: ModuleType) -> Callable[[], None]:
    tree = ast.parse(fault.planted(text))
    changed: dict[str, Any] = {}
    was = {node.lineno: node for node in ast.parse(text).body}
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if not changed and node.lineno <= fault.line <= (node.end_lineno or 0) and node.lineno in was:
            pass
        elif not any(isinstance(part, ast.Name) and part.id in changed for part in ast.walk(node.value)):
            continue
        code = compile(ast.Expression(node.value), fault.file, "eval")
        try:
            value = eval(code, {**module.__dict__, **changed})
        except Exception as error:  # its module cannot be read: in a copy the first test says so
            raise Unplantable from error
        if isinstance(target, ast.Name):
            changed[target.id] = value
        elif isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
            changed |= {
                part.id: one for part, one in zip(target.elts, value, strict=True) if isinstance(part, ast.Name)
            }
        else:
            raise Unplantable
    before = [
        (place, name, there)
        for place in tuple(sys.modules.values())
        if getattr(place, "__name__", "").split(".")[0] in (*APPS, "tests")
        for name, there in vars(place).items()
        if name in changed and there is getattr(module, name)
    ]
    if not before:
        raise Unplantable
    for place, name, _ in before:
        setattr(place, name, changed[name])

    def undo() -> None:
        for place, name, there in before:
            setattr(place, name, there)

    return undo


def _forget() -> None:
    """Nothing that was worked out with the fault is kept without it, or the reverse."""
    for one in gc.get_objects():
        if type(one) is functools._lru_cache_wrapper and str(getattr(one, "__module__", "")).split(".")[0] in APPS:
            one.cache_clear()
    cache.clear()


class _Session:
    """What comes after the last test of a fault: what a session's fixtures made stays, all else is torn down."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session

    def listchain(self) -> list[pytest.Session]:
        """The one collector that goes on."""
        return [self.session]


def _run(session: pytest.Session, tests: list[pytest.Item]) -> tuple[str, str] | None:
    """Run tests in their order until one fails: which, and why."""
    rest: Any = _Session(session)
    _failed.clear()
    for test, following in zip(tests, [*tests[1:], rest], strict=True):
        test.ihook.pytest_runtest_protocol(item=test, nextitem=following)
        if _failed:
            break
    session._setupstate.teardown_exact(rest)
    return _failed[0] if _failed else None


def _entered(session: pytest.Session) -> Iterator[tuple[pytest.Item, frozenset[str]]]:
    """The tests that pass as the source is, each with the functions of the product that it enters."""
    for test in session.items:
        codes: set[CodeType] = set()

        def enter(frame: FrameType, event: str, argument: object, codes: set[CodeType] = codes) -> None:
            codes.add(frame.f_code)

        threading.settrace(enter)
        sys.settrace(enter)
        try:
            failed = _run(session, [test])
        finally:
            sys.settrace(None)
            threading.settrace(None)
        if failed is None:
            places = ((code.co_filename.removeprefix(f"{ROOT}/"), code.co_firstlineno) for code in codes)
            yield test, frozenset(f"{file}:{first}" for file, first in places if not file.startswith("/"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what failed."""
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        why = str(crash.message if crash is not None else report.longrepr)
        _failed.append((report.nodeid, " ".join(why.split())[:300]))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Instead of running the tests once: for each fault of PLANTED_INSIDE those that are listed with it."""
    if (there := os.environ.get("PLANTED_INSIDE")) is None:
        return None
    work = json.loads(Path(there).read_text("utf-8"))
    tests = {test.nodeid: test for test in session.items}
    # Where no test is listed with a fault, those that enter its function: all are run once without a fault to learn which.
    entered = [] if all(entry["tests"] for entry in work) else list(_entered(session))
    broken = False
    for entry in work:
        fault = Fault(**entry["fault"] | {"entry": tuple(entry["fault"]["entry"])})
        chosen = [tests[test] for test in entry["tests"] if test in tests] or [
            test
            for test, functions in entered
            if functions.intersection(users(fault)) or says(test.nodeid.split("::", 1)[0], fault)
        ]
        if not chosen:
            continue
        began = time.monotonic()
        further = (
            "tried" in entry["line"]
        )  # it survived already, and is not told anew for what keeps it from being planted
        line: dict[str, Any] = entry["line"] | {"outcome": "survived" if further else "unplantable"}
        broken = False
        try:
            with planted(fault):
                saw = _run(session, chosen)
        except (Unplantable, ImportError):
            pass
        else:
            line |= {"outcome": "survived", "by": None, "why": ""}
            if saw is not None:
                # Where it fails without the fault too, something is broken here.
                if broken := _run(session, [tests[saw[0]]]) is not None:
                    line["outcome"] = "survived" if further else "unclear"
                else:
                    line |= {"outcome": "seen later" if further else "seen at once", "by": saw[0], "why": saw[1]}
        line["seconds"] = round(time.monotonic() - began, 1)
        with Path(os.environ["PLANTED_OUT"]).open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
        if broken:
            break  # what it left behind would spoil the next
    session.testsfailed = int(broken)  # whether some are left is the exit code's to say
    return True
