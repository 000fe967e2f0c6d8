"""Meters: every millionth of a cent is accounted for, whatever is contributed and taken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpot.rules.meter import MILLION, LevelTerms, Meter, Seed, contribute, opening, take

stakes = st.lists(st.integers(1, 100_000), max_size=30)


@st.composite
def levels(draw: st.DrawFn) -> LevelTerms:
    rate = draw(st.integers(0, MILLION))
    reset = draw(st.integers(0, 2_000_000))
    return LevelTerms(
        "major",
        reset_cents=reset,
        rate_ppm=rate,
        reserve_ppm=draw(st.integers(0, MILLION - rate)),
        limit_cents=draw(st.none() | st.integers(max(reset, 1), reset + 50_000)),
        overflow_policy=draw(st.sampled_from(["next_reset", "revenue"])),
        seed_funding=draw(st.sampled_from(["reserve_then_house", "house"])),
        floor_policy=draw(st.sampled_from(["allow", "top_up"])),
    )


def millionths(meter: Meter) -> tuple[int, int]:
    """What display and overflow hold together, and what the reserve holds."""
    return (
        (meter.value_cents + meter.overflow_cents) * MILLION
        + meter.residual_millionths
        + meter.overflow_residual_millionths,
        meter.reserve_cents * MILLION + meter.reserve_residual_millionths,
    )


def in_bounds(meter: Meter) -> bool:
    residuals = (meter.residual_millionths, meter.reserve_residual_millionths, meter.overflow_residual_millionths)
    return (
        all(0 <= residual < MILLION for residual in residuals)
        and min(meter.value_cents, meter.reserve_cents, meter.overflow_cents) >= 0
    )


@given(levels(), stakes)
def test_contributions_are_stake_times_rate_to_the_millionth(terms: LevelTerms, wagered: list[int]) -> None:
    meter = opening(terms)
    for stake in wagered:
        meter = contribute(meter, terms, stake)
        assert in_bounds(meter)
        if terms.limit_cents is not None:
            assert meter.value_cents * MILLION + meter.residual_millionths <= terms.limit_cents * MILLION
    display, reserve = millionths(meter)
    assert display == terms.reset_cents * MILLION + sum(wagered) * terms.rate_ppm
    assert reserve == sum(wagered) * terms.reserve_ppm
    assert meter == contribute(opening(terms), terms, sum(wagered)), "one by one or all at once is the same"


@given(levels(), stakes, st.lists(st.integers(1, MILLION), max_size=6))
def test_awards_pay_out_of_the_meter_and_lose_nothing(terms: LevelTerms, wagered: list[int], shares: list[int]) -> None:
    meter = contribute(opening(terms), terms, sum(wagered))
    for share in shares:
        taken = take(meter, terms, share)
        assert taken.paid_cents == meter.value_cents * share // MILLION
        assert in_bounds(taken.meter)
        before, after = millionths(meter), millionths(taken.meter)
        seeded = taken.seed.reserve_cents + taken.seed.house_cents
        assert after[0] == before[0] - (taken.paid_cents + taken.revenue_cents - seeded) * MILLION
        assert after[1] == before[1] - taken.seed.reserve_cents * MILLION
        assert taken.meter.residual_millionths == meter.residual_millionths, "the residual stays on the meter"
        assert taken.meter.overflow_residual_millionths == meter.overflow_residual_millionths
        if terms.seed_funding == "house":
            assert taken.seed.reserve_cents == 0
        elif seeded:
            assert taken.seed.house_cents == 0 or taken.meter.reserve_cents == 0, "the reserve goes first"
        if share == MILLION:
            assert taken.meter.value_cents == terms.reset_cents + taken.seed.overflow_cents
            assert seeded == terms.reset_cents
        elif terms.floor_policy == "top_up":
            assert taken.meter.value_cents == max(terms.reset_cents, meter.value_cents - taken.paid_cents)
        else:
            assert taken.seed == Seed(0, 0, 0)
        if terms.limit_cents is not None:
            assert taken.meter.value_cents * MILLION + taken.meter.residual_millionths <= max(
                terms.limit_cents * MILLION, terms.reset_cents * MILLION + meter.residual_millionths
            )
        meter = taken.meter


PLAIN = LevelTerms("major", reset_cents=1_000_000, rate_ppm=170_000, reserve_ppm=30_000)
LIMITED = replace(PLAIN, limit_cents=50_000_000)


def test_a_contribution_is_split_exactly_at_the_limit() -> None:
    meter = contribute(Meter(49_999_999, 500_000), LIMITED, 200)
    assert meter == Meter(50_000_000, 0, 6, 0, 33, 500_000)


def test_a_meter_above_its_limit_is_left_alone() -> None:
    meter = contribute(Meter(50_000_007, 300_000), LIMITED, 100)
    assert meter == Meter(50_000_007, 300_000, 3, 0, 17, 0)


def test_a_full_award_takes_the_display_and_reseeds_from_the_reserve_first() -> None:
    taken = take(Meter(8_765_458, 291_700, 400_003, 111_300), PLAIN, MILLION)
    assert taken.paid_cents == 8_765_458
    assert taken.meter == Meter(1_000_000, 291_700, 0, 111_300)
    assert taken.seed == Seed(reserve_cents=400_003, house_cents=599_997, overflow_cents=0)


def test_a_rich_reserve_keeps_what_the_reset_does_not_need() -> None:
    taken = take(Meter(5_000_000, 0, 1_200_000), PLAIN, MILLION)
    assert taken.meter.reserve_cents == 200_000
    assert taken.seed == Seed(1_000_000, 0, 0)


def test_overflow_joins_the_next_reset_never_beyond_the_limit() -> None:
    taken = take(Meter(50_000_000, 0, 0, 0, 49_000_009, 123), LIMITED, MILLION)
    assert taken.meter == Meter(50_000_000, 0, 0, 0, 9, 123)
    assert taken.seed.overflow_cents == 49_000_000
    # The fraction that stays on the meter needs room as well.
    taken = take(Meter(9_000_000, 1, 0, 0, 49_000_009, 123), LIMITED, MILLION)
    assert taken.meter == Meter(49_999_999, 1, 0, 0, 10, 123)


def test_overflow_without_a_limit_joins_whole() -> None:
    taken = take(Meter(2_000_000, 0, 0, 0, 77, 5), PLAIN, MILLION)
    assert taken.meter == Meter(1_000_077, 0, 0, 0, 0, 5)


def test_overflow_as_revenue_leaves_whole_cents_only() -> None:
    terms = replace(LIMITED, overflow_policy="revenue")
    taken = take(Meter(50_000_000, 0, 0, 0, 77, 5), terms, MILLION)
    assert taken.meter == Meter(1_000_000, 0, 0, 0, 0, 5)
    assert (taken.revenue_cents, taken.seed.overflow_cents) == (77, 0)


def test_a_share_is_rounded_down_and_takes_no_overflow() -> None:
    taken = take(Meter(5_000_051, 999_999, 7, 0, 400, 5), LIMITED, 100_000)
    assert taken.paid_cents == 500_005
    assert taken.meter == Meter(4_500_046, 999_999, 7, 0, 400, 5)
    assert taken.seed == Seed(0, 0, 0)


@pytest.mark.parametrize(
    ("funding", "seed", "reserve_left"),
    [("reserve_then_house", Seed(400, 99_584, 0), 0), ("house", Seed(0, 99_984, 0), 400)],
)
def test_a_top_up_fills_whole_cents_to_the_reset(funding: str, seed: Seed, reserve_left: int) -> None:
    terms = replace(PLAIN, floor_policy="top_up", seed_funding=funding)
    taken = take(Meter(1_000_017, 250_000, 400), terms, 100_000)
    assert taken.paid_cents == 100_001
    assert taken.seed == seed
    assert taken.meter == Meter(1_000_000, 250_000, reserve_left)


def test_a_top_up_is_not_needed_above_the_reset() -> None:
    terms = replace(PLAIN, floor_policy="top_up")
    assert take(Meter(2_000_000), terms, 100_000).seed == Seed(0, 0, 0)
