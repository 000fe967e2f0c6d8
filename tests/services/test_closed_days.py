"""A gaming day is closed on every stream at once, for good, and its heads are signed (SPEC §9, §10)."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

import pytest

from accounting.models import Stream
from accounting.rules.acts import ActRefused
from accounting.rules.chain import GENESIS
from accounting.services import closed_days
from tests.services.house import (
    ALONE,
    RECEIVED,
    House,
    message,
    refused_by,
    rows,
    royal,
    run,
    two_hits,
    value,
    verify,
)
from tests.services.played import tamper

MORNING = RECEIVED + timedelta(hours=12)
DAY = "2026-11-27"


def test_a_closing_is_one_event_on_every_stream_booked_behind_the_day(busy_house: House) -> None:
    busy_house.play(message("R-1"), two_hits("R-2"), message("R-1", table=ALONE))
    closed = busy_house.close_day(DAY, at=MORNING)
    assert closed == {"ms-mg01": 3, "twin": 1, ALONE: 2}
    found = rows(
        "SELECT stream.code, event.sequence, event.subject, event.gaming_date, event.original_date"
        " FROM accounting_event event JOIN accounting_stream stream ON stream.id = event.stream_id WHERE kind = 'day.close'"
    )
    assert sorted(found) == sorted((code, number, DAY, date(2026, 11, 28), None) for code, number in closed.items())
    (signed,) = closed_days.signed_days()
    assert {head.stream: head.sequence for head in signed.statement.heads} == closed
    verify()


def test_a_closing_names_the_levels_of_a_link_in_their_order(lived: House) -> None:
    """However their rows lie on the disk: the document of the event is the same bytes whoever decides it again."""
    for table, first in (("jackpot_level", "id"), ("jackpot_meter", "level_id")):
        tamper(
            f"UPDATE {table} SET {first} = {first} WHERE {first} = (SELECT id FROM jackpot_level WHERE code = 'grand')"
        )
    run("SET LOCAL enable_nestloop = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_indexscan = off")
    lived.close_day(DAY, at=MORNING)
    ((result,),) = rows(
        "SELECT result FROM accounting_document JOIN accounting_event USING (stream_id, sequence)"
        " WHERE kind = 'day.close' AND stream_id = %s", lived.stream("twin"),
    )  # fmt: skip
    assert [row["level"] for row in json.loads(bytes(result))["meters"]] == ["grand", "minor"]


def test_what_comes_later_is_booked_on_the_next_day_with_its_own_beside(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    busy_house.close_day(DAY, at=MORNING)
    busy_house.play(royal("R-2"))
    assert rows("SELECT gaming_date, original_date FROM tables_round WHERE reference = 'R-2'") == [
        (date(2026, 11, 28), date(2026, 11, 27))
    ]
    verify()


def test_a_day_that_is_not_over_can_be_closed_and_is_over_then(busy_house: House) -> None:
    """By sequence, not by the clock."""
    busy_house.play(message("R-1"))
    busy_house.close_day(DAY)
    assert rows("SELECT DISTINCT gaming_date, original_date FROM accounting_event WHERE kind = 'day.close'") == [
        (date(2026, 11, 28), date(2026, 11, 27))
    ]
    busy_house.play(message("R-2"))
    verify()
    busy_house.close_day("2026-11-28", at=MORNING)
    busy_house.play(message("R-3"))
    verify()
    assert [signed.statement.number for signed in closed_days.signed_days()] == [1, 2]


@pytest.mark.parametrize(
    ("day", "looked", "code"),
    [
        ("2026-11-28", {}, "wrong_state"),
        ("27.11.2026", {}, "unknown_subject"),
        ("2026-02-30", {}, "unknown_subject"),
        (DAY, {"nobody": 1}, "invalid_value"),
        (DAY, {"ms-mg01": 9}, "invalid_value"),
        (DAY, {"ms-mg01": -1}, "invalid_value"),
        (DAY, {"ms-mg01": 0}, "changed_since"),
        (DAY, {}, "changed_since"),
    ],
)
def test_what_cannot_be_closed_is_refused_and_leaves_nothing_behind(
    busy_house: House, day: str, looked: dict[str, int], code: str
) -> None:
    busy_house.play(message("R-1"))
    before = rows("SELECT code, next_sequence, head FROM accounting_stream ORDER BY code")
    with pytest.raises(ActRefused) as refusal:
        busy_house.close_day(day, looked=looked)
    assert refusal.value.code == code
    assert rows("SELECT code, next_sequence, head FROM accounting_stream ORDER BY code") == before
    assert value("SELECT count(*) FROM accounting_closedday") == 0
    assert value("SELECT closed_through FROM accounting_property") is None


def test_a_stream_that_is_opened_while_a_day_is_being_closed_is_looked_at_first(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = closed_days.close

    def opened_meanwhile(day: date, *, at: datetime) -> date | None:
        Stream.objects.create(code="later", head=GENESIS)  # as by somebody whose transaction this waited for
        return close(day, at=at)

    monkeypatch.setattr(closed_days, "close", opened_meanwhile)
    with pytest.raises(ActRefused, match="a stream was opened meanwhile: look again") as refusal:
        house.close_day(DAY, at=MORNING)
    assert refusal.value.code == "changed_since"
    assert value("SELECT count(*) FROM accounting_event WHERE kind = 'day.close'") == 0


def test_the_next_day_may_go_on_while_a_day_is_closed(busy_house: House) -> None:
    """A house that plays around the clock moves on between the look and the closing: only the day itself must not."""
    busy_house.play(message("R-1"))
    looked = dict(rows("SELECT code, next_sequence - 1 FROM accounting_stream"))
    busy_house.play(message("N-1", dealt_at="2026-11-28T10:00:00-05:00"), at=MORNING + timedelta(hours=1))
    busy_house.close_day(DAY, at=MORNING + timedelta(hours=1), looked=looked)
    verify()


@pytest.mark.parametrize("on_record", [False, True], ids=["as days are", "that has a row of its own while it is open"])
def test_a_day_is_closed_once_and_earlier_days_with_it(busy_house: House, on_record: bool) -> None:
    """Houses that played before 1.0 have such rows."""
    if on_record:
        run("INSERT INTO accounting_gamingday (date) VALUES (%s)", DAY)
    busy_house.play(message("R-1"))
    busy_house.close_day(DAY, at=MORNING)
    assert rows("SELECT date, closed_at FROM accounting_gamingday") == [(date(2026, 11, 27), MORNING)]
    for day in (DAY, "2026-11-20"):
        with pytest.raises(ActRefused, match="is closed"):
            busy_house.close_day(day, at=MORNING)


def test_nobody_reopens_a_day_or_books_on_it(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    busy_house.close_day(DAY, at=MORNING)
    with refused_by("a_closed_day_stays_closed"):
        run("UPDATE accounting_gamingday SET closed_at = NULL WHERE date = %s", DAY)
    with refused_by("a_closed_day_stays_closed"):
        run("UPDATE accounting_gamingday SET closed_at = now() WHERE date = %s", DAY)
    with refused_by("a_closed_day_stays_closed"):
        run("DELETE FROM accounting_gamingday WHERE date = %s", DAY)
    with refused_by("a_closed_day_stays_closed"):
        run("UPDATE accounting_property SET closed_through = NULL")
    with refused_by("a_closed_day_stays_closed"):
        run("UPDATE accounting_property SET closed_through = closed_through - 1")
    for table in ("closedday", "closedhead", "verified", "reading", "readingnote"):
        with refused_by("append_only"):
            run(f"DELETE FROM accounting_{table}")
    columns = "rules, message_digest, result_digest, previous, hash, recorded_at, kind, subject"
    with refused_by("nothing_is_booked_on_a_closed_day"):
        run(
            f"INSERT INTO accounting_event (stream_id, sequence, gaming_date, {columns})"
            f" SELECT stream_id, sequence + 100, date '{DAY}', {columns} FROM accounting_event WHERE kind = 'round'"
        )
    with refused_by("days_are_closed_in_order"):
        run(
            "INSERT INTO accounting_closedday (day, number, closed_at, statement, public_key, signature)"
            " SELECT day - 1, number + 1, closed_at, statement, public_key, signature FROM accounting_closedday"
        )
    with refused_by("a_day_on_record_as_closed_is_closed"):
        run(
            "INSERT INTO accounting_closedday (day, number, closed_at, statement, public_key, signature)"
            " SELECT day + 1, number + 1, closed_at, statement, public_key, signature FROM accounting_closedday"
        )
    with refused_by("a_closed_head_is_an_event_with_its_hash"):
        run(
            "INSERT INTO accounting_closedhead (day, stream_id, sequence, hash, signature)"
            " SELECT day, 999, sequence, hash, signature FROM accounting_closedhead LIMIT 1"
        )
