"""Progressives: the return by the meter, envy, break-even, the long run, and the probability of every level's hit."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from jackpot.rules import link, meter
from jackpot.rules.definition import DefinitionRefused
from jackpot.rules.meter import MILLION, LevelTerms
from jackpot.rules.paytable import ProgressivePaytable, Row, builtin
from jackpot.rules.probability import NoProbability, hit_probability, rarity, row_probability, too_rare
from tables.odds import of_edition
from tables.odds.calculation import count_progressive
from tables.odds.progressive import of_paytable

HANDS = 2_598_960
CODES = ("ms-stud-01", "ms-mg-01", "ms-mg-02")


@pytest.mark.parametrize("code", CODES)
def test_the_published_figures(code: str) -> None:
    odds = of_paytable(builtin()[code])
    units = odds.wager_cents // 100
    assert odds.fixed_return == Fraction(1_378_928, HANDS)
    # (4 + 0.1 × 36) / 2,598,960 of the meter, whatever the wager.
    assert odds.levels[0].mean_share == Fraction(76, 10 * HANDS)
    assert odds.envy == Fraction(14_800, HANDS)
    for dollars, percent in ((10_000, "55.981"), (50_000, "67.678"), (100_000, "82.299")):
        meters = {"major": dollars * 100 * units}
        assert f"{float(odds.returned(meters) * 100):.3f}" == percent
        assert odds.edge(meters) == 1 - odds.returned(meters)
        assert odds.returned(meters, 5) - odds.returned(meters) == Fraction(5 * 14_800, HANDS)
    assert f"{float(odds.envy * 5 * 100):.3f}" == "2.847"


@pytest.mark.parametrize("code", CODES)
def test_the_break_even_meter_returns_the_whole_wager(code: str) -> None:
    odds = of_paytable(builtin()[code])
    last = None
    for others in range(7):
        meter_cents = odds.break_even_cents(others)
        assert meter_cents is not None
        assert odds.returned({"major": meter_cents}, others) == 1
        assert last is None or meter_cents < last
        last = meter_cents
    assert of_paytable(builtin()["ms-stud-01"]).break_even_cents() == Fraction(305_008_000, 19)  # $160,530.53


def test_the_variance_is_that_of_every_hand() -> None:
    """Against the sum over the rows, for a meter of $50,000 and a wager of $1."""
    meter_cents = 5_000_000
    pays: dict[int, Fraction] = {
        4: Fraction(meter_cents, 100),
        36: Fraction(meter_cents, 1000),
        **{ways: Fraction(odds) for ways, odds in ((624, 300), (3744, 50), (5108, 40), (10200, 30), (54912, 9))},
    }
    mean = sum(Fraction(ways) * pay for ways, pay in pays.items()) / HANDS
    square = sum(Fraction(ways) * pay**2 for ways, pay in pays.items()) / HANDS
    odds = of_paytable(builtin()["ms-mg-01"])
    assert odds.returned({"major": meter_cents}) == mean
    assert odds.variance({"major": meter_cents}) == square - mean**2


def test_the_record_is_what_is_counted() -> None:
    for code in CODES:
        recorded = of_edition(code)
        assert recorded == count_progressive(builtin()[code], recorded.digest)
        assert recorded.ordinary.combinations["two_pair"] == 123_552
        assert recorded.ordinary.hit_frequency == Fraction(4 + 36 + 624 + 3744 + 5108 + 10200 + 54912, HANDS)


# A paytable with frequent hits, so that every course of a few wagers can be followed.
OFTEN = ProgressivePaytable(
    "often",
    ("mississippi-stud",),
    100,
    (
        Row("high_card", "share", level="major", share_ppm=MILLION, envy_cents=50),
        Row("pair", "share", level="major", share_ppm=100_000),
    ),
)
TERMS = LevelTerms("major", reset_cents=1_000_000, rate_ppm=170_000, reserve_ppm=30_000)


def test_the_mean_meter_is_that_of_following_a_link_from_reset_to_reset() -> None:
    """E(meter at a full hit) = Σ over the wagers of a cycle, the meter carried as a mean on the courses still alive."""
    odds = of_paytable(OFTEN)
    level = odds.levels[0]
    full, tenth = level.full_probability, level.hit_probability - level.full_probability
    alive, carried, at_hit = Fraction(1), Fraction(TERMS.reset_cents), Fraction(0)
    for _ in range(200):
        carried += alive * 17  # 17 cents from each wager
        at_hit += carried * full
        carried = carried * tenth * Fraction(9, 10) + carried * (1 - full - tenth)
        alive *= 1 - full
    run = odds.long_run(TERMS)
    assert abs(at_hit - run.mean_meter_cents) < Fraction(1, 10**6)
    assert run.wagers_between_full_hits == 1 / full


def test_every_course_of_six_wagers_through_the_real_meter() -> None:
    """The meter rule followed through every course, each by its probability, is where the formula's mean goes."""
    level = of_paytable(OFTEN).levels[0]
    chances = {
        MILLION: level.full_probability,
        100_000: level.hit_probability - level.full_probability,
        0: 1 - level.hit_probability,
    }
    followed = Fraction(0)
    for course in product(chances, repeat=6):
        weight, state = Fraction(1), meter.opening(TERMS)
        for share_ppm in course:
            weight *= chances[share_ppm]
            state = meter.contribute(state, TERMS, 100)
            if share_ppm:
                state = meter.take(state, TERMS, share_ppm).meter
        followed += weight * state.value_cents
    expected = Fraction(TERMS.reset_cents)
    for _ in range(6):
        expected = (expected + 17) * (1 - level.mean_share) + level.full_probability * TERMS.reset_cents
    assert abs(followed - expected) < 1  # the rule pays whole cents and leaves the rest on the meter


