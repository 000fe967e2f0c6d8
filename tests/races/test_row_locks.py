"""Whoever decides by what a row says holds it until it has decided: two who do the same at once do it one after the other.

Each of these fails when its lock is taken away: what the second found before it waited was not so any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from accounting.people.models import SavedFilter
from accounting.people.services import accounts, filters, links
from accounting.people.services.acting import Actor, PersonRefused
from accounting.services import audit
from accounting.slips.models import Particulars, SlipPrint
from accounting.slips.services import printing, winners
from tests.races.test_office_locks import after
from tests.services.attempts.office import AT
from tests.services.desk import ANYBODY
from tests.services.house import House, royal, value
from tests.services.test_slips import ENVY, ask
from tests.services.test_winners import payee

SAM = Actor("sam", "here")


@pytest.fixture(autouse=True)
def _key(settings: Any) -> None:
    settings.PATRON_KEY = "A" * 43


def twice(act: Callable[[], Any]) -> Any:
    """Do something while another who has done the same is not over; what comes of the second."""
    return after(act, act).done()


def test_the_second_print_of_a_slip_is_a_duplicate(busy_house: House) -> None:
    busy_house.play(royal("R-1"))
    ask("slip.issue", ENVY, ANYBODY["supervisor"], method="table", form="chips")
    twice(lambda: printing.print_slip(1, by="cage", at=AT))
    assert list(SlipPrint.objects.order_by("id").values_list("copy", flat=True)) == [0, 1]
    assert audit.check_audit_trail() == []


def test_who_won_is_taken_down_in_one_order(busy_house: House) -> None:
    busy_house.play(royal("R-1"))
    cents = value("SELECT cents FROM tables_payout WHERE kind = 'envy'")
    twice(lambda: winners.take_down(ENVY, [payee(cents)], by="cage", at=AT, random=os.urandom))
    assert list(Particulars.objects.order_by("id").values_list("edition", flat=True)) == [1, 2]


def test_a_one_time_link_is_used_once(busy_house: House) -> None:
    accounts.invite("maria", ["cage"], secret="first", by=SAM, at=AT)

    def use() -> None:
        links.use("maria", "first", "a long enough password", address="here", at=AT)

    with pytest.raises(PersonRefused) as refusal:
        twice(use)
    assert refusal.value.code == "no_such_link"


def test_a_person_is_suspended_once(busy_house: House) -> None:
    accounts.invite("maria", ["cage"], secret="first", by=SAM, at=AT)
    with pytest.raises(PersonRefused) as refusal:
        twice(lambda: accounts.suspend("maria", by=SAM, at=AT))
    assert refusal.value.code == "already_suspended"


def test_two_searches_kept_at_once_have_a_place_each(busy_house: House) -> None:
    maria = accounts.invite("maria", ["cage"], secret="first", by=SAM, at=AT)
    names = iter(["first", "second"])
    twice(lambda: filters.save(maria, "payouts", next(names), "kind=envy", roles=["cage"], at=AT))
    assert list(SavedFilter.objects.order_by("id").values_list("name", "place")) == [("first", 1), ("second", 2)]
