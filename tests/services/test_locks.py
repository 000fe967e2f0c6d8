"""Locks in the running house: what they contribute before the cards, what ends them, and what is kept of all that."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from accounting.rules.acts import ActRefused
from tests.services import auditor
from tests.services.house import (
    ALONE,
    DEALT,
    LINKED,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    rows,
    royal,
    seat,
    value,
    verify,
)

Message = dict[str, Any]


def meter(level: str = "major") -> tuple[int, ...]:
    """A level's meter to the millionth: display, reserve, overflow."""
    (found,) = rows(
        "SELECT value_cents, residual_millionths, reserve_cents, reserve_residual_millionths, overflow_cents,"
        " overflow_residual_millionths FROM jackpot_meter meter JOIN jackpot_level level ON level.id = meter.level_id"
        " WHERE level.code = %s",
        level,
    )
    return found


def state(sent: Message) -> tuple[str, int | None]:
    """What has become of a lock, and the event that ended it."""
    ((found, ended),) = rows("SELECT state, ended FROM tables_lock WHERE reference = %s", sent["round"])
    return found, ended


def aside(sent: Message) -> tuple[str, list[str]]:
    """How a lock was set aside and why."""
    ((outcome, result),) = rows("SELECT outcome, result FROM tables_locksetaside WHERE reference = %s", sent["round"])
    return outcome, json.loads(result)["reasons"]


def kinds(stream: str = "ms-mg01") -> list[str]:
    """The kinds of a stream's events in their order, without its opening and tables."""
    found = rows(
        "SELECT kind FROM accounting_event WHERE stream_id = %s AND kind NOT IN ('opened', 'table.install')"
        " ORDER BY sequence",
        House.stream(stream),
    )
    return [kind for (kind,) in found]


def everything_agrees() -> None:
    """What `verify` and the auditor say."""
    verify()
    auditor.everything_agrees()


def test_a_lock_contributes_at_once_and_its_result_nothing(busy_house: House) -> None:
    before = meter()
    lock = locked("R-1")
    busy_house.post(lock)
    busy_house.settle()
    after = meter()
    assert after != before
    assert state(lock) == ("locked", None)
    (settled,) = busy_house.play(message("R-1"))
    assert settled["meters"][0]["contributed_millionths"] == 0
    assert meter() == after
    assert state(lock)[0] == "decided"
    assert kinds() == ["lock", "round"]
    everything_agrees()