def test_the_long_run_of_the_demo_link() -> None:
    odds = of_paytable(builtin()["ms-mg-01"])
    run = odds.long_run(TERMS)
    # ($0.17 + $10,000 × 4 / 2,598,960) / (7.6 / 2,598,960)
    assert run.mean_meter_cents == (Fraction(17) + Fraction(1_000_000 * 4, HANDS)) / Fraction(76, 10 * HANDS)
    assert f"{float(run.mean_meter_cents) / 100:,.2f}" == "63,397.79"
    assert run.wagers_between_full_hits == 649_740
    assert run.house_cents == 0  # three cents of each dollar are more than a reset comes to
    assert odds.long_run(replace(TERMS, reserve_ppm=10_000)).house_cents == Fraction(1_000_000 * 4, HANDS) - 1
    assert odds.long_run(replace(TERMS, seed_funding="house")).house_cents == Fraction(1_000_000 * 4, HANDS)
    # A dollar goes to players, to the house, or stays in the reserve.
    assert odds.long_run_returned((TERMS,)) == odds.fixed_return + Fraction(17, 100) + Fraction(10_000 * 4, HANDS)
    assert odds.long_run_kept((TERMS,)) == 1 - odds.fixed_return - Fraction(20, 100)
    for terms in (TERMS, replace(TERMS, reserve_ppm=10_000), replace(TERMS, seed_funding="house")):
        unspent = odds.long_run(terms).unspent_cents / 100
        assert unspent >= 0
        assert odds.long_run_returned((terms,), 3) + odds.long_run_kept((terms,), 3) + unspent == 1
    # At the mean meter a wager returns what the long run says.
    assert odds.returned({"major": run.mean_meter_cents}) == odds.long_run_returned((TERMS,))
    with pytest.raises(KeyError):
        odds.long_run(replace(TERMS, code="minor"))


def test_several_levels_and_every_kind_of_row() -> None:
    paytable = ProgressivePaytable(
        "two-levels",
        ("let-it-ride",),
        200,
        (
            Row("royal_flush", "share", level="major", share_ppm=MILLION),
            Row("straight_flush", "share", level="minor", share_ppm=MILLION),
            Row("four_of_a_kind", "share", level="minor", share_ppm=250_000),
            Row("full_house", "sum", cents=5_000),
            Row("flush", "to", odds=10),
            Row("straight", "for", odds=3, per=2),
            Row("pair", "push", from_rank="A", to_rank="A"),
        ),
    )
    odds = of_paytable(paytable)
    assert odds.fixed_return == Fraction(3_744 * 25 + 5_108 * 11 + 84_480, HANDS) + Fraction(10_200 * 3, HANDS * 2)
    assert [level.level for level in odds.levels] == ["major", "minor"]
    assert odds.levels[1].hit_probability == Fraction(36 + 624, HANDS)
    assert odds.levels[1].full_probability == Fraction(36, HANDS)
    assert odds.levels[1].mean_share == Fraction(36 + 156, HANDS)
    assert odds.levels[1].square_share == Fraction(36 + 39, HANDS)
    assert odds.break_even_cents() is None
    assert odds.returned({"major": 0, "minor": HANDS * 200}) == odds.fixed_return + 36 + 156


def test_the_probability_of_a_hit_in_each_game_that_fits() -> None:
    for paytable in builtin().values():
        for game in paytable.games:
            assert hit_probability(paytable, "major", game) == Fraction(40, HANDS)
    royal = builtin()["ms-mg-01"].rows[0]
    assert row_probability(royal, "let-it-ride") == Fraction(4, HANDS) == Fraction(1, 649_740)


def test_nothing_is_said_of_hands_that_are_not_known() -> None:
    paytable = builtin()["ms-mg-01"]
    with pytest.raises(NoProbability, match="three-card-poker"):
        hit_probability(paytable, "major", "three-card-poker")
    with pytest.raises(NoProbability, match="no level minor"):
        hit_probability(paytable, "minor", "let-it-ride")


def test_no_jackpot_may_be_rarer_than_one_in_a_hundred_million() -> None:
    assert too_rare(Fraction(1, 100_000_001))
    assert not too_rare(Fraction(1, 100_000_000))
    assert all(rarity(paytable) is None for paytable in builtin().values())
    never = Row("royal_flush", "share", level="major", share_ppm=MILLION, from_rank="2", to_rank="K")
    paytable = replace(OFTEN, rows=(*OFTEN.rows, never))
    assert rarity(paytable) == "royal_flush of level major in mississippi-stud is rarer than one in a hundred million"
    levels = [
        {"code": level, "reset_cents": 1, "rate_ppm": 1}
        for level in dict.fromkeys(row.level for row in paytable.rows)
        if level
    ]
    with pytest.raises(DefinitionRefused, match=r"paytable: royal_flush of level major .* is rarer"):
        link.read({"code": "aa", "paytable": paytable.code, "levels": levels}, {paytable.code: paytable})
    # A game whose hands are not known is refused by the link rule, not here.
    assert rarity(replace(paytable, games=("three-card-poker",))) is None
