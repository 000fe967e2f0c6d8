"""What counts is listed: a deal that cannot be is shown beside its receipt, by whose moment everything goes (SPEC §9)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection

from accounting.shell.templatetags import pages
from jackpot import hit_queries
from tables.migrations import __path__ as migrations_path
from tables.queries import floor, payouts
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import (
    DEALT,
    LINKED,
    NEIGHBOUR,
    ODD,
    RECEIVED,
    House,
    message,
    open_odd_table,
    rows,
    royal,
    run,
    seat,
    value,
)
from tests.services.test_dating import close

AHEAD = "2027-11-27T21:14:05-05:00"
NEVER_SET = "1970-01-01T00:00:05Z"
FAR = "2099-12-31T23:59:59-05:00"
TODAY = date(2026, 11, 27)


def win(round: str, **more: Any) -> dict[str, Any]:
    """A round that pays $10 on each of four wagers."""
    return message(round, seat(1, "Kc Ks", progressive=100), **more)


def test_a_controller_a_year_ahead_does_not_hide_current_play(house: House, signed_in: SignedIn) -> None:
    ahead = [win(f"ahead-{number:02}", table=NEIGHBOUR, dealt_at=AHEAD) for number in range(55)]
    house.play(*ahead, at=RECEIVED)
    house.play(win("now", table=NEIGHBOUR), at=RECEIVED + timedelta(seconds=9))
    house.play(win("later", table=NEIGHBOUR, dealt_at="2026-11-27T21:14:20-05:00"), at=RECEIVED + timedelta(seconds=30))
    client = signed_in()
    body = client.get(f"/floor/tables/{NEIGHBOUR}/").content.decode()
    assert re.findall(r'data-row title="([^"]+)"', body)[0] == "later"
    assert re.findall(r'data-row title="([^"]+)"', client.get("/").content.decode())[0] == "later"
    listed = [item["round"] for item in payouts.page({}, limit=4).items]
    assert listed == ["later"] * 4
    assert "reported 2027-11-27 21:14" in text_of(client.get("/payouts/"))


@pytest.mark.parametrize("dealt_at", [NEVER_SET, FAR, AHEAD])
def test_a_misdated_round_is_listed_where_it_was_received(house: House, signed_in: SignedIn, dealt_at: str) -> None:
    house.play(royal("odd", dealt_at=dealt_at), win("even"))
    at = RECEIVED.isoformat()
    found = payouts.page({"from": at, "to": at}, limit=100).items
    assert {item["round"] for item in found} == {"odd"}
    assert {datetime.fromisoformat(item["counts_at"]) for item in found} == {RECEIVED}
    assert {datetime.fromisoformat(item["dealt_at"]) for item in found} == {datetime.fromisoformat(dealt_at)}
    client = signed_in()
    for page in ("/", f"/floor/tables/{LINKED}/", "/jackpots/", "/jackpots/ms-mg01/", "/payouts/", "/rounds/MS-101/odd",
                 "/payouts/ms-mg01-1-1/", "/devices/"):  # fmt: skip
        shown = text_of(client.get(page))
        assert client.get(page).status_code == 200, page
        assert "21:14:07" in shown, page
    assert "which cannot be" in client.get(f"/floor/tables/{LINKED}/").content.decode()


def test_payouts_of_a_day_are_the_ledger_of_that_day(house: House) -> None:
    """Also where a deal cannot be, and where a round of a closed day is booked on the next open one."""
    house.play(win("r-1"), royal("r-2", dealt_at=FAR), win("r-3", dealt_at=NEVER_SET))
    close(TODAY)
    next_day = RECEIVED + timedelta(days=1)
    house.play(win("late"), win("r-4", dealt_at="2026-11-28T20:00:00-05:00"), at=next_day)
    house.play(royal("r-5", dealt_at="2026-11-29T20:00:00-05:00"), at=RECEIVED + timedelta(days=2))
    for number in range(4):
        day = (TODAY + timedelta(days=number - 1)).isoformat()
        found = payouts.page({"from": day, "to": day}, limit=1_000).items
        booked = rows("SELECT subject FROM accounting_event WHERE gaming_date = %s AND kind = 'round'", day)
        assert {f"{item['table']}/{item['round']}" for item in found} == {subject for (subject,) in booked}, day
        assert {item["gaming_date"] for item in found} <= {day}
        total = payouts.total({"from": day, "to": day}, seconds=5)
        assert total is not None
        assert total.cents == sum(item["cents"] for item in found)
    since = {item["round"] for item in payouts.page({"from": "2026-11-28"}, limit=1_000).items}
    assert since == {"late", "r-4", "r-5"}
    assert {item["round"] for item in payouts.page({"to": "2026-11-27"}, limit=1_000).items} == {"r-1", "r-2", "r-3"}


def test_rounds_of_the_day_are_those_that_the_ledger_booked_on_it(house: House) -> None:
    house.play(win("r-1"), win("r-2", dealt_at=FAR))
    close(TODAY)
    house.play(win("late"), at=RECEIVED + timedelta(days=1))
    for day, rounds in ((TODAY, 2), (TODAY + timedelta(days=1), 1)):
        began = datetime(day.year, day.month, day.day, 11, tzinfo=UTC)
        (table,) = [each for each in floor.tables_now(day, began) if each.code == LINKED]
        assert table.rounds_today == rounds


def test_earlier_and_later_stay_at_the_table(house: House, signed_in: SignedIn) -> None:
    house.play(message("a-1"), message("b-1", table=NEIGHBOUR), message("a-2"), message("b-2", table=NEIGHBOUR))
    body = signed_in().get("/rounds/MS-101/a-1").content.decode()
    assert 'rel="prev"' not in body
    assert 'rel="next" href="/rounds/MS-101/a-2"' in body


def test_what_is_on_record_gets_the_moment_that_it_was_settled_by(house: House) -> None:
    """The migration fills in what settling writes today: both are compared."""
    house.play(royal("r-1"), royal("r-2", dealt_at=FAR), royal("r-3", dealt_at=NEVER_SET))
    house.play(royal("opening", dealt_at=value("SELECT min(opened_at) FROM tables_table").isoformat()))
    house.play(royal("five minutes ahead", dealt_at=(RECEIVED + timedelta(minutes=5)).isoformat()))
    open_odd_table(at=DEALT - timedelta(minutes=30))
    an_hour_ago = (DEALT - timedelta(hours=1)).isoformat()
    house.play(win("before another table was there", dealt_at=an_hour_ago))
    house.play(message("before it was there", table=ODD, dealt_at=an_hour_ago))
    close(TODAY)
    a_day_later = RECEIVED + timedelta(days=1)
    house.play(win("late"), win("in time", dealt_at=a_day_later.isoformat()), at=a_day_later)
    wanted = [rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in ("tables_round", "tables_payout")]
    from importlib import import_module

    backfill = import_module("tables.migrations.0006_counts_at")
    assert migrations_path
    run("ALTER TABLE tables_round DISABLE TRIGGER append_only")
    run("ALTER TABLE tables_payout DISABLE TRIGGER append_only")
    run("UPDATE tables_round SET counts_at = dealt_at, gaming_date = '2000-01-01', original_date = NULL")
    run("UPDATE tables_payout SET counts_at = dealt_at, gaming_date = '2000-01-01'")
    with connection.cursor() as cursor:
        cursor.execute(backfill.ROUNDS)
        cursor.execute(backfill.PAYOUTS)
    assert [rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in ("tables_round", "tables_payout")] == wanted
    triggers = rows(
        "SELECT tgenabled FROM pg_trigger WHERE tgname = 'append_only' AND tgrelid::regclass::text ~ 'tables'"
    )
    assert {each for (each,) in triggers} == {"O"}


@time_machine.travel(datetime(2026, 11, 28, 4, 30, tzinfo=UTC))
def test_what_was_before_today_is_listed_with_its_date() -> None:
    """A time of day alone would read as today's; a table that dealt last a week ago is seen to be silent."""
    from zoneinfo import ZoneInfo

    from django.utils import timezone

    with timezone.override(ZoneInfo("America/New_York")):  # half past eleven in the evening of the 27th
        assert pages.lately("2026-11-27T00:00:00-05:00") == "00:00:00"
        assert pages.lately("2026-11-26T23:59:59-05:00") == "26 Nov 23:59:59"
        assert pages.lately("2026-11-28T00:00:01-05:00") == "28 Nov 00:00:01"
        assert pages.lately("2025-11-27T21:14:05-05:00", "minute") == "2025-11-27 21:14"
        assert pages.lately("2026-11-01T01:30:00-05:00") == "1 Nov 01:30:00 EST"
        assert pages.lately(None) == pages.NOTHING


