"""Eight hundred rounds or more, the settling worker killed three times while it writes: nothing lost, nothing doubled.

The long form (20,000 rounds as fast as they are taken) is `python -m tests.faults.soak`.
"""

from pathlib import Path

import pytest

from tests.faults.soak import JACKPOTS, killed, speed_for

pytestmark = [pytest.mark.alone, pytest.mark.timeout(170)]


def test_killing_the_settling_worker_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    # 60 rounds a second: the worker commits often, and is killed with something half written.
    outcome = killed(tmp_path, rounds=800, kills=3, tables=8, seed=1, speed=speed_for(60, 8))
    books = outcome.books
    assert books.accepted == books.settled + books.void + books.held >= 800
    assert min(books.settled, books.void, books.held) > 0
    assert outcome.receipts["duplicate"] > 0
    assert outcome.hits >= len(JACKPOTS)
    assert len(outcome.kills) == 3
    assert "no difference" in books.said
