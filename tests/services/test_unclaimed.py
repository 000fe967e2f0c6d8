"""What nobody came for in the running house: register, job, page, acts of accounting (REQUIREMENTS R83)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta

import pytest
import time_machine

from accounting.office import registry
from accounting.office.services.jobs import Report
from accounting.queries import trial_balance
from accounting.reporting import making
from accounting.rules.acts import ActRefused
from accounting.rules.roles import ACCOUNTING, CAGE, CONTROLLER
from jackpot import hit_queries
from tables import jobs, reports
from tables.queries import payouts
from tables.queries.unclaimed import Owed, owed, waiting
from tests.services.house import LINKED, RECEIVED, TWIN, House, rows, royal, run, two_hits, verify

FIRST = "ms-mg01-000001"
WON = date(2026, 11, 27)
NEXT, YEAR = RECEIVED + timedelta(days=1), RECEIVED + timedelta(days=366)


def approved(house: House) -> None:
    """A royal that is approved, with its envy; and two hits that nobody has looked at."""
    house.play(royal("R-1"), two_hits("R-2"))
    for step in ("hit.verify", "hit.approve"):
        house.act(step, FIRST)


def standing() -> dict[str, tuple[str, int]]:
    """The register by name: state and cents."""
    return {each.name: (each.state, each.cents) for each in owed()}


def balance(account: str) -> int:
    """What the books owe on an account, in cents."""
    return -next((each.after_cents for each in trial_balance(date.max) if each.code == account), 0)


def booked(at: object) -> dict[str, object]:
    """What the job says when it is run at a moment."""
    with time_machine.travel(at, tick=False):  # type: ignore[arg-type]
        return jobs.book_unclaimed(Report())


def test_the_register_has_what_may_be_handed_over_and_its_terms(house: House) -> None:
    approved(house)
    found = owed()
    assert {each.name for each in found if each.what == "hit"} == {FIRST}, "what is not approved is not owed yet"
    assert {each.name for each in found if each.what == "payout"} == {
        f"{LINKED}/R-1/1/3", f"{LINKED}/R-2/2/6", f"{LINKED}/R-2/4/6", f"{LINKED}/R-2/4/2", f"{LINKED}/R-2/6/2",
    }  # fmt: skip
    assert {(each.won_on, each.unclaimed_from, each.state_from) for each in found} == {
        (WON, date(2026, 11, 28), date(2027, 11, 28))
    }
    house.act("payout.pay", f"{LINKED}/R-1/1/3", method="cage")
    assert f"{LINKED}/R-1/1/3" not in standing()


def test_the_job_books_what_is_due_once_and_leaves_the_books_agreeing(busy_house: House) -> None:
    house = busy_house
    approved(house)
    before = standing()
    assert booked(RECEIVED) == {"ok": True, "summary": "0 booked as unclaimed, 0.00 dollars"}, "not on its own day"
    cents = sum(amount for _, amount in before.values())
    assert booked(NEXT)["summary"] == f"6 booked as unclaimed, {cents // 100:,}.{cents % 100:02d} dollars"
    assert standing() == {name: ("unclaimed", amount) for name, (_, amount) in before.items()}
    assert balance("unclaimed") == cents
    assert booked(NEXT)["summary"] == "0 booked as unclaimed, 0.00 dollars"
    assert {by for (by,) in rows("SELECT by FROM tables_envyunclaimed")} == {"the service"}
    states = {each["state"] for each in payouts.page({"kind": "envy"}).items}
    assert states == {"unclaimed"}
    assert payouts.page({"state": "unclaimed"}).items
    verify()


def test_the_register_as_a_report_tells_what_is_payable_from_what_is_unclaimed_and_says_what_is_due(
    house: House,
) -> None:
    approved(house)
    cents = {each.name: each.cents for each in [*owed(), *waiting()]}
    envy, detected = f"{LINKED}/R-1/1/3", ("ms-mg01-000002", "ms-mg01-000003")
    assert set(detected) < set(cents)

    def shown(at: datetime, *state: str) -> dict[object, tuple[object, ...]]:
        asked = making.asked(reports.UNCLAIMED, [("state", [*state])] if state else [], at=at)
        return {name: (*amounts, due) for _, name, _, _, *amounts, _, _, due in reports.UNCLAIMED.rows(asked)}

    def expected(due: str | None) -> dict[str, tuple[object, ...]]:
        return {name: (whole, 0, "verify and approve" if name in detected else due) for name, whole in cents.items()}

    assert (shown(RECEIVED), shown(NEXT)) == (expected(None), expected("book as unclaimed"))
    house.act("payout.unclaimed", envy, at=NEXT)
    assert shown(NEXT) == expected("book as unclaimed") | {envy: (0, cents[envy], None)}
    assert shown(YEAR, "unclaimed") == {envy: (0, cents[envy], "remit to the state")}
    asked = making.asked(reports.UNCLAIMED, [], at=NEXT)
    assert all("agrees" in said for said in reports.UNCLAIMED.remarks(asked))


def test_what_somebody_saw_to_meanwhile_is_left_alone_and_any_other_refusal_ends_the_job(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(house)
    listed, paid = owed(), f"{LINKED}/R-1/1/3"
    house.act("payout.pay", paid, method="cage")
    house.act("hit.reject", FIRST)
    left = [each.cents for each in listed if each.name not in (paid, FIRST)]
    monkeypatch.setattr(jobs, "owed", lambda: listed)
    assert booked(NEXT)["summary"] == f"{len(left)} booked as unclaimed, {sum(left) // 100:,}.00 dollars"
    monkeypatch.setattr(jobs, "owed", lambda: [replace(listed[0], name="ms-mg01-000099")])
    with pytest.raises(ActRefused) as refusal:
        booked(NEXT)
    assert refusal.value.code == "unknown_subject"


def test_an_unclaimed_award_is_paid_or_goes_to_the_state(busy_house: House) -> None:
    house = busy_house
    approved(house)
    booked(NEXT)
    whole = balance("unclaimed")
    house.act("hit.pay", FIRST, at=NEXT, method="cage")
    paid = whole - balance("unclaimed")
    ((award,),) = rows("SELECT paid_cents FROM jackpot_hit WHERE number = 1")
    assert paid == balance("cage") == award
    envy = f"{LINKED}/R-2/4/2"
    with pytest.raises(ActRefused) as refusal:
        house.act("payout.remit", envy, at=YEAR - timedelta(days=1))
    assert refusal.value.code == "not_due"
    house.act("payout.remit", envy, at=YEAR)
    assert balance("state_payable") == 100_000
    assert envy not in standing()
    assert {each["state"] for each in payouts.page({"state": "remitted"}).items} == {"remitted"}
    verify()


def test_who_books_and_who_remits() -> None:
    acts = registry.acts()
    for name in ("hit.unclaimed", "payout.unclaimed"):
        assert (acts[name].proposes, acts[name].approves) == (frozenset({ACCOUNTING, CONTROLLER}), ())
    for name in ("hit.remit", "payout.remit"):
        assert acts[name].proposes == frozenset({ACCOUNTING})
        assert [(tier.role, tier.count, tier.from_cents) for tier in acts[name].approves] == [(CONTROLLER, 1, 0)]
        assert CAGE not in acts[name].proposes


def test_an_act_is_due_only_from_its_day() -> None:
    one = Owed("hit", FIRST, 5, "approved", WON, date(2026, 11, 28), date(2027, 11, 28))
    assert (one.due(WON), one.due(date(2026, 11, 28))) == (None, "hit.unclaimed")
    waits = Owed("payout", "x", 5, "unclaimed", WON, date(2026, 11, 28), date(2027, 11, 28))
    assert (waits.due(date(2027, 11, 27)), waits.due(date(2027, 11, 28))) == (None, "payout.remit")


def test_awards_come_in_the_order_they_were_won_and_one_of_nothing_is_none(house: House) -> None:
    """A share of a meter that is at zero is detected, verified and approved like any other, and nobody can hand it over."""
    house.play(royal("R-1"), two_hits("R-2"), royal("R-1", table=TWIN))
    hits = [FIRST, "ms-mg01-000002", "ms-mg01-000003", "twin-000001"]
    for hit in reversed(hits):
        for step in ("hit.verify", "hit.approve"):
            house.act(step, hit)
    assert [name for name, *_ in hit_queries.awards_to_hand_over()] == hits
    run("SET LOCAL session_replication_role = replica")
    run("UPDATE jackpot_hit SET paid_cents = 0 WHERE number = 2")
    assert [name for name, *_ in hit_queries.awards_to_hand_over()] == [hits[0], *hits[2:]]
