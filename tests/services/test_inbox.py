"""The inbox: stored before it is answered, one content a reference for ever, the order of posts kept (ARCHITECTURE §4.1)."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from django.db import DatabaseError, connections

from devices import posting
from devices.intake import directory, inbox
from devices.intake.directory import Caller
from devices.intake.inbox import Arrival, Verdict
from tests.services import auditor
from tests.services.house import (
    ALONE,
    LINKED,
    NEIGHBOUR,
    RECEIVED,
    House,
    Message,
    message,
    references,
    rows,
    run,
    seat,
    value,
)


def statuses(verdicts: list[Verdict]) -> list[str]:
    return [verdict.status for verdict in verdicts]


def arrivals(*messages: Message) -> list[Arrival]:
    """Messages as the door hands them on."""
    known = directory.current()
    body = json.dumps(messages).encode()
    read = posting.read(body, Caller(7, "gateway", frozenset(known.addresses)), known, RECEIVED)
    assert isinstance(read, posting.Post)
    return read.arrivals


def queue() -> list[tuple[Any, ...]]:
    return rows("""
        SELECT message.reference, position, queued.receipt - min(queued.receipt) OVER () FROM devices_queued queued
        JOIN devices_message message ON message.id = message_id ORDER BY receipt, position
    """)


def test_a_message_is_stored_as_it_came_with_its_reference_and_a_place_in_the_queue(house: House) -> None:
    sent = message("R-1", sequence=41)
    raw = json.dumps(sent, indent=3).encode()  # white space is kept: these are the bytes that came
    known = directory.current()
    read = posting.read(raw, Caller(7, "gateway", frozenset(known.addresses)), known, RECEIVED)
    assert isinstance(read, posting.Post)
    (verdict,) = inbox.accept(read.arrivals)
    assert verdict.status == "accepted"
    canonical = json.dumps(sent, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    digest = sha256(canonical).digest()
    stream, table = house.stream("ms-mg01"), house.table(LINKED)
    assert rows("SELECT * FROM devices_message") == [
        (verdict.message_id, "R-1", "result", 41, RECEIVED, raw, digest, 7, stream, table)
    ]
    assert rows("SELECT reference, kind, digest, message_id, table_id FROM devices_reference") == [
        ("R-1", "result", digest, verdict.message_id, table)
    ]
    assert rows("SELECT stream_id, position, message_id, received_at FROM devices_queued") == [
        (stream, 0, verdict.message_id, RECEIVED)
    ]


def test_the_same_content_again_is_a_duplicate_whatever_its_key_order_and_white_space(house: House) -> None:
    sent = message("R-1")
    (first,) = house.post(sent)
    backwards = dict(reversed(sent.items()))
    assert json.dumps(backwards) != json.dumps(sent)
    (again,) = house.post(backwards)
    assert (again.status, again.message_id) == ("duplicate", first.message_id)
    assert house.waiting() == 1
    house.settle()
    assert statuses(house.post(sent)) == ["duplicate"]
    assert house.waiting() == 0
    assert value("SELECT count(*) FROM devices_message") == 1


@pytest.mark.parametrize("settled_first", [False, True])
def test_other_content_under_the_same_reference_is_refused_for_ever(settled_first: bool, house: House) -> None:
    sent = message("R-1")
    (first,) = house.post(sent)
    if settled_first:
        house.settle()
    other = message("R-1", seat(1, "3s 7d", ante=1001, progressive=100))
    (verdict,) = house.post(other)
    assert (verdict.status, verdict.message_id) == ("reused", first.message_id)
    assert value("SELECT count(*) FROM devices_message") == 1
    house.settle()
    assert house.settlement(sent)["seats"][0]["staked_cents"] == 4100
    auditor.everything_agrees()


def test_a_held_round_uses_its_reference_up(house: House) -> None:
    sent = message("R-1", seat(1, "3s 3s"))
    house.play(sent)
    assert house.outcome(sent) == ("held", ["duplicate_card"])
    assert statuses(house.post(message("R-1", seat(1, "3s 4s")))) == ["reused"]


def test_a_reference_is_the_table_s_own(house: House) -> None:
    posted = house.post(message("R-1"), message("R-1", table=NEIGHBOUR), message("R-1", table=ALONE))
    assert statuses(posted) == ["accepted"] * 3
    assert len({verdict.message_id for verdict in posted}) == 3
    again = house.post(message("R-1"), message("R-1", table=NEIGHBOUR), message("R-1", table=ALONE))
    assert statuses(again) == ["duplicate"] * 3
    assert [verdict.message_id for verdict in again] == [verdict.message_id for verdict in posted]


def test_references_are_told_apart_to_the_letter(house: House) -> None:
    alike = ["r-1", "R-1", "R-1 ", "R‐1", "R-1\u0301", "Ŕ-1", "R-１"]
    assert statuses(house.post(*(message(reference) for reference in alike))) == ["accepted"] * len(alike)


def test_within_one_array_the_first_of_a_reference_counts(house: House) -> None:
    first, other = message("R-1"), message("R-1", seat(1, "3s 7d"))
    verdicts = house.post(message("R-0"), first, other, first, message("R-2"))
    assert statuses(verdicts) == ["accepted", "accepted", "reused", "duplicate", "accepted"]
    assert verdicts[1].message_id == verdicts[2].message_id == verdicts[3].message_id
    house.settle()
    assert house.order() == ["R-0", "R-1", "R-2"]
    assert house.settlement(first)["seats"][0]["staked_cents"] == 4100


def test_the_order_of_an_array_is_kept_although_references_are_sorted_on_the_way_in(house: House) -> None:
    wanted = ["R-5", "R-1", "r-9", "R-3", "A-7", "R-2"]
    house.post(*(message(reference) for reference in wanted))
    house.post(message("A-0"))
    assert queue() == [*((reference, place, 0) for place, reference in enumerate(wanted)), ("A-0", 0, 1)]
    house.settle()
    assert house.order() == [*wanted, "A-0"]


def test_duplicates_leave_no_gap_in_the_order(house: House) -> None:
    house.post(message("R-2"))
    house.post(message("R-3"), message("R-2"), message("R-1"))
    assert [reference for reference, _, _ in queue()] == ["R-2", "R-3", "R-1"]
    assert house.waiting() == 3, "nothing else has a place"


@pytest.mark.parametrize(
    "broken", [{"table_id": 999_999}, {"stream_id": 999_999}, {"kind": "letter"}, {"device_sequence": 2**63}]
)
def test_one_message_that_cannot_be_stored_leaves_nothing_of_its_batch(broken: dict[str, Any], house: House) -> None:
    good = arrivals(message("R-1"), message("R-2"), message("R-3"))
    from django.db import transaction

    with pytest.raises(DatabaseError), transaction.atomic():
        inbox.accept([good[0], replace(good[1], **broken), good[2]])
    for table in ("devices_message", "devices_reference", "devices_queued"):
        assert value(f"SELECT count(*) FROM {table}") == 0
    assert statuses(inbox.accept(good)) == ["accepted"] * 3


def test_no_messages_are_no_work(house: House) -> None:
    last = value("SELECT last_value FROM devices_receipt")
    assert inbox.accept([]) == []
    assert value("SELECT last_value FROM devices_receipt") == last


def test_overlapping_posts_from_many_threads_store_each_reference_once(busy_house: House) -> None:
    """Eight gateways resend the same rounds in different orders and cuts: each is accepted exactly once."""
    all_of_them = arrivals(*(message(f"R-{number}") for number in range(120)))
    start = threading.Barrier(8)

    def gateway(number: int) -> list[Verdict]:
        try:
            mine = [*all_of_them[number * 10 :], *all_of_them[: number * 10]]
            if number % 2:
                mine.reverse()
            start.wait(60)
            return [verdict for cut in range(0, 120, 30) for verdict in inbox.accept(mine[cut : cut + 30])]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(gateway, range(8)))
    counted = [status for verdicts in answers for status in statuses(verdicts)]
    assert counted.count("accepted") == 120
    assert counted.count("duplicate") == 7 * 120
    assert value("SELECT count(*) FROM devices_message") == busy_house.waiting() == 120
    # Whoever was told `duplicate` was told of the very message that was accepted.
    told = {verdict.message_id for verdicts in answers for verdict in verdicts}
    assert told == {message_id for (message_id,) in rows("SELECT id FROM devices_message")}
    busy_house.settle()
    assert sorted(busy_house.order()) == sorted(arrival.reference for arrival in all_of_them)
    auditor.everything_agrees()


@pytest.mark.parametrize("first_commits", [True, False])
def test_a_reference_under_way_elsewhere_is_waited_for(first_commits: bool, busy_house: House) -> None:
    """What another post has not committed yet is neither answered `duplicate` nor stored twice."""
    sent = message("R-1")
    (arrival,) = arrivals(sent)
    answers: list[list[Verdict]] = []

    def second() -> None:
        try:
            answers.append(inbox.accept([arrival]))
        finally:
            connections.close_all()

    from django.db import transaction

    waiting = threading.Thread(target=second)
    with transaction.atomic():
        (first,) = inbox.accept([arrival])
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive(), "answered before it was known whether the first is stored"
        if not first_commits:
            transaction.set_rollback(True)
    waiting.join(60)
    ((verdict,),) = answers
    assert verdict.status == ("duplicate" if first_commits else "accepted")
    assert (verdict.message_id == first.message_id) is first_commits
    assert value("SELECT count(*) FROM devices_message") == busy_house.waiting() == 1


def test_a_deadlock_is_tried_again(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL picks a victim; whoever posted must not hear of it."""
    sent = message("R-1"), message("R-2")
    tries = []
    real = inbox._accept_once

    def unlucky(batch: Any) -> list[Verdict]:
        tries.append(len(batch))
        if len(tries) < 3:
            deadlock()
        return real(batch)

    monkeypatch.setattr(inbox, "_accept_once", unlucky)
    assert statuses(inbox.accept(arrivals(*sent))) == ["accepted", "accepted"]
    assert tries == [2, 2, 2]
    assert references(sent) == [reference for reference, _, _ in queue()]


def deadlock() -> None:
    """Raise what a real deadlock raises: two connections wait for each other, this one is the victim."""
    from django.db import connection, transaction

    holding = threading.Event()

    def other() -> None:
        try:
            with transaction.atomic():
                run("SELECT pg_advisory_xact_lock(1)")
                holding.set()
                run("SET LOCAL deadlock_timeout = '1min'")
                run("SELECT pg_advisory_xact_lock(2)")
        finally:
            connections.close_all()

    thread = threading.Thread(target=other)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL deadlock_timeout = '50ms'")
            cursor.execute("SELECT pg_advisory_xact_lock(2)")
            thread.start()
            assert holding.wait(60)
            cursor.execute("SELECT pg_advisory_xact_lock(1)")
    finally:
        thread.join(60)
