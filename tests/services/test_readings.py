"""Meters are read, compared with their movements, explained, signed off; a cent that went astray is led back to its event."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from string import Template
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker

from accounting import reconciliation
from accounting.reconciliation import net
from accounting.rules.acts import ActRefused
from accounting.services import readings
from accounting.services.readings import LARGEST_PHOTO
from devices.audit.findings import Difference
from devices.closing import checklist, drift, sheet, verifying
from devices.closing.checklist import span
from tables.queries.record import results_at
from tests.services.closed_tampering import TAMPERING_OF_DAYS
from tests.services.fixtures import Databases
from tests.services.house import (
    ALONE,
    RECEIVED,
    TWIN,
    House,
    message,
    refused_by,
    rows,
    royal,
    run,
    two_hits,
    value,
    verify,
)  # fmt: skip
from tests.services.played import planted_is_what_was_found, tamper

DAY = date(2026, 11, 27)
MORNING = RECEIVED + timedelta(hours=12)
MAJOR = "ms-mg01/major"


def played(house: House) -> None:
    """A day with contributions, awards, seeds, overflow, an adjustment and a transfer between links."""
    house.play(message("R-1"), two_hits("R-2"), two_hits("R-1", table=TWIN), royal("R-2", table=TWIN))
    house.act("level.adjust", MAJOR, part="display", cents=12_345, reason="boost")
    house.suspend("ms-mg01")
    house.act("level.transfer", MAJOR, to="twin/grand", parts=["display", "reserve"])


def test_every_level_is_expected_to_show_what_its_movements_come_to(busy_house: House) -> None:
    played(busy_house)
    for line in sheet.lines(DAY, at=RECEIVED):
        link, _, level = line.level.partition("/")
        shown = rows(
            "SELECT meter.value_cents, meter.reserve_cents, meter.overflow_cents FROM jackpot_meter meter"
            " JOIN jackpot_level level ON level.id = meter.level_id JOIN jackpot_link link ON link.id = level.link_id"
            " WHERE link.code = %s AND level.code = %s", link, level,
        )  # fmt: skip
        assert shown == [(line.expected_cents, line.reserve_cents, line.overflow_cents)], line.level
        assert sum(line.columns) == line.expected_cents - line.opening_cents
        assert drift.find(line.level, line.stream_id) is None
    (grand,) = (line for line in sheet.lines(DAY, at=RECEIVED) if line.level == "twin/grand")
    assert {each.reason for each in grand.moved} >= {"contribution", "award", "seed", "transfer"}, (
        "booked on the other link"
    )


def test_what_moved_a_level_is_counted_from_any_event_to_any_other(house: House) -> None:
    """Each event once, whatever the stretch it is counted in; from the first on it comes to what the meter showed."""
    then = reconciliation.balances_then()
    played(house)
    for moment in (then, reconciliation.balances_then()):
        assert reconciliation.balances_since(moment) == reconciliation.balances()
    found_elsewhere = []
    for level in (MAJOR, "twin/grand", "twin/minor"):
        link, _, code = level.partition("/")
        stream_id = house.stream(link)
        last = value("SELECT next_sequence - 1 FROM accounting_stream WHERE id = %s", stream_id)
        single = {at: reconciliation.movements(level, stream_id, at - 1, at) for at in range(last + 1)}
        assert all(each.events == 1 for moved in single.values() for each in moved)
        for after in range(-1, last + 1):
            for through in range(after, last + 1):
                summed: Counter[tuple[str, str, bool, str]] = Counter()
                for each in (each for at in range(after + 1, through + 1) for each in single[at]):
                    summed[each.part, each.reason, each.is_up, "cents"] += each.cents
                    summed[each.part, each.reason, each.is_up, "events"] += 1
                moved = reconciliation.movements(level, stream_id, after, through)
                assert [each[:3] for each in moved] == sorted({key[:3] for key in summed})
                assert {(*each[:3], "cents"): each.cents for each in moved}.items() <= summed.items()
                assert {(*each[:3], "events"): each.events for each in moved}.items() <= summed.items()
                elsewhere = reconciliation.booked_elsewhere(level, stream_id, after, through)
                assert all(after < at <= through for at, _, _ in elsewhere)
        found_elsewhere += reconciliation.booked_elsewhere(level, stream_id, -1, last)
        for at, _, result in results_at(stream_id, range(last + 1)):
            for row in (row for row in json.loads(bytes(result)).get("meters", ()) if row["level"] == code):
                moved = reconciliation.movements(level, stream_id, -1, at)
                for part, shown in drift.SHOWN.items():
                    assert net(moved, part) == row[shown], (level, at, part)
    assert {at for at, _, _ in found_elsewhere} == {3}, "the transfer, on the other link's stream"


def test_the_last_event_of_a_day_is_found_behind_one_that_was_looked_at(house: House) -> None:
    house.play(message("R-1"), message("R-2"), message("R-3", dealt_at="2026-11-26T21:14:05-05:00"), message("R-4"))
    house.play(message("N-1", dealt_at="2026-11-28T10:00:00-05:00"), message("R-1", table=TWIN), at=MORNING)
    for stream in ("ms-mg01", "twin", ALONE):
        stream_id = house.stream(stream)
        booked = rows("SELECT sequence, gaming_date FROM accounting_event WHERE stream_id = %s", stream_id)
        for day in (date(2026, 11, 1), DAY - timedelta(days=1), DAY, DAY + timedelta(days=1), date(2026, 10, 31)):
            for looked in range(-1, len(booked) + 1):
                expected = max((sequence for sequence, on in booked if sequence > looked and on <= day), default=None)
                assert reconciliation.last_of_day(stream_id, looked, day) == expected, (stream, day, looked)


def test_a_machine_reads_every_meter_at_the_closing(busy_house: House) -> None:
    played(busy_house)
    busy_house.close_day(DAY.isoformat(), at=MORNING)
    taken = reconciliation.latest(DAY)
    assert sorted(taken) == ["ms-mg01/major", "twin/grand", "twin/minor"]
    assert all(reading.variance_cents == 0 and reading.method == "machine" for reading in taken.values())
    busy_house.now = MORNING + timedelta(hours=1)
    busy_house.play(message("N-1", table=TWIN, dealt_at="2026-11-28T08:00:00-05:00"))
    (grand,) = (line for line in sheet.lines(date(2026, 11, 28), at=busy_house.now) if line.level == "twin/grand")
    assert grand.prior is not None
    assert grand.opening_cents == taken["twin/grand"].display_cents
    assert grand.expected_cents == grand.opening_cents + net(grand.moved)
    verify()


def test_what_is_typed_is_compared_with_what_had_moved_by_then(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    shown = value(
        "SELECT value_cents FROM jackpot_meter WHERE level_id = (SELECT id FROM jackpot_level WHERE code = 'major')"
    )
    busy_house.play(two_hits("R-2"), at=RECEIVED + timedelta(minutes=5))
    at = RECEIVED + timedelta(minutes=9)
    sheet.read_by_hand(DAY, {MAJOR: shown - 1}, read_at=RECEIVED + timedelta(minutes=1), at=at, by="ann", note="sign 3")
    reading = reconciliation.latest(DAY)[MAJOR]
    assert (reading.variance_cents, reading.sequence, reading.note) == (-1, 1, "sign 3")
    (line,) = (line for line in sheet.lines(DAY, at=at) if line.level == MAJOR)
    assert line.variance_percent.startswith("−0.000")
    assert [item.state for item in checklist.look(DAY, at=at).items if item.code == "readings"] == ["open"]
    verify()


def test_a_variance_is_explained_and_signed_off_by_somebody_else(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    sheet.read_by_hand(DAY, {MAJOR: 1}, read_at=RECEIVED, at=RECEIVED, by="ann")
    reading = reconciliation.latest(DAY)[MAJOR].id
    later = RECEIVED + timedelta(minutes=1)

    def code(act: str, *words: str, by: str) -> str:
        with pytest.raises(ActRefused) as refusal:
            getattr(readings, act)(reading, *words, at=later, by=by)
        return refusal.value.code

    assert code("sign_off", by="bob") == "not_explained"
    assert code("explain", " ", by="ann") == "missing_field"
    readings.explain(reading, "the sign was dark", at=later, by="ann")
    assert code("sign_off", by="ann") == "own_reading"
    readings.explain(reading, "its lamp was replaced", at=later, by="carl")
    assert code("sign_off", by="carl") == "own_reading", "it is his explanation"
    with refused_by("nobody_signs_off_their_own_reading"):
        run(
            "INSERT INTO accounting_readingnote (reading_id, what, at, by, text) VALUES (%s, 'signed', now(), 'ann', '')",
            reading,
        )
    readings.sign_off(reading, at=later, by="bob")
    assert code("sign_off", by="dora") == code("explain", "more", by="ann") == "wrong_state"
    with refused_by("a_reading_is_signed_off_once"):
        run(
            "INSERT INTO accounting_readingnote (reading_id, what, at, by, text) VALUES (%s, 'signed', now(), 'x', '')",
            reading,
        )
    assert [item.state for item in checklist.look(DAY, at=later).items if item.code == "readings"] == ["done"]
    verify()


@pytest.mark.parametrize(
    ("typed", "minutes", "pointer"),
    [
        ({"nobody/major": 5}, 0, "/readings/nobody~1major"),
        ({MAJOR: -1}, 0, "/readings/ms-mg01~1major"),
        ({MAJOR: True}, 0, "/readings/ms-mg01~1major"),
        ({MAJOR: 10**15}, 0, "/readings/ms-mg01~1major"),
        ({MAJOR: 5}, 10, "/read_at"),
        ({MAJOR: 5}, -60 * 24 * 3, "/read_at"),
        ({}, 0, "/readings"),
    ],
)
def test_what_cannot_have_been_read_is_refused(
    busy_house: House, typed: dict[str, int], minutes: int, pointer: str
) -> None:
    with pytest.raises(ActRefused) as refusal:
        sheet.read_by_hand(DAY, typed, read_at=RECEIVED + timedelta(minutes=minutes), at=RECEIVED, by="ann")
    assert refusal.value.pointer == pointer
    assert value("SELECT count(*) FROM accounting_reading") == 0


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("sign.jpg", b"", "a file of 1 to 5,242,880 bytes"), ("sign.jpg", bytes(LARGEST_PHOTO + 1), "a file of 1 to"),
        ("  ", b"x", "a name of 200 characters at most"), ("x" * 201, b"x", "a name of 200 characters at most"),
        ("x", b"x", ""), (f" {'x' * 200} ", bytes(LARGEST_PHOTO), ""),
    ],
    ids=["nothing in it", "too large", "no name", "too long a name", "least", "most"],
)  # fmt: skip
def test_a_photo_has_a_name_and_something_in_it(house: House, name: str, content: bytes, said: str) -> None:
    photo = readings.Photo(name, content)

    def read() -> None:
        sheet.read_by_hand(DAY, {MAJOR: 1}, read_at=RECEIVED, at=RECEIVED, by="ann", photo=photo)

    if said:
        with pytest.raises(ActRefused, match=said) as refusal:
            read()
        assert (refusal.value.code, refusal.value.pointer) == ("invalid_value", "/photo")
    else:
        read()
        assert value("SELECT name FROM accounting_readingphoto") == name.strip()


def test_the_least_and_the_most_and_the_first_moment_can_be_read(house: House) -> None:
    """From nothing to a cent below ten thousand billion dollars, from the moment the day begins on; and not before."""
    began_at, _ = span(DAY)
    note = "n" * readings.LONGEST
    for cents in (0, 10**15 - 1):
        assert sheet.read_by_hand(DAY, {MAJOR: cents}, read_at=began_at, at=RECEIVED, by="ann", note=note) == 1
        assert reconciliation.latest(DAY)[MAJOR].display_cents == cents
    for read_at, said, pointer in (
        (began_at - timedelta(seconds=1), note, "/read_at"),
        (began_at, f"{note}n", "/note"),
    ):
        with pytest.raises(ActRefused) as refusal:
            sheet.read_by_hand(DAY, {MAJOR: 0}, read_at=read_at, at=RECEIVED, by="ann", note=said)
        assert refusal.value.pointer == pointer


def test_the_reading_that_counts_is_the_last_of_its_level_and_day(house: House) -> None:
    """By day and level; what others took the place of is listed for its day alone, the newest first."""
    grand, before = "twin/grand", DAY - timedelta(days=1)
    at = {before: RECEIVED - timedelta(days=1), DAY: RECEIVED}
    for day, levels in (
        (DAY, (grand, MAJOR)),
        (before, (MAJOR,)),
        (DAY, (MAJOR,)),
        (before, (grand, MAJOR)),
        (DAY, (grand,)),
    ):
        for level in levels:
            sheet.read_by_hand(day, {level: 5}, read_at=at[day], at=at[DAY], by="ann")
    every = rows("SELECT id, day, level FROM accounting_reading")
    last = {(day, level): number for number, day, level in sorted(every)}
    for first, until in ((before, DAY), (DAY, DAY), (before, before), (DAY, before)):
        expected = [(*key, number) for key, number in sorted(last.items()) if first <= key[0] <= until]
        assert [(each.day, each.level, each.id) for each in reconciliation.latest_between(first, until)] == expected
    for day in (before, DAY, DAY + timedelta(days=1)):
        of_day = {level: number for (on, level), number in last.items() if on == day}
        assert {level: each.id for level, each in reconciliation.latest(day).items()} == of_day
        listed = sorted((number for number, on, _ in every if on == day), reverse=True)
        assert [each.id for each in reconciliation.readings_of(day)] == listed
        for chosen in ([MAJOR, grand], [grand], []):
            earlier = {key: number for key, number in sorted(last.items()) if key[0] < day and key[1] in chosen}
            found = reconciliation.before(day, chosen)
            assert {level: each.id for level, each in found.items()} == {level: n for (_, level), n in earlier.items()}
    assert [reading.pk for reading in reconciliation.all_readings()] == sorted(number for number, _, _ in every)


def test_a_closed_day_is_read_no_more(busy_house: House) -> None:
    busy_house.close_day(DAY.isoformat(), at=MORNING)
    with pytest.raises(ActRefused, match="is closed"):
        sheet.read_by_machine(DAY, at=MORNING, by="ann")
    with pytest.raises(ActRefused, match="is closed"):
        sheet.read_by_hand(DAY, {MAJOR: 1}, read_at=RECEIVED, at=MORNING, by="ann")


# ── one cent ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_cent_put_on_a_meter_is_found_and_led_to_the_meter(busy_house: House) -> None:
    played(busy_house)
    tamper("UPDATE jackpot_meter SET value_cents = value_cents + 1 WHERE level_id = (SELECT id FROM jackpot_level"
           " WHERE code = 'minor')")  # fmt: skip
    assert checklist.look(DAY, at=RECEIVED).in_the_way[0].code == "ledger"
    sheet.read_by_machine(DAY, at=RECEIVED, by="ann")
    assert {level: taken.variance_cents for level, taken in reconciliation.latest(DAY).items()} == {
        MAJOR: 0, "twin/grand": 0, "twin/minor": 1,
    }  # fmt: skip
    found = drift.find("twin/minor", busy_house.stream("twin"))
    assert found is not None
    assert (found.part, found.sequence, found.by_cents) == ("display", None, 1)
    assert "the meter itself was changed" in found.words


@pytest.mark.parametrize("after", [-1, 0, 1])
def test_a_cent_of_a_booking_is_found_and_led_back_to_its_event(
    busy_house: House, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger is a cent short from one event on: the meter is right and its movements are not."""
    busy_house.play(*(message(f"R-{number}") for number in range(1, 9)))
    tamper(
        "WITH gone AS (SELECT line, debit_id, credit_id FROM accounting_transfer WHERE sequence = 5 AND reason = 'contribution'"
        " LIMIT 1), row AS (UPDATE accounting_transfer SET amount_cents = amount_cents - 1 FROM gone"
        " WHERE sequence = 5 AND accounting_transfer.line = gone.line RETURNING accounting_transfer.credit_id)"
        " UPDATE accounting_total SET credit_cents = credit_cents - 1 FROM row"
        " WHERE account_id = row.credit_id AND gaming_date = '2026-11-27'"
    )
    sheet.read_by_machine(DAY, at=RECEIVED, by="ann")
    assert reconciliation.latest(DAY)[MAJOR].variance_cents == 1
    for at_once in (1, 2, 500):
        monkeypatch.setattr(drift, "AT_ONCE", at_once)
        found = drift.find(MAJOR, busy_house.stream("ms-mg01"), after=after)
        assert found is not None
        assert (found.part, found.sequence, found.kind, found.subject, found.by_cents) == (
            "display", 5, "round", "MS-101/R-5", 1,
        )  # fmt: skip
        assert "part company at event 5 of ms-mg01 (round MS-101/R-5)" in found.words


