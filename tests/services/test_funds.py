"""Funds behind what links owe: recorded by accounting, short ones close a link for new wagers (REQUIREMENTS R84)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounting.office.acts import Asked
from accounting.office.refusals import NotYours
from accounting.office.rules.person import Person
from accounting.office.services import proposals
from accounting.rules.acts import ActRefused
from accounting.rules.funds import FundsTerms, by_jurisdiction, funds_terms_in
from accounting.rules.roles import ACCOUNTING, MANAGER
from devices import exceptions
from devices.audit.findings import Difference
from devices.audit.funds import compare_funds
from devices.intake.lookout import LOOKOUTS
from jackpot import fund_queries
from jackpot.acts import links as link_acts
from jackpot.fund_queries import Funds, funds
from jackpot.rules.decision import Act
from jackpot.services import acts
from jackpot.services import funds as recording
from tests.rules.lines import Lines
from tests.services.house import (
    DEALT,
    LINKED,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    rows,
    royal,
    run,
    value,
    verify,
)

LINK = "ms-mg01"
LATER = RECEIVED + timedelta(minutes=1)


@pytest.fixture
def required(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Turns the requirement on; called with False, off again."""

    def turn(on: bool) -> None:
        monkeypatch.setattr("jackpot.fund_queries.funds_terms_in", lambda jurisdiction, day: FundsTerms(on, 7))

    turn(True)
    return turn


def of(link: str = LINK, at: datetime = LATER) -> Funds:
    """How a link stands."""
    return next(each for each in funds(at) if each.link == link)


def balance(cents: int, *, at: datetime = LATER, as_of: datetime | None = None, link: str = LINK) -> dict[str, Any]:
    """Record a balance, and what the event changed: the balance itself, and states."""
    act = Act("link.funds", link, at.isoformat(), {"balance_cents": cents, "as_of": (as_of or at).isoformat()})
    with transaction.atomic():
        recording.record(act, at=at, by="ann")
    return {"state": acts.state_of(link, at), "short": acts.as_it_stands(link).short}


def test_before_a_balance_is_recorded_it_says_whether_it_closes_the_link(
    busy_house: House, required: Callable[[bool], None]
) -> None:
    closes = "closed for new wagers from now on"
    for cents, on, beside, state in (
        (1_000_001, True, ("Beyond what is owed", "$0.01"), None),
        (1_000_000, True, ("Beyond what is owed", "$0.00"), None),
        (999_999, True, ("Short of what is owed", "$0.01"), "suspended"),
        (999_999, False, ("Short of what is owed", "$0.01"), None),
    ):
        required(on)
        payload = {"balance_cents": cents, "as_of": LATER.isoformat()}
        found = link_acts._foresee_funds(Asked("link.funds", LINK, payload, "statement", LATER, None, "ann"))
        said = [(row.what, row.before, row.after) for row in found.rows]
        assert said[1:3] == [("Owed", "", "$10,000.00"), (beside[0], "", beside[1])]
        assert said[3:] == ([("State", "open", state)] if state else [])
        assert (closes in found.words) is (state is not None)


def owed_by_rows(link: str = LINK) -> int:
    """What a link owes, from its meters as its last event left them and its payouts alone."""
    held = value(
        "SELECT sum(value_cents + reserve_cents + overflow_cents) FROM jackpot_meter meter JOIN jackpot_level level"
        " ON level.id = level_id JOIN jackpot_link link ON link.id = link_id WHERE link.code = %s", link,
    )  # fmt: skip
    unpaid = value(
        "SELECT coalesce(sum(cents), 0) FROM tables_payout payout JOIN accounting_stream stream ON stream.id = stream_id"
        " WHERE stream.code = %s AND payout.kind IN ('level', 'envy')", link,
    )  # fmt: skip
    return int(held + unpaid)


def test_what_is_owed_is_every_part_of_the_levels_and_what_is_not_handed_over(
    house: House, required: Callable[[bool], None]
) -> None:
    house.play(message("R-1"), royal("R-2"))
    owed = of().owed_cents
    assert owed == owed_by_rows() and of().unpaid_cents > 1_000_000
    paid = of().unpaid_cents
    house.act("payout.pay", f"{LINKED}/R-2/1/3", method="cage")
    assert of().unpaid_cents == paid - 100_000 and of().owed_cents == owed - 100_000
    house.play(*(message(f"T-{number}", table=TWIN) for number in range(5)))
    assert value(
        "SELECT min(overflow_cents) FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE code = 'minor'"
    )
    assert of("twin").owed_cents == owed_by_rows("twin"), "with what is over a limit"


