"""The database's disk is full: nobody is told that a message is stored which is not, and all flows when there is room again."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from jackpot.config.processes import runs
from tests.faults.account import account
from tests.faults.hall import Hall, by_table, eventually
from tests.faults.small_disk import SmallDisk

pytestmark = [pytest.mark.alone, pytest.mark.timeout(170)]

HELD_BY_FAULT = "SELECT count(*) FROM tables_hold WHERE 'processing_error' = ANY (reasons)"
FULL_SECONDS = 5


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    tmp_path.chmod(0o711)
    hall = Hall(tmp_path, tables=2)
    hall.server.start()  # made on an ordinary disk
    hall.server.stop()
    disk = SmallDisk(hall, spare_megabytes=128)
    try:
        disk.start()
        yield disk
    finally:
        hall.down()


def test_a_full_disk_is_answered_try_again_and_nothing_is_lost(disk: SmallDisk) -> None:
    hall = disk.hall
    heaps = [
        messages[first : first + 100]
        for messages in by_table(hall.deal(6_000)).values()
        for first in range(0, len(messages), 100)
    ]
    for heap in heaps[:4]:
        hall.post(heap)
    before = hall.server.process()
    assert before is not None
    writer = hall.server.connect()  # now: to connect, too, may need room
    disk.fill()
    said: Counter[str] = Counter()
    for heap in heaps[4:]:
        said.update(hall.post(heap, until_answered=False))
        if said["unknown"] >= 300:
            break
    assert said["unknown"] >= 300, f"the disk was never full: {said}"
    # What was accepted in the last free pages waits, however often settling fails: it is not the messages' fault.
    time.sleep(FULL_SECONDS)
    # The log cannot grow either: the server ends itself, and cannot start.
    with pytest.raises(psycopg.OperationalError), writer:
        for _ in range(1_000):
            writer.execute("SELECT pg_logical_emit_message(true, 'full', repeat('x', 1000000))")
    eventually(lambda: not runs(before), "the server goes on without a log")
    hall.post(heaps[0], until_answered=False)
    time.sleep(3)
    disk.free()
    hall.ready()
    for heap in heaps[:12]:
        hall.post(heap)  # the gateways send again what they do not know
    hall.settled()
    books = account(hall)
    assert books.accepted >= 1_200
    assert hall.number(HELD_BY_FAULT) == 0, "a message was blamed for the disk"