def test_the_sheet_has_the_columns_that_every_day_has_and_those_that_say_something() -> None:
    nothing = [0] * len(sheet.COLUMNS)
    for moved, places in (([], []), ([4], [4]), ([1, 5], [5]), ([3, 6], [3, 6])):
        levels = [nothing, *([place == one for place in range(len(nothing))] for one in moved)]
        lines: list[Any] = [SimpleNamespace(columns=each) for each in levels]
        assert sheet.columns_of(lines) == sheet.columns_of(lines[::-1]) == [0, 1, 2, *places]
    assert sheet.columns_of([]) == [0, 1, 2]


# ── the checklist, and who looked at the chain ──────────────────────────────────────────────────────────────────
def test_the_checklist_fills_itself(busy_house: House) -> None:
    busy_house.play(message("R-1"), two_hits("R-2"), message("H-1", community="3s 9h Kd"))
    busy_house.post(message("Q-1"))

    def states() -> dict[str, str]:
        return {item.code: item.state for item in checklist.look(DAY, at=MORNING).items}

    assert states() == {
        "over": "done", "earlier": "listed", "queue": "open", "held": "listed", "hits": "listed", "ledger": "done",
        "readings": "done", "verified": "open",
    }  # fmt: skip
    busy_house.settle()
    assert states()["queue"] == "done"
    verifying.verify_all(at=MORNING)
    found = checklist.look(DAY, at=MORNING)
    assert found.is_ready
    assert found.sequences == {"ms-mg01": 3, "twin": 0, ALONE: 0}
    busy_house.play(message("L-1"), at=MORNING)
    assert states()["verified"] == "open", "something of the day came after it was verified"