def test_a_balance_below_what_is_owed_closes_the_link_for_new_wagers_until_people_resume_it(
    busy_house: House, required: Callable[[bool], None]
) -> None:
    house = busy_house
    house.play(royal("R-1"), locked("R-2"))
    owed = of().owed_cents
    assert balance(owed) == {"state": "open", "short": False}, "exactly what is owed suffices"
    assert balance(owed - 1) == {"state": "suspended", "short": True}
    new = LATER + timedelta(minutes=1)
    house.now = new + timedelta(seconds=2)
    house.play(
        message("R-2"), message("R-3", dealt_at=(LATER - timedelta(seconds=30)).isoformat()),
        message("R-4", dealt_at=new.isoformat()),
    )  # fmt: skip
    outcomes = dict(rows("SELECT reference, outcome FROM tables_round WHERE reference <> 'R-1'"))
    assert outcomes == {"R-2": "settled", "R-3": "settled"}, "locked or dealt before"
    assert rows("SELECT reference, reasons FROM tables_hold") == [("R-4", ["link_not_open"])]
    with pytest.raises(ActRefused) as refusal:
        house.act("link.resume", LINK, at=new)
    assert refusal.value.code == "funds_short"
    assert balance(of().owed_cents, at=new) == {"state": "suspended", "short": False}, "a person resumes it"
    assert of().balance_cents == of().owed_cents, "of several the last that was recorded"
    house.act("link.resume", LINK, at=new + timedelta(seconds=1))
    assert acts.state_of(LINK, new + timedelta(minutes=1)) == "open"
    verify()


def test_an_opening_that_was_decided_for_later_is_undone_with_it(
    busy_house: House, required: Callable[[bool], None]
) -> None:
    house = busy_house
    opens = (LATER + timedelta(hours=5)).replace(microsecond=0)
    written = opens.isoformat().replace("+00:00", ".000000999+00:00")
    house.act("link.suspend", LINK)
    house.act("link.resume", LINK, at=LATER, counts_from=written)
    assert balance(0) == {"state": "suspended", "short": True}
    assert acts.state_of(LINK, opens + timedelta(days=1)) == "suspended"
    verify()


def test_where_nothing_is_required_a_balance_is_only_a_balance(house: House) -> None:
    assert balance(0) == {"state": "open", "short": False}
    assert recording.watch(at=LATER) == []
    assert not of().falls_short and of().balance_cents == 0


def test_what_is_owed_grows_beyond_the_balance_and_the_sweep_closes_the_link(
    busy_house: House, required: Callable[[bool], None]
) -> None:
    house = busy_house
    assert "funds" in {lookout.name for lookout in LOOKOUTS}, "whatever the broker does"
    balance(of().owed_cents + 999_999, at=RECEIVED)
    assert recording.watch(at=LATER) == []
    house.play(royal("R-1"))  # reseeded with 10,000.00 of the house: that much more is owed
    assert acts.state_of(LINK, LATER) == "open", "a round itself asks nothing"
    assert recording.watch(at=LATER) == [LINK]
    assert acts.state_of(LINK, LATER) == "suspended"
    assert recording.watch(at=LATER) == [], "once"
    said = exceptions.between(date(2026, 11, 27), date(2026, 11, 27), only=exceptions.SHORT, at=LATER)
    assert [(each.about, each.who) for each in said] == [(LINK, "the service")]
    verify()


def test_of_several_links_the_one_that_falls_short_is_closed(house: House, required: Callable[[bool], None]) -> None:
    balance(10**9, at=RECEIVED)
    balance(of("twin").owed_cents, at=RECEIVED, link="twin")
    house.play(message("R-1", table=TWIN))
    assert recording.watch(at=LATER) == ["twin"]
    assert (acts.state_of("twin", LATER), acts.state_of(LINK, LATER)) == ("suspended", "open")
    assert recording.watch(at=LATER) == []


def test_a_link_that_is_to_be_suspended_later_is_closed_now(house: House, required: Callable[[bool], None]) -> None:
    balance(of().owed_cents, at=RECEIVED)
    later = LATER + timedelta(hours=5)
    house.act("link.suspend", LINK, counts_from=later.isoformat())
    house.play(royal("R-1"))
    assert acts.shown_state(LINK) == "suspended" and acts.state_of(LINK, LATER) == "open"
    assert recording.watch(at=LATER) == [LINK]
    assert acts.state_of(LINK, LATER) == "suspended"
    assert recording.watch(at=LATER) == []


