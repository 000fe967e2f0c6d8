"""A message that the settling code, the database or the worker does not survive costs itself only (ARCHITECTURE §4.11)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import OperationalError, connection

from devices.intake import settling
from tables.rules import books
from tables.rules.message import RoundMessage
from tables.rules.mississippi_stud import MississippiStud
from tables.services import locks, rounds
from tests.services import auditor
from tests.services.house import (
    ALONE,
    DEALT,
    LINKED,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    earlier_door,
    locked,
    message,
    rows,
    royal,
    run,
    seat,
    two_hits,
    value,
    verify,
)
from tests.services.played import stirred

HELD = ("held", ["processing_error"])


def crash_on(monkeypatch: pytest.MonkeyPatch, *references: str) -> None:
    """Let Mississippi Stud itself fail on these rounds."""
    real = MississippiStud.deal

    def deal(self: MississippiStud, sent: RoundMessage, ruling: Any) -> Any:
        if sent.round in references:
            raise ZeroDivisionError(f"cannot divide the pot of {sent.round}")
        return real(self, sent, ruling)

    monkeypatch.setattr(MississippiStud, "deal", deal)


def test_a_round_that_crashes_its_game_is_held_with_the_error_and_the_rest_flows(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash_on(monkeypatch, "R-2")
    good = [two_hits("R-1"), royal("R-3", table=NEIGHBOUR), message("R-4")]
    bad = royal("R-2")
    busy_house.post(good[0], bad, *good[1:])
    taken = settling.settle_next(busy_house.stream("ms-mg01"), clock=lambda: RECEIVED)
    assert (taken.batch.settled, taken.batch.held, taken.batch.hits) == (3, 1, 3)
    assert busy_house.order() == ["R-1", "R-3", "R-4"]
    assert [sequence for (sequence,) in rows("SELECT sequence FROM tables_round ORDER BY 1")] == [1, 2, 3]
    assert busy_house.settlement(bad) == {
        "round": "R-2", "table": LINKED, "outcome": "held", "reasons": ["processing_error"], "players": 3,
        "seats": [], "awards": [], "meters": [],
    }  # fmt: skip
    error = value("SELECT error FROM tables_hold")
    assert "ZeroDivisionError: cannot divide the pot of R-2" in error
    assert "Traceback" in error
    (event,) = busy_house.significant("processing_error")
    assert event["round"] == "R-2"
    assert "cannot divide the pot of R-2" in event["error"]
    # The meter is as if the round had never been: 2 × 17.0003 cents and a fraction on the reset that R-1's royal left.
    assert busy_house.settlement(good[1])["awards"][0]["paid_cents"] == 1_000_034
    auditor.everything_agrees()
    monkeypatch.undo()
    verify()


def test_a_crash_after_the_rules_is_the_same(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Booking comes after settling; what it has taken by then must not stay."""
    real = books.posting

    def posting(settlement: Any, **more: Any) -> Any:
        if settlement["round"] == "R-1":
            raise KeyError("no such payout")
        return real(settlement, **more)

    monkeypatch.setattr(books, "posting", posting)
    first, second = royal("R-1"), royal("R-2")
    house.play(first, second)
    assert house.outcome(first) == HELD
    award = house.settlement(second)["awards"][0]
    assert (award["paid_cents"], award["hit"]) == (1_000_034, "ms-mg01-000001")
    auditor.everything_agrees()


@pytest.mark.parametrize(
    "damage",
    [
        b"{}",
        b"\xff",
        b'{"round": "R-2", "table": "MS-101", "dealt_at": "yesterday", "dealing": {"method": "hand"}, "community": [],'
        b' "seats": []}',
    ],
)
def test_a_message_that_cannot_even_be_read_is_held_alone(damage: bytes, house: House) -> None:
    house.post(message("R-1"), message("R-2"), message("R-3"))
    run("SET LOCAL session_replication_role = replica")
    run("UPDATE devices_message SET raw = %s WHERE reference = 'R-2'", damage)
    run("SET LOCAL session_replication_role = origin")
    house.settle()
    assert house.order() == ["R-1", "R-3"]
    assert rows("SELECT reference, reasons, dealt_at FROM tables_hold") == [("R-2", ["processing_error"], RECEIVED)]
    assert len(house.significant("processing_error")) == 1
    assert house.waiting() == 0


