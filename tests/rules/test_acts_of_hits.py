"""Hits and envy payouts: their steps, and what a rejection restores (CONTRACT §7, DECISIONS A58, A59, A63, A64)."""

from __future__ import annotations

import pytest

from jackpot.rules.hits import hit_name, hit_number
from jackpot.rules.meter import Meter
from tests.rules.lines import ROYAL, STRAIGHT_FLUSH, Lines, moved

HIT = "aa-000001"
LIABILITY, RESERVE, OVERFLOW = (f"level:aa/major:{kind}" for kind in ("liability", "reserve", "overflow"))


@pytest.mark.parametrize("name", ["hit.verify", "hit.approve", "hit.pay", "hit.reject"])
def test_steps_are_refused_in_order(name: str) -> None:
    paying = {"method": "cage"} if name == "hit.pay" else {}
    lines = Lines()
    assert lines.code(name, HIT, colour=1) == ("unknown_field", "/payload/colour")
    assert lines.code(name, HIT, **paying) == "unknown_subject"
    lines.round("R-1", board=STRAIGHT_FLUSH)
    lines.round("R-2", board=STRAIGHT_FLUSH)
    for step in ("hit.verify", "hit.approve"):
        lines.done(step, HIT)
    lines.done("hit.pay", HIT, method="table")
    assert lines.code(name, HIT, **paying) == "already_paid"
    lines.done("hit.reject", "aa-000002")
    assert lines.code(name, "aa-000002", **paying) == "already_rejected"


def test_each_step_follows_the_one_before_it() -> None:
    lines = Lines()
    lines.round("R-1", board=ROYAL)
    assert lines.code("hit.approve", HIT) == "wrong_state"
    assert lines.code("hit.pay", HIT, method="cage") == "wrong_state"
    assert lines.code("hit.verify", HIT, checks=["cards", "dog"]) == ("invalid_value", "/payload/checks/1")
    lines.done("hit.verify", HIT, checks=["cards", "seat"])
    assert lines.code("hit.verify", HIT) == "wrong_state"
    lines.done("hit.approve", HIT, note="seen")
    assert lines.code("hit.pay", HIT) == ("missing_field", "/payload/method")
    assert lines.code("hit.pay", HIT, method="till") == ("invalid_value", "/payload/method")
    lines.done("table.leave", "MS-1")
    paid = lines.done("hit.pay", HIT, method="table")
    assert moved(paid) == [("awards_payable", "table:MS-1:inventory", 10_034, "payment")]
    assert [row["link"] for row in paid["meters"]] == ["aa"], "the link of the hit, wherever its table is"


def test_an_award_of_nothing_walks_the_same_way_without_a_transfer() -> None:
    lines = Lines(st=Meter(0))
    lines.done("link.suspend", "st", "21:00")
    lines.done("link.terms", "st", "21:00", levels=[{"code": "major", "rate_ppm": 0}])
    lines.done("link.resume", "st", "21:00")
    lines.round("R-1", "MS-6", board=ROYAL)
    for step in ("hit.verify", "hit.approve"):
        lines.done(step, "st-000001")
    assert moved(lines.done("hit.pay", "st-000001", method="cage")) == []


def test_a_rejection_gives_back_award_seeds_and_unpaid_envy_in_this_order() -> None:
    lines = Lines(aa=Meter(11_000, 250_000, 400, 0, 700, 0))
    lines.round("R-1", board=ROYAL, seats=(5, 1, 3, 2))
    assert lines.meter("aa") == Meter(10_700, 250_000, 0)
    lines.round("R-2", "MS-2")
    lines.done("payout.pay", "MS-1/R-1/2/5", method="cage")
    lines.done("link.suspend", "aa")
    assert moved(lines.done("hit.reject", HIT)) == [
        ("awards_payable", LIABILITY, 11_068, "rejection"),
        (LIABILITY, RESERVE, 412, "rejection"),
        (LIABILITY, "seed_expense", 9_588, "rejection"),
        (LIABILITY, OVERFLOW, 700, "rejection"),
        ("awards_payable", "envy", 100_000, "rejection"),
        ("awards_payable", "envy", 100_000, "rejection"),
    ], "of three envy payouts one is paid and stands"
    assert lines.meter("aa") == Meter(11_102, 250_000, 418, 0, 700, 0)
    assert lines.code("payout.pay", "MS-1/R-1/3/5", method="cage") == "wrong_state"
    assert lines.code("payout.pay", "MS-1/R-1/2/5", method="cage") == "already_paid"


def test_revenue_goes_back_to_the_overflow_and_missing_seed_is_put_in() -> None:
    lines = Lines(cc=Meter(100, 0, 0, 0, 50, 0))
    lines.round("R-1", "MS-4", board=ROYAL, seats=(5,))
    assert lines.meter("cc").overflow_cents == 0
    lines.done("level.adjust", "cc/major", part="display", cents=-20_000, reason="malfunction")
    answer = lines.done("hit.reject", "cc-000001")
    liability = "level:cc/major:liability"
    assert moved(answer) == [
        ("awards_payable", liability, 125, "rejection"),
        ("adjustments", liability, 19_875, "rejection"),
        (liability, "level:cc/major:reserve", 3, "rejection"),
        (liability, "seed_expense", 19_997, "rejection"),
        ("revenue", "level:cc/major:overflow", 50, "rejection"),
    ]
    assert lines.meter("cc") == Meter(0, 321_700, 3, 111_300, 50, 0)


def test_an_envy_payout_is_named_by_round_and_both_seats() -> None:
    lines = Lines()
    lines.round("A/1/2", board=STRAIGHT_FLUSH, seats=(5, 1))
    for name in ("MS-1/A/1/2/5/1", "MS-1/A/1/2/1/1", "MS-1/A/1/2/01/5", "MS-1", "/1/5", "MS-1/A/1/2/1/5/"):
        assert lines.code("payout.pay", name, method="cage") == "unknown_subject"
    assert lines.code("payout.pay", "MS-1/A/1/2/1/5") == ("missing_field", "/payload/method")
    paid = lines.done("payout.pay", "MS-1/A/1/2/1/5", method="table")
    assert moved(paid) == [("awards_payable", "table:MS-1:inventory", 30_000, "payment")]


def test_hits_are_numbered_in_the_order_of_settlement_a_released_ones_when_it_is_released() -> None:
    lines = Lines()
    lines.round("R-1", board=STRAIGHT_FLUSH, dealing={"players": 7})
    assert lines.round("R-2", board=STRAIGHT_FLUSH)["awards"][0]["hit"] == "aa-000001"
    assert lines.act("round.release", "MS-1/R-1")["awards"][0]["hit"] == "aa-000002"


def test_a_name_is_read_as_it_is_written() -> None:
    for link, number in (("aa", 1), ("a-b", 999_999), ("ms-mg01", 1_000_000), ("aa", 10**18 - 1)):
        assert hit_number(hit_name(link, number)) == (link, number)
    assert hit_number("aa-7") == ("aa", 7), "people leave the zeros out"
    for name in ("-000001", "aa", "aa-00000x", "aa-٠٠٠٠٠١", f"aa-{10**18}"):
        assert hit_number(name) is None
