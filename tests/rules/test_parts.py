"""What was brought to a level's parts is taken back on today's balances (SPEC §6.7, DECISIONS A58)."""

from __future__ import annotations

from accounting.rules.accounts import Movement
from jackpot.rules.meter import Meter
from jackpot.rules.parts import Brought, held, take_back

MILLION = 1_000_000
STANDS = Meter(10_000, 250_000, 30, 0, 5, 999_999)


def test_what_an_event_took_comes_back_to_the_millionth() -> None:
    """A result whose terms had another rate than its lock's took 1.75 cents of the display: they come back as whole cents do."""
    meter, moved = take_back("bay", "major", STANDS, Brought(display=-1_750_000), "correction")
    assert held(meter, "display") == 10_002 * MILLION
    assert meter._replace(value_cents=10_000, residual_millionths=250_000) == STANDS
    (one,) = [each for each in moved if each.amount_cents]
    assert one.amount_cents == 2, "from 10,000 whole cents to 10,002"
    assert one.debit == "contribution_expense"


def test_what_an_event_brought_goes_and_what_lacks_is_made_good() -> None:
    meter, moved = take_back("bay", "major", STANDS, Brought(overflow=7 * MILLION), "void")
    assert held(meter, "overflow") == 999_999, "two whole cents were put in, seven were taken"
    assert [(each.debit, each.amount_cents) for each in moved if each.debit == "adjustments"] == [("adjustments", 2)]
    assert sum(each.amount_cents for each in moved if each.credit == "contribution_expense") == 7


def test_nothing_brought_moves_nothing() -> None:
    assert take_back("bay", "major", STANDS, Brought(), "void") == (STANDS, list[Movement]())
