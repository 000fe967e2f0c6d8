"""Which faults are planted: drawn by a seed, every app and every kind in its turn."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Final

from tests.planted.faults import APPS, PYTHON, ROOT, SQL, Fault, compiles, files, in_file

# Of twenty, eight are SQL and one is a lock; each kind and each app has its turn.
TURNS: Final = ("python", "sql", "python", "sql", "python") * 3 + ("python", "sql", "python", "sql", "lock")


@cache
def _everywhere() -> tuple[Fault, ...]:
    return tuple(fault for file in files() for fault in in_file(file, (ROOT / file).read_text("utf-8")))


def every(kinds: Collection[str], places: Collection[str]) -> list[Fault]:
    """Every fault of some kinds in some files, in all where none is named, in the order of the source."""
    return _whole(fault for fault in _everywhere() if fault.kind in kinds and (not places or fault.file in places))


def named(names: Collection[str]) -> list[Fault]:
    """The faults of these names that can be planted."""
    return _whole(fault for fault in _everywhere() if fault.name in names)


def _whole(found: Iterable[Fault]) -> list[Fault]:
    return [fault for fault in found if compiles(fault, (ROOT / fault.file).read_text("utf-8"))]


def drawn(seed: int) -> Iterator[Fault]:
    """Faults without end, or until there are no more; the same seed gives the same on the same source."""
    by: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for fault in _everywhere():
        by[fault.app, fault.kind].append(fault)
    chance = random.Random(seed)
    for faults in by.values():
        chance.shuffle(faults)
    kinds = {group: chance.sample(names, len(names)) for group, names in (("python", PYTHON), ("sql", SQL))}
    kinds["lock"] = ["lock"]
    apps = {group: chance.sample(APPS, len(APPS)) for group in kinds}
    lines: set[tuple[str, int]] = set()
    turn = 0
    while any(by.values()):
        group = TURNS[turn % len(TURNS)]
        turn += 1
        kind = kinds[group].pop(0)
        kinds[group].append(kind)
        # The app whose turn has not come for longest and that has such a fault on a line where none was planted yet.
        for app in apps[group]:
            faults = by[app, kind]
            while faults:
                fault = faults.pop()
                if (fault.file, fault.line) not in lines and compiles(fault, (ROOT / fault.file).read_text("utf-8")):
                    break
            else:
                continue
            apps[group].remove(app)
            apps[group].append(app)
            lines.add((fault.file, fault.line))
            yield fault
            break
