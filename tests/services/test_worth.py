"""What pages say of paytables and links is what the exact mathematics says."""

from fractions import Fraction

import pytest

from tables.queries.worth import edition_worth, link_worths, percent
from tests.services.house import House


@pytest.mark.parametrize(
    ("value", "places", "said"),
    [
        (Fraction(53223, 1082900), 4, "4.9149 %"),
        (Fraction(-1, 3), 2, "−33.33 %"),
        (Fraction(1, 1000), 4, "0.1000 %"),
        (Fraction(-1, 100_000), 2, "0.00 %"),
        (Fraction(0), 1, "0.0 %"),
    ],
)
def test_percent_is_exact_to_the_last_place(value: Fraction, places: int, said: str) -> None:
    assert percent(value, places) == said


def test_published_editions_say_their_edge() -> None:
    base = edition_worth("ms-base")
    assert base is not None
    assert base.summary == "house edge 4.9149 % of the first wager, 1.3691 % of all staked; wins 16.05 % of rounds"
    cover_all = edition_worth("ms-cover-all")
    assert cover_all is not None
    assert cover_all.by_players == ("9.0 %", "9.8 %", "8.5 %", "8.4 %", "8.1 %", "8.4 %")
    assert cover_all.with_dealer[0] == "−74.5 %"
    assert edition_worth("a-floors-own") is None


def test_an_edition_whose_edge_nobody_can_count_says_why() -> None:
    worth = edition_worth("pg-base")
    assert worth is not None
    assert worth.summary.startswith("how the dealer sets four tiles is not in the rules at hand")


def test_a_links_return_is_on_its_meter_as_it_stands(house: House) -> None:
    """At $10,000 a $1 wager of ms-mg-01 returns 55.98 % (REQUIREMENTS §9); the fixed rows alone 53.06 %."""
    worths = {worth.link: worth for worth in link_worths()}
    assert worths, "the house has links"
    for worth in worths.values():
        assert worth.levels[0].hit_once_in == 64_974
        assert worth.levels[0].full_once_in == 649_740
    one = next(worth for worth in worths.values() if worth.break_even_cents == 16_053_053)
    assert one.returned_now == "55.98 %"
