"""Random histories of a house keep its books and its meters in step, whatever happens in whatever order."""

from __future__ import annotations

from collections import Counter

from tests.rules.histories import histories

# What two hundred histories must have shown at least once, or they show nothing.
SHOWN = {
    "lock locked", "lock held", "lock.void done", "round settled", "round void", "round held",
    "round.release settled", "round.correct settled", "round.correct held", "round.void done", "round.void void",
    "hit.verify done", "hit.approve done", "hit.pay done", "hit.reject done", "payout.pay done",
    "level.adjust done", "level.transfer done", "link.file done", "link.open done", "link.suspend done",
    "link.resume done", "link.terms done", "link.close done", "table.join done", "table.leave done",
    "made good: void", "made good: rejection",
}  # fmt: skip


def test_two_hundred_histories_keep_every_part_and_every_account_to_the_millionth() -> None:
    seen: Counter[str] = Counter()
    for outcomes in histories(200):
        seen.update(outcomes)
    assert SHOWN.difference(seen) == set(), "the histories are too tame"
