"""From when on what a table held is an exception: by data, to the hundredth of a standard deviation (REQUIREMENTS R101)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from tables.odds.theory import Theory
from tables.odds.thresholds import Thresholds, by_jurisdiction, thresholds_in

TERMS = Thresholds(
    deviations_hundredths=300, share_ppm=40_000, least_wagers=1_000, weeks_before=4, review_within_days=7
)


@pytest.mark.parametrize(
    ("wagers", "hold_cents", "variance", "passed"),
    [
        (1_000, 1_300, 10_000, False), (1_000, 1_301, 10_000, True), (1_000, 700, 10_000, False), (1_000, 699, 10_000, True),
        (999, 9_999, 10_000, False), (1_000, 1_400, None, False), (1_000, 1_401, None, True), (1_000, 599, None, True),
    ],
)  # fmt: skip
def test_more_than_three_deviations_or_four_percent_of_the_handle_is_an_exception(
    wagers: int, hold_cents: int, variance: int | None, passed: bool
) -> None:
    """Of a handle of 100.00 with a theory of 10.00; one deviation is 1.00."""
    theory = Theory(Fraction(1_000), None if variance is None else Fraction(variance))
    assert TERMS.are_passed(wagers, 10_000, hold_cents, theory) is passed


def test_without_a_theory_or_a_handle_nothing_is() -> None:
    assert not TERMS.are_passed(5_000, 10_000, 9_999, Theory(None, None))
    assert not TERMS.are_passed(5_000, 0, -1, Theory(Fraction(0), None))


def test_thresholds_are_data_by_jurisdiction_and_day(monkeypatch: pytest.MonkeyPatch) -> None:
    assert thresholds_in("nowhere", date(2026, 11, 27)) == by_jurisdiction()[""][-1][1] == TERMS
    later = replace(TERMS, deviations_hundredths=250)
    of_ohio = {"OH": [(date(2026, 1, 1), TERMS), (date(2027, 1, 1), later)]}
    monkeypatch.setattr("tables.odds.thresholds.by_jurisdiction", lambda: by_jurisdiction.__wrapped__() | of_ohio)
    counts = [thresholds_in("OH", day) for day in (date(2025, 6, 1), date(2026, 12, 31), date(2027, 1, 1))]
    assert counts == [TERMS, TERMS, later]
    assert thresholds_in("MA", date(2027, 1, 1)) == TERMS
