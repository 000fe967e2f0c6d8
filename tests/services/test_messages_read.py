"""What is read back of messages and devices, against the tables as they stand: three streams, a queue, devices of tables."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.db import connection

from accounting.day_queries import began_on
from devices import enrolment, exceptions, queries
from devices.intake import settling
from devices.intake.contact import LOST
from devices.models import SignificantEvent
from tests.services.house import ALONE, DEALT, LINKED, NEIGHBOUR, RECEIVED, TWIN, House, message, rows, run, value
from tests.services.played import decided, stirred, tamper

STREAMS = ("ms-mg01", "twin", ALONE)


@pytest.fixture
def kept(lived: House) -> House:
    """Held rounds decided, a settled one voided, and messages that wait on two streams since different moments."""
    decided(lived)
    lived.act("round.void", f"{ALONE}/R-2", at=lived.now + timedelta(minutes=1))
    lived.post(message("Q-1", table=TWIN), at=RECEIVED + timedelta(minutes=2))
    lived.post(message("Q-1"), at=RECEIVED + timedelta(minutes=1))
    lived.post(message("Q-2"), at=RECEIVED + timedelta(minutes=3))
    stirred()
    return lived


def voided() -> set[tuple[int, int]]:
    """The events whose rounds were voided after they were settled."""
    return set(rows("SELECT stream_id, sequence FROM tables_voidedround"))


def facts(shown: queries.RoundShown) -> tuple[Any, ...]:
    """What identifies a round, where it stands, and its bytes."""
    return (
        shown.message_id, shown.table, shown.round, shown.stream, shown.sequence, shown.counts_at, shown.state,
        shown.raw, shown.settlement, shown.received_at,
    )  # fmt: skip


def expected(message_id: int) -> tuple[Any, ...]:
    """The same, looked for in one table after the other."""
    table_id, reference, raw, received_at, queued_on = rows(
        "SELECT table_id, reference, raw, received_at, stream_id FROM devices_message WHERE id = %s", message_id
    )[0]
    table = value("SELECT code FROM tables_table WHERE id = %s", table_id)
    stream_id, sequence, counts_at, state, settlement = queued_on, None, None, "queued", None
    for (held,) in rows("SELECT settlement FROM tables_hold WHERE message_id = %s", message_id):
        state, settlement = "held", bytes(held)
    for row in rows(
        "SELECT stream_id, sequence, counts_at, outcome, settlement FROM tables_round WHERE message_id = %s", message_id
    ):
        stream_id, sequence, counts_at, state, settlement = (*row[:4], bytes(row[4]))
        state = "void" if (stream_id, sequence) in voided() else state
    stream = value("SELECT code FROM accounting_stream WHERE id = %s", stream_id)
    return message_id, table, reference, stream, sequence, counts_at, state, bytes(raw), settlement, received_at


def test_a_round_is_shown_wherever_it_stands(kept: House) -> None:
    results = rows(
        "SELECT message_id, table_id, reference FROM devices_reference WHERE kind = 'result' ORDER BY message_id"
    )
    codes = dict(rows("SELECT id, code FROM tables_table"))
    states = set()
    for message_id, table_id, reference in results:
        shown = queries.round_of(codes[table_id], reference)
        assert shown is not None
        assert facts(shown) == expected(message_id)
        assert queries.result_of(codes[table_id], reference) == message_id
        at = queries.round_at(f"{codes[table_id]}/{reference}")
        assert at is not None and facts(at) == facts(shown)
        decision = shown.decided and (shown.decided["act"], shown.decided["message"] is not None)
        assert decision == {
            (LINKED, "H-1"): ("round.release", False), (TWIN, "H-1"): ("round.correct", True),
            (ALONE, "H-2"): ("round.void", False),
        }.get((codes[table_id], reference))  # fmt: skip
        states.add(shown.state)
    assert states == {"queued", "held", "settled", "void"}
    assert queries.round_of(LINKED, "K-2") is queries.round_of(NEIGHBOUR, "R-2") is None, "a lock; another table's"
    assert queries.result_of(LINKED, "K-2") is queries.result_of(NEIGHBOUR, "R-2") is None


def test_the_rounds_of_a_stream_go_on_after_a_sequence(kept: House) -> None:
    for stream in STREAMS:
        own = rows(
            "SELECT message_id, sequence FROM tables_round WHERE stream_id = %s ORDER BY sequence", House.stream(stream)
        )
        assert len(own) > 2
        for after in (0, own[0][1], own[1][1], own[-1][1], own[-1][1] - 1):
            beyond = [expected(message_id) for message_id, sequence in own if sequence > after]
            for limit in (1, 2, 50):
                found = queries.rounds_on(stream, after_sequence=after, limit=limit)
                assert [facts(each) for each in found] == beyond[:limit]
    corrected = {each.round for each in queries.rounds_on("twin", after_sequence=0, limit=50) if each.decided}
    assert corrected == {"H-1"}


def test_an_event_is_read_with_the_receipt_of_its_own_message(kept: House) -> None:
    tamper("UPDATE devices_message SET received_at = received_at + id * interval '1 second', device_id = id")
    for stream in STREAMS:
        events = [
            {"stream": stream, "sequence": sequence, "kind": kind}
            for sequence, kind in rows(
                "SELECT sequence, kind FROM accounting_event WHERE stream_id = %s ORDER BY sequence",
                House.stream(stream),
            )
        ]
        came = {
            sequence: (received_at.isoformat(), device_id)
            for table in ("tables_round", "tables_lock")
            for sequence, received_at, device_id in rows(
                f"SELECT sequence, received_at, device_id FROM {table} JOIN devices_message ON id = message_id"
                f" WHERE {table}.stream_id = %s",
                House.stream(stream),
            )
        }
        found = queries.with_receipts(events)
        assert [event["sequence"] for event in found] == [event["sequence"] for event in events]
        for event in found:
            by_message = event["kind"] in ("round", "lock")
            receipt = came[event["sequence"]] if by_message else (None, None)
            assert (event["received_at"], event["device_id"]) == receipt, event
        for event in found:
            assert queries.with_receipts([event]) == [event]
    assert queries.with_receipts([]) == []


def test_queues_stand_by_how_long_they_wait(kept: House) -> None:
    minute = timedelta(minutes=1)
    assert queries.queues() == [("ms-mg01", 2, RECEIVED + minute), ("twin", 1, RECEIVED + 2 * minute)]
    found = queries.health()
    assert (found.queued, found.oldest_received_at, found.has_floor) == (3, RECEIVED + minute, True)
    assert queries.queued_until(RECEIVED + minute) == [], "what came at that very moment came not before it"
    assert queries.queued_until(RECEIVED + 2 * minute) == [("ms-mg01", 1)]
    run("UPDATE devices_queued SET received_at = %s", RECEIVED)  # as an array that is posted for tables of both
    assert [code for code, _, _ in queries.queues()] == ["ms-mg01", "twin"], "by code then"


def test_streams_that_stand_still_stand_by_since_when(kept: House) -> None:
    assert queries.stopped() == []
    for stream, since in (("twin", RECEIVED), (ALONE, RECEIVED - timedelta(hours=1)), ("ms-mg01", RECEIVED)):
        run(
            "INSERT INTO devices_stoppage (stream_id, since, reason) VALUES (%s, %s, %s)",
            House.stream(stream),
            since,
            stream,
        )
    assert [(each.stream, each.since, each.reason) for each in queries.stopped()] == [
        (ALONE, RECEIVED - timedelta(hours=1), ALONE), ("ms-mg01", RECEIVED, "ms-mg01"), ("twin", RECEIVED, "twin"),
    ]  # fmt: skip


def wait(stream: str, *seconds: int) -> None:
    """Let the messages of a stream have come so long ago, in the order of their receipts."""
    run(
        "UPDATE devices_queued queued SET received_at = clock_timestamp() - make_interval(secs => since.seconds) FROM"
        " (SELECT row_number() OVER (ORDER BY receipt) AS place, receipt FROM devices_queued WHERE stream_id = %s) AS placed"
        " JOIN unnest(%s::int[]) WITH ORDINALITY AS since (seconds, place) USING (place)"
        " WHERE queued.stream_id = %s AND queued.receipt = placed.receipt",
        House.stream(stream), list(seconds), House.stream(stream),
    )  # fmt: skip


def test_streams_that_wait_too_long_stand_by_how_long(kept: House) -> None:
    """By their oldest message, with all that wait and the time of the oldest, whatever has come since."""
    kept.post(message("Q-1", table=ALONE))
    for stream, seconds in (("ms-mg01", (5, 1_000)), ("twin", (2_000,)), (ALONE, (5,))):
        wait(stream, *seconds)
    oldest = dict(rows("SELECT stream_id, min(received_at) FROM devices_queued GROUP BY stream_id"))
    assert [(each.stream, each.queued, each.oldest_received_at) for each in queries.late(60)] == [
        ("twin", 1, oldest[kept.stream("twin")]), ("ms-mg01", 2, oldest[kept.stream("ms-mg01")]),
    ]  # fmt: skip
    wait("ms-mg01", 1_000, 5)
    assert [each.stream for each in queries.late(60)] == ["twin", "ms-mg01"]
    # A house of many streams: the first hundred.
    run(
        "INSERT INTO accounting_stream SELECT (jsonb_populate_record(twin, jsonb_build_object('id', 5000 + number,"
        " 'code', 'many-' || number))).* FROM accounting_stream twin, generate_series(1, 100) AS number WHERE code = 'twin'"
    )
    run(
        "INSERT INTO devices_queued (stream_id, receipt, position, message_id, received_at)"
        " SELECT 5000 + number, receipt, 0, message_id, received_at FROM devices_queued, generate_series(1, 100) AS number"
        " WHERE stream_id = %s",
        kept.stream("twin"),
    )
    assert len(found := queries.late(60)) == 100
    assert "ms-mg01" not in {each.stream for each in found}, "it waits shortest"
    by_code = [code for (code,) in rows("SELECT code FROM accounting_stream WHERE id > 5000 ORDER BY code")]
    assert [code for code, _ in queries.queued_until(kept.now + timedelta(hours=1)) if code in by_code] == by_code


def test_why_a_stream_waits_is_its_fault_its_worker_or_that_it_has_none(kept: House) -> None:
    def reasons() -> dict[str, str]:
        return {each.stream: each.reason for each in queries.late(60)}

    kept.post(message("Q-1", table=ALONE))
    for stream, seconds in (("ms-mg01", (1_000, 1_000)), ("twin", (1_000,)), (ALONE, (1_000,))):
        wait(stream, *seconds)
    nobody = "no worker is at it"
    assert reasons() == {"ms-mg01": nobody, "twin": nobody, ALONE: nobody}
    # What else is called by such a number: a lock of two numbers, and one of another database of the server.
    run("SELECT pg_advisory_xact_lock(%s, %s)", queries.ATTEMPTING_CLASS, kept.stream("twin"))
    elsewhere = connection.get_connection_params() | {"dbname": "postgres"}
    with psycopg.connect(**{name: elsewhere[name] for name in ("dbname", "user", "host", "port")}) as somebody:
        somebody.execute("SELECT pg_advisory_xact_lock(%s)", [queries.ATTEMPTING + kept.stream(ALONE)])
        assert reasons() == {"ms-mg01": nobody, "twin": nobody, ALONE: nobody}
    run("SELECT pg_advisory_xact_lock(%s)", queries.ATTEMPTING + kept.stream("twin"))
    run(
        "INSERT INTO devices_stoppage (stream_id, since, reason) VALUES (%s, %s, 'a fault of ours')",
        kept.stream(ALONE), RECEIVED,
    )  # fmt: skip
    found = reasons()
    assert (found["ms-mg01"], found[ALONE]) == (nobody, "a fault of ours")
    backend = value("SELECT pg_backend_pid()")
    assert found["twin"].startswith(f"a worker is at it, session {backend} (")


def noted(code: str, at: datetime, **more: Any) -> int:
    """The number of a significant event that is put on record."""
    return SignificantEvent.objects.create(recorded_at=at, code=code, **more).pk


def test_significant_events_stand_newest_first(kept: House) -> None:
    minute = timedelta(minutes=1)
    mine = [noted("mine", RECEIVED + number * minute) for number in range(5)]
    noted("other", RECEIVED + 9 * minute)
    stirred()
    everything = [number for (number,) in rows("SELECT id FROM devices_significantevent ORDER BY id DESC")]
    assert [each.pk for each in queries.significant_events()] == everything
    assert [each.pk for each in queries.significant_events(limit=2)] == everything[:2]
    assert [each.pk for each in queries.significant_events(before=mine[-1], limit=3)] == mine[3:0:-1]

    def recent(since: datetime, limit: int) -> list[int]:
        return [each.pk for each in queries.recent_events("mine", since=since, limit=limit)]

    assert recent(RECEIVED, 9) == mine[::-1]
    assert recent(RECEIVED + 2 * minute, 9) == mine[:1:-1], "the moment itself is since it"
    assert recent(RECEIVED, 2) == mine[:2:-1]


def test_significant_events_of_a_day_are_exceptions_in_the_order_they_came(
    kept: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exceptions, "AT_ONCE", 2)
    day, tick = date(2026, 11, 20), timedelta(microseconds=1)
    begins, end = began_on(day), began_on(day + timedelta(days=1))
    moments = {
        "at the end": end - tick, "too early": begins - tick, "at its begin": begins, "too late": end,
        "in between": begins + timedelta(hours=1),
    }  # fmt: skip
    for name, at in moments.items():
        noted("mine", at, table=LINKED, detail={"note": name})
    noted(LOST, begins)  # is told of the table that was silent
    stirred()
    found = list(exceptions.between(day, day, only=exceptions.SIGNIFICANT))
    assert [each.detail for each in found] == [
        "mine: note at the end", "mine: note at its begin", "mine: note in between",
    ]  # fmt: skip


def test_a_device_names_the_newest_message_of_its_tables_and_a_table_the_last_sign_of_life(kept: House) -> None:
    for place, tables in enumerate(([LINKED, ALONE], [ALONE], [TWIN, NEIGHBOUR]), 1):
        enrolment.enrol(f"IDP-{place}", tables, key=f"key {place}", by="sam", at=RECEIVED)
        device = value("SELECT id FROM devices_device WHERE code = %s", f"IDP-{place}")
        run(
            "INSERT INTO devices_contact (device_id, heard_at) VALUES (%s, %s)"
            " ON CONFLICT (device_id) DO UPDATE SET heard_at = excluded.heard_at",
            device, RECEIVED + timedelta(minutes=place),
        )  # fmt: skip
    dealt_at = (DEALT + timedelta(minutes=8)).isoformat()
    kept.play(message("late", table=ALONE, dealt_at=dealt_at), at=RECEIVED + timedelta(minutes=9))
    stirred()
    enrolment.enrol("IDP-4", [LINKED], key="key 4", by="sam", at=RECEIVED)
    run("DELETE FROM devices_device_tables WHERE device_id = (SELECT id FROM devices_device WHERE code = 'IDP-4')")
    run(
        "INSERT INTO devices_contact (device_id, heard_at) SELECT id, %s FROM devices_device WHERE code = 'IDP-4'",
        RECEIVED,
    )
    own = {each.code: each for each in queries.gateways() if each.code.startswith("IDP-")}
    assert list(own) == ["IDP-1", "IDP-2", "IDP-3", "IDP-4"]
    spare = own["IDP-4"]
    assert (spare.tables, spare.last_table, spare.last_round, spare.last_at) == (None, None, None, None)
    assert (own["IDP-1"].tables, own["IDP-2"].tables, own["IDP-3"].tables) == (
        f"{LINKED}, {ALONE}",
        ALONE,
        f"{NEIGHBOUR}, {TWIN}",
    )
    for code in ("IDP-1", "IDP-2"):
        gateway = own[code]
        newest = (gateway.last_table, gateway.last_round, gateway.last_at)
        assert newest == (ALONE, "late", RECEIVED + timedelta(minutes=9))
    heard = queries.last_heard()
    assert None not in heard, "a device without tables is heard for none"
    assert {table: heard[House.table(table)] - RECEIVED for table in (LINKED, ALONE, TWIN, NEIGHBOUR)} == {
        LINKED: timedelta(minutes=1), ALONE: timedelta(minutes=2), TWIN: timedelta(minutes=3), NEIGHBOUR: timedelta(minutes=3),
    }  # fmt: skip


def test_the_last_sweep_is_its_own_heartbeat(kept: House) -> None:
    run("DELETE FROM devices_heartbeat")
    assert queries.swept_at() is queries.health().swept_at is None
    for name, minutes in (("sweep", 1), ("deals", 5)):
        run(
            "INSERT INTO devices_heartbeat (name, seen_at) VALUES (%s, %s)", name, RECEIVED + timedelta(minutes=minutes)
        )
    assert queries.swept_at() == queries.health().swept_at == RECEIVED + timedelta(minutes=1)


def test_a_kept_message_is_as_it_was_taken_in(kept: House) -> None:
    for message_id, received_at, raw, digest, device_id in rows(
        "SELECT id, received_at, raw, digest, device_id FROM devices_message"
    ):
        found = queries.received(message_id)
        assert (found.received_at, found.raw, bytes(found.digest), found.device_id) == (
            received_at, bytes(raw), bytes(digest), device_id,
        )  # fmt: skip
        assert json.loads(found.raw)


def test_a_sign_of_life_is_renewed(kept: House) -> None:
    for minutes in (0, 5):
        settling.beat("anybody", RECEIVED + timedelta(minutes=minutes))
        assert rows("SELECT seen_at FROM devices_heartbeat WHERE name = 'anybody'") == [
            (RECEIVED + timedelta(minutes=minutes),)
        ]
