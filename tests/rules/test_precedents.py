"""What a settled round left is read back from its settlement and the meters before it, to the millionth of a cent."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from jackpot.rules.decision import Decision
from jackpot.rules.meter import Meter
from tables.rules.deciding import RoundDecision
from tables.rules.house import RoundState
from tables.rules.precedents import Precedent, precedent, step_of
from tests.rules.histories import History
from tests.rules.lines import ROYAL, STRAIGHT_FLUSH, Lines


class Watched(History):
    """A history in which every round that is decided is read back as later acts would find it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.found_back: Counter[str] = Counter()
        apply = self.house.apply

        def applied(decision: Decision) -> None:
            if isinstance(decision, RoundDecision) and decision.round is not None and decision.outcome != "held":
                self.read_back(decision)
            apply(decision)

        self.house.apply = applied  # type: ignore[method-assign]

    def read_back(self, decision: RoundDecision) -> None:
        """Compare what the decision leaves with what its result says of it."""
        lock = self.house.lock_of(*decision.key)
        meters = self.house.links[decision.link].meters if decision.link else {}
        on = decision.hits[0].won_on if decision.hits else None  # from the event, not from its settlement
        found = precedent(7, json.loads(json.dumps(decision.result)), meters, lock.put_in if lock else None, on)
        assert decision.round is not None
        assert found.round == with_zeros(decision.round, found)
        assert found.hits == list(decision.hits)
        envy = [each.name for hit in decision.hits for each in hit.envy]
        assert sorted(found.lines) == sorted(envy)
        for name, line in found.lines.items():
            payout = decision.payouts[line - 1]
            seat, _ = (int(part) for part in name.split("/")[-2:])
            assert (payout.kind, payout.seat) == ("envy", seat)
        self.found_back["rounds"] += 1
        self.found_back["hits"] += len(found.hits)
        self.found_back["with a lock"] += lock is not None
        self.found_back["taken back"] += any(row["contributed_millionths"] < 0 for row in decision.result["meters"])
        self.found_back["overflowed"] += any(brought.overflow for _, brought in found.round.brought)


def with_zeros(left: RoundState, found: Precedent) -> RoundState:
    """Whoever decides a round in which nobody bets the progressive says nothing of levels; read back it is nothing to each."""
    if left.outcome != "settled" or left.brought:
        return left
    assert not any(any(brought) for _, brought in found.round.brought)
    return replace(left, brought=found.round.brought)


def test_every_round_of_random_histories_is_read_back_as_it_was_left() -> None:
    read: Counter[str] = Counter()
    for seed in range(1, 101):
        history = Watched(seed)
        history.play(60)
        read.update(history.found_back)
    assert read["rounds"] > 900
    assert min(read[what] for what in ("hits", "with a lock", "taken back", "overflowed")) > 20, read


def test_a_meter_that_was_another_is_not_read_as_if_it_were_the_rounds() -> None:
    lines = Lines()
    before = dict(lines.house.links["aa"].meters)
    settlement: Any = lines.round("R-1", board=ROYAL)
    assert precedent(1, settlement, before).round.brought
    moved = {"major": before["major"]._replace(residual_millionths=before["major"].residual_millionths + 1)}
    with pytest.raises(ValueError, match="millionths came by the meters"):
        precedent(1, settlement, moved)


def test_what_acts_made_of_it_is_taken_over_by_name() -> None:
    lines = Lines(aa=Meter(11_000))
    before = dict(lines.house.links["aa"].meters)
    settlement: Any = lines.round("R-1", board=STRAIGHT_FLUSH, seats=(5, 1, 3))
    found = precedent(1, settlement, before)
    hit, envy = "aa-000001", "MS-1/R-1/3/5"
    assert found.subjects() == ["MS-1/R-1", hit, envy, "MS-1/R-1/1/5"]
    assert [found.standing(one) for one in (*found.subjects(), "aa-000002")] == [
        "settled", "detected", "owed", "owed", None,
    ]  # fmt: skip
    lines.done("payout.pay", envy, method="cage")
    found.take(lines.last.steps if lines.last else [])
    lines.done("round.void", "MS-1/R-1")
    found.take(lines.last.steps if lines.last else [])
    assert [found.standing(one) for one in found.subjects()] == ["void", "rejected", "paid", "cancelled"]
    found.take([{"what": "hit", "name": "aa-000002", "state": "paid"}])
    assert found.standing(hit) == "rejected", "another hit's step is none of this one's"
    assert [(each.is_withheld, [one.is_withheld for one in each.envy]) for each in found.hits] == [(False, [False] * 2)]
    found.take([{"what": "tax", "name": hit}])
    assert [(each.is_withheld, [one.is_withheld for one in each.envy]) for each in found.hits] == [(True, [False] * 2)]
    found.take([{"what": "tax", "name": envy}])
    assert {one.name for each in found.hits for one in each.envy if one.is_withheld} == {envy}


def test_a_step_says_who_took_it_and_what_was_done() -> None:
    cause = {"act": "hit.verify", "subject": "aa-000001", "payload": {"checks": ["cards", "wager_sensor"]}}
    assert step_of(cause | {"by": "ada", "reason": "tape seen"}) == ("ada", "checked: cards, wager sensor; tape seen")
    cause = {"act": "hit.pay", "subject": "aa-000001", "payload": {"method": "cage"}}
    assert step_of(cause | {"by": "cy", "approved_by": ["bob"]}) == ("cy", "from the cage; agreed: bob")
    assert step_of({"act": "round.void", "subject": "MS-1/R-1", "payload": {}}) == ("", "round MS-1/R-1 void")
