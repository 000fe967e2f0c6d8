"""Two hundred random histories on the running house, under every policy of SPEC §6; ten thousand are played by command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from pytest_django import DjangoDbBlocker

from jackpot.rules import levels
from jackpot.rules.decision import Act, Decision
from jackpot.rules.state import LinkState
from jackpot.services import acts
from tables.services import floors
from tests.rules.stages import EVERY_POLICY
from tests.scenarios import histories
from tests.scenarios.histories import EVERY, LINES, Failed
from tests.services.fixtures import Databases
from tests.services.house import OPENED

pytestmark = pytest.mark.timeout(400)  # seconds of work, on a machine that may be busy

# What the first two hundred must have shown at least once, or they show nothing: every policy, and every kind of thing.
POLICIES = {
    f"award of 100 %: {overflow}, {funding}, {floor}"
    for overflow in ("next_reset", "revenue")
    for funding in ("reserve_then_house", "house")
    for floor in ("allow", "top_up")
}
SHOWN = POLICIES | {
    "lock locked", "lock held", "lock refused", "lock.void done", "round settled", "round void", "round held",
    "round refused", "round.release settled", "round.correct settled", "round.void done", "round.void void",
    "hit.verify done", "hit.approve done", "hit.pay done", "hit.reject done", "payout.pay done", "level.adjust done",
    "level.adjust below_zero", "level.transfer done", "level.transfer link_open", "link.file done", "link.open done",
    "link.suspend done", "link.resume done", "link.terms done", "link.close done", "link.close money_left",
    "table.join done", "table.leave done", "table.close done", "made good: void",
    "moved: reserve to liability, seed", "moved: seed_expense to liability, seed", "moved: overflow to liability, seed",
    "moved: overflow to revenue, overflow", "moved: seed_expense to liability, top_up",
    "moved: reserve to liability, top_up", "moved: liability to overflow, transfer",
}  # fmt: skip


@pytest.fixture
def floor(number: int, databases: Databases, migrated: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database with the floor of the histories from a number on."""
    with django_db_blocker.unblock():
        name = databases.create(like=migrated)
        with databases.entered(name):
            floors.install(histories.stage_of(number).text, at=OPENED)
            yield
        databases.drop(name)


@pytest.mark.parametrize("number", range(0, 200, EVERY))
def test_the_running_house_comes_to_what_settle_writes_and_its_books_close(number: int, floor: None) -> None:
    for each in range(number, number + EVERY):
        histories.played(each)


def test_the_first_two_hundred_show_every_policy_and_every_kind_of_thing() -> None:
    seen: Counter[str] = Counter()
    for number in range(200):
        seen.update(histories.history(number).outcomes)
    assert SHOWN.difference(seen) == set(), "the histories are too tame"
    assert len(EVERY_POLICY) * EVERY <= 200


@pytest.mark.parametrize("number", [0])
def test_a_history_that_fails_is_cut_down_to_the_lines_that_show_it(
    number: int, floor: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A house that takes a cent less off a level than it is told to: the adjustment is left, and what it needs."""

    def lenient(act: Act, links: Mapping[str, LinkState]) -> Decision:
        cents = act.payload.get("cents")
        less = cents + 1 if type(cents) is int and cents < -1 else cents
        return levels.adjust(replace(act, payload={**act.payload, "cents": less}), links)

    monkeypatch.setitem(acts.DECIDERS, "level.adjust", lenient)
    taken = "moved: liability to adjustments, malfunction"
    number = next(each for each in range(1, EVERY) if histories.history(each).outcomes[taken])
    with pytest.raises(Failed, match=rf"history {number}, {LINES} lines: Differs: ") as failed:
        histories.played(number)
    lines = histories.fewest(histories.stage_of(number), failed.value.lines)
    assert lines[-1]["act"] == "level.adjust"
    assert len(lines) < LINES / 2
