"""Whoever listens to the broker reads (the long form, 20,000 wakes, is `python3 -m tests.faults.wakes`)."""

import pytest

from tests.faults.hall import Hall
from tests.faults.wakes import soak

pytestmark = [pytest.mark.alone, pytest.mark.timeout(150)]


def test_wakes_pass_and_leave_nobody_listening_who_does_not_read(hall: Hall) -> None:
    outcome = soak(hall, 600)
    print(outcome)
    # One listener for each of the consumers (two settling, one for long jobs), and the hub of the web process.
    broker = [name for name in outcome.listeners if "pgmq" in name]
    assert len(broker) == 3, outcome
    assert all(name.startswith("jackpot broker listener: ") for name in broker), outcome
    assert [name for name in outcome.listeners if "pgmq" not in name] == ["jackpot web: settled"], outcome
    assert (outcome.most_hanging, outcome.last_hanging) == (0, 0), outcome
    # In pages of a queue of a million; the server gives back every fourth.
    assert outcome.most_usage < 1e-5, outcome
    assert outcome.last_behind < 50, outcome
