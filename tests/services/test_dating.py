"""Which gaming day a round is booked on, and when the time of its deal is not believed (SPEC §2, §9; ARCHITECTURE §4.10)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from accounting import day_queries
from tests.services import auditor
from tests.services.house import (
    LINKED,
    OPENED,
    RECEIVED,
    House,
    message,
    rows,
    royal,
    run,
    seat,
    value,
    verify,
)


def close(day: date) -> None:
    """Close a gaming day as accounting would."""
    run(
        "INSERT INTO accounting_gamingday (date, closed_at) VALUES (%s, %s)"
        " ON CONFLICT (date) DO UPDATE SET closed_at = excluded.closed_at",
        day,
        RECEIVED,
    )


def booked(sequence: int = 1) -> tuple[date, date | None]:
    """The gaming day of an event, and its original one where it was moved."""
    ((day, original),) = rows("SELECT gaming_date, original_date FROM accounting_event WHERE sequence = %s", sequence)
    return day, original


def dealt(house: House, dealt_at: str) -> tuple[date, date | None]:
    """Play a round dealt at this time and received a second later."""
    house.now = datetime.fromisoformat(dealt_at) + timedelta(seconds=1)
    sent = message("R-1", dealt_at=dealt_at)
    house.play(sent)
    assert house.outcome(sent) == ("settled", [])
    assert house.significant("dated_by_receipt") == []
    return booked()


BOUNDARIES = [
    # The day begins at 06:00 of the house, wherever the device's clock says it stands.
    ("2026-11-28T05:59:59.999-05:00", date(2026, 11, 27)),
    ("2026-11-28T06:00:00-05:00", date(2026, 11, 28)),
    ("2026-11-28T10:59:59.999999Z", date(2026, 11, 27)),
    ("2026-11-28T11:00:00Z", date(2026, 11, 28)),
    ("2026-11-28T20:00:00+09:00", date(2026, 11, 28)),
    ("2026-11-28T00:00:00-05:00", date(2026, 11, 27)),
    ("2026-12-31T23:59:59-05:00", date(2026, 12, 31)),
    ("2027-01-01T05:59:59-05:00", date(2026, 12, 31)),
    # The night of 13 March 2027 loses an hour: 02:00 becomes 03:00, and 06:00 is 10:00 UTC instead of 11:00.
    ("2027-03-13T10:59:59Z", date(2027, 3, 12)),
    ("2027-03-13T11:00:00Z", date(2027, 3, 13)),
    ("2027-03-14T09:59:59Z", date(2027, 3, 13)),
    ("2027-03-14T10:00:00Z", date(2027, 3, 14)),
    # The night of 6 November 2027 has an hour twice: both 01:30 belong to the 6th, and 06:00 is 11:00 UTC again.
    ("2027-11-07T05:30:00Z", date(2027, 11, 6)),
    ("2027-11-07T06:30:00Z", date(2027, 11, 6)),
    ("2027-11-07T10:59:59Z", date(2027, 11, 6)),
    ("2027-11-07T11:00:00Z", date(2027, 11, 7)),
]


@pytest.mark.parametrize(("dealt_at", "day"), BOUNDARIES, ids=[each[0] for each in BOUNDARIES])
def test_a_round_belongs_to_the_gaming_day_of_its_deal(dealt_at: str, day: date, house: House) -> None:
    assert dealt(house, dealt_at) == (day, None)
    assert rows("SELECT DISTINCT gaming_date FROM accounting_total WHERE gaming_date > '2026-11-01'") == [(day,)]


def test_a_closed_day_s_round_is_booked_on_the_next_open_day_with_its_own_shown(busy_house: House) -> None:
    close(date(2026, 11, 27))
    close(date(2026, 11, 28))
    before = royal("R-1")
    after = message("R-2", dealt_at="2026-11-29T12:00:00-05:00")
    busy_house.play(before, after, at=datetime(2026, 11, 29, 17, 0, 1, tzinfo=UTC))
    assert booked(1) == (date(2026, 11, 29), date(2026, 11, 27))
    assert booked(2) == (date(2026, 11, 29), None)
    assert rows("SELECT DISTINCT gaming_date FROM accounting_total ORDER BY 1") == [
        (date(2026, 11, 1),), (date(2026, 11, 29),),
    ]  # fmt: skip
    auditor.everything_agrees()
    verify()


@pytest.mark.parametrize("closed", [[26], [25, 26], [20]], ids=str)
def test_a_day_after_the_last_closed_one_is_not_moved(closed: list[int], house: House) -> None:
    for day in closed:
        close(date(2026, 11, day))
    house.play(message("R-1"))
    assert booked() == (date(2026, 11, 27), None)


@pytest.mark.parametrize("opened", [False, True], ids=["without a row", "with an open row"])
def test_a_quiet_day_before_a_closed_one_is_closed(opened: bool, house: House) -> None:
    """What is closed is everything up to a date, whichever days before it were ever played, opened or closed."""
    if opened:
        run("INSERT INTO accounting_gamingday (date) VALUES ('2026-11-27')")
    close(date(2026, 11, 28))
    close(date(2026, 11, 20))  # afterwards: it opens nothing again
    house.play(message("R-1"))
    assert booked() == (date(2026, 11, 29), date(2026, 11, 27))
    assert day_queries.closed_at(date(2026, 11, 27)) == day_queries.closed_at(date(2026, 11, 28)) == RECEIVED
    assert day_queries.closed_at(date(2026, 11, 29)) is None


def test_days_of_one_batch_are_each_booked_on_their_own_or_the_first_open_one(house: House) -> None:
    close(date(2026, 11, 27))
    sent = [
        message("R-1", dealt_at="2026-11-26T20:00:00-05:00"),
        message("R-2", dealt_at="2026-11-27T20:00:00-05:00"),
        message("R-3", dealt_at="2026-11-28T20:00:00-05:00"),
    ]
    house.play(*sent, at=datetime(2026, 11, 29, 1, 0, 1, tzinfo=UTC))
    assert [booked(sequence) for sequence in (1, 2, 3)] == [
        (date(2026, 11, 28), date(2026, 11, 26)),
        (date(2026, 11, 28), date(2026, 11, 27)),
        (date(2026, 11, 28), None),
    ]
    auditor.everything_agrees()


NEVER_BELIEVED = [
    ("a second too far ahead", RECEIVED + timedelta(minutes=5, seconds=1)),
    ("a year ahead", RECEIVED + timedelta(days=365)),
    ("before the table was there", OPENED - timedelta(microseconds=1)),
    ("long ago", datetime(1999, 12, 31, tzinfo=UTC)),
    ("the last day that a moment may name", datetime(2199, 12, 31, 12, tzinfo=UTC)),
]


@pytest.mark.parametrize("dealt_at", [each[1] for each in NEVER_BELIEVED], ids=[each[0] for each in NEVER_BELIEVED])
def test_a_deal_that_cannot_be_is_dated_by_its_receipt(dealt_at: datetime, busy_house: House) -> None:
    sent = message("R-1", dealt_at=dealt_at.isoformat())
    busy_house.play(sent)
    assert busy_house.outcome(sent) == ("settled", [])
    assert booked() == (date(2026, 11, 27), None)  # received at 21:14 of the 27th
    assert value("SELECT dealt_at FROM tables_round") == dealt_at, "what the device said is kept"
    (event,) = busy_house.significant("dated_by_receipt")
    assert event["round"] == "R-1"
    verify()


@pytest.mark.parametrize(
    "dealt_at",
    [RECEIVED + timedelta(minutes=5), OPENED, RECEIVED],
    ids=["five minutes ahead", "at opening", "just now"],
)
def test_a_deal_that_can_be_is_believed(dealt_at: datetime, house: House) -> None:
    house.play(message("R-1", dealt_at=dealt_at.isoformat()))
    assert house.significant("dated_by_receipt") == []
    local = dealt_at - timedelta(hours=5)
    assert booked()[0] == (local.date() if local.hour >= 6 else local.date() - timedelta(days=1))


NEW_MINIMUM = datetime(2026, 11, 28, 2, 0, tzinfo=UTC)  # 21:00 of the house on the 27th


@pytest.fixture
def raised(house: House) -> House:
    """The minimum of a table was raised from $10 to $25 at 21:00."""
    house.act("table.terms", LINKED, at=NEW_MINIMUM, minimum_cents=2_500)
    return house


def terms_of(reference: str) -> int:
    found: int = value(
        "SELECT minimum_cents FROM tables_round round JOIN tables_tableterms terms ON terms.id = terms_id"
        " WHERE round.reference = %s", reference,
    )  # fmt: skip
    return found


def test_the_minimum_is_the_one_in_force_at_the_deal(raised: House) -> None:
    """A round dealt before the change and received after it is judged by what was in force then (SPEC §5)."""
    before = message("R-1", dealt_at="2026-11-27T20:59:59.999-05:00")
    after = message("R-2", dealt_at="2026-11-27T21:00:00-05:00")
    enough = message("R-3", seat(1, "3s 7d", ante=2_500, progressive=100), dealt_at="2026-11-27T21:00:00-05:00")
    raised.play(before, after, enough)
    assert [raised.outcome(sent) for sent in (before, after, enough)] == [
        ("settled", []), ("held", ["wager_not_allowed"]), ("settled", []),
    ]  # fmt: skip
    assert (terms_of("R-1"), terms_of("R-3")) == (1_000, 2_500)


def test_the_limit_follows_the_minimum_of_the_deal(raised: House) -> None:
    """5,000 × the minimum ante, or $50,000: at $25 it is $125,000 (SPEC §5)."""

    def limit(sent: dict[str, Any]) -> int:
        raised.play(sent)
        cents: int = raised.settlement(sent)["seats"][0]["limit"]["limit_cents"]
        return cents

    assert limit(message("R-1", seat(1, "3s 7d", ante=2_500), dealt_at="2026-11-27T20:00:00-05:00")) == 5_000_000
    assert limit(message("R-2", seat(1, "3s 7d", ante=2_500), dealt_at="2026-11-27T21:10:00-05:00")) == 12_500_000


def test_a_deal_that_cannot_be_is_judged_by_the_terms_at_its_receipt(raised: House) -> None:
    past, future = OPENED - timedelta(days=1), RECEIVED + timedelta(days=1)
    sent = [message(f"R-{n}", dealt_at=at.isoformat()) for n, at in enumerate((past, future))]
    raised.play(*sent)
    assert [raised.outcome(each) for each in sent] == [("held", ["wager_not_allowed"])] * 2
    # Received a second before the change and said to be dealt after it: the receipt counts.
    raised.play(early := message("R-9"), at=NEW_MINIMUM - timedelta(seconds=1))
    assert raised.outcome(early) == ("settled", [])
    assert terms_of("R-9") == 1_000
