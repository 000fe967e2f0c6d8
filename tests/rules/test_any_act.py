"""Whatever a line asks for, it is answered: an act with any value anywhere is done or refused, and never fails."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from jackpot.rules.meter import Meter
from tables.rules import lock
from tables.rules.door import Refusal, TooLong
from tables.rules.house import House
from tables.rules.lock import LockMessage
from tests.rules.lines import STRAIGHT_FLUSH, Lines, at, locking, message

LEVEL = {
    "code": "major", "reset_cents": 10_000, "rate_ppm": 170_000, "reserve_ppm": 3, "limit_cents": 20_000,
    "unreasonable_cents": 500, "overflow_policy": "revenue", "seed_funding": "house", "floor_policy": "top_up",
}  # fmt: skip
LINK = {"code": "nn", "name": "New", "paytable": "ms-mg-01", "decks": 1, "levels": [LEVEL], "tie_policy": "sequential"}
GOOD: list[tuple[str, str, dict[str, Any]]] = [
    ("link.file", "nn", {"link": LINK, "initial": {"major": 25_000}, "filing": "F"}),
    ("link.open", "bb", {"counts_from": at("23:00")}),
    ("link.suspend", "bb", {"counts_from": at("23:00")}),
    ("link.resume", "aa", {}),
    ("link.close", "cc", {"disposition": [{"level": "major", "part": "display", "to": "aa/major"}]}),
    ("link.terms", "aa", {"levels": [LEVEL], "counts_from": at("23:00")}),
    ("table.join", "MS-5", {"link": "aa"}),
    ("table.leave", "MS-1", {}),
    ("table.terms", "MS-1", {"minimum_cents": 500, "maximum_cents": 600, "terms": {"limit_scope": "base"}}),
    ("level.adjust", "aa/major", {"part": "display", "cents": -5, "reason": "correction"}),
    ("level.transfer", "aa/major", {"to": "bb/major", "parts": ["display", "reserve"]}),
    ("hit.verify", "aa-000001", {"checks": ["cards"]}),
    ("hit.approve", "aa-000001", {"note": "seen"}),
    ("hit.pay", "aa-000001", {"method": "cage"}),
    ("hit.reject", "aa-000001", {}),
    ("hit.withhold", "aa-000001", {"method": "cage", "cents": 24}),
    ("payout.withhold", "MS-1/R-1/1/5", {"method": "table", "cents": 24}),
    ("payout.pay", "MS-1/R-1/1/5", {"method": "table"}),
    ("round.release", "MS-1/R-2", {}),
    ("round.correct", "MS-1/R-2", {"message": message("R-2", "MS-1", "21:14"), "override": ["players_mismatch"]}),
    ("round.void", "MS-1/R-1", {}),
    ("lock.void", "MS-1/R-3", {}),
    ("day.close", "2026-11-27", {"sequences": {"aa": 3, "MS-5": 0}}),
]
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, float("inf"), TooLong(), "", "x", "aa", "major", "\0", "a/b/c/d", [], {}, [[]], [{}],
    {"": 1}, at("21:00"), "2026-02-30T00:00:00Z",
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a JSON value, as the steps that lead to it."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    if isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], (*path, index))


def with_odd(line: dict[str, Any], path: tuple[Any, ...], odd: Any) -> Any:
    """A line with another value at a place."""
    changed: Any = copy.deepcopy(line)
    *steps, last = path
    inner = changed
    for step in steps:
        inner = inner[step]
    inner[last] = odd
    return changed


def standing_house() -> House:
    """A house in which each of the acts finds something to be done."""
    lines = Lines(aa=Meter(11_000, 5), cc=Meter(0))
    lines.round("R-1", board=STRAIGHT_FLUSH)
    lines.round("R-2", dealing={"players": 7})
    lines.lock("R-3")
    lines.done("link.suspend", "aa", "21:30")
    lines.done("link.suspend", "cc", "21:30")
    return lines.house


def test_every_value_at_every_place_is_answered() -> None:
    chance = random.Random(7)
    lines, template = Lines(), standing_house()
    tried = refused = 0
    for name, subject, payload in GOOD:
        line = {"act": name, "subject": subject, "at": at("22:00"), "payload": payload}
        for path in places(line):
            if not path:
                continue
            for odd in chance.sample(ODD, 12):
                lines.house = template
                before = lines.standing()
                answer = lines.line(with_odd(line, path, odd))
                tried += 1
                if answer["outcome"] == "refused":
                    refused += 1
                    assert lines.standing() == before
                    assert isinstance(answer["code"], str)
                else:
                    template = standing_house()
                json.dumps(answer)
    assert tried > 2_000
    assert refused > tried * 0.8


def test_a_lock_with_any_value_anywhere_is_read_or_refused_at_that_place() -> None:
    line = locking("R-1", "MS-1", "21:13")
    for path in places(line):
        for odd in ODD if path else ():
            read = lock.read(with_odd(line, path, odd), {"MS-1"})
            if isinstance(read, LockMessage):
                assert isinstance(odd, str | dict) or path[-1] in ("seat", "progressive"), (path, odd)
                continue
            assert isinstance(read, Refusal)
            pointer = "".join(f"/{step}" for step in path)
            assert read.pointer.startswith(pointer), (path, odd, read)
