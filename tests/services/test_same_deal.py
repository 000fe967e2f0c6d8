"""The same deal under a second reference is settled, and raises an event that supervisors see."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError

from devices import tasks
from devices.intake import deals, settling, significant
from devices.intake.significant import Notebook, Noted
from tests.services.house import (
    ALONE,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    Message,
    message,
    rows,
    royal,
    run,
    seat,
)
from tests.services.played import stirred

SAME = deals.SAME_DEAL_TWICE


def look() -> int:
    return deals.look(at=RECEIVED)


def found() -> list[tuple[str, str]]:
    """Which round is the same as which."""
    return [(detail["round"], detail["same_as"]) for detail in House.significant(SAME)]


def test_the_same_deal_under_a_second_reference_is_settled_and_told_once(house: House) -> None:
    first, second = house.play(royal("R-1"), royal("R-2"))
    assert [each["outcome"] for each in (first, second)] == ["settled", "settled"]
    assert first["awards"] and second["awards"]
    assert look() == 1
    assert found() == [("R-2", "R-1")]
    assert rows('SELECT "table" FROM devices_significantevent WHERE code = %s', SAME) == [("MS-101",)]
    assert look() == 0, "it is told once"
    house.play(message("R-3"))
    look()
    looked = rows("SELECT stream.next_sequence - 1 - looked.sequence FROM devices_looked looked"
                  " JOIN accounting_stream stream ON stream.id = looked.stream_id WHERE stream.code = 'ms-mg01'")  # fmt: skip
    assert looked == [(0,)], "the next look begins behind the last round"
    deals.look(at=RECEIVED + timedelta(hours=1))
    seen = rows("SELECT seen_at FROM devices_heartbeat WHERE name = 'deals'")
    assert seen == [(RECEIVED + timedelta(hours=1),)], "it says when it looked last, not first"


def test_a_deal_of_yesterday_is_known_and_of_many_copies_each_is_told_of_the_first(house: House) -> None:
    house.play(message("R-1"))
    assert look() == 0
    house.play(message("R-2"), message("other", community="2d 9h Kd"))
    house.play(*(message(f"R-{n}") for n in range(3, 40)), at=RECEIVED + timedelta(hours=20))
    assert look() == 38
    assert found() == [(f"R-{n}", "R-1") for n in range(2, 40)]
    run("UPDATE devices_deal SET digest = digest WHERE message_id = (SELECT min(message_id) FROM devices_deal)")
    stirred()  # and its row lies behind the others
    house.play(message("R-40"))
    assert look() == 1
    assert found()[-1] == ("R-40", "R-1")


DIFFERENT: list[Message] = [
    message("B", dealt_at="2026-11-27T21:14:05.121-05:00"),
    message("B", community="2c 9h Ks"),
    message("B", community="9h 2c Kd"),
    message("B", seat(1, "3s 7c", progressive=100)),
    message("B", seat(2, "3s 7d", progressive=100)),
    message("B", seat(1, "3s 7d", progressive=100), seat(2, "4s 8d")),
    message("B", table=NEIGHBOUR),
]


@pytest.mark.parametrize("other", DIFFERENT, ids=range(len(DIFFERENT)))
def test_another_moment_table_or_card_is_another_deal(other: Message, house: House) -> None:
    house.play(message("A"), other)
    assert look() == 0


ALIKE: list[Message] = [
    message("B", dealt_at="2026-11-28T02:14:05.12Z"),
    message("B", dealt_at="2026-11-28t03:14:05.1200000+01:00"),
    message("B", seat(1, "3s 7d", ante=2000)),
    message("B", seat(1, "3s 7d", folded="third_street")),
    message("B") | {"dealing": {"method": "hand", "deck": "red"}},
]


@pytest.mark.parametrize("other", ALIKE, ids=range(len(ALIKE)))
def test_the_same_moment_said_otherwise_or_other_wagers_are_the_same_deal(other: Message, house: House) -> None:
    house.play(message("A"), other)
    assert look() == 1


def test_held_rounds_count_whichever_of_the_two_it_is(house: House) -> None:
    settling.beat("sweep", RECEIVED + timedelta(hours=1))  # somebody else's sign of life
    held = message("H", seat(7, "3s 7d"))  # there are six seats
    house.play(held, held | {"round": "S", "seats": [seat(7, "3s 7d")]})
    assert house.outcome(held)[0] == "held"
    assert look() == 1
    house.play(held | {"round": "T"}, at=RECEIVED)
    assert look() == 1
    assert found() == [("S", "H"), ("T", "H")]
    assert look() == 0
    house.play(*(held | {"round": f"U-{number}"} for number in range(5)), at=RECEIVED)
    stirred()
    assert look() == 5
    assert found()[2:] == [(f"U-{number}", "H") for number in range(5)], "in the order of their messages"


@pytest.mark.parametrize(("at_once", "most"), [(7, deals.MOST_AT_ONCE), (1, 40)])
def test_every_stream_is_looked_at_and_a_long_queue_in_several_looks(
    at_once: int, most: int, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deals.AT_ONCE * deals.MOST_AT_ONCE == 20_000, "so many in one look, as it says"
    monkeypatch.setattr(deals, "AT_ONCE", at_once)
    monkeypatch.setattr(deals, "MOST_AT_ONCE", most)
    house.play(*(message(f"R-{n}", community="2c 9h Kd" if n in (3, 29) else f"{'23456789T'[n % 9]}d Qh Ks") | {
        "dealt_at": f"2026-11-27T21:14:{5 if n in (3, 29) else n % 60:02d}-05:00"} for n in range(30)))  # fmt: skip
    house.play(message("A", table=ALONE), message("B", table=ALONE), royal("A", table=TWIN), royal("B", table=TWIN))
    stirred()
    assert look() == 3
    assert found() == [("R-29", "R-3"), ("B", "A"), ("B", "A")]
    on = [table for (table,) in rows('SELECT "table" FROM devices_significantevent WHERE code = %s ORDER BY id', SAME)]
    assert on == ["MS-101", TWIN, ALONE], "stream by stream"


def test_two_looks_at_once_are_one(busy_house: House) -> None:
    busy_house.play(message("A"), message("B"))
    assert tasks.look_at_deals() == 1
    assert tasks.look_at_deals() == 0


def test_settling_asks_no_more_of_the_database_than_before(house: House, django_assert_num_queries: Any) -> None:
    """Nothing is looked up for it while a batch is settled: the deals are looked at afterwards, by a job."""
    house.post(message("A"), message("B"))
    settling.settle_next(house.stream("ms-mg01"), clock=lambda: RECEIVED)
    assert run("SELECT FROM devices_deal") == 0
    assert look() == 1


# ── what is refused, and how often that is put down ─────────────────────────────────────────────────────────────────


class Book:
    """What a notebook writes."""

    def __init__(self, together: float) -> None:
        self.rows: list[tuple[Noted, int]] = []
        self.notebook = Notebook(self.rows.extend, together)

    def comes(self, count: int) -> None:
        """Wait for so many rows."""
        give_up = time.monotonic() + 20
        while len(self.rows) < count:
            assert time.monotonic() < give_up, self.rows
            time.sleep(0.01)


def test_the_first_is_put_down_at_once_and_the_rest_of_its_minute_as_one() -> None:
    book = Book(together=0.5)
    book.notebook.note(Noted("reused", "D-1", "T-1", f"R-{n}") for n in range(1_000))
    book.notebook.note([Noted("reused", "D-2", "T-1", "R-x")])
    book.comes(2)
    assert book.rows[:2] == [(Noted("reused", "D-1", "T-1", "R-0"), 1), (Noted("reused", "D-2", "T-1", "R-x"), 1)]
    book.comes(3)
    assert book.rows[2] == (Noted("reused", "D-1", "T-1", "R-999"), 999)
    time.sleep(1.2)
    assert len(book.rows) == 3
    book.notebook.note([Noted("reused", "D-1", "T-1", "again")])
    book.comes(4)


def test_a_storm_of_every_kind_fills_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significant, "MOST_KINDS", 10)
    book = Book(together=0.5)
    for number in range(5_000):
        book.notebook.note([Noted("not_your_table", "D-1", f"T-{number}", None)])
    time.sleep(1.5)
    assert len(book.rows) <= 12
    assert sum(times for _, times in book.rows) == 5_000, "and none is lost count of"


def test_a_database_in_trouble_does_not_end_it() -> None:
    tries: list[int] = []

    def write(several: list[tuple[Noted, int]]) -> None:
        tries.append(len(several))
        if len(tries) == 1:
            raise OperationalError("a moment")

    notebook = Notebook(write, together=0.1)
    notebook.note([Noted("reused", "D-1", "T-1", "R-1")])
    give_up = time.monotonic() + 20
    while not tries:
        assert time.monotonic() < give_up
        time.sleep(0.01)
    notebook.note([Noted("reused", "D-2", "T-1", "R-1")])
    while len(tries) < 2:
        assert time.monotonic() < give_up
        time.sleep(0.01)
