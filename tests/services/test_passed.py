"""What a stream's queue has passed: nothing that waits or still comes lies below it, whoever is slow, whatever is handed over."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from types import SimpleNamespace

import pytest
from django.db import DatabaseError, transaction

from accounting.statements import execute
from devices.intake import passed, settling
from tests.races.together import closing
from tests.services.house import (
    ALONE,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    message,
    rows,
    run,
    seat,
    value,
    verify,
    whoever_was_at_work_is_over,
)
from tests.services.played import unindexed

LINK = "ms-mg01"


@pytest.fixture(autouse=True)
def _every_batch_moves_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passed, "SECONDS", 0.0)


def settle(house: House, stream: str = LINK) -> settling.Taken:
    """One visit to a stream, by whoever was woken for it."""
    return settling.settle_next(house.stream(stream), clock=lambda: RECEIVED)


def has_passed(house: House) -> int:
    """The receipt that the link's stream has passed."""
    found = rows("SELECT receipt FROM devices_passed WHERE stream_id = %s", house.stream(LINK))
    return int(found[0][0]) if found else 0


def last_receipt() -> int:
    """The receipt that was handed out last."""
    return int(value("SELECT last_value FROM devices_receipt"))


def passed_by(house: House, stream: str, receipt: int) -> None:
    """Say that a stream has passed a receipt."""
    run(
        "INSERT INTO devices_passed (stream_id, receipt, put_forward, noted_by) VALUES (%s, %s, %s, 0)",
        house.stream(stream), receipt, receipt,
    )  # fmt: skip


def play(house: House, *references: str, beside: bool = False) -> list[int]:
    """Post and settle round after round; the receipts that they had. `beside` somebody who is at work meanwhile."""
    receipts = []
    for reference in references:
        if not beside:
            whoever_was_at_work_is_over()
        house.post(message(reference))
        receipts.append(last_receipt())
        assert settle(house).batch.settled == 1
    return receipts


@contextmanager
def on_its_way(house: House, reference: str) -> Iterator[None]:
    """A post that has its receipt and is committed when the block is over."""
    stored, go_on, failed = threading.Event(), threading.Event(), list[BaseException]()

    def post() -> None:
        try:
            with transaction.atomic():
                house.post(message(reference))
                stored.set()
                assert go_on.wait(60)
        except BaseException as error:
            failed.append(error)

    slow = threading.Thread(target=closing(post))
    slow.start()
    try:
        assert stored.wait(60)
        yield
    finally:
        go_on.set()
        slow.join()
        assert failed == []


def test_a_receipt_is_passed_two_batches_after_it_was_taken(busy_house: House) -> None:
    busy_house.post(message("R-1", table=TWIN))  # what waits on another stream is that one's
    first, second, third, *_ = play(busy_house, "R-1", "R-2", "R-3")
    assert has_passed(busy_house) == first, "put forward, noted, passed"
    assert rows("SELECT put_forward, noted_by FROM devices_passed") == [(third, 0)]
    play(busy_house, "R-4", "R-5")
    assert has_passed(busy_house) == third > second
    verify()


def test_a_stream_has_passed_what_its_own_row_says(house: House) -> None:
    """Whatever those beside it have passed; one without a row has passed nothing."""
    streams = sorted(house.stream(stream) for stream in (LINK, "twin", ALONE))
    for without in streams:
        run("DELETE FROM devices_passed")
        own = {stream: 700 + place for place, stream in enumerate(streams, 1) if stream != without}
        for stream, receipt in own.items():
            run(
                "INSERT INTO devices_passed (stream_id, receipt, put_forward, noted_by) VALUES (%s, %s, %s, 0)",
                stream,
                receipt,
                receipt,
            )
        for stream in streams:
            assert execute(f"SELECT {passed.FROM}", {"stream": stream}) == [(own.get(stream, 0),)], (stream, own)


def test_what_is_on_its_way_is_not_passed(busy_house: House) -> None:
    """It has a lower receipt than those that are settled meanwhile, and is found where it lies as soon as it is there."""
    play(busy_house, "R-1", "R-2")
    before = has_passed(busy_house)
    with on_its_way(busy_house, "S-1"):
        slow = last_receipt()
        after = play(busy_house, *(f"R-{number}" for number in range(3, 12)), beside=True)
        assert before <= has_passed(busy_house) < slow < after[0]
    assert settle(busy_house).batch.settled == 1
    assert busy_house.order()[-1] == "S-1"
    assert play(busy_house, *(f"R-{number}" for number in range(12, 18)))[0] <= has_passed(busy_house)
    verify()


def test_a_post_has_its_number_before_its_receipt(busy_house: House) -> None:
    """Whoever was handed a receipt is known to be at work, before anything is stored."""
    run("""
        CREATE FUNCTION nextval(numbers regclass) RETURNS bigint LANGUAGE plpgsql AS $$
        BEGIN
            IF numbers = 'devices_receipt'::regclass AND pg_current_xact_id_if_assigned() IS NULL THEN
                RAISE EXCEPTION 'a receipt before a number';
            END IF;
            RETURN pg_catalog.nextval(numbers);
        END $$
    """)
    run("SET search_path = public, pg_catalog")
    try:
        play(busy_house, "R-1")
        with pytest.raises(DatabaseError, match="a receipt before a number"):
            run("SELECT nextval('devices_receipt')")
    finally:
        run("RESET search_path")


