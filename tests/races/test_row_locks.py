"""Whoever decides by what a row says holds it until it has decided: two who do the same at once do it one after the other.

Each of these fails when its lock is taken away: what the second found before it waited was not so any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import transaction

from accounting.models import AuditRecord
from accounting.people.models import SavedFilter
from accounting.people.services import accounts, filters, links
from accounting.people.services.acting import Actor, PersonRefused
from accounting.queries import NUMBERED
from accounting.services import audit, house_numbers
from accounting.slips.models import Particulars, Slip, SlipPayment, SlipPrint, SlipVoid
from accounting.slips.services import letting_go, printing, slips, winners
from accounting.slips.services.slips import Issuing
from tables.services.slips import payable
from tests.races.test_office_locks import after, refused_by
from tests.services.attempts.office import AT
from tests.services.attempts.slips import new_slip
from tests.services.desk import ANYBODY
from tests.services.house import LINKED, House, royal, value
from tests.services.test_slips import ENVY, ask
from tests.services.test_winners import LONG_AGO, payee

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


def test_a_one_time_link_is_not_used_while_its_person_is_suspended(busy_house: House) -> None:
    """It is this very link that is held, whoever else has one."""
    for name in ("ann", "maria", "zoe"):
        accounts.invite(name, ["cage"], secret=f"{name}'s", by=SAM, at=AT)
    use = after(
        lambda: accounts.suspend("maria", by=SAM, at=AT),
        lambda: links.use("maria", "maria's", "a long enough password", address="here", at=AT),
    )
    with pytest.raises(PersonRefused) as refusal:
        use.done()
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


def test_a_number_of_an_account_is_told_from_the_one_before(busy_house: House) -> None:
    numbers = iter(["1010", "1020"])
    twice(lambda: house_numbers.give({"cage": next(numbers)}, by="ann", at=AT))
    told = AuditRecord.objects.filter(action=NUMBERED).order_by("id").values_list("detail", flat=True)
    assert [tuple(each["changes"][0][side] for side in ("before", "after")) for each in told] == [
        ("none", "1010"), ("1010", "1020"),
    ]  # fmt: skip


def test_two_who_give_roles_to_one_person_see_each_other(busy_house: House) -> None:
    """Each alone would go: the database itself lets the second see what the first has given."""
    person = User.objects.create(username="maria")
    manager, cage = (Group.objects.get_or_create(name=role)[0] for role in ("manager", "cage"))
    second = after(lambda: person.groups.add(manager), lambda: User.objects.get(pk=person.pk).groups.add(cage))
    assert refused_by(second) == "nobody_holds_gaming_and_accounting_roles"


def test_a_slip_is_not_paid_while_it_is_voided(busy_house: House) -> None:
    """Rows past the service: the payment waits for the void, and is refused then."""
    slip = new_slip(busy_house)
    _, event = busy_house.act("payout.pay", slip.subject, method="cage")

    def void() -> None:
        slips.void(slip.number, reason="torn", by="ada", approved_by=["ben"], at=AT)

    paid = after(void, lambda: SlipPayment.objects.create(slip=slip, event=event, at=AT, by="ada"))
    assert refused_by(paid) == "a_void_slip_is_not_paid"
    assert (SlipVoid.objects.count(), SlipPayment.objects.count()) == (1, 0)


def test_slips_of_two_payouts_are_numbered_one_after_the_other(busy_house: House) -> None:
    busy_house.play(royal("R-1"), royal("R-2"))
    subjects = [f"{LINKED}/{reference}/1/3" for reference in ("R-1", "R-2")]

    @transaction.atomic
    def issue(subject: str) -> Slip:
        how = Issuing(
            "cage", "cash", "ada", [], {"wager_cents": 100, "lines": [{"subject": subject, "cents": 100_000}]}
        )
        return slips.issue(payable(subject), how, at=AT)

    after(lambda: issue(subjects[0]), lambda: issue(subjects[1])).done()
    assert list(Slip.objects.order_by("number").values_list("number", "subject")) == list(enumerate(subjects, 1))
    assert audit.check_audit_trail() == []


def test_who_won_is_not_let_go_of_while_the_slip_is_paid(busy_house: House) -> None:
    """What is paid now begins its term now."""
    busy_house.play(royal("R-1"))
    cents = value("SELECT cents FROM tables_payout WHERE kind = 'envy'")
    winners.take_down(ENVY, [payee(cents)], by="cage", at=LONG_AGO, random=os.urandom)
    slip = new_slip(busy_house)
    _, event = busy_house.act("payout.pay", slip.subject, method="cage")
    gone = after(
        lambda: SlipPayment.objects.create(slip=slip, event=event, at=AT, by="ada"), lambda: letting_go.let_go(AT)
    )
    assert gone.done() == 0
    assert not Particulars.objects.filter(sealed=b"").exists()
