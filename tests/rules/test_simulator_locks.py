"""Tables of the simulator that lock: the lock names what the round then wagers, and the cards stay what they were."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from devices.simulator.irregularities import Rates
from devices.simulator.locks import LOCKED, lock_of, tables_that_lock
from devices.simulator.run import Plan, load_floor, write
from devices.simulator.table import Dealt
from jackpot.rules.meter import Meter, opening
from tables import settle
from tables.rules.floor import read_floor
from tables.rules.house import house_of

FLOOR = Path(__file__).parents[2] / "jackpot" / "config" / "demo" / "floor.toml"
START = datetime(2026, 11, 27, 23, 0, tzinfo=UTC)


def plan(locks: float, times: float) -> Plan:
    return Plan(load_floor(FLOOR), START, "L1", seed=7, locks=locks, rates=Rates(times=times))


def test_of_each_table_its_own_luck() -> None:
    codes = [f"MS-{number}" for number in range(400)]
    some = tables_that_lock(codes, seed=1, share=0.25)
    assert 60 < len(some) < 140
    assert tables_that_lock(codes[:200], seed=1, share=0.25) == {code for code in codes[:200] if code in some}
    assert tables_that_lock(codes, seed=1, share=0) == frozenset()
    assert tables_that_lock(codes, seed=1, share=1) == frozenset(codes)


def test_a_lock_names_the_progressive_wagers_before_the_deal() -> None:
    seats = [{"seat": 4, "wagers": {"ante": 500, "progressive": 100}}, {"seat": 2, "wagers": {"ante": 500}}]
    message = {"round": "R-1", "table": "MS-101", "dealt_at": "2026-11-27T18:00:05.000-05:00", "seats": seats}
    dealt = Dealt("MS-101", 1, 1, 0, message, "settled")
    lock = lock_of(dealt, speed=1)
    assert lock is not None
    assert (lock.meant, lock.message["locked_at"]) == (LOCKED, "2026-11-27T18:00:04.000-05:00")
    assert lock.message["seats"] == [{"seat": 4, "wagers": {"progressive": 100}}]
    rushed = lock_of(dealt, speed=0)
    assert rushed is not None
    assert rushed.message["locked_at"] == message["dealt_at"]
    message["seats"] = seats[1:]
    assert lock_of(dealt, speed=1) is None


def settled(plan: Plan, file: Path) -> tuple[list[bytes], list[dict[str, Any]], list[tuple[str, str, Meter]]]:
    """The results among the lines of a plan, what every line comes to, and the meters after them all."""
    write(plan, file, 300)
    house, out = house_of(read_floor(FLOOR.read_text()), _meters()), io.StringIO()
    with file.open("rb") as lines:
        settle._settle_lines(lines, house, out)
    results = [line for line in file.read_bytes().splitlines() if b'"kind"' not in line]
    meters = [(code, level, meter) for code, link in house.links.items() for level, meter in link.meters.items()]
    return results, [json.loads(line) for line in out.getvalue().splitlines()], meters


def test_rounds_stay_what_they_are_and_come_to_the_same(tmp_path: Path) -> None:
    """With and without locks the same cards, and after all of it the same meters to the millionth."""
    without, with_locks = (settled(plan(share, 0.0), tmp_path / str(share)) for share in (0.0, 1.0))
    assert with_locks[0] == without[0]
    locks = [each for each in with_locks[1] if each.get("kind") == "lock"]
    assert len(locks) > 200
    assert {each["outcome"] for each in locks} == {"locked"}
    assert with_locks[2] == without[2]
    assert [each["seats"] for each in with_locks[1] if "kind" not in each] == [each["seats"] for each in without[1]]


def test_whatever_goes_wrong_a_lock_names_what_its_round_says(tmp_path: Path) -> None:
    _, answers, _ = settled(plan(1.0, 20.0), tmp_path / "lines")
    reasons = {reason for each in answers for reason in each["reasons"]}
    assert {"wrong_card_count", "cover_all_mode_off"} <= reasons
    assert "lock_mismatch" not in reasons


def _meters() -> dict[str, dict[str, Meter]]:
    floor = read_floor(FLOOR.read_text())
    return {code: {level.code: opening(level) for level in link.levels} for code, link in floor.links.items()}