def test_what_is_handed_over_lies_below_and_is_settled_next(busy_house: House) -> None:
    """A message keeps its place when its table goes to another stream: what that one has passed is taken back."""
    busy_house.post(message("N-1", seat(1, "3s 7d"), table=NEIGHBOUR))
    lowest = last_receipt()
    busy_house.post(message("N-2", seat(1, "3s 7d"), table=NEIGHBOUR))
    run("UPDATE devices_queued SET stream_id = %s", busy_house.stream("twin"))  # accepted while the table was there
    play(busy_house, *(f"R-{number}" for number in range(6)))
    assert has_passed(busy_house) > lowest
    passed_by(busy_house, ALONE, 4711)
    assert settle(busy_house, "twin").rerouted == (busy_house.stream(LINK), busy_house.stream(LINK))
    assert rows("SELECT stream_id, receipt, put_forward FROM devices_passed ORDER BY stream_id") == [
        (busy_house.stream(LINK), lowest, lowest), (busy_house.stream(ALONE), 4711, 4711),
    ]  # fmt: skip
    assert settle(busy_house).batch.settled == 2
    assert busy_house.order()[-2:] == ["N-1", "N-2"]
    verify()


@pytest.mark.parametrize("note", ["noted", "put forward"])
def test_what_is_handed_over_is_not_passed_by_what_was_put_forward_before(note: str, busy_house: House) -> None:
    """It came after the receipt was put forward, and waits: that counts for no more than what waits."""
    busy_house.post(message("N-1", seat(1, "3s 7d"), table=NEIGHBOUR))
    lowest = last_receipt()
    run("UPDATE devices_queued SET stream_id = %s", busy_house.stream("twin"))
    play(busy_house, "R-1", *(["R-2"] if note == "noted" else []))
    run("UPDATE devices_queued SET stream_id = %s", busy_house.stream(LINK))
    for _ in range(3):
        run("DELETE FROM devices_passed WHERE receipt > 0")
        with transaction.atomic():
            busy_house.post(message(f"L-{last_receipt()}"))
            run("UPDATE devices_queued SET position = position WHERE receipt = %s", lowest)  # it lies behind the others
            unindexed()
            passed.took(busy_house.stream(LINK), last_receipt())
        assert has_passed(busy_house) <= lowest
    assert settle(busy_house).batch.settled == 4
    verify()


def test_what_waits_at_the_very_receipt_that_was_passed_is_not_passed(busy_house: House) -> None:
    """Its array may have been of tables of two streams, and its table has come over since."""
    play(busy_house, "R-1", "R-2", "R-3")
    passed_before = has_passed(busy_house)
    busy_house.post(message("R-4"))
    run("UPDATE devices_queued SET receipt = %s", passed_before)
    for _ in range(3):
        whoever_was_at_work_is_over()
        passed.took(busy_house.stream(LINK), last_receipt())
        assert has_passed(busy_house) == passed_before
    assert settle(busy_house).batch.settled == 1
    verify()


def test_a_number_from_another_server_is_noted_anew(busy_house: House) -> None:
    """A house that was copied row by row into another server has its rows, and not its count of transactions."""
    play(busy_house, "R-1", "R-2")
    run("UPDATE devices_passed SET noted_by = noted_by + 1000000000000")
    play(busy_house, "R-3", beside=True)
    receipts = play(busy_house, *(f"R-{number}" for number in range(4, 8)))
    assert has_passed(busy_house) == receipts[0]


def test_a_sweep_takes_back_what_was_passed_too_early(busy_house: House) -> None:
    """A post of the version before has its receipt first: should it be overtaken, it waits for the next sweep at most."""
    play(busy_house, "R-1", "R-2", "R-3")
    busy_house.post(message("R-4"))
    run("UPDATE devices_passed SET receipt = receipt + 1000, put_forward = receipt + 2000")
    passed_by(busy_house, ALONE, 4711)
    assert settle(busy_house).batch.settled == 0, "overtaken"
    assert settling.streams_waiting() == [busy_house.stream(LINK)]
    assert has_passed(busy_house) == last_receipt()
    written = "SELECT xmin::text FROM devices_passed WHERE stream_id = %s"
    before = rows(written, busy_house.stream(LINK))
    assert settling.streams_waiting() == [busy_house.stream(LINK)]
    assert rows(written, busy_house.stream(LINK)) == before, "where nothing is to be taken back, nothing is written"
    run("UPDATE devices_passed SET receipt = receipt - 1")
    assert settling.streams_waiting() == [busy_house.stream(LINK)]
    assert has_passed(busy_house) == last_receipt() - 1, "a sweep alone passes nothing: what is on its way may be lower"
    assert rows("SELECT receipt FROM devices_passed WHERE stream_id = %s", busy_house.stream(ALONE)) == [(4710,)]
    assert settle(busy_house).batch.settled == 1
    verify()


def test_a_stream_begins_where_it_has_passed_itself(house: House) -> None:
    """Whatever the streams before and behind it have."""
    for stream in (LINK, "twin", ALONE):
        passed_by(house, stream, last_receipt() + 4711)
    house.post(message("T-1", table=TWIN))
    assert settle(house, "twin").batch.settled == 0, "overtaken"
    run("DELETE FROM devices_passed WHERE stream_id = %s", house.stream("twin"))
    assert settle(house, "twin").batch.settled == 1


def test_it_is_moved_on_once_a_while_and_not_with_every_round(
    busy_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passed, "SECONDS", 3600.0)
    monkeypatch.setattr(passed, "_moved", {})
    monkeypatch.setattr(passed, "time", SimpleNamespace(monotonic=count(1.0).__next__))  # the machine has just started
    first, *_ = play(busy_house, "R-1", "R-2", "R-3", "R-4")
    assert rows("SELECT receipt, put_forward, noted_by FROM devices_passed") == [(0, first, 0)]