def test_looking_costs_the_same_however_many_links_and_rounds(house: House, required: Callable[[bool], None]) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            recording.watch(at=LATER)
        return len(captured)

    balance(10**9, at=RECEIVED)
    before = statements()
    house.play(*(message(f"R-{number}") for number in range(20)))
    assert statements() == before <= 8


def test_what_cannot_be_a_balance_is_refused_by_its_field(house: House, required: Callable[[bool], None]) -> None:
    with pytest.raises(ActRefused) as refusal:
        balance(1, as_of=LATER + timedelta(seconds=1))
    assert refusal.value.pointer == "/payload/as_of"
    with pytest.raises(ActRefused) as refusal:
        balance(-1)
    assert refusal.value.pointer == "/payload/balance_cents"


def test_accounting_records_a_balance_with_its_evidence_and_nobody_else(
    house: House, required: Callable[[bool], None]
) -> None:
    ann, max_ = Person("ann", frozenset({ACCOUNTING})), Person("max", frozenset({MANAGER}))
    body: dict[str, Any] = {
        "act": "link.funds", "subject": LINK, "reason": "weekly deposit",
        "payload": {"balance_cents": 10**9, "as_of": RECEIVED.isoformat()},
    }  # fmt: skip
    with pytest.raises(ActRefused, match="vidence"):
        proposals.propose(body, by=ann, at=LATER)
    body["evidence"] = {"reference": "statement 48"}
    with pytest.raises(NotYours):
        proposals.propose(body, by=max_, at=LATER)
    proposals.propose(body, by=ann, at=LATER)
    assert of().balance_cents == 10**9 and not of().overdue


def test_a_week_without_a_balance_is_overdue(house: House, required: Callable[[bool], None]) -> None:
    def late(at: datetime) -> list[tuple[str, str]]:
        found = exceptions.between(date(2026, 1, 1), at.date(), only=exceptions.UNFUNDED, at=at)
        return [(each.about, each.detail) for each in found if each.about == LINK]

    balance(10**9, at=RECEIVED)
    week = RECEIVED + timedelta(days=7)
    before = late(week - timedelta(seconds=1))
    assert not of(at=week - timedelta(seconds=1)).overdue and of(at=week).overdue
    assert late(week) == late(week + timedelta(days=1)) == [*before, (LINK, "not recorded yet")]
    balance(10**9, at=week + timedelta(days=2))
    assert late(week + timedelta(days=3)) == [*before, (LINK, "recorded on 2026-12-07")]
    links = [each.link for each in fund_queries.late(week + timedelta(days=3))]
    assert links == sorted(links) and len(set(links)) > 1, "by link"
    assert [each.link for each in funds(week)] == sorted(set(links))


def test_an_unpaid_sum_that_was_not_so_is_found(house: House, required: Callable[[bool], None]) -> None:
    house.play(royal("R-1"))
    balance(10**9)
    compare_funds()
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run("ALTER TABLE accounting_document DISABLE TRIGGER append_only")
    run(
        "UPDATE accounting_document document SET cause = replace(convert_from(cause, 'UTF8'), '\"unpaid_cents\":',"
        " '\"unpaid_cents\":1')::bytea FROM accounting_event event WHERE event.kind = 'link.funds'"
        " AND event.stream_id = document.stream_id AND event.sequence = document.sequence"
    )
    with pytest.raises(Difference, match="what was won and not handed over"):
        compare_funds()


def test_settle_knows_no_balances() -> None:
    payload = {"balance_cents": 1, "as_of": "2026-11-27T22:00:00-05:00"}
    assert Lines().code("link.funds", "mg", **payload) == ("invalid_value", "/act")


def test_what_is_required_is_data_by_jurisdiction_and_day(monkeypatch: pytest.MonkeyPatch) -> None:
    day = DEALT.astimezone(UTC).date()
    assert not funds_terms_in("MA", day).required, "off unless a jurisdiction asks"
    assert funds_terms_in("WA", day).required
    assert not funds_terms_in("WA", date(2025, 12, 31)).required, "before it counts"
    off = [*by_jurisdiction()["WA"], (date(2027, 1, 1), FundsTerms(False, 7))]
    monkeypatch.setattr("accounting.rules.funds.by_jurisdiction", lambda: {"": [], "WA": off})
    assert funds_terms_in("WA", date(2026, 12, 31)).required and not funds_terms_in("WA", date(2027, 1, 1)).required
