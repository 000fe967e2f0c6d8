"""What is read back of the record, against the tables as they stand: streams that count alike, each row found in its own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounting.services import ledger
from accounting.statements import execute
from devices.foresight import stretch
from jackpot.hits_on_record import open_hits
from tables.queries import record
from tables.services import acts
from tests.services.house import (
    ALONE,
    LINKED,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    rows,
    royal,
    run,
    two_hits,
    value,
)
from tests.services.played import MISCOUNTED, decided

STREAMS = ("ms-mg01", "twin", ALONE)


def sequences(stream: str) -> list[int]:
    """Every event of a stream."""
    return [each for (each,) in rows(
        "SELECT sequence FROM accounting_event WHERE stream_id = %s ORDER BY sequence", House.stream(stream)
    )]  # fmt: skip


def result_of(stream: str, sequence: int) -> bytes | None:
    """An event's result, looked for in one table after the other."""
    place = (House.stream(stream), sequence)
    for statement in (
        "SELECT settlement FROM tables_round WHERE stream_id = %s AND sequence = %s",
        "SELECT result FROM tables_lock WHERE stream_id = %s AND sequence = %s",
        "SELECT result FROM accounting_document WHERE stream_id = %s AND sequence = %s",
    ):
        if (found := rows(statement, *place)) and found[0][0] is not None:
            return bytes(found[0][0])
    return None


def message_id(reference: str, table: str, kind: str = "result") -> int:
    """The id of a stored message."""
    found: int = value(
        "SELECT id FROM devices_message WHERE reference = %s AND table_id = %s AND kind = %s",
        reference, House.table(table), kind,
    )  # fmt: skip
    return found


def test_an_event_is_found_with_its_own_result_whatever_kind_it_is(lived: House) -> None:
    decided(lived)
    for stream in STREAMS:
        stream_id = House.stream(stream)
        assert len(sequences(stream)) > 3
        found = {row[0]: row[1:] for row in record.results_at(stream_id, sequences(stream))}
        assert list(found) == sequences(stream), "in the order of the stream, each once"
        for sequence in sequences(stream):
            ((digest, at),) = rows(
                "SELECT hash, recorded_at FROM accounting_event WHERE stream_id = %s AND sequence = %s",
                stream_id, sequence,
            )  # fmt: skip
            head, result = record.head_and_result(stream_id, sequence)
            assert (bytes(head), result and bytes(result)) == (bytes(digest), result_of(stream, sequence))
            assert found[sequence][0] == at
            assert (found[sequence][1] and bytes(found[sequence][1])) == result_of(stream, sequence)
        first, *_, last = sequences(stream)
        assert [row[0] for row in record.results_at(stream_id, [last, first])] == [first, last]
        assert record.results_at(stream_id, []) == []
        assert record.head_and_result(stream_id, last + 1) == (b"", None)


def test_a_round_is_found_on_its_stream_and_with_its_settlement(lived: House) -> None:
    decided(lived)
    settled = rows("SELECT message_id, stream_id, sequence, settlement FROM tables_round")
    assert len({sequence for _, _, sequence, _ in settled}) < len(settled), "streams share sequences"
    for sent, stream_id, sequence, settlement in settled:
        assert record.round_settled(sent) == (stream_id, sequence)
        digest = value(
            "SELECT result_digest FROM accounting_event WHERE stream_id = %s AND sequence = %s", stream_id, sequence
        )
        assert record.settlement_at(stream_id, sequence)[:2] == (bytes(settlement), bytes(digest))
    assert record.round_settled(message_id("H-3", NEIGHBOUR)) is None
    with pytest.raises(LookupError, match="there is no round at sequence 0"):
        record.settlement_at(House.stream("twin"), 0)


def test_what_a_message_was_held_for_and_what_it_was_corrected_to_are_its_own(lived: House) -> None:
    held = {
        ("H-1", LINKED): ["players_mismatch"],
        ("H-1", TWIN): ["players_mismatch"],
        ("H-2", ALONE): ["duplicate_card"],
        ("H-3", NEIGHBOUR): ["duplicate_card"],
    }
    every = [sent for (sent,) in rows("SELECT id FROM devices_message")]
    assert record.corrections(every) == {}
    decided(lived)
    lived.act("round.void", f"{ALONE}/R-1")
    assert value(
        "SELECT count(*) FROM accounting_document WHERE sequence IN (SELECT sequence FROM accounting_event WHERE kind = %s)",
        "round.correct",
    ) == 2, "another stream has an act at the place of the correction"  # fmt: skip
    for (reference, table), reasons in held.items():
        assert record.held_for(message_id(reference, table)) == reasons
    assert record.held_for(message_id("R-2", LINKED)) is None
    corrected, released = message_id("H-1", TWIN), message_id("H-1", LINKED)
    (cause,) = rows(
        "SELECT cause FROM accounting_document JOIN accounting_event USING (stream_id, sequence) WHERE kind = 'round.correct'"
    )
    assert {sent: bytes(said) for sent, said in record.corrections(every).items()} == {corrected: bytes(cause[0])}
    assert record.corrections([released]) == {}
    assert record.corrections([]) == {}