def test_the_meter_comes_to_the_same_with_and_without_a_lock(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    alone = meter()
    busy_house.post(locked("R-2"), message("R-2"))
    busy_house.settle()
    residual = alone[0] * 1_000_000 + alone[1] - 1_000_000 * 1_000_000
    now = meter()
    assert now[0] * 1_000_000 + now[1] - 1_000_000 * 1_000_000 == 2 * residual
    everything_agrees()


def test_a_lock_that_comes_after_its_result_is_a_duplicate(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    after = meter()
    lock = locked("R-1")
    busy_house.post(lock)
    busy_house.settle()
    assert aside(lock) == ("duplicate", [])
    assert meter() == after
    assert busy_house.significant("lock_after_result")[0]["round"] == "R-1"
    beside = locked("R-1", table=NEIGHBOUR)
    busy_house.post(beside)
    busy_house.settle()
    assert state(beside) == ("locked", None), "another table's round of that name has come, and not its own"
    everything_agrees()


def test_in_one_batch_too_the_order_of_the_queue_decides(busy_house: House) -> None:
    first, late = locked("R-1"), locked("R-2")
    busy_house.post(first, message("R-1"), message("R-2"), late)
    busy_house.settle()
    assert state(first)[0] == "decided"
    assert aside(late) == ("duplicate", [])
    assert kinds() == ["lock", "round", "round"]
    everything_agrees()


def test_a_lock_after_a_held_result_is_a_duplicate(busy_house: House) -> None:
    busy_house.play(message("R-1", seat(1, "3s 3s", progressive=100)))
    lock = locked("R-1")
    busy_house.post(lock)
    busy_house.settle()
    assert aside(lock) == ("duplicate", [])
    busy_house.act("round.void", f"{LINKED}/R-1")
    everything_agrees()


@pytest.mark.parametrize(
    ("lock", "reasons"),
    [
        (locked("R-1", table=ALONE, progressive=100), ["wager_not_offered"]),
        (locked("R-1", progressive=200), ["wager_not_allowed"]),
        (locked("R-1", 9), ["seat_not_at_table"]),
    ],
)
def test_a_lock_that_cannot_be_is_held_as_if_it_had_never_come(
    lock: Message, reasons: list[str], busy_house: House
) -> None:
    before = meter()
    busy_house.post(lock)
    busy_house.settle()
    assert aside(lock) == ("held", reasons)
    assert busy_house.significant("lock_held")[0]["reasons"] == reasons
    assert meter() == before
    (settled,) = busy_house.play(message("R-1", table=lock["table"]))
    assert settled["outcome"] == "settled"
    everything_agrees()


def test_a_result_of_other_seats_is_held_and_released_with_the_difference(busy_house: House) -> None:
    before = meter()
    lock = locked("R-1", 1, 2)
    busy_house.post(lock)
    busy_house.settle()
    two = meter()
    (held,) = busy_house.play(message("R-1"))
    assert (held["outcome"], held["reasons"]) == ("held", ["lock_mismatch"])
    assert state(lock) == ("locked", None)
    verify()
    busy_house.act("round.release", f"{LINKED}/R-1")
    assert busy_house.outcome(message("R-1")) == ("settled", ["lock_mismatch"])
    assert state(lock)[0] == "decided"
    one = meter()
    assert before < one < two
    everything_agrees()


def test_a_held_round_called_off_takes_back_what_its_lock_brought(busy_house: House) -> None:
    before = meter()
    busy_house.post(locked("R-1", 1, 2), message("R-1"))
    busy_house.settle()
    busy_house.act("round.void", f"{LINKED}/R-1")
    assert meter() == before
    everything_agrees()


def test_a_void_lock_is_taken_back_to_the_millionth_and_its_result_knows_of_none(busy_house: House) -> None:
    before = meter()
    lock = locked("R-1", 1, 2)
    busy_house.post(lock)
    busy_house.settle()
    busy_house.act("lock.void", f"{LINKED}/R-1")
    assert meter() == before
    assert state(lock)[0] == "void"
    with pytest.raises(ActRefused) as refusal:
        busy_house.act("lock.void", f"{LINKED}/R-1")
    assert refusal.value.code == "wrong_state"
    (settled,) = busy_house.play(message("R-1"))
    assert settled["outcome"] == "settled"
    assert settled["meters"][0]["contributed_millionths"] == 100 * 170003
    assert kinds() == ["lock", "lock.void", "round"]
    everything_agrees()


@pytest.mark.parametrize("result", [message("R-1"), message("R-1", seat(1, "3s 3s", progressive=100))])
def test_no_lock_is_void_once_its_result_has_come(result: Message, busy_house: House) -> None:
    busy_house.post(locked("R-1"))
    busy_house.settle()
    busy_house.play(result)
    with pytest.raises(ActRefused) as refusal:
        busy_house.act("lock.void", f"{LINKED}/R-1")
    assert refusal.value.code == "wrong_state"
    everything_agrees()


def test_there_is_no_lock_to_void_where_none_came(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    with pytest.raises(ActRefused) as refusal:
        busy_house.act("lock.void", f"{LINKED}/R-1")
    assert refusal.value.code == "unknown_subject"


def test_a_round_counts_from_its_lock(busy_house: House) -> None:
    """A link suspended between lock and result is open for the round; its day is the lock's (DECISIONS A51)."""
    early = (DEALT - timedelta(hours=16)).isoformat()
    busy_house.post(locked("R-1", locked_at=early), locked("R-3", locked_at=early))
    busy_house.settle()
    busy_house.suspend("ms-mg01")
    (settled, held) = busy_house.play(message("R-1"), message("R-2"))
    assert (settled["outcome"], held["reasons"]) == ("settled", ["link_not_open"])
    busy_house.play(message("R-3", seat(1, "3s 3s", progressive=100)))
    ((counts_at, day, dealt_at),) = rows(
        "SELECT counts_at, gaming_date, dealt_at FROM tables_round WHERE reference = 'R-1'"
    )
    assert (counts_at, dealt_at) == (DEALT - timedelta(hours=16), DEALT)
    assert day.isoformat() == "2026-11-26" or day.isoformat() == "2026-11-27"
    busy_house.act("round.void", f"{LINKED}/R-3")
    assert value("SELECT counts_at FROM tables_round WHERE reference = 'R-3'") == DEALT - timedelta(hours=16)
    everything_agrees()


def test_a_lock_and_its_result_in_one_batch_count_from_the_lock(busy_house: House) -> None:
    early = (DEALT - timedelta(hours=20)).isoformat()
    busy_house.post(locked("R-1", locked_at=early), message("R-1"))
    busy_house.settle()
    assert value("SELECT counts_at FROM tables_round WHERE reference = 'R-1'") == DEALT - timedelta(hours=20)
    everything_agrees()


def test_a_worker_that_restarts_knows_the_locks_that_wait(busy_house: House) -> None:
    from tests.services.house import forget

    busy_house.post(locked("R-1"), locked("R-1", table=NEIGHBOUR), locked("R-1", table=TWIN))
    busy_house.settle()
    forget()
    after = meter()
    busy_house.play(message("R-1", table=TWIN))  # while two wait on the other stream
    busy_house.play(royal("R-2"), message("R-1"), message("R-1", table=NEIGHBOUR))
    forget()
    assert value("SELECT count(*) FROM tables_lock WHERE state = 'decided'") == 3
    assert value("SELECT wagers FROM jackpot_meter JOIN jackpot_level level ON level.id = level_id"
                 " WHERE code = 'major'") == 4  # fmt: skip
    assert after != meter()
    everything_agrees()


def test_a_lock_in_the_future_counts_from_its_receipt(busy_house: House) -> None:
    lock = locked("R-1", locked_at="2031-01-01T00:00:00Z")
    busy_house.post(lock)
    busy_house.settle()
    assert value("SELECT counts_at FROM tables_lock") == RECEIVED
    assert busy_house.significant("dated_by_receipt")[0]["round"] == "R-1"
    everything_agrees()


def test_verify_cut_anyhow_knows_the_locks_of_other_ranges(busy_house: House) -> None:
    from devices.audit import verification

    busy_house.post(locked("R-1"), locked("R-2"), locked("R-3"), locked("R-4", 1, 2))
    busy_house.settle()
    busy_house.act("lock.void", f"{LINKED}/R-2")
    busy_house.play(message("R-9"), message("R-1"), message("R-4"))
    busy_house.act("round.release", f"{LINKED}/R-4")
    for size in (1, 2, 3, 5, 100):
        verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)
