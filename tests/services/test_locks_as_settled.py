"""Locks, results and acts in any order: the running house comes to the very bytes that `settle` writes of the same lines."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from accounting.rules.acts import ActRefused
from devices.audit import verification
from jackpot.rules.meter import opening
from tables import settle
from tables.rules.floor import read_floor
from tables.rules.house import house_of
from tables.services import rounds
from tests.services.house import (
    ALONE,
    FLOOR,
    LINKED,
    NEIGHBOUR,
    PROGRESSIVE,
    TWIN,
    House,
    forget,
    locked,
    message,
    rows,
    royal,
    seat,
    two_hits,
)  # fmt: skip

Line = dict[str, Any]
EPISODES = 30
"""Each a handful of rounds whose locks, results and acts come in an order of their own."""


class File:
    """What `settle` writes, line by line, of what the house is given."""

    def __init__(self) -> None:
        floor = read_floor(FLOOR)
        meters = {code: {level.code: opening(level) for level in link.levels} for code, link in floor.links.items()}
        self.file = settle._File(house_of(floor, meters))

    def line(self, value: Line) -> Line:
        """The answer to one line."""
        return json.loads(settle._encoded(settle._line(json.dumps(value).encode(), self.file)))

    def meters(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """Every level's meter to the millionth."""
        return {
            (code, level): (
                meter.value_cents, meter.residual_millionths, meter.reserve_cents, meter.reserve_residual_millionths,
                meter.overflow_cents, meter.overflow_residual_millionths,
            )
            for code, link in self.file.house.links.items()
            for level, meter in link.meters.items()
        }  # fmt: skip


def meters() -> dict[tuple[str, str], tuple[int, ...]]:
    """The same of the house."""
    found = rows("""
        SELECT link.code, level.code, value_cents, residual_millionths, reserve_cents, reserve_residual_millionths,
            overflow_cents, overflow_residual_millionths
        FROM jackpot_meter meter JOIN jackpot_level level ON level.id = meter.level_id
        JOIN jackpot_link link ON link.id = level.link_id
    """)
    return {(link, level): tuple(values) for link, level, *values in found}


def result(reference: str, table: str, chance: random.Random) -> Line:
    """A round's result of some kind: it wins, loses, hits, is void or must be held."""
    wager = PROGRESSIVE[table]
    match chance.randrange(8):
        case 0:
            return royal(reference, table=table)
        case 1:
            return two_hits(reference, table=table)
        case 2:
            return message(reference, table=table, irregularities=[{"code": "shoe_failed"}])
        case 3:
            return message(reference, seat(1, "3s 3s", **wager), table=table)
        case 4:
            return message(reference, seat(1, "3s 7d", **wager), seat(2, "4s 8d", **wager), table=table,
                           irregularities=[{"code": "wrong_card_count", "seat": 2}])  # fmt: skip
        case 5:
            return message(reference, seat(2, "3s 7d", **wager), table=table)
        case _:
            return message(reference, table=table)


def lock_of(sent: Line, chance: random.Random) -> Line:
    """The lock of a round; one in five names other seats or another sum."""
    table, reference = sent["table"], sent["round"]
    seats = [each["seat"] for each in sent["seats"] if "progressive" in each["wagers"]] or [1]
    match chance.randrange(10):
        case 0 | 2 | 3:
            seats = [*seats, 7 if table == NEIGHBOUR else 6] if max(seats) < 6 else seats[:-1] or [1]
        case 1:
            return locked(reference, *seats, table=table, progressive=200)
    return locked(reference, *seats, table=table, **(PROGRESSIVE[table] or {"progressive": 100}))


def episode(number: int, chance: random.Random) -> Iterator[Line]:
    """Locks and results of some rounds, shuffled, with acts on them in between."""
    lines = []
    for index in range(chance.randint(2, 5)):
        sent = result(f"E{number}-{index}", chance.choice([LINKED, LINKED, NEIGHBOUR, TWIN, ALONE]), chance)
        lock = lock_of(sent, chance)
        lines += chance.choice([[lock, sent], [lock, sent], [sent, lock], [lock], [sent]])
        if chance.random() < 0.8:
            act = chance.choice(["lock.void", "round.release", "round.release", "round.void"])
            lines.append({"act": act, "subject": f"{sent['table']}/{sent['round']}"})
    if chance.random() < 0.5:  # else as they are: a lock right before its result
        chance.shuffle(lines)
    yield from lines


def act(house: House, line: Line) -> Line:
    """The answer of the running house to an act, as a line of `settle` says it: its outcome and its code."""
    try:
        house.act(line["act"], line["subject"])
    except ActRefused as refusal:
        return {"outcome": "refused", "code": refusal.code}
    return {"outcome": "done", "code": None}


def test_the_house_comes_to_what_settle_writes(busy_house: House) -> None:
    chance = random.Random(20261127)
    file, waiting = File(), dict[str, Line]()
    seen: set[str] = set()

    def settled() -> None:
        """Settle what was posted and compare each message's result; now and then a worker dies in the middle first."""
        if chance.random() < 0.2 and waiting:
            with (
                patch.object(rounds._Settling, "close", side_effect=RuntimeError("killed")),
                pytest.raises(RuntimeError, match="killed"),
            ):
                busy_house.settle()
        if chance.random() < 0.3:
            forget()
        busy_house.settle()
        for line in waiting.values():
            expected = file.line(line)
            found = busy_house.settlement(line)
            assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True), line
            seen.add(f"{line.get('kind', 'result')} {found['outcome']}")
        waiting.clear()
        assert meters() == file.meters()

    for number in range(EPISODES):
        for line in episode(number, chance):
            if "act" not in line:
                busy_house.post(line)
                waiting[f"{line.get('kind')} {line['table']} {line['round']}"] = line
                if chance.random() < 0.2:
                    settled()
                continue
            settled()
            table, _, reference = line["subject"].partition("/")
            state = file.file.house.rounds.get((table, reference))
            if line["act"] == "round.void" and state is not None and state.outcome == "settled":
                continue  # in all its consequences: of `tests.services` of settled rounds
            answer = file.line(line | {"at": busy_house.now.isoformat(), "payload": {}})
            found = act(busy_house, line)
            if answer["outcome"] != "refused":
                answer |= {"outcome": "done", "code": None}
            assert (found["outcome"], found["code"]) == (answer["outcome"], answer["code"]), line
            seen.add(f"{line['act']} {found['outcome']}")
            assert meters() == file.meters()
        settled()
    assert seen >= {
        "lock locked", "lock held", "lock duplicate", "result settled", "result void", "result held", "lock.void done",
        "lock.void refused", "round.release done", "round.release refused", "round.void done",
    }  # fmt: skip
    for size in (7, 5_000):
        verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)