def test_a_correction_is_not_that_of_a_round_decided_at_its_place_on_another_stream(house: House) -> None:
    """Each stream's first event decides the round that was held there: corrected on one, released or void on the others."""
    tables = (LINKED, TWIN, ALONE)
    house.play(*(message("H-1", table=table, dealing=MISCOUNTED) for table in tables))
    places = {
        house.act("round.release", f"{LINKED}/H-1")[1],
        house.act("round.correct", f"{TWIN}/H-1", message=message("H-1", table=TWIN))[1],
        house.act("round.void", f"{ALONE}/H-1")[1],
    }
    assert places == {1}
    (cause,) = rows("SELECT cause FROM accounting_document WHERE sequence = 1 AND stream_id = %s", House.stream("twin"))
    every = [message_id("H-1", table) for table in tables]
    assert rows(record.CORRECTED, every) == [(message_id("H-1", TWIN), *cause)]


def test_a_round_is_what_its_own_row_says_or_held_still_or_not_there(lived: House) -> None:
    """Whatever rounds of the same name other tables have."""
    decided(lived)
    codes = dict(rows("SELECT id, code FROM tables_table"))
    settled = {
        (row[0], row[1]): row[2:] for row in rows("SELECT table_id, reference, message_id, outcome FROM tables_round")
    }
    held = {
        (row[0], row[1]): row[2:] for row in rows("SELECT table_id, reference, message_id, reasons FROM tables_hold")
    }
    assert len(held) == 4 and len(held.keys() - settled.keys()) == 1
    streams = dict(rows("SELECT id, stream_id FROM tables_table"))
    for table, code in codes.items():
        for reference in ("R-1", "R-2", "R-3", "H-1", "H-2", "H-3", "K-1", "K-2"):
            sent, outcome = settled.get((table, reference), (None, "held" if (table, reference) in held else None))
            assert acts.standing(f"{code}/{reference}") == outcome, (code, reference)
            if outcome is not None:
                found = acts.posted(f"{code}/{reference}")
                kept, reasons = held.get((table, reference), (sent, []))
                assert (found.incoming.message_id, found.stream_id, found.reasons) == (kept, streams[table], reasons)


def test_a_table_is_open_as_its_own_row_says(house: House) -> None:
    tables = (LINKED, NEIGHBOUR, TWIN, ALONE)
    house.act("table.close", NEIGHBOUR)
    house.act("table.close", ALONE)
    house.act("table.open", ALONE, at=house.now + timedelta(minutes=1))
    assert [table for table in (*tables, "nowhere") if acts.is_open(table)] == [LINKED, TWIN, ALONE]


def test_what_is_replayed_of_a_stretch_is_each_event_of_its_stream_once(lived: House) -> None:
    """With its own message and documents, and whether it ended a lock."""
    decided(lived)
    lived.act("lock.void", f"{LINKED}/K-2")
    ended = set(rows("SELECT stream_id, ended FROM tables_lock"))
    by_round = dict(rows("SELECT (stream_id, sequence)::text, message_id FROM tables_round"))
    by_lock = dict(rows("SELECT (stream_id, sequence)::text, message_id FROM tables_lock"))
    raw = dict(rows("SELECT id, raw FROM devices_message"))
    for stream in ("ms-mg01", "twin"):
        stream_id, every = House.stream(stream), sequences(stream)
        for first, last in ((every[0], every[-1]), (1, 2), (every[-1], every[-1] + 9)):
            found = [stretch.Recorded._make(row) for row in execute(stretch.EVENTS, [stream_id, first, last])]
            assert [row.sequence for row in found] == [each for each in every if first <= each <= last]
            for row in found:
                place = f"({stream_id},{row.sequence})"
                sent = by_round.get(place, by_lock.get(place))
                assert row.raw == (None if sent is None else raw[sent]), place
                assert row.message_id == by_round.get(place)
                assert row.ends_lock == ((stream_id, row.sequence) in ended)
                said = row.settlement or row.result
                assert (said and bytes(said)) == result_of(stream, row.sequence), place