@pytest.mark.parametrize(
    "written", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-05:00", "soon"]
)  # fmt: skip
def test_no_formatter_raises(written: str, house: House, signed_in: SignedIn) -> None:
    from zoneinfo import ZoneInfo

    from django.utils import timezone

    for zone in ("America/New_York", "Pacific/Kiritimati"):
        with timezone.override(ZoneInfo(zone)):
            for write in (pages.clock, pages.lately, pages.moment, pages.minute, pages.calendar, pages.day):
                assert write(written)
                if written[0].isdigit():
                    assert write(datetime.fromisoformat(written))


@pytest.mark.parametrize("moment", ["0001-01-01 00:00:00+00", "9999-12-31 23:59:59+00"])
def test_dates_already_on_record_are_shown(house: House, signed_in: SignedIn, moment: str) -> None:
    """0.1.0 took any year: such a deal counts by its receipt, and its pages are made."""
    house.play(royal("r-1"), message("held", community="2c 2c Kd"))
    run("SET LOCAL session_replication_role = replica")
    for table in ("tables_round", "tables_payout", "tables_hold", "jackpot_hit"):
        run(f"UPDATE {table} SET dealt_at = %s", moment)
    run("SET LOCAL session_replication_role = origin")
    client = signed_in()
    for page in ("/", "/floor/now", f"/floor/tables/{LINKED}/", "/jackpots/", "/jackpots/ms-mg01/", "/payouts/",
                 "/payouts/?kind=level", "/rounds/MS-101/r-1", "/payouts/ms-mg01-1-1/", "/devices/", "/find?q=r-1"):  # fmt: skip
        seen = client.get(page, follow=True)
        led = (
            [("/rounds/MS-101/r-1", 302)] if page.startswith("/find") else []
        )  # found, and not sent to the sign-in page
        assert (seen.status_code, seen.redirect_chain) == (200, led), page
    assert len(payouts.page({}).items) == value("SELECT count(*) FROM tables_payout")
    assert hit_queries.last_hits()


