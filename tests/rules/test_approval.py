"""Who must agree to an amount of money, and who is still missing."""

from __future__ import annotations

import pytest

from accounting.office.acts import Tier
from accounting.office.rules.approval import Need, agrees_as, missing, needs_for

TIERS = (Tier(5_000, "controller", 2), Tier(0, "manager", 1), Tier(0, "controller", 1), Tier(9_000, "manager", 0))


@pytest.mark.parametrize(
    ("cents", "needs"),
    [
        (0, {"manager": 1, "controller": 1}),
        (4_999, {"manager": 1, "controller": 1}),
        (5_000, {"manager": 1, "controller": 2}),
        (-5_000, {"manager": 1, "controller": 2}),
        (8_999, {"manager": 1, "controller": 2}),
        (9_000, {"controller": 2}),
    ],
)
def test_of_each_role_the_highest_tier_reached_counts_to_the_cent(cents: int, needs: dict[str, int]) -> None:
    for tiers in (TIERS, TIERS[::-1]):
        assert {need.role: need.count for need in needs_for(tiers, cents)} == needs


def test_who_is_missing_is_what_was_needed_less_who_has_agreed() -> None:
    needs = (Need("manager", 1), Need("controller", 2))
    assert missing(needs, []) == needs
    assert missing(needs, ["controller"]) == (Need("manager", 1), Need("controller", 1))
    assert missing(needs, ["controller", "manager"]) == (Need("controller", 1),)
    assert missing(needs, ["controller", "manager", "controller"]) == ()
    assert agrees_as({"controller", "manager"}, needs) == "manager", "the first that is missing"
    assert agrees_as({"controller"}, needs) == "controller"
    assert agrees_as({"cage"}, needs) is None
