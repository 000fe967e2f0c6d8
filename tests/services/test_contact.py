"""A table that loses contact takes no progressive wagers until it is heard of again (REQUIREMENTS R22, R25)."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

import pytest

from accounting.reporting.shape import Asked
from accounting.rules.acts import ActRefused
from devices import demo, enrolment, exceptions
from devices.audit.verification import Difference
from devices.intake import contact
from devices.models import Device
from devices.reports import EXCEPTIONS
from tables.models import Table
from tests.services import auditor
from tests.services.house import ALONE, LINKED, NEIGHBOUR, RECEIVED, TWIN, House, message, rows, seat, value, verify
from tests.services.played import tamper

T = RECEIVED + timedelta(minutes=1)


def after(seconds: float) -> datetime:
    return T + timedelta(seconds=seconds)


def dealt(round_: str, seconds: float, *, table: str = LINKED, **more: int) -> dict[str, object]:
    sent: dict[str, object] = message(round_, table=table, dealt_at=after(seconds).isoformat())
    return sent


@pytest.fixture
def gateways(busy_house: House) -> dict[str, int]:
    """A gateway at each of three tables; at one of them a second, which never gave a sign of life."""
    found = {}
    for code, tables in (("G-1", [LINKED]), ("G-2", [TWIN]), ("G-3", [ALONE]), ("G-4", [LINKED])):
        device = Device.objects.create(code=code, enrolled_at=RECEIVED)
        device.tables.set(Table.objects.filter(code__in=tables))
        found[code] = device.pk
    return found


def test_silence_closes_the_progressive_and_not_the_base_game(busy_house: House, gateways: dict[str, int]) -> None:
    house = busy_house
    assert contact.watch(at=after(0)) == [], "nobody was ever heard of: nobody is missed"
    contact.hear(gateways["G-1"], at=after(0))
    contact.hear(gateways["G-3"], at=after(0))  # a table on no link has no progressive to close
    assert contact.watch(at=after(9.9)) == []
    assert contact.watch(at=after(10)) == [LINKED]
    assert contact.watch(at=after(12)) == [], "once"
    late, held = dealt("late", 9.5), dealt("new", 10.5)
    base = message("base", seat(1, "3s 7d"), dealt_at=after(10.6).isoformat())
    others = [dealt("neighbour", 10.5, table=NEIGHBOUR), dealt("twin", 10.5, table=TWIN)]
    house.play(late, held, base, *others, at=after(13))
    assert house.outcome(late) == ("settled", []), "dealt before, however late it comes"
    assert house.outcome(held) == ("held", ["link_not_open"])
    assert house.outcome(base) == ("settled", [])
    assert [house.outcome(each)[0] for each in others] == ["settled", "settled"]
    auditor.everything_agrees()
    verify()


def test_minutes_of_lost_contact_are_on_the_exceptions_report(busy_house: House, gateways: dict[str, int]) -> None:
    """From the last sign of life to the next one, minutes that began counted whole; what is lost still, as of now."""
    contact.hear(gateways["G-1"], at=after(0))
    contact.hear(gateways["G-2"], at=after(60))
    assert contact.watch(at=after(20)) == [LINKED]
    contact.hear(gateways["G-1"], at=after(400))
    assert contact.watch(at=after(401)) == [LINKED, TWIN]
    now, day = after(1_261), date(2026, 11, 27)
    found = list(exceptions.between(day, day, only=exceptions.SILENT, at=now))
    assert [(one.about, one.at, one.detail, one.minutes) for one in found] == [
        (LINKED, after(20), "silent for 7 min", 7),
        (LINKED, after(401), "heard of again", None),
        (TWIN, after(401), "silent for 21 min, and still is", 21),
    ]
    for begins, end in ((20, 401), (21, 401.5)):  # what comes at its end is of the next
        turns = [one.at for one in exceptions._silent(after(begins), after(end), now)]
        assert turns == [one.at for one in found if after(begins) <= one.at < after(end)] != []
    told = [one for one in exceptions.between(day, day, at=now) if one.about in (LINKED, TWIN)]
    assert told == found, "each turn once, however many tell of it"
    later = day + timedelta(days=1)
    assert list(exceptions.between(later, later, only=exceptions.SILENT, at=now)) == []
    (row, *_) = list(EXCEPTIONS.rows(Asked(day, day, now, {"kind": exceptions.SILENT})))
    assert row[-1] == 7


def test_being_heard_again_opens_it_and_both_are_events_that_people_see(
    busy_house: House, gateways: dict[str, int]
) -> None:
    house = busy_house
    contact.hear(gateways["G-1"], at=after(0))
    contact.watch(at=after(20))
    contact.hear(gateways["G-1"], at=after(30))
    contact.hear(gateways["G-1"], at=after(29))
    assert contact.watch(at=after(31)) == [LINKED]
    between, again = dealt("between", 25), dealt("again", 32)
    house.play(again, between, at=after(40))
    assert house.outcome(again) == ("settled", [])
    assert house.outcome(between) == ("held", ["link_not_open"]), "dealt in the silence, whenever it comes"
    lost, regained = house.significant("contact_lost"), house.significant("contact_regained")
    assert lost == [{"last_heard": after(0).isoformat(), "stream": "ms-mg01", "sequence": 1}]
    assert regained == [{"last_heard": after(30).isoformat(), "stream": "ms-mg01", "sequence": 2}]
    documents = rows("SELECT cause, result FROM accounting_document WHERE sequence > 0 ORDER BY sequence")
    (closed, _), (opened, result) = ((json.loads(bytes(cause)), json.loads(bytes(came))) for cause, came in documents)
    assert (closed["act"], closed["by"], closed["payload"]["heard"]) == ("table.contact", "the service", False)
    assert opened["payload"] == {"heard": True, "last": after(30).isoformat()}
    assert [row["before_cents"] == row["after_cents"] for row in result["meters"]] == [True]
    # What was held waits for people, as any round of a link that was not open.
    house.act("round.release", f"{LINKED}/between", at=after(50))
    auditor.everything_agrees()
    verify()


def test_a_silent_table_stays_silent_where_it_moves_to(busy_house: House, gateways: dict[str, int]) -> None:
    house = busy_house
    contact.hear(gateways["G-1"], at=after(0))
    assert contact.watch(at=after(20)) == [LINKED]
    house.act("table.leave", LINKED, at=after(21))
    house.act("table.join", LINKED, at=after(22), link="ms-mg01")
    assert contact.watch(at=after(23)) == [], "still unheard, as it was where it came from"
    held = dealt("back", 24)
    house.play(held, at=after(25))
    assert house.outcome(held) == ("held", ["link_not_open"])
    contact.hear(gateways["G-1"], at=after(30))
    assert contact.watch(at=after(31)) == [LINKED]
    again = dealt("again", 32)
    house.play(again, at=after(33))
    assert house.outcome(again) == ("settled", [])
    auditor.everything_agrees()
    verify()


def test_a_table_is_silent_when_all_its_devices_are(busy_house: House, gateways: dict[str, int]) -> None:
    contact.hear(gateways["G-1"], at=after(0))
    contact.hear(gateways["G-4"], at=after(5))
    assert contact.watch(at=after(11)) == []
    assert contact.watch(at=after(15)) == [LINKED]


def test_a_table_whose_silent_gateway_lost_its_key_opens(busy_house: House, gateways: dict[str, int]) -> None:
    """Nobody can give signs of life for it any more: it would be closed for good."""
    enrolment.renew("G-1", [], key="G-1", by="sam", at=after(0))
    contact.hear(gateways["G-1"], at=after(0))
    contact.hear(gateways["G-2"], at=after(0))
    assert contact.watch(at=after(20)) == [LINKED, TWIN]
    enrolment.withdraw("G-1", by="sam", at=after(21))
    assert contact.watch(at=after(22)) == [LINKED]
    assert contact.watch(at=after(40)) == [], "nobody is listened for"
    assert [each.table for each in contact.silent()] == [TWIN]
    settled = dealt("settled", 41)
    busy_house.play(settled, at=after(42))
    assert busy_house.outcome(settled) == ("settled", [])
    verify()


def test_a_demo_that_starts_anew_listens_for_nobody(busy_house: House) -> None:
    """Whoever played it before is gone, and whoever posts by hand gives no signs of life."""
    demo.ensure()
    contact.hear(Device.objects.get(code=f"demo-{LINKED}").pk, at=after(0))
    assert contact.watch(at=after(20)) == [LINKED]
    demo.ensure()
    assert contact.watch(at=after(30)) == [LINKED]
    assert contact.silent() == []


def test_nobody_may_ask_for_it(busy_house: House) -> None:
    from accounting.office import registry
    from tables.rules.deciding import SHAPES

    assert "table.contact" not in registry.acts()
    assert "table.contact" not in SHAPES
    with pytest.raises(ActRefused, match="heard already"):
        busy_house.act("table.contact", LINKED, heard=True, last=after(0).isoformat())


def test_a_closing_that_is_tampered_with_is_found(busy_house: House, gateways: dict[str, int]) -> None:
    contact.hear(gateways["G-1"], at=after(0))
    contact.watch(at=after(20))
    verify()
    stream = busy_house.stream("ms-mg01")
    assert value("SELECT kind FROM accounting_event WHERE stream_id = %s AND sequence = 1", stream) == "table.contact"
    tamper(
        "UPDATE accounting_document SET result = replace(convert_from(result, 'UTF8'), '\"heard\":false', '\"heard\":true ')"
        f"::bytea WHERE stream_id = {stream} AND sequence = 1"
    )
    with pytest.raises(Difference, match="sequence 1"):
        verify()