def test_the_checklist_counts_what_is_of_the_day_and_names_no_more_than_it_may(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.play(*(message(f"H-{number}", community="3s 9h Kd") for number in range(3)), two_hits("R-1"))

    def item(code: str, day: date = DAY, at: datetime = MORNING) -> tuple[str, str, int]:
        (found,) = (item for item in checklist.look(day, at=at).items if item.code == code)
        return found.state, found.words.partition(":")[0], len(found.things)

    _, ends_at = span(DAY)
    assert item("over", at=ends_at) == ("done", "by the clock", 0)
    assert item("over", at=ends_at - timedelta(seconds=1)) == ("listed", "not yet", 0)
    for named, words in ((2, "at least 2 still held"), (3, "3 still held"), (4, "3 still held")):
        monkeypatch.setattr(checklist, "NAMED", named)
        assert item("held") == ("listed", words, min(named, 3))
    assert item("hits") == ("listed", "2 of 2 are carried", 2)
    monkeypatch.setattr(checklist, "NAMED", 1)
    assert item("hits") == ("listed", "1 of 2 are carried", 1)
    before = DAY - timedelta(days=1)
    assert item("held", before) == ("done", "none is left", 0)
    assert item("hits", before) == ("done", "every hit is paid or rejected", 0)
    assert item("earlier")[:2] == ("listed", "26 earlier days are open and are closed with it, from 2026-11-01")
    house.close_day("2026-11-25")
    assert item("earlier")[:2] == ("listed", "1 earlier days are open and are closed with it, from 2026-11-26")
    house.close_day("2026-11-26")
    assert item("earlier")[:2] == ("done", "all closed")


def test_what_was_played_is_counted_up_to_so_many_events(house: House) -> None:
    house.play(message("R-1"), royal("R-2"), message("R-3"))
    lines = [line for line in sheet.lines(DAY, at=RECEIVED) if line.level == MAJOR]
    for most, counted in ((None, (4, 400)), (4, (4, 400)), (3, (None, None))):
        (found,) = sheet.played(lines, most=most)  # events 0 to 3
        assert (found.wagers, found.wagered_cents, found.hits) == (*counted, ("ms-mg01-000001",))


def test_a_day_is_verified_from_the_head_that_was_signed_last(busy_house: House) -> None:
    busy_house.play(*(message(f"R-{number}") for number in range(1, 5)), message("R-1", table=ALONE))
    assert verifying.verify_all(at=MORNING).events == 3 + 5
    busy_house.close_day(DAY.isoformat(), at=MORNING)
    later = MORNING + timedelta(hours=1)
    busy_house.play(*(message(f"N-{number}", dealt_at="2026-11-28T08:00:00-05:00") for number in range(3)), at=later)
    assert verifying.verify_all(at=later).events == 3 + 3
    tamper("UPDATE accounting_closedhead SET hash = sha256(hash)")
    with pytest.raises(Difference, match="signed hash of event"):
        verifying.verify_all(at=later)


def test_what_differs_since_the_last_head_is_found(busy_house: House) -> None:
    busy_house.play(message("R-1"))
    busy_house.close_day(DAY.isoformat(), at=MORNING)
    busy_house.play(message("N-1", dealt_at="2026-11-28T08:00:00-05:00"), at=MORNING)
    tamper("UPDATE accounting_transfer SET amount_cents = amount_cents + 1 WHERE sequence = 3")
    with pytest.raises(Difference, match="stream ms-mg01, sequence 3"):
        verifying.verify_all(at=MORNING)


# ── past the guards ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def closed_record(databases: Databases, floored: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database with a closed day, and a reading by hand that differed, was explained and signed off."""
    with django_db_blocker.unblock():
        name = databases.create(like=floored)
        with databases.entered(name):
            house = House()
            house.play(message("R-1"), two_hits("R-2"), message("R-1", table=ALONE))
            sheet.read_by_hand(DAY, {MAJOR: 1}, read_at=RECEIVED, at=RECEIVED, by="ann")
            (reading,) = reconciliation.readings_of(DAY)
            readings.explain(reading.id, "the sign was dark", at=RECEIVED, by="ann")
            readings.sign_off(reading.id, at=RECEIVED, by="bob")
            house.close_day(DAY.isoformat(), at=MORNING)
            house.play(message("L-1"), at=MORNING)
            verify()
        yield name
        databases.drop(name)


@pytest.mark.parametrize("what", TAMPERING_OF_DAYS)
def test_tampering_with_closed_days_is_found_and_named(
    what: str, databases: Databases, closed_record: str, django_db_blocker: DjangoDbBlocker
) -> None:
    with django_db_blocker.unblock():
        name = databases.create(like=closed_record)
        with databases.entered(name):
            places = {
                "stream": House.stream("ms-mg01"),
                "reading": value("SELECT min(id) FROM accounting_reading"),
            }
            statement, named = (Template(each).substitute(places) for each in TAMPERING_OF_DAYS[what])
            planted = tamper(statement)
            with pytest.raises(Difference) as difference:
                verify()
            assert named in str(difference.value)
            planted_is_what_was_found(planted, str(difference.value))
        databases.drop(name)
