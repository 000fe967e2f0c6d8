"""Whatever is changed of a lock past the guards, `manage.py verify` says where and what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from devices.audit import inbox_check, on_the_spot, set_aside, verification
from devices.audit.rows import Chunk
from devices.audit.verification import Difference
from tests.services.fixtures import Databases
from tests.services.house import LINKED, House, locked, message, rows, seat, value, verify
from tests.services.locked_tampering import TAMPERING_WITH_LOCKS
from tests.services.played import planted_is_what_was_found, stirred, tamper


@pytest.fixture(scope="module")
def locks_played(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database with a lock that was decided, one that is void, one that waits, and one that was set aside."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            house.play(locked("L-1"), locked("L-2"), locked("L-3"), locked("L-4", progressive=200))
            house.act("lock.void", f"{LINKED}/L-2")
            house.play(message("L-1"), message("R-1"))
        yield name
        databases.drop(name)


@pytest.fixture
def locks(databases: Databases, locks_played: str, django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    """A copy of it, to be tampered with."""
    with django_db_blocker.unblock():
        name = databases.create(like=locks_played)
        with databases.entered(name):
            yield House()
        databases.drop(name)


def test_locks_are_verified(locks: House) -> None:
    counts = verify()
    assert (counts.locks, counts.rounds, counts.messages) == (4, 2, 6)
    for sequence in range(value("SELECT next_sequence FROM accounting_stream WHERE code = 'ms-mg01'")):
        found = on_the_spot.look("ms-mg01", sequence)  # a lock, what ended it, and rounds, each by itself
        assert found.ok, found.difference


@pytest.mark.parametrize("at_once", [1, 3])
def test_whatever_is_held_or_set_aside_is_looked_at_however_many_are_read_at_once(
    at_once: int, lived: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_check, "AT_ONCE", at_once)
    monkeypatch.setattr(set_aside, "AT_ONCE", at_once)
    lived.play(*(locked(f"S-{number}", progressive=200) for number in range(3)))
    stirred()
    looked: list[int] = []

    def watched(module: Any, check: str) -> None:
        real = getattr(module, check)

        def look(row: Any) -> None:
            assert row[0] not in looked, "once each"
            looked.append(row[0])
            real(row)

        monkeypatch.setattr(module, check, look)

    watched(inbox_check, "_check_hold")
    watched(set_aside, "_check")
    counts = inbox_check.verify_inbox()
    there = [message_id for table in ("tables_locksetaside", "tables_hold") for (message_id,) in rows(
        f"SELECT message_id FROM {table} ORDER BY message_id"
    )]  # fmt: skip
    assert (counts.locks, counts.holds) == (4, 4)
    assert looked == there
    for stream in ("ms-mg01", "twin"):
        events = Chunk(House.stream(stream), 0, 99).events
        assert len(events) > 2 and [row[0] for row in events] == list(range(len(events)))
    tamper("DELETE FROM tables_locksetaside")
    tamper("DELETE FROM tables_hold")
    with pytest.raises(Difference, match=rf"^message {min(there)} \("):  # of all these the first is named
        inbox_check.verify_inbox()


def test_a_message_of_the_other_kind_is_where_none_of_its_kind_may_be(locks: House) -> None:
    """Whatever has become of it: settled, held, locked, or set aside."""
    locks.play(message("H-1", seat(1, "3s 3s", progressive=100)))
    inbox_check.verify_inbox()
    for reference, kind, other in (
        ("R-1", "result", "lock"),
        ("H-1", "result", "lock"),
        ("L-3", "lock", "result"),
        ("L-4", "lock", "result"),
    ):
        for change in (f"kind = '{other}' WHERE kind = '{kind}'", f"kind = '{kind}' WHERE kind = '{other}'"):
            for table in ("devices_message", "devices_reference"):
                tamper(f"UPDATE {table} SET {change} AND reference = '{reference}'")
            if other in change.partition(" WHERE")[0]:
                with pytest.raises(Difference, match=rf"\({reference}\): where it is"):
                    inbox_check.verify_inbox()
    inbox_check.verify_inbox()


def test_a_lock_that_began_elsewhere_is_taken_over_as_its_row_keeps_it(locks: House) -> None:
    """Its message is looked at where it began, and not again where it ended."""
    tamper("DELETE FROM devices_message WHERE reference = 'L-1' AND kind = 'lock'")
    assert [on_the_spot.look("ms-mg01", sequence).ok for sequence in (1, 5)] == [False, True]


def test_a_lock_set_aside_at_a_table_without_a_stream_is_named(locks: House) -> None:
    tamper("DELETE FROM accounting_stream WHERE code = 'ms-mg01'")
    with pytest.raises(Difference, match=r"L-4.: table: expected one that is on a stream"):
        inbox_check.verify_inbox()


def test_a_lock_behind_its_own_result_is_named(locks: House) -> None:
    locks.play(locked("L-5"))
    tamper("INSERT INTO devices_reference (table_id, reference, kind, digest, message_id, received_at, device_id)"
           " SELECT table_id, 'L-5', kind, digest, message_id, received_at, device_id FROM devices_reference"
           " WHERE reference = 'R-1'")  # fmt: skip
    with pytest.raises(Difference, match=r"sequence 7 \(MS-101/L-5\): outcome: expected locked, found duplicate"):
        verify()


@pytest.mark.parametrize("what", TAMPERING_WITH_LOCKS)
def test_tampering_with_a_lock_is_found_and_named(what: str, locks: House) -> None:
    statement, named = TAMPERING_WITH_LOCKS[what]
    planted = tamper(statement)
    with pytest.raises(Difference) as difference:
        verify()
    assert named in str(difference.value)
    planted_is_what_was_found(planted, str(difference.value))
    # However the streams are cut, it is found.
    for size in (1, 2, 3):
        with pytest.raises(Difference) as again:
            verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)
        assert named in str(again.value), size
