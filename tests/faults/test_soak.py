"""Fifteen hundred rounds, the settling worker killed three times while it writes: nothing lost, nothing doubled.

The long form (20,000 rounds as fast as they are taken) is `python -m tests.faults.soak`.
"""

from pathlib import Path

import pytest

from tests.faults.soak import JACKPOTS, Soak

pytestmark = [pytest.mark.alone, pytest.mark.timeout(170)]


def test_killing_the_settling_worker_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    # About 75 rounds a second: the worker commits often, and is killed with something half written.
    soak = Soak(tmp_path, rounds=1_500, kills=3, tables=8, seed=1, speed=420)
    account = soak.run()
    assert account.dealt == account.settled + account.void + account.held == 1_500
    assert min(account.settled, account.void, account.held) > 0
    assert account.receipts["duplicate"] > 0
    assert account.hits >= len(JACKPOTS)
    assert len(account.kills) == 3
    assert "no difference" in account.verified