def test_every_message_has_the_settlement_that_stands(lived: House) -> None:
    """Of a round that was held and then decided the decision; of a lock what it came to, or why it was set aside."""
    decided(lived)
    by_table = [
        rows(f"SELECT message_id, {column} FROM {table}")
        for table, column in (
            ("tables_round", "settlement"), ("tables_hold", "settlement"), ("tables_lock", "result"),
            ("tables_locksetaside", "result"),
        )
    ]  # fmt: skip
    assert all(by_table), "there is one of each"
    expected: dict[int, bytes] = {}
    for found in by_table:
        for sent, result in found:
            expected.setdefault(sent, bytes(result))
    assert record.settlements(expected) == expected
    for sent, result in expected.items():
        assert record.settlements([sent]) == {sent: result}
    assert record.settlements([]) == {}


def test_payouts_of_a_range_are_those_of_its_stream_in_their_order(lived: House) -> None:
    for stream in ("ms-mg01", "twin"):
        stream_id = House.stream(stream)
        listed = rows(
            "SELECT sequence, line, seat, kind, wager, hand, level_id, cents, table_id, dealt_at, counts_at, gaming_date"
            " FROM tables_payout WHERE stream_id = %s",
            stream_id,
        )
        paid = sorted({row[0] for row in listed})
        assert len(paid) > 1 and len(listed) > len(paid)
        for first, last in ((paid[0], paid[-1]), (paid[0], paid[0]), (paid[-1], paid[-1]), (paid[0] + 1, paid[-1])):
            expected = sorted((row for row in listed if first <= row[0] <= last), key=lambda row: row[:2])
            assert record.payouts_between(stream_id, first, last) == expected
    assert record.payouts_between(House.stream(ALONE), 900, 999) == []


TABLES = {
    "rounds": "tables_round",
    "payouts": "tables_payout",
    "transfers": "accounting_transfer",
    "hits": "jackpot_hit",
    "locks": "tables_lock",
    "events": "accounting_event",
    "documents": "accounting_document",
}


def of_stream(kind: str, stream_id: int) -> str:
    """The condition that a row of a table is of a stream."""
    if kind == "locks":
        return f"ended IS NULL AND stream_id = {stream_id}"
    if kind == "hits":
        return f"link_id IN (SELECT id FROM jackpot_link WHERE stream_id = {stream_id})"
    return f"stream_id = {stream_id}"


@pytest.mark.parametrize("kind", TABLES)
def test_a_row_beyond_its_stream_is_found_at_its_first_sequence_and_on_no_other_stream(kind: str, lived: House) -> None:
    """Just at the next sequence, further on, and before the opening; the least of them where there are several."""
    lived.play(locked("K-3"))  # waits beside K-2
    lived.act("hit.verify", "ms-mg01-000001")
    decided(lived)
    stream_id, other = House.stream("ms-mg01"), House.stream("twin")
    none: dict[str, Any] = dict.fromkeys(TABLES)
    assert record.rows_beyond(stream_id) == record.rows_beyond(other) == none
    run("SET session_replication_role = replica")
    following = value("SELECT next_sequence FROM accounting_stream WHERE id = %s", stream_id)
    ahead = value("SELECT next_sequence FROM accounting_stream WHERE id = %s", other)
    assert following != ahead, "so that one is not taken for the other"
    table = TABLES[kind]

    def moved(sequence: int, to: int) -> None:
        assert run(f"UPDATE {table} SET sequence = {to} WHERE sequence = {sequence} AND {of_stream(kind, stream_id)}")

    there = [each for (each,) in rows(
        f"SELECT DISTINCT sequence FROM {table} WHERE {of_stream(kind, stream_id)} AND sequence > 0 ORDER BY 1"
    )]  # fmt: skip
    moved(there[0], following + 700)
    assert record.rows_beyond(stream_id) == none | {kind: following + 700}
    moved(following + 700, following)
    assert record.rows_beyond(stream_id) == none | {kind: following}
    if len(there) > 1:
        moved(there[1], following + 3)
        assert record.rows_beyond(stream_id) == none | {kind: following}, "the first of them"
    if kind not in {"events", "documents"}:  # those stand on their stream from 0 on, which their tables enforce
        if kind != "transfers":  # the opening has its own
            moved(following, 0)
            assert record.rows_beyond(stream_id)[kind] == (following + 3 if len(there) > 1 else None), "0 is an event"
            moved(0, following)
        moved(following, -7)
        assert record.rows_beyond(stream_id) == none | {kind: -7}, "the least of them, before the opening"
        if len(there) > 1:
            moved(following + 3, -2)
            assert record.rows_beyond(stream_id) == none | {kind: -7}
    assert record.rows_beyond(other) == none


