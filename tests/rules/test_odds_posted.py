"""Wheels, dice, baccarat, blackjack and tiles: the published figures, and the counts that they come from."""

from fractions import Fraction
from math import comb, perm

import pytest

from tables.odds import of_edition
from tables.odds.craps import base as craps
from tables.odds.edition import WagerOdds
from tables.odds.minibaccarat import counts as baccarat
from tables.odds.pai_gow import two_tile_counts
from tables.rules.paytables import builtin
from tables.rules.roulette import ON_DOUBLE_ZERO, ON_SINGLE_ZERO


def by_bet(code: str, **case: int) -> dict[str, WagerOdds]:
    return {
        str(wager.case["bet"]): wager for wager in of_edition(code).wagers if case.items() <= dict(wager.case).items()
    }


def edge(wager: WagerOdds, places: int = 4) -> float:
    assert wager.edge is not None
    return round(float(wager.edge * 100), places)


EVEN = "red, black, odd, even, low, high"


def test_roulette_with_a_double_zero() -> None:
    bets = by_bet("ro-00")
    assert {edge(wager, 3) for bet, wager in bets.items() if bet != "first_five"} == {5.263}
    assert edge(bets["first_five"], 3) == 7.895
    assert bets["straight"].combinations == {"win": 1, "lose": 37}
    assert bets[EVEN].combinations == {"win": 18, "zero": 2, "lose": 18}
    assert bets["straight"].edge == Fraction(1, 19)


def test_roulette_of_other_houses() -> None:
    assert {edge(wager, 3) for wager in of_edition("ro-0").wagers} == {2.703}
    half = by_bet("ro-00-half")
    assert half[EVEN].edge == Fraction(1, 38)
    assert half["column, dozen"].edge == Fraction(1, 19)
    assert by_bet("ro-00-seven")["seven_numbers"].edge == Fraction(3, 38)


@pytest.mark.parametrize(("wheel", "pockets"), [(ON_DOUBLE_ZERO, 38), (ON_SINGLE_ZERO, 37)])
def test_wagers_of_a_kind_are_on_as_many_numbers(wheel: dict[str, tuple[str, ...]], pockets: int) -> None:
    """What lets one wager of each kind stand for all of them."""
    for kind, numbers in (("straight", 1), ("split", 2), ("three", 3), ("four", 4), ("six", 6), ("dozen", 12)):
        assert {len(set(on)) for wager, on in wheel.items() if wager.startswith(f"{kind}_")} == {numbers}
    assert sum(wager.startswith("straight_") for wager in wheel) == pockets


def test_the_usual_big_six_wheel() -> None:
    assert {bet: edge(wager, 2) for bet, wager in by_bet("bs-base").items()} == {
        "dollar_1": 11.11,
        "dollar_2": 16.67,
        "dollar_5": 22.22,
        "dollar_10": 18.52,
        "dollar_20": 22.22,
        "joker": 14.81,
        "flag": 14.81,
    }


def test_craps() -> None:
    bets = by_bet("cr-base")
    assert bets["pass, come"].edge == Fraction(7, 495)
    assert bets["pass, come"].combinations == {"win": 976, "lose": 1_004}
    assert bets["dont_pass, dont_come"].edge == Fraction(27, 1980)
    assert bets["dont_pass, dont_come"].combinations == {"win": 949, "push": 55, "lose": 976}
    assert {bet: edge(wager, 2) for bet, wager in bets.items() if "place" in bet or "hard" in bet} == {
        "place_4, place_10": 6.67,
        "place_5, place_9": 4.0,
        "place_6, place_8": 1.52,
        "place_lose_4, place_lose_10": 3.03,
        "place_lose_5, place_lose_9": 2.5,
        "place_lose_6, place_lose_8": 1.82,
        "hardway_4": 11.11,
    }
    assert craps(builtin()["cr-base"].rows) == of_edition("cr-base").wagers


def test_minibaccarat_of_eight_decks() -> None:
    assert baccarat(8) == {
        "player": 2_230_518_282_592_256,
        "banker": 2_292_252_566_437_888,
        "tie": 475_627_426_473_216,
    }
    assert {bet: edge(wager) for bet, wager in by_bet("mb-base", decks=8).items()} == {
        "player": 1.2351,
        "banker": 1.0579,
        "tie": 14.3596,
    }
    assert {bet: edge(wager) for bet, wager in by_bet("mb-base", decks=6).items()} == {
        "player": 1.2374,
        "banker": 1.0558,
        "tie": 14.4382,
    }
    assert sum(baccarat(6).values()) == perm(312, 6)


def test_blackjacks_and_insurance() -> None:
    six = by_bet("bj-base", decks=6)
    assert six["wager"].combinations["blackjack"] == 24 * 96
    assert six["wager"].total == comb(312, 2)
    assert six["wager"].edge is None
    assert six["wager"].reason
    assert edge(by_bet("bj-base", decks=8)["insurance"], 2) == 7.47
    assert "insurance" not in by_bet("bj-face-up", decks=8)


def test_pairs_of_tiles() -> None:
    counts = two_tile_counts()
    assert sum(counts.values()) == comb(32, 2)
    assert {name: counts[name] for name in list(counts)[:5]} == {
        "supreme_pair": 1,
        "matched_pair": 11,
        "mixed_pair": 4,
        "wong": 8,
        "gong": 16,
    }
