"""Whatever is changed of a lock past the guards, `manage.py verify` says where and what."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from devices.audit import on_the_spot, verification
from devices.audit.verification import Difference
from tests.services.fixtures import Databases
from tests.services.house import LINKED, House, locked, message, value, verify
from tests.services.locked_tampering import TAMPERING_WITH_LOCKS
from tests.services.played import planted_is_what_was_found, tamper


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


@pytest.mark.parametrize("what", TAMPERING_WITH_LOCKS)
def test_tampering_with_a_lock_is_found_and_named(what: str, locks: House) -> None:
    statement, named = TAMPERING_WITH_LOCKS[what]
    tamper(statement)
    with pytest.raises(Difference) as difference:
        verify()
    assert named in str(difference.value)
    planted_is_what_was_found(statement, str(difference.value))
    # However the streams are cut, it is found.
    for size in (1, 2, 3):
        with pytest.raises(Difference) as again:
            verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)
        assert named in str(again.value), size
