"""What terms would come to: against brute force and figures by hand, and the simulation against what is exact."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import comb

import pytest

from accounting.rules.paces import a_month
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION, LevelTerms, Meter, contribute, opening
from jackpot.rules.paytable import ProgressivePaytable, Row, builtin
from tables.odds.chance import Band, happenings, mean_wait_within, missed, waiting
from tables.odds.foreseeing import MOST_WAGERS, foresee
from tables.odds.months import Chance, estimate, meters_at_hits, months, prizes_of

HANDS = 2_598_960


def brute(trials: int, chance: Fraction) -> Band:
    """The band of a count, by adding up every probability exactly."""
    sum_, low = Fraction(0), -1
    for number in range(trials + 1):
        sum_ += comb(trials, number) * chance**number * (1 - chance) ** (trials - number)
        if low < 0 and sum_ >= Fraction(5, 100):
            low = number
        if sum_ >= Fraction(95, 100):
            return Band(low, number)
    raise AssertionError


@pytest.mark.parametrize("trials", [1, 2, 7, 40, 120])
@pytest.mark.parametrize(
    "chance", [Fraction(1, 1000), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(0), Fraction(1)]
)
def test_the_band_of_a_count_is_the_one_that_adding_up_gives(trials: int, chance: Fraction) -> None:
    assert happenings(trials, chance) == brute(trials, chance)


def test_a_band_of_a_month_with_a_million_hits() -> None:
    """Far from zero it is the normal one to a hit: 1.6449 standard deviations about the mean."""
    low, high = happenings(4_000_000, Fraction(1, 4))
    deviation = Fraction(1_644_854, 1_000_000) * 866  # the root of 4,000,000 × 1/4 × 3/4 is 866.03
    assert abs(low - (1_000_000 - deviation)) < 3 and abs(high - (1_000_000 + deviation)) < 3


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 50), Fraction(999, 1000), Fraction(1)])
def test_the_band_of_a_wait_is_the_one_that_counting_gives(chance: Fraction) -> None:
    found = []
    for part in (Fraction(5, 100), Fraction(95, 100)):
        waited = 1
        while 1 - (1 - chance) ** waited < part:
            waited += 1
        found.append(waited)
    assert waiting(chance) == tuple(found)


def test_waiting_for_so_many_at_most() -> None:
    chance, most = Fraction(1, 11), 20
    by_hand = sum((min(number, most) * chance * (1 - chance) ** (number - 1) for number in range(1, most)), Fraction(0))
    by_hand += most * (1 - chance) ** (most - 1)
    assert abs(Fraction(mean_wait_within(chance, most)) - by_hand) < Fraction(1, 10**30)
    assert missed(Fraction(1), 3) == 0 and missed(Fraction(1), 0) == 1
    assert missed(Fraction(1, 2), 3) == Decimal("0.125")


def test_what_never_happens_is_not_waited_for() -> None:
    with pytest.raises(ValueError, match="without end"):
        waiting(Fraction(0))
    with pytest.raises(ValueError, match="between 0 and 1"):
        happenings(1, Fraction(3, 2))


def link_of(*levels: LevelTerms, paytable: ProgressivePaytable | None = None) -> LinkTerms:
    """A link of a dollar a wager."""
    return LinkTerms("x", "x", paytable or builtin()["ms-mg-01"], 1, levels)


MAJOR = LevelTerms("major", 1_000_000, 170_000, 30_000)


def start(link: LinkTerms) -> dict[str, Meter]:
    """Every level as it opens."""
    return {level.code: opening(level) for level in link.levels}


def test_the_figures_of_a_published_paytable_by_hand() -> None:
    link = link_of(MAJOR)
    (level,) = foresee(link, start(link), 100_000).levels
    assert (level.chance, level.full_chance) == (Fraction(40, HANDS), Fraction(4, HANDS))
    assert level.hits.mean == 100_000 * Fraction(40, HANDS) and level.hits.exact
    assert level.contributed == 1_700_000 and level.reserved == 300_000
    # Until the next hit 64,974 wagers of 17 cents on average, from $10,000.
    assert level.next_meter is not None and level.next_meter.mean == 1_000_000 + 17 * Fraction(HANDS, 40)
    assert level.wait is not None
    assert (level.next_meter.low, level.next_meter.high) == tuple(1_000_000 + 17 * wait for wait in level.wait)
    # In the long run what comes in, 17 cents and 4/HANDS of $10,000, is what goes out, 7.6/HANDS of the meter.
    assert level.meter is not None and level.meter.exact
    assert level.meter.mean == (17 + Fraction(4_000_000, HANDS)) / Fraction(76, 10 * HANDS)
    # 3 cents a wager to the reserve are more than the 1.54 that resets cost: the house adds nothing in the long run.
    assert level.house_long_run == 0
    said = [each.what for each in level.returns]
    assert said == [
        "at the reset",
        "as it stands",
        "at the mean meter of a hit",
        "where it breaks even",
    ]
    assert level.returns[0].returned == Fraction(1_378_928, HANDS) + 10_000 * Fraction(76, 10 * HANDS)


def test_a_limit_bounds_the_meter_at_the_next_hit() -> None:
    link = link_of(replace(MAJOR, limit_cents=1_000_040))
    (level,) = foresee(link, {"major": Meter(1_000_000, 500_000)}, 1_000).levels
    step, room = 17 * MILLION, 39_500_000  # two whole wagers fit, and 5.5 cents of the third
    chance = level.chance
    by_hand = (
        1_000_000 * MILLION + 500_000 + step * chance + 2 * step * chance * (1 - chance) + room * (1 - chance) ** 2
    ) / MILLION
    assert level.next_meter is not None and abs(level.next_meter.mean - by_hand) < Fraction(1, 10**6)
    assert (level.next_meter.low, level.next_meter.high) == (1_000_040, 1_000_040)
    assert level.meter is not None and not level.meter.exact and level.house_long_run is None
    assert level.meter.low is not None and level.meter.low <= level.meter.mean <= 1_000_040 == level.meter.high


FREQUENT = ProgressivePaytable(
    "often", ("mississippi-stud",), 100,
    (Row("two_pair", "share", "minor", 1_000_000), Row("three_of_a_kind", "share", "minor", 100_000),
     Row("flush", "share", "grand", 1_000_000)),
)  # fmt: skip
MINOR = LevelTerms("minor", 5_000, 100_000, 50_000)
GRAND = LevelTerms("grand", 40_000, 80_000, 10_000, seed_funding="house")


def test_the_simulation_finds_what_is_exact_within_its_error() -> None:
    link = link_of(MINOR, GRAND, paytable=FREQUENT)
    found = foresee(link, start(link), 3_000, seed=7)
    for level in found.levels:
        at_hits = meters_at_hits(link, start(link), 7)[level.terms.code]
        simulated = estimate(at_hits, 40)
        assert level.meter is not None and level.meter.exact
        assert abs(simulated.mean - level.meter.mean) < 4 * simulated.error
        played = [month[level.terms.code] for month in months(link, start(link), 3_000, 7)]
        hits = estimate([month.hits for month in played])
        assert abs(hits.mean - level.hits.mean) < 4 * hits.error
        assert level.hits.low is not None and abs(hits.low - level.hits.low) <= 6
    grand = found.levels[1]
    assert grand.house_long_run is not None and grand.house.error is not None
    assert abs(grand.house.mean - grand.house_long_run) < 4 * grand.house.error, "every reset is the house's"


def test_a_month_loses_nothing() -> None:
    """Opening, contributions and seeds on one side, awards, revenue and what is left on the other, in every month."""
    levels = (
        replace(MINOR, limit_cents=5_500, overflow_policy="revenue", floor_policy="top_up"),
        replace(GRAND, limit_cents=60_000, seed_funding="reserve_then_house"),
    )
    link = link_of(*levels, paytable=FREQUENT)
    begun = {"minor": Meter(5_200, 1, 30, 2, 7, 3), "grand": Meter(50_000)}
    for month in months(link, begun, 2_000, 3)[:50]:
        for level in levels:
            all_at_once = contribute(Meter(0), replace(level, limit_cents=None), 2_000 * 100)
            brought = all_at_once.value_cents + all_at_once.reserve_cents
            before = begun[level.code]
            held = before.value_cents + before.reserve_cents + before.overflow_cents
            played = month[level.code]
            left = played.display_cents + played.reserve_cents + played.overflow_cents
            # Fractions of a cent of three parts may make up to two cents less or more at either end.
            assert abs(held + brought + played.house_cents - played.paid_cents - played.revenue_cents - left) <= 2


def test_the_same_seed_gives_the_same_figures_and_another_others() -> None:
    link = link_of(replace(MAJOR, limit_cents=2_000_000))
    one, same, other = (foresee(link, start(link), 50_000, seed) for seed in (1, 1, 2))
    assert one == same and one.cost != other.cost
    assert [Chance(0).word(), Chance(0).word()] == [0xE220A8397B1DCDAF] * 2  # the published first word of splitmix64


def test_prizes_are_drawn_as_often_as_their_hands() -> None:
    prizes = prizes_of(link_of(MINOR, GRAND, paytable=FREQUENT))
    assert prizes.chance == Fraction(123_552 + 54_912 + 5_108, HANDS)
    chance, drawn = Chance(5), dict.fromkeys(prizes.rows, 0)
    for _ in range(20_000):
        drawn[prizes.drawn(chance)] += 1
    for row, times in drawn.items():
        part = Fraction(row.weight, prizes.weight)
        assert abs(times - 20_000 * part) < 5 * 142, row  # five deviations of an even coin


def test_an_estimate_says_its_error_and_band() -> None:
    found = estimate(list(range(1, 101)))
    assert (found.mean, found.low, found.high, found.values) == (Fraction(101, 2), 5, 95, 100)
    assert abs(found.error - Fraction(2_901, 1_000)) < Fraction(1, 100)  # 29.01 / 10
    assert estimate([3]).error == 0


@pytest.mark.parametrize("wagers", [0, -1, MOST_WAGERS + 1])
def test_a_pace_that_is_no_pace(wagers: int) -> None:
    with pytest.raises(ValueError, match="wagers a month"):
        foresee(link_of(MAJOR), start(link_of(MAJOR)), wagers)


def hours(number: float) -> timedelta:
    """So many hours."""
    return timedelta(hours=number)


def test_a_pace_from_the_record() -> None:
    assert a_month(0, hours(100), least=hours(1)) is None and a_month(5, hours(0.5), least=hours(1)) is None
    assert a_month(1_000, hours(730.485), least=hours(1)) == 1_000  # the mean month