def test_lists_tell_the_two_hours_of_an_autumn_night_apart(house: House, signed_in: SignedIn) -> None:
    first, second = "2027-11-07T01:30:00-04:00", "2027-11-07T01:30:00-05:00"
    house.play(win("first", dealt_at=first), at=datetime(2027, 11, 7, 5, 30, 1, tzinfo=UTC))
    house.play(win("second", dealt_at=second), message("r-3", dealt_at="2027-11-07T03:00:00-05:00"),
               at=datetime(2027, 11, 7, 8, 0, 1, tzinfo=UTC))  # fmt: skip
    for page in (f"/floor/tables/{LINKED}/", "/"):
        shown = text_of(signed_in(*(["auditor"] if page == "/" else ["supervisor"])).get(page))
        assert f"01:30:00 EDT {LINKED} first" in shown, page
        assert f"01:30:00 EST {LINKED} second" in shown, page
        assert f"03:00:00 {LINKED} r-3" in shown, page
    assert DEALT


AGES = {
    0: "0 s",
    119: "119 s",
    120: "2 min",
    7_199: "119 min",
    7_200: "2 h 0 min",
    116_940: "32 h 29 min",
    172_800: "2 d 0 h",
    3_456_789: "40 d 0 h",
}


@pytest.mark.parametrize(("seconds", "words"), AGES.items())
def test_how_long_ago_is_said_so_that_one_need_not_count(seconds: int, words: str) -> None:
    assert pages.age(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h 0 min"), (172_799, "47 h 59 min"),
        (172_800, "2 d 0 h"), (90_000_000, "1,041 d 16 h"),
    ],
)  # fmt: skip
def test_an_age_is_in_seconds_minutes_hours_or_days(seconds: int, words: str) -> None:
    assert pages.age(seconds) == words
