"""What nobody came for: terms, steps, what is booked, and who it is paid to (REQUIREMENTS R83)."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from accounting.rules.unclaimed import UnclaimedTerms, by_jurisdiction, terms_in
from tests.rules.lines import ROYAL, Lines, moved

HIT, ENVY = "aa-000001", "MS-1/R-1/1/5"
WON, NEXT = "2026-11-27T23:00:00-05:00", "2026-11-28T06:00:00-05:00"
KEPT, OVER = "2027-11-28T05:59:59-05:00", "2027-11-28T06:00:00-05:00"


def won() -> Lines:
    """A royal on the gaming day of 27 November 2026, approved, with the envy of the neighbour."""
    lines = Lines()
    lines.round("R-1", board=ROYAL)
    for step in ("hit.verify", "hit.approve"):
        lines.done(step, HIT)
    return lines


def on(lines: Lines, moment: str, name: str, subject: str, **payload: Any) -> dict[str, Any]:
    """An act at any moment: its answer."""
    return lines.line({"act": name, "subject": subject, "at": moment, "payload": payload})


@pytest.mark.parametrize(
    ("won_on", "last"),
    [
        (date(2025, 11, 27), date(2026, 11, 27)),
        (date(2027, 3, 1), date(2028, 3, 1)),
        (date(2028, 2, 29), date(2029, 3, 1)),
        (date(2028, 3, 1), date(2029, 3, 1)),
    ],
)
def test_a_year_is_kept_whole(won_on: date, last: date) -> None:
    terms = UnclaimedTerms(unclaimed_after_days=1, kept_years=1)
    assert terms.state_from(won_on).toordinal() == last.toordinal() + 1
    assert terms.unclaimed_from(won_on).toordinal() == won_on.toordinal() + 1


def test_terms_are_data_by_jurisdiction() -> None:
    assert {"MA", "NY", ""} <= by_jurisdiction().keys()
    assert terms_in("MA") == by_jurisdiction()["MA"]
    assert terms_in("nowhere") == by_jurisdiction()[""]


@pytest.mark.parametrize(("what", "subject", "cents"), [("hit", HIT, 10_034), ("payout", ENVY, 100_000)])
def test_what_is_owed_is_unclaimed_after_the_day_and_the_states_after_the_year(
    what: str, subject: str, cents: int
) -> None:
    lines = won()
    remit, unclaimed = f"{what}.remit", f"{what}.unclaimed"
    assert on(lines, WON, remit, subject)["code"] == "wrong_state"
    assert on(lines, WON, unclaimed, subject)["code"] == "not_due"
    booked = on(lines, NEXT, unclaimed, subject)
    assert moved(booked) == [("awards_payable", "unclaimed", cents, "unclaimed")]
    assert [row["link"] for row in booked["meters"]] == ["aa"]
    assert on(lines, NEXT, unclaimed, subject)["code"] == "wrong_state"
    assert on(lines, KEPT, remit, subject)["code"] == "not_due"
    assert moved(on(lines, OVER, remit, subject)) == [("unclaimed", "state_payable", cents, "unclaimed")]
    for name, payload in ((f"{what}.pay", {"method": "cage"}), (remit, {}), (unclaimed, {})):
        assert on(lines, OVER, name, subject, **payload)["code"] == "wrong_state", name


@pytest.mark.parametrize(("name", "subject", "cents"), [("hit", HIT, 10_034), ("payout", ENVY, 100_000)])
def test_whoever_comes_later_is_paid_from_what_is_unclaimed(name: str, subject: str, cents: int) -> None:
    lines = won()
    on(lines, NEXT, f"{name}.unclaimed", subject)
    paid = on(lines, OVER, f"{name}.pay", subject, method="cage")
    assert moved(paid) == [("unclaimed", "cage", cents, "payment")], "also after the year, until it is remitted"
    assert on(lines, OVER, f"{name}.remit", subject)["code"] in ("already_paid", "wrong_state")
    assert on(lines, OVER, f"{name}.pay", subject, method="cage")["code"] == "already_paid"


def test_a_hit_is_unclaimed_only_when_it_is_approved() -> None:
    lines = Lines()
    lines.round("R-1", board=ROYAL)
    assert on(lines, NEXT, "hit.unclaimed", HIT)["code"] == "wrong_state"
    lines.done("hit.verify", HIT)
    assert on(lines, NEXT, "hit.unclaimed", HIT)["code"] == "wrong_state"


def test_a_rejection_takes_back_what_is_unclaimed_from_where_it_is() -> None:
    lines = won()
    on(lines, NEXT, "hit.unclaimed", HIT)
    on(lines, NEXT, "payout.unclaimed", ENVY)
    booked = moved(on(lines, NEXT, "hit.reject", HIT))
    assert booked[0] == ("unclaimed", "level:aa/major:liability", 10_034, "rejection")
    assert booked[-1] == ("unclaimed", "envy", 100_000, "rejection")
    assert "awards_payable" not in {account for row in booked for account in row[:2]}


def test_what_is_the_states_stands() -> None:
    lines = won()
    for name in ("hit.unclaimed", "hit.remit"):
        on(lines, OVER, name, HIT)
    assert on(lines, OVER, "hit.reject", HIT)["code"] == "wrong_state"
    assert on(lines, OVER, "round.void", "MS-1/R-1")["code"] == "award_paid"
    on(lines, OVER, "link.suspend", "aa")
    assert on(lines, OVER, "link.close", "aa", disposition=[])["code"] == "money_left", "it is no open hit"


def test_a_round_that_is_called_off_takes_its_unclaimed_award_back() -> None:
    lines = won()
    on(lines, NEXT, "hit.unclaimed", HIT)
    on(lines, NEXT, "link.suspend", "aa")
    assert on(lines, NEXT, "round.void", "MS-1/R-1")["transfers"][0]["debit"] == "unclaimed"