def test_a_lock_that_ended_at_an_event_that_is_not_there_is_beyond(lived: House) -> None:
    stream_id = House.stream("ms-mg01")
    following = value("SELECT next_sequence FROM accounting_stream WHERE id = %s", stream_id)
    run("SET session_replication_role = replica")
    ended = "WHERE ended IS NOT NULL AND stream_id = %s"
    for to in (following + 5, following):
        assert run(f"UPDATE tables_lock SET ended = {to} {ended}", stream_id)
        assert record.rows_beyond(stream_id)["locks"] == to
    assert run(
        f"UPDATE tables_lock SET state = 'void', ended = {following + 9} WHERE ended IS NULL AND stream_id = %s",
        stream_id,
    )
    assert record.rows_beyond(stream_id)["locks"] == following, "the first of them"
    run("DELETE FROM tables_lock WHERE ended > %s", following)
    assert run(f"UPDATE tables_lock SET ended = {following - 1} {ended}", stream_id)
    assert record.rows_beyond(stream_id)["locks"] is None
    assert record.rows_beyond(House.stream("twin"))["locks"] is None


@pytest.mark.parametrize(
    ("what", "table"),
    [
        ("event", "accounting_event"), ("document", "accounting_document"), ("transfer", "accounting_transfer"),
        ("round", "tables_round"), ("payout", "tables_payout"), ("lock", "tables_lock"),
    ],
)  # fmt: skip
def test_a_row_whose_stream_is_not_there_is_named(what: str, table: str, lived: House) -> None:
    decided(lived)
    assert record.row_of_no_stream() is None
    run("SET session_replication_role = replica")
    stream_id = House.stream("ms-mg01")
    sequence = value(f"SELECT max(sequence) FROM {table} WHERE stream_id = %s", stream_id)
    assert run(f"UPDATE {table} SET stream_id = 4711 WHERE stream_id = %s AND sequence = %s", stream_id, sequence)
    assert record.row_of_no_stream() == (what, 4711, sequence)


def test_open_hits_are_those_of_before(house: House) -> None:
    house.play(two_hits("R-1"), royal("R-2"))
    stream = House.stream("ms-mg01")
    known = {before: [hit.name for hit in open_hits(stream, before)] for before in (1, 2, 3)}
    assert known == {1: [], 2: ["ms-mg01-000001", "ms-mg01-000002"], 3: [f"ms-mg01-00000{n}" for n in (1, 2, 3)]}
    _, sequence = house.act("hit.reject", "ms-mg01-000002")
    assert [hit.name for hit in open_hits(stream, sequence)] == known[3], "that very event is decided with it open"
    assert [hit.name for hit in open_hits(stream, sequence + 1)] == ["ms-mg01-000001", "ms-mg01-000003"]


def test_the_moment_of_an_event_is_that_of_its_own_stream_s_last_at_least(house: House) -> None:
    """Whatever another stream has at the same place: it was recorded half a minute later here."""
    house.play(message("R-1"), at=RECEIVED)
    house.play(message("R-1", table=TWIN), at=RECEIVED + timedelta(seconds=30))
    bay, twin = House.stream("ms-mg01"), House.stream("twin")
    for seconds in (0, 10):
        at = RECEIVED + timedelta(seconds=seconds)
        assert ledger.moment_on([bay], at=at) == at
        assert ledger.moment_on([twin], at=at) == RECEIVED + timedelta(seconds=30)
        assert ledger.moment_on([bay, twin], at=at) == RECEIVED + timedelta(seconds=30)
    for earlier, moved in ((timedelta(minutes=1), True), (timedelta(minutes=1, microseconds=1), False)):
        at = RECEIVED + timedelta(seconds=30) - earlier
        assert ledger.moment_on([twin], at=at) == (at + earlier if moved else at)
    much_later = RECEIVED - timedelta(minutes=2)
    assert ledger.moment_on([twin], at=much_later) == much_later, "a clock that is wrong by more is left as it is"
