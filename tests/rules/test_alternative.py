"""A link's rounds under other terms, without a database: locks, and that nothing is lost on the side that would have been."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from accounting.rules.moments import nanoseconds
from jackpot.rules.decision import Act
from jackpot.rules.link import LinkTerms
from jackpot.rules.meter import MILLION, Meter
from tables.rules import lock
from tables.rules.alternative import Alternative, difference
from tables.rules.deciding import Result
from tables.rules.floor import read_floor
from tables.rules.house import House, house_of
from tables.rules.lock import LockMessage
from tables.rules.locking import Lock
from tables.rules.message import RoundMessage
from tests.services.house import DEALT_AT, FLOOR, message, royal, seat, two_hits

MOMENT = nanoseconds(DEALT_AT)


def house() -> House:
    """The floor of the tests, as a running house sees it."""
    floor = read_floor(FLOOR)
    meters = {
        code: {level.code: Meter(level.reset_cents) for level in link.levels} for code, link in floor.links.items()
    }
    found = house_of(floor, meters)
    found.remembers = False
    return found


def terms(**more: Any) -> LinkTerms:
    """The terms of the link, with its level changed."""
    link = read_floor(FLOOR).links["ms-mg01"]
    return replace(link, levels=tuple(replace(level, **more) for level in link.levels))


def result(sent: dict[str, Any]) -> Result:
    return Result(msgspec.convert(sent, RoundMessage), MOMENT)


def locked(sent: dict[str, Any], *seats: int) -> Lock:
    """The lock of a round's progressive wagers, of these seats or of all."""
    said = {
        "kind": "lock",
        "round": sent["round"],
        "table": sent["table"],
        "locked_at": DEALT_AT,
        "seats": [
            {"seat": each["seat"], "wagers": {"progressive": each["wagers"]["progressive"]}}
            for each in sent["seats"]
            if "progressive" in each["wagers"] and (not seats or each["seat"] in seats)
        ],
    }
    read = lock.read(said, {"MS-101"})
    assert isinstance(read, LockMessage), read
    return Lock(read, MOMENT)


CHANGES: list[dict[str, Any]] = [
    {}, {"rate_ppm": 250_001}, {"rate_ppm": 0, "reserve_ppm": 0}, {"limit_cents": 1_000_020, "overflow_policy": "revenue"},
    {"limit_cents": 1_000_020}, {"floor_policy": "top_up", "seed_funding": "house"},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_with_a_lock_a_round_comes_to_what_it_comes_to_without(change: dict[str, Any]) -> None:
    sent = [message("R-1"), two_hits("R-2"), royal("R-3"), message("R-4")]
    plain, two_phase = Alternative(house(), terms(**change)), Alternative(house(), terms(**change))
    for each in sent:
        plain.round(result(each))
        two_phase.lock(locked(each))
        two_phase.round(result(each))
    assert two_phase.levels == plain.levels and two_phase.wagers == plain.wagers and not two_phase.held
    for tally in plain.levels.values():
        assert tally.unexplained_millionths == 0
        stakes = plain.wagers * 100
        assert tally.contributed_millionths == stakes * terms(**change).levels[0].rate_ppm
        assert tally.reserved_millionths == stakes * terms(**change).levels[0].reserve_ppm


def test_a_lock_that_is_voided_leaves_nothing() -> None:
    other = Alternative(house(), terms(rate_ppm=250_000))
    other.lock(locked(message("R-1")))
    assert other.levels["major"].meter.value_cents == 1_000_025
    other.void_lock(Act("lock.void", "MS-101/R-1", DEALT_AT, {}))
    tally = other.levels["major"]
    assert (tally.meter, tally.contributed_millionths, tally.reserved_millionths) == (tally.began, 0, 0)
    assert tally.unexplained_millionths == 0
    other.void_lock(Act("lock.void", "MS-101/R-1", DEALT_AT, {}))  # it is gone: nothing is taken twice
    other.round(result(message("R-1")))
    assert tally.contributed_millionths == 25 * MILLION, "its result is decided as if there had been no lock"


def test_what_a_void_lock_took_and_an_award_has_paid_the_house_makes_good() -> None:
    other = Alternative(house(), terms(reset_cents=0, rate_ppm=250_000, reserve_ppm=0))
    other.lock(locked(message("R-1")))
    other.round(result(royal("R-2")))  # the meter is gone, with the lock's contribution
    other.void_lock(Act("lock.void", "MS-101/R-1", DEALT_AT, {}))
    tally = other.levels["major"]
    assert (tally.meter.value_cents, tally.made_good_cents) == (0, 25)
    assert tally.cost_millionths == 75 * MILLION, "three wagers of a dollar, the one given back among them"
    assert tally.unexplained_millionths == 0


def test_what_a_void_round_takes_back_of_its_lock_and_an_award_has_paid_the_house_makes_good() -> None:
    other = Alternative(house(), terms(reset_cents=0, rate_ppm=250_000, reserve_ppm=0))
    other.lock(locked(message("R-1")))
    other.round(result(royal("R-2")))
    other.round(result(message("R-1", irregularities=[{"code": "shoe_failed"}])))
    tally = other.levels["major"]
    assert (tally.meter.value_cents, tally.made_good_cents) == (0, 25)
    assert tally.cost_millionths == 75 * MILLION, "three wagers of a dollar, the one given back among them"
    assert tally.carried == {"display": 25 * MILLION, "reserve": 0, "overflow": 0}
    assert tally.unexplained_millionths == 0


def test_a_lock_that_the_terms_would_have_held_is_as_if_it_had_never_come() -> None:
    two = message("R-1", seat(1, "3s 7d", progressive=100), seat(2, "3c 7h", progressive=100))
    other = Alternative(house(), terms(unreasonable_cents=20))
    other.lock(locked(two))
    assert other.held == {"unreasonable_contribution": 1}
    assert other.levels["major"].meter == other.levels["major"].began


def test_the_difference_of_two_meters() -> None:
    before, after = Meter(10, 999_999, 5, 0, 0, 1), Meter(11, 0, 4, 1, 0, 1)
    assert difference(before, after) == {"display": 1, "reserve": -999_999}
    assert difference(after, after) == {}