@pytest.mark.parametrize("damage", [b"{}", b"\xff", b'{"kind": "lock", "round": "R-2", "table": "MS-101"}'])
def test_a_lock_that_cannot_even_be_read_is_set_aside_and_holds_no_round(damage: bytes, house: House) -> None:
    """Dated by its receipt and told once; its own result is settled without it."""
    house.post(message("R-1"), locked("R-2"), message("R-2"), message("R-3"))
    run("SET LOCAL session_replication_role = replica")
    run("UPDATE devices_message SET raw = %s WHERE reference = 'R-2' AND kind = 'lock'", damage)
    run("SET LOCAL session_replication_role = origin")
    batch = settling.settle_next(house.stream("ms-mg01"), clock=lambda: RECEIVED).batch
    assert (batch.settled, batch.held, batch.locked, batch.dealt_with) == (3, 0, 0, 4)
    assert house.order() == ["R-1", "R-2", "R-3"] and house.waiting() == 0
    assert rows("SELECT reference, outcome, locked_at FROM tables_locksetaside") == [("R-2", "held", RECEIVED)]
    assert value("SELECT count(*) FROM tables_hold") == 0
    assert [each["round"] for each in house.significant("processing_error")] == ["R-2"]
    assert [each["reasons"] for each in house.significant("lock_held")] == [["processing_error"]]


