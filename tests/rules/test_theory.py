"""What wagers should have come to by their odds: the arithmetic of the statistics, by hand."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest

from jackpot.rules.paytable import builtin
from tables.odds import of_edition
from tables.odds.edition import WagerOdds
from tables.odds.progressive import of_paytable
from tables.odds.theory import (
    NOTHING,
    UNKNOWN,
    Metered,
    Staked,
    Theory,
    bet_of,
    deviations,
    odds_of,
    standard_deviation,
)


def odds(edge: Fraction | None, variance: Fraction | None) -> WagerOdds:
    """A wager with this edge and variance."""
    return WagerOdds(combinations={}, total=1, edge=edge, hit_frequency=None, variance=variance)


def test_theory_is_edge_times_stakes_and_the_variance_goes_with_their_squares() -> None:
    staked = Staked()
    for cents in (500, 500, 1_500):
        staked.add(cents)
    theory = staked.theory(odds(Fraction(1, 19), Fraction(3)))
    assert theory == Theory(Fraction(2_500, 19), Fraction(3 * (500**2 + 500**2 + 1_500**2)))
    assert staked.theory(None) == UNKNOWN
    assert staked.theory(odds(None, None)) == UNKNOWN
    assert staked.theory(odds(Fraction(1, 2), None)).variance is None


def test_what_is_not_known_of_some_is_not_known_of_all() -> None:
    known = Theory(Fraction(1), Fraction(2))
    assert known.plus(known) == Theory(Fraction(2), Fraction(4))
    assert known.plus(NOTHING) == known
    assert known.plus(UNKNOWN) == UNKNOWN


@pytest.mark.parametrize(
    ("difference", "variance", "expected"),
    [
        (10, 100, "1"),
        (-10, 100, "-1"),
        (0, 7, "0"),
        (1, 2, "0.71"),
        (-3, 2, "-2.12"),
        (5, 10**6, "0.01"),
        (4, 10**6, "0"),
    ],
)
def test_deviations_are_to_the_hundredth(difference: int, variance: int, expected: str) -> None:
    assert deviations(Fraction(difference), Fraction(variance)) == Fraction(expected)


def test_deviations_agree_with_floating_point_and_survive_what_it_does_not() -> None:
    for difference in range(-400, 400, 7):
        found = deviations(Fraction(difference, 3), Fraction(1_234_567, 89))
        assert found is not None
        assert abs(float(found) - difference / 3 / sqrt(1_234_567 / 89)) <= 0.005 + 1e-9
    assert deviations(Fraction(10**40), Fraction(10**78)) == 10
    assert deviations(Fraction(1), Fraction(0)) is None
    assert standard_deviation(Fraction(10**80)) == 10**40
    assert standard_deviation(Fraction(9, 4)) == 2


def test_a_bet_is_found_by_its_wager() -> None:
    wheel, dice = of_edition("ro-00"), of_edition("cr-base")
    assert bet_of(wheel, "straight_17") == "straight"
    assert bet_of(wheel, "six_16_17_18_19_20_21") == "six"
    assert bet_of(wheel, "dozen_2") == "column, dozen"
    assert bet_of(wheel, "low") == "red, black, odd, even, low, high"
    assert bet_of(dice, "come_6") is not None
    assert bet_of(dice, "place_lose_6") == "place_lose_6, place_lose_8"
    assert bet_of(of_edition("ms-base"), "ante") is None


def test_the_odds_are_those_of_the_case() -> None:
    cover_all = of_edition("ms-cover-all")
    facts = {"players": 3, "dealer_hand": False, "wager": "cover_all"}
    found = odds_of(cover_all, facts)
    assert found is not None
    assert found.case == {"players": 3, "dealer_hand": False}
    assert odds_of(cover_all, facts | {"players": 9}) is None
    wheel = odds_of(of_edition("ro-00"), {"wager": "straight_0"})
    assert wheel is not None
    assert wheel.edge == Fraction(1, 19)


def test_a_progressive_wager_is_worth_what_its_odds_say_at_the_meter() -> None:
    known = of_paytable(builtin()["ms-mg-01"])
    metered = Metered(known)
    metered.add(1, {"major": 1_000_000})
    metered.add(3, {"major": 2_500_000})
    edges = known.edge({"major": 1_000_000}) + 3 * known.edge({"major": 2_500_000})
    spread = known.variance({"major": 1_000_000}) + 3 * known.variance({"major": 2_500_000})
    assert metered.theory == Theory(edges * known.wager_cents, spread * known.wager_cents**2)
    assert metered.envy_theory.win == -known.envy * known.wager_cents * 6  # three of them, two others each
