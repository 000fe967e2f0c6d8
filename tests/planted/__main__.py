"""Faults planted one at a time: does a test see each? Not in the gate; minutes to hours, by the count.

    python3 -m tests.planted --map                    # once, and again when tests have changed: which test enters what
    python3 -m tests.planted --seed 1 --count 100     # plants, tries, reports; goes on where it was stopped
    python3 -m tests.planted --seed 1 --count 100 --list
    python3 -m tests.planted --only 0123456789ab      # one that survived, once more
    python3 -m tests.planted --file tables/queries/floor.py --by tests/services/test_floor_now.py   # needs no map
    python3 -m tests.planted --kind "sql limit"       # every fault of a kind, instead of a draw; may be said several times

A fault is one small change of the product's source, drawn by the seed with a fair share for every app and kind; two in five are
SQL.  It is tried in a copy of the tree against the tests that enter its function, the quick ones first, until one fails.  What
survives is tried against all that can see it, in a process that runs already, and what survives that in one of its own.  A
survivor that changes nothing anybody could see is written with its reason
into `equivalent.toml`; every other one is a hole in the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tests.planted import drawing
from tests.planted.choosing import Map, Timed, whole, within
from tests.planted.faults import KINDS, ROOT, SQL, Fault
from tests.planted.running import Copy, Seen

Line = dict[str, Any]

EQUIVALENT: Final = Path(__file__).with_name("equivalent.toml")
FIRST_SECONDS, ALL_SECONDS = 30.0, 200.0  # of tests for a fault at first, and for one that survived
MAPPED: Final = ("rules", "acceptance", "services", "api", "races", "pages", "faults", "shown")


def make_map(folder: Path, processes: int, files: list[str]) -> int:
    """Run tests once, but those in a browser and those that need the machine to themselves, and note what each enters.

    All of them anew; where files are named, these beside what the map has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("map.*") if not files else ():
        old.unlink()
    environment = {
        **os.environ, "PLANTED_MAP": str(folder / "map"), "PLANTED_PROCESSES": str(folder / "map.processes"),
        "PYTHONPATH": str(Path(__file__).with_name("traced")), "JACKPOT_NO_VENV": "1",
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-p", "tests.planted.tracing", "-q", "-m", "not browser and not alone"]
    command += [
        "-n",
        str(processes),
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
        *(files or [f"tests/{part}" for part in MAPPED]),
    ]
    return subprocess.call(command, cwd=ROOT, env=environment)


def equivalent() -> dict[str, str]:
    """The faults that nobody could see, by name, each with the reason."""
    return {name: entry["reason"] for name, entry in tomllib.loads(EQUIVALENT.read_text("utf-8")).items()}


def at_once(copy: Copy, fault: Fault, tests: Map) -> Line:
    """Plant a fault before the first of the tests that enter its function."""
    return _result(
        fault, tests, [("seen at once", copy.run(chosen, fault))] if (chosen := _first(fault, tests)) else []
    )


def later(copy: Copy, fault: Fault, tests: Map) -> Line:
    """Plant one that survived in a copy, before all that can see it, at last before the house as a whole."""
    # The first ones again too: what was planted in a running process may not have reached a value made of it before.
    rest = within(tests.seeing(fault), ALL_SECONDS)
    runs = [("seen later", copy.run(rest, fault))] if rest else []
    if not any(seen.by for _, seen in runs) and (files := whole(fault)):
        runs.append(("seen as a whole", copy.run_whole(files)))
    return _result(fault, tests, runs) | {"tried": "all"}


def _first(fault: Fault, tests: Map) -> list[Timed]:
    seeing = tests.seeing(fault)
    quick = within((test for test in seeing if test.quick), FIRST_SECONDS / 2)
    return quick + within((test for test in seeing if not test.quick), FIRST_SECONDS)


def _further(fault: Fault, tests: Map) -> list[Timed]:
    """What the first tests leave of those that can see it."""
    first = {test.id for test in _first(fault, tests)}
    return within((test for test in tests.seeing(fault) if test.id not in first), ALL_SECONDS)


def _line(fault: Fault, tests: Map | None) -> Line:
    return {
        "name": fault.name, "tests": len(tests.seeing(fault)) if tests else None, "kind": fault.kind, "file": fault.file,
        "line": fault.line, "before": fault.before, "after": fault.after,
    }  # fmt: skip


def _result(fault: Fault, tests: Map, runs: list[tuple[str, Seen]]) -> Line:
    saw = [(outcome, seen.by, seen.why) for outcome, seen in runs if seen.by is not None]
    outcome, by, why = saw[0] if saw else ("survived", None, "")
    seconds = round(sum(seen.seconds for _, seen in runs), 1)
    return _line(fault, tests) | {"outcome": outcome, "by": by, "why": why, "seconds": seconds}


def plant(faults: list[Fault], results: Path, folder: Path, tests: Map, processes: int, *, briefly: bool) -> None:
    """Try every fault that has no result yet, then once more what survived; each result is a line as soon as it is known.

    `briefly`: what survives the first tests is left.
    """
    reasons = equivalent()

    def surviving(*tried: str) -> list[Fault]:
        known = {line["name"]: line for line in read(results)}
        alive = [fault for fault in faults if known[fault.name]["outcome"] == "survived" and fault.name not in reasons]
        return [fault for fault in alive if known[fault.name].get("tried") not in tried]

    with ExitStack() as stack:
        copies = [stack.enter_context(Copy(folder / f"copy-{number}")) for number in range(processes)]
        inside_all(copies, faults, results, tests, _first, {})
        known = outcomes(results)
        todo = [fault for fault in faults if known.get(fault.name, "unplantable") in {"unplantable", "unclear"}]
        side_by_side(copies, todo, results, tests, at_once)
        if not briefly:
            inside_all(copies, surviving("inside", "all"), results, tests, _further, {"tried": "inside"})
            side_by_side(copies, surviving("all"), results, tests, later)


def against(faults: list[Fault], files: list[str], results: Path) -> None:
    """Plant faults in one running process before those tests of these files that enter their functions, and in no copy.

    What none of them enters is not tried.
    """
    folder = results.parent
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / "inside"
    environment = {**os.environ, "PLANTED_INSIDE": str(listed), "PLANTED_OUT": str(results)}
    command = [sys.executable, "-m", "pytest", "-q", "--tb", "line", "-p", "tests.planted.inside", *files]
    tried = -1
    while tried < len(known := outcomes(results)):  # a process ends before its time where a fault left something broken
        tried = len(known)
        todo = [fault for fault in faults if fault.name not in known]
        lines = [{"fault": asdict(fault), "tests": [], "line": _line(fault, None)} for fault in todo]
        listed.write_text(json.dumps(lines), "utf-8")
        if subprocess.call(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) == 0:
            break


def inside_all(
    copies: list[Copy],
    faults: list[Fault],
    results: Path,
    tests: Map,
    choose: Callable[[Fault, Map], list[Timed]],
    mark: Line,
) -> None:
    """Plant what can be planted in a process that runs, a share of it in each copy."""
    todo = [fault for fault in faults if "/migrations/" not in fault.file and choose(fault, tests)]
    with ThreadPoolExecutor(len(copies)) as pool:
        shares = [todo[number :: len(copies)] for number in range(len(copies))]
        for done in [
            pool.submit(inside, copy, share, results, tests, choose, mark)
            for copy, share in zip(copies, shares, strict=True)
        ]:
            done.result()


def inside(
    copy: Copy, faults: list[Fault], results: Path, tests: Map, choose: Callable[[Fault, Map], list[Timed]], mark: Line
) -> None:
    """Plant a share; where its process ends before its time, go on in another. `mark` is put to each line of it."""

    def untried() -> list[Fault]:
        known = {line["name"]: line for line in read(results)}
        return [fault for fault in faults if fault.name not in known or not mark.items() <= known[fault.name].items()]

    while todo := untried():
        copy.run_inside(
            [(fault, [test.id for test in choose(fault, tests)], _line(fault, tests) | mark) for fault in todo], results
        )
        if todo[0] in untried():  # the process did not outlive it
            with results.open("a", encoding="utf-8") as out:
                line = _line(todo[0], tests) | mark | {"outcome": "survived" if mark else "unclear", "seconds": 0.0}
                out.write(json.dumps(line, ensure_ascii=False) + "\n")


def side_by_side(
    copies: list[Copy], faults: list[Fault], results: Path, tests: Map, act: Callable[[Copy, Fault, Map], Line]
) -> None:
    """Do one of the two with every fault, in as many copies as there are."""
    todo: queue.SimpleQueue[Fault] = queue.SimpleQueue()
    for fault in faults:
        todo.put(fault)
    writing = threading.Lock()

    def work(copy: Copy) -> None:
        with suppress(queue.Empty):
            while True:
                fault = todo.get_nowait()
                with copy.planted(fault):
                    line = act(copy, fault, tests)
                with writing, results.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                    print(f"{line['outcome']:>15} {line['seconds']:6.1f} s  {fault.name} {fault}", flush=True)

    with ThreadPoolExecutor(len(copies)) as pool:
        try:
            for done in [pool.submit(work, copy) for copy in copies]:
                done.result()
        finally:  # stopped, or one failed: what is under way is the last
            while not todo.empty():
                todo.get_nowait()


def read(results: Path) -> list[Line]:
    """What is known; of a fault that was tried again the last."""
    if not results.exists():
        return []
    lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    return list({line["name"]: line for line in lines}.values())


def outcomes(results: Path) -> dict[str, str]:
    """The outcome of each fault, by its name."""
    return {line["name"]: line["outcome"] for line in read(results)}


def report(faults: list[Fault], results: Path) -> int:
    """Print the counts and every survivor; 0 when at least 95 of 100 that are not equivalent are seen."""
    known = {line["name"]: line for line in read(results)}
    reasons = equivalent()
    counts: Counter[str] = Counter()
    of_sql: Counter[str] = Counter()
    for fault in faults:
        outcome = known[fault.name]["outcome"] if fault.name in known else "not tried"
        if outcome == "survived" and fault.name in reasons:
            outcome = "equivalent"
        counts[outcome] += 1
        if fault.kind in SQL or "migrations" in fault.file:
            of_sql["seen" if outcome.startswith("seen") else outcome] += 1
        if outcome in {"survived", "equivalent"}:
            print(f"{outcome}: {fault.name} {fault}" + (f" ({reasons[fault.name]})" if fault.name in reasons else ""))
    seen = sum(count for outcome, count in counts.items() if outcome.startswith("seen"))
    of = seen + counts["survived"]
    print(f"planted {len(faults)}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    print(f"of them SQL and the database's guards: {dict(of_sql)}")
    print(f"seen {seen} of {of} that are not equivalent" + (f" ({100 * seen / of:.1f} %)" if of else ""))
    return 0 if of and seen >= 0.95 * of else 1


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.planted", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument(
        "--map", nargs="*", metavar="FILE", help="make the map of tests anew, or of these files, and plant nothing"
    )
    parser.add_argument("--list", action="store_true", help="name the faults and plant nothing")
    parser.add_argument("--again", action="store_true", help="try once more what survived")
    parser.add_argument("--only", metavar="NAME", help="plant one of them alone, by its name")
    parser.add_argument("--kind", action="append", choices=KINDS, help="every fault of this kind instead of a draw")
    parser.add_argument(
        "--file", action="append", help="every fault of this file instead of a draw; of a --kind, if one is said"
    )
    parser.add_argument(
        "--by", action="append", metavar="FILE", help="before the tests of this file alone, without a map"
    )
    parser.add_argument("--briefly", action="store_true", help="leave what survives the first tests")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "jackpot-planted")
    chosen = parser.parse_args()
    if chosen.map is not None:
        return make_map(chosen.folder, chosen.processes, chosen.map)
    kinds, places = chosen.kind or [], chosen.file or []
    if kinds or places:
        faults = drawing.every(kinds or KINDS, places)
    else:
        faults = list(islice(drawing.drawn(chosen.seed), chosen.count))
    if chosen.only:
        faults = [fault for fault in faults if fault.name == chosen.only] or parser.error("the draw has no such fault")
    if chosen.list:
        print("\n".join(f"{fault.name} {fault}" for fault in faults))
        return 0
    named = "-".join([*sorted(places), *sorted(kinds)]) or f"seed-{chosen.seed}"
    results = chosen.folder / f"{named.replace('/', '.').replace(' ', '-')}.jsonl"
    if chosen.again or chosen.only:
        kept = [line for line in read(results) if line["outcome"] != "survived" and line["name"] != chosen.only]
        results.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept), "utf-8")
    if chosen.by:
        against(faults, chosen.by, results)
        return report(faults, results)
    tests = Map(chosen.folder)
    if not tests.tests:
        parser.error("there is no map yet: python3 -m tests.planted --map")
    plant(faults, results, chosen.folder, tests, chosen.processes, briefly=chosen.briefly)
    return report(faults, results)


if __name__ == "__main__":
    sys.exit(main())