def test_a_lock_that_crashes_the_rules_is_set_aside_with_the_error_and_its_result_is_settled(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy_house.post(locked("R-1"), message("R-1"))

    def decide_lock(*_: Any) -> Any:
        raise ZeroDivisionError("cannot divide this stake")

    monkeypatch.setattr(locks, "decide_lock", decide_lock)
    batch = settling.settle_next(busy_house.stream("ms-mg01"), clock=lambda: RECEIVED).batch
    monkeypatch.undo()
    assert (batch.settled, batch.held, batch.locked, batch.dealt_with) == (1, 0, 0, 2)
    ((reference, locked_at, error),) = rows("SELECT reference, locked_at, error FROM tables_locksetaside")
    assert (reference, locked_at) == ("R-1", DEALT) and "cannot divide this stake" in error
    assert [each["round"] for each in busy_house.significant("processing_error")] == ["R-1"]
    assert [each["reasons"] for each in busy_house.significant("lock_held")] == [["processing_error"]]
    verify()


def too_much(reference: str) -> dict[str, Any]:
    """A bonus of three thousand trillion dollars on a straight flush: its 40 to 1 fits no column."""
    return message(
        reference, seat(1, "3s 7d", progressive=100, three_card_bonus=300_000_000_000_000_000), community="2c 3c 4c"
    )


def test_a_batch_that_the_database_refuses_is_halved_until_the_message_stands_alone(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    real = settling._settle

    def watched(stream_id: int, size: int, **more: Any) -> settling.Taken:
        sizes.append(size)
        return real(stream_id, size, **more)

    monkeypatch.setattr(settling, "_settle", watched)
    good = [royal(f"R-{number}") for number in range(6)]
    with earlier_door():
        busy_house.post(*good[:4], too_much("R-X"), *good[4:])
    busy_house.settle()
    # Seven wait: all, then three that stand; from the fourth on all, then one; then the one at fault in front.
    assert sizes == [1_000, 3, 1_000, 2, 1, 1_000, 1, 1, 1_000]
    assert busy_house.order() == [f"R-{number}" for number in range(6)]
    assert busy_house.outcome(too_much("R-X")) == HELD
    assert re.search("out of range|too big", value("SELECT error FROM tables_hold"))
    assert busy_house.waiting() == 0
    auditor.everything_agrees()
    verify()


def test_a_refused_message_alone_is_held_at_once(house: House) -> None:
    with earlier_door():
        house.play(too_much("R-X"))
    assert house.outcome(too_much("R-X")) == HELD
    assert value("SELECT next_sequence FROM accounting_stream WHERE code = 'ms-mg01'") == 1
    auditor.everything_agrees()


def test_what_is_not_the_messages_fault_holds_nothing(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database's own trouble is passed on, is no suspicion however long it lasts, and the next visit settles all."""
    busy_house.post(royal("R-1"), message("R-2"))
    real = rounds.settle_batch

    def cut_off(*args: Any, **more: Any) -> Any:
        real(*args, **more)
        run("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(rounds, "settle_batch", cut_off)
    for _ in range(6):
        with pytest.raises(OperationalError):
            busy_house.settle()
        connection.close()
    monkeypatch.undo()
    assert value("SELECT count(*) FROM tables_hold") == 0
    assert value("SELECT attempts FROM devices_attempt") <= 2
    assert busy_house.settle() == 2
    assert busy_house.order() == ["R-1", "R-2"]
    auditor.everything_agrees()


class Killed(BaseException):
    """Stands for a kill -9: nothing in the code may catch it."""


@pytest.mark.parametrize("poison", [0, 1, 6, 12], ids=["in front", "second", "in the middle", "last"])
def test_a_message_that_kills_its_worker_is_found_and_only_it_is_held(
    poison: int, busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stands before and after it in the queue is settled; the number of deaths is small."""
    sent = [message(f"R-{number:02d}") for number in range(13)]
    busy_house.post(*sent)
    real = rounds.settle_batch

    def deadly(stream: Any, incoming: Any, *, hold_for: str, **more: Any) -> Any:
        if not hold_for and any(each.reference == sent[poison]["round"] for each in incoming):
            raise Killed
        return real(stream, incoming, hold_for=hold_for, **more)

    monkeypatch.setattr(rounds, "settle_batch", deadly)
    deaths = 0
    while busy_house.waiting():
        try:
            busy_house.settle()
        except Killed:
            deaths += 1
            assert deaths < 30, "it never ends"
    assert rows("SELECT reference, reasons FROM tables_hold") == [(sent[poison]["round"], ["processing_error"])]
    assert busy_house.order() == [each["round"] for place, each in enumerate(sent) if place != poison]
    assert deaths <= 15
    auditor.everything_agrees()
    verify()


def front(house: House, attempts: int) -> None:
    """Write down that workers tried the front of the queue this often and did not finish."""
    run(
        """INSERT INTO devices_attempt (stream_id, receipt, position, attempts)
        SELECT stream_id, receipt, position, %s FROM devices_queued WHERE stream_id = %s ORDER BY receipt, position LIMIT 1""",
        attempts,
        house.stream("ms-mg01"),
    )


@pytest.mark.parametrize(("attempts", "settled"), [(0, 8), (1, 8), (2, 4), (3, 2), (4, 1)], ids=str)
def test_after_two_deaths_the_same_front_is_tried_in_halves(attempts: int, settled: int, house: House) -> None:
    house.post(*(message(f"R-{number}") for number in range(8)))
    front(house, attempts)
    run(  # as when an array before them was taken in parts
        "INSERT INTO devices_passed (stream_id, receipt, put_forward, noted_by)"
        " SELECT stream_id, receipt, receipt, 0 FROM devices_attempt"
    )
    taken = settling.settle_next(house.stream("ms-mg01"), clock=lambda: RECEIVED)
    assert (taken.batch.settled, taken.batch.held) == (settled, 0)
    assert house.waiting() == 8 - settled
    assert house.settle() == 8 - settled
    assert house.order() == [f"R-{number}" for number in range(8)]


def test_who_died_alone_is_held(house: House) -> None:
    house.post(*(message(f"R-{number}") for number in range(8)))
    front(house, 5)
    taken = settling.settle_next(house.stream("ms-mg01"), clock=lambda: RECEIVED)
    assert (taken.batch.settled, taken.batch.held) == (0, 1)
    assert rows("SELECT reference, error FROM tables_hold") == [
        ("R-0", "tried 5 times and never finished, at last alone")
    ]
    assert house.settle() == 7
    assert house.order() == [f"R-{number}" for number in range(1, 8)]


def test_a_lock_that_its_worker_did_not_survive_is_set_aside(busy_house: House) -> None:
    """Dated by itself, as it would have been; the rounds behind it are settled."""
    busy_house.post(locked("R-0"), message("R-1"))
    front(busy_house, 5)
    taken = settling.settle_next(busy_house.stream("ms-mg01"), clock=lambda: RECEIVED)
    assert (taken.batch.settled, taken.batch.held, taken.batch.locked) == (0, 0, 0)
    assert rows("SELECT reference, locked_at, error FROM tables_locksetaside") == [
        ("R-0", DEALT, "tried 5 times and never finished, at last alone")
    ]
    assert busy_house.settle() == 1
    assert busy_house.order() == ["R-1"]
    verify()


def test_an_error_of_ours_leaves_every_count_as_it_was(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.post(message("R-0"), message("R-1"))
    front(house, 2)
    run(
        "INSERT INTO devices_attempt (stream_id, receipt, position, attempts) VALUES (%s, 1, 0, 4)",
        house.stream("twin"),
    )
    with monkeypatch.context() as broken, pytest.raises(KeyError):

        def settle_batch(*arguments: Any, **more: Any) -> Any:
            raise KeyError("no such level")

        broken.setattr(rounds, "settle_batch", settle_batch)
        settling.settle_next(house.stream("ms-mg01"), clock=lambda: RECEIVED)
    assert rows("SELECT attempts FROM devices_attempt ORDER BY stream_id") == [(2,), (4,)]


def test_an_attempt_is_noted_at_the_front_of_its_own_stream(house: House) -> None:
    """Whatever lies in between, and in which order the rows do; where a batch began is where the next one found the rest."""
    first_places = {house.stream("ms-mg01"): 0, house.stream("twin"): 2, house.stream(ALONE): 4}
    for post in range(3):
        house.post(*(message(f"R-{post}{at}", table=table) for table in (LINKED, TWIN, ALONE) for at in range(2)))
    stirred()
    receipts = [receipt for (receipt,) in rows("SELECT DISTINCT receipt FROM devices_queued ORDER BY 1")]
    for post, second, limit, waiting in ((0, 0, 3, 6), (1, 1, 1, 3), (2, 0, 2, 2)):
        for stream in first_places:
            assert [settling._waiting(stream, most) for most in (1, waiting, 9)] == [1, waiting, waiting]
            assert settling.settle_next(stream, clock=lambda: RECEIVED, limit=limit).batch.settled == limit
        assert rows("SELECT * FROM devices_attempt ORDER BY stream_id") == [
            (stream, receipts[post], place + second, 1) for stream, place in sorted(first_places.items())
        ]


def test_attempts_at_another_front_are_no_suspicion(house: House) -> None:
    house.post(message("R-0"))
    front(house, 9)
    run("UPDATE devices_attempt SET receipt = receipt - 1")
    house.post(message("R-1"))
    assert settling.settle_next(house.stream("ms-mg01"), clock=lambda: RECEIVED).batch.settled == 2


def test_the_attempt_is_on_record_before_the_batch_is_tried(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    busy_house.post(message("R-0"))

    def killed(*args: Any, **more: Any) -> Any:
        raise Killed

    monkeypatch.setattr(rounds, "settle_batch", killed)
    for attempt in (1, 2):
        with pytest.raises(Killed):
            busy_house.settle()
        assert rows("SELECT attempts FROM devices_attempt") == [(attempt,)]
