"""Which tests can see a fault: those that enter its function, by a map that is made once of every test."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.planted.faults import ROOT, Fault

QUICK: Final = ("tests/rules/", "tests/acceptance/")
GUARDS: Final = (
    "tests/services/test_constraints.py",
    "tests/services/test_append_only.py",
)  # the schema itself is their subject
LONGEST_ID: Final = 1_000  # pytest puts it into the environment, which a process that is started could not take
PROCESSES: Final = "processes"  # the map's file of what processes entered that tests had started
# What makes the house run as a whole is seen by tests that run it as a whole. They take the machine to themselves and are
# in no map.
WHOLE: Final = {
    "jackpot/config/": ("tests/faults/test_up.py", "tests/faults/test_faults.py", "tests/faults/test_database_roles.py"),
    "devices/simulator/": ("tests/scenarios/test_simulated_floor.py",),
    "devices/management/commands/": ("tests/faults/test_up.py", "tests/benchmarks/test_bench_short.py"),
    "devices/intake/wakes.py": ("tests/faults/test_wakes.py", "tests/faults/test_workers.py"),
    "devices/intake/settler.py": ("tests/faults/test_workers.py", "tests/faults/test_faults.py"),
    "tables/verifier.py": ("tests/services/test_packs.py",),
    "tables/rules/repeated.py": ("tests/services/test_packs.py",),
    "devices/tasks.py": ("tests/faults/test_workers.py", "tests/faults/test_faults.py"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timed:
    """A test of the map and how long it takes."""

    id: str
    seconds: float

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.id.split("::", 1)[0]

    @property
    def quick(self) -> bool:
        """Whether it needs no database."""
        return self.file.startswith(QUICK)


class Map:
    """Which tests enter which functions."""

    def __init__(self, folder: Path) -> None:
        self.tests: dict[str, Timed] = {}
        self._by_function: dict[str, set[str]] = defaultdict(set)
        shared: dict[str, set[str]] = defaultdict(set)  # functions by the files whose tests may enter them
        for part in sorted(folder.glob("map.*")):
            if part.name.endswith(PROCESSES):
                continue
            for line in part.read_text("utf-8").splitlines():
                read = json.loads(line)
                if not read["passed"]:
                    continue
                for one in (read["id"], *read.get("others", ())):
                    if len(one) <= LONGEST_ID:
                        test = self.tests[one] = Timed(one, read["seconds"])
                        for function in read.get("test", ()):
                            self._by_function[function].add(test.id)
                        for function in read.get("fixtures", ()):
                            shared[function].add(test.file)
        by_folder: dict[str, set[str]] = defaultdict(set)  # whose tests share a web process
        for test in self.tests.values():
            by_folder[test.file.rpartition("/")[0]].add(test.file)
        processes = folder / f"map.{PROCESSES}"
        for line in set(processes.read_text("utf-8").splitlines()) if processes.exists() else ():
            starter, file, first = line.split("\t")
            shared[f"{file}:{first}"] |= by_folder[starter.partition("::")[0].rpartition("/")[0]]
        by_file: dict[str, list[str]] = defaultdict(list)
        for test in self.tests.values():
            by_file[test.file].append(test.id)
        self._by_fixture = {
            function: {one for file in entered for one in by_file[file]} for function, entered in shared.items()
        }

    def seeing(self, fault: Fault) -> list[Timed]:
        """Every test that can see a fault, the quick ones first, and of each file the shortest first."""
        if "/migrations/" in fault.file:
            slow = [test.id for test in self.tests.values() if not test.quick]
            guards = {one for one in slow if one.startswith(GUARDS)}
            return [*self._in_turn(guards), *self._in_turn(one for one in slow if one not in guards)]
        functions = users(fault)
        own = {test for function in functions for test in self._by_function.get(function, ())}
        others = {test for function in functions for test in self._by_fixture.get(function, ())} - own
        naming = {test.id for test in self.tests.values() if says(test.file, fault)} - own - others
        return [*self._in_turn(own), *self._in_turn(naming), *self._in_turn(others)]

    def _in_turn(self, ids: Iterable[str]) -> list[Timed]:
        files: dict[str, list[Timed]] = defaultdict(list)
        for test in sorted((self.tests[one] for one in ids), key=lambda test: (test.seconds, test.id)):
            files[test.file].append(test)
        places = {test.id: place for tests in files.values() for place, test in enumerate(tests)}
        return sorted(
            (test for tests in files.values() for test in tests),
            key=lambda test: (not test.quick, places[test.id], test.seconds, test.id),
        )


@cache
def says(file: str, fault: Fault) -> bool:
    """Whether a file of tests names the module of a fault at its top: who reads a constant sees it and enters nothing."""
    if fault.entry or not (ROOT / file).exists():
        return False
    package, _, module = fault.file.removesuffix(".py").replace("/", ".").rpartition(".")
    text = (ROOT / file).read_text("utf-8")
    return f"{package}.{module}" in text or re.search(rf"from {package} import .*\b{module}\b", text) is not None


@cache
def users(fault: Fault) -> list[str]:
    """The functions that a fault stands in, as "file:first line".

    What stands at a module's top is used by the functions that say its name; unknown, by all of the module.
    """
    if fault.entry:
        return [f"{fault.file}:{first}" for first in fault.entry]
    tree = ast.parse((ROOT / fault.file).read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno <= fault.line <= (node.end_lineno or 0):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    said = [
        function
        for function in functions
        if any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(function))
    ]
    firsts = {
        function.decorator_list[0].lineno if function.decorator_list else function.lineno
        for function in said or functions
    }
    return [f"{fault.file}:{first}" for first in sorted(firsts)] + ([] if said else [f"{fault.file}:1"])


def within(tests: Iterable[Timed], seconds: float, each: float = 0.05) -> list[Timed]:
    """As many of the first as run in about this time; `each` is what a test costs beside itself."""
    chosen: list[Timed] = []
    for test in tests:
        seconds -= test.seconds + each
        if seconds < 0 and chosen:
            break
        chosen.append(test)
    return chosen


def whole(fault: Fault) -> list[str]:
    """The tests of the house as a whole that may see it, as pytest takes them."""
    return [test for place, tests in WHOLE.items() if fault.file.startswith(place) for test in tests]
