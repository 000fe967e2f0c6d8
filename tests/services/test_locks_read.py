"""What is read of locks as their rows keep them, against the rows: as of every place of their streams."""

from __future__ import annotations

from typing import Any

import pytest

from tables.queries import locks
from tables.services import lock_rows
from tables.services import locks as services
from tests.services.house import ALONE, NEIGHBOUR, TWIN, House, locked, message, rows, royal
from tests.services.played import stirred

LOCKS = "SELECT stream_id, sequence, table_id, reference, state, ended, put_in FROM tables_lock"


@pytest.fixture
def taken(house: House) -> House:
    """Locks of one name at three tables of two streams that count alike: decided, void, and such as wait."""
    house.play(
        locked("K-1"), locked("K-1", 1, 3, table=TWIN), locked("K-1", 1, 2, table=NEIGHBOUR), locked("K-2", table=TWIN),
        royal("K-1", table=TWIN), message("K-1"), locked("K-3"), message("R-1", table=TWIN), message("R-1", table=ALONE),
    )  # fmt: skip
    house.act("lock.void", f"{TWIN}/K-2")
    house.play(
        locked("K-2"), locked("K-4", table=TWIN), locked("K-5", table=NEIGHBOUR), message("K-1", table=NEIGHBOUR),
        message("K-3", irregularities=[{"code": "shoe_failed"}]),
    )  # fmt: skip
    stirred()
    return house


def codes() -> dict[int, str]:
    return dict(rows("SELECT id, code FROM tables_table"))


def test_a_lock_waits_from_after_its_own_event_until_the_event_that_ends_it(taken: House) -> None:
    tables, every = codes(), rows(LOCKS)
    assert {state for _, _, _, _, state, _, _ in every} == {"locked", "decided", "void"}
    for stream in ("ms-mg01", "twin", ALONE):
        stream_id = House.stream(stream)
        for before in range(12):
            expected = {
                (tables[table], reference): lock_rows.state_of(put_in)
                for of, sequence, table, reference, _, ended, put_in in every
                if of == stream_id and sequence < before and (ended is None or ended >= before)
            }
            assert lock_rows.waiting(stream_id, before=before) == expected, (stream, before)
            for table in tables.values():
                for reference in ("K-1", "K-2", "K-9"):
                    found = lock_rows.of_round(stream_id, f"{table}/{reference}", before=before)
                    assert found == {key: state for key, state in expected.items() if key == (table, reference)}
        wait = [each for each in every if each[0] == stream_id and each[4] == "locked"]
        assert lock_rows.waiting_now(stream_id) == len(wait)


def test_only_locks_of_the_rounds_that_are_asked_for_say_their_stream(taken: House) -> None:
    waits = {(table, reference): of for of, _, table, reference, state, _, _ in rows(LOCKS) if state == "locked"}
    places = [(table, reference) for table in codes() for reference in ("K-1", "K-2", "K-3", "K-4", "K-5", "K-9")]
    assert lock_rows.streams_of(places) == waits and len(waits) == 4
    for place in places:
        assert lock_rows.streams_of([place]) == {key: of for key, of in waits.items() if key == place}
    assert lock_rows.streams_of([]) == {}


def test_what_a_lock_put_in_is_found_by_the_event_that_it_was_decided_by_and_by_its_round(taken: House) -> None:
    every = rows(LOCKS)
    decided = {(of, ended): put_in for of, _, _, _, state, ended, put_in in every if state == "decided"}
    events = rows("SELECT stream_id, sequence FROM accounting_event")
    assert len(decided) == 3 and len(events) > len({sequence for _, sequence in events})
    for place in events:
        kept: Any = decided.get(place)
        assert lock_rows.put_in_at(*place) == (None if kept is None else bytes(kept))
        assert lock_rows.decided_by(*place) == (None if kept is None else lock_rows.state_of(kept).put_in)
    for table in codes():
        for reference in ("K-1", "K-2", "K-3", "K-9"):
            kept = [row[6] for row in every if row[2:4] == (table, reference) and row[4] != "void"]
            expected = lock_rows.state_of(kept[0]) if kept else None
            assert lock_rows.of_hold(table, reference) == expected


def test_a_lock_is_shown_by_its_table_and_round(taken: House) -> None:
    tables, streams = codes(), dict(rows("SELECT id, code FROM accounting_stream"))
    known = {(tables[row[2]], row[3]): row for row in rows(LOCKS)}
    for table in tables.values():
        for reference in ("K-1", "K-2", "K-3", "K-9"):
            shown, row = locks.lock_of(table, reference), known.get((table, reference))
            assert (shown is None) == (row is None), (table, reference)
            if shown is not None and row is not None:
                assert shown.subject == f"{table}/{reference}" and shown.stream == streams[row[0]]
                assert (shown.stream_id, shown.sequence, shown.state, shown.ended) == (row[0], row[1], row[4], row[5])
                assert bytes(shown.put_in) == bytes(row[6])


def test_a_payout_counts_from_a_lock_where_one_was_decided_by_its_very_round(taken: House) -> None:
    streams = dict(rows("SELECT id, code FROM accounting_stream"))
    decided = {(streams[row[0]], row[5]) for row in rows(LOCKS) if row[4] == "decided"}
    places = [(streams[of], sequence) for of, sequence in rows("SELECT stream_id, sequence FROM accounting_event")]
    every = {f"{stream}-{sequence}-{line}" for stream, sequence in places for line in (1, 2)}
    expected = {f"{stream}-{sequence}-{line}" for stream, sequence in decided for line in (1, 2)}
    assert locks.counted_from_locks(every) == expected and len(expected) == 6
    assert locks.counted_from_locks({"nothing"}) == locks.counted_from_locks(()) == set()


def test_an_act_knows_what_has_become_of_a_lock_and_of_its_very_round(taken: House) -> None:
    """Settled, void, held for people, or not come yet."""
    tables = codes()
    outcomes = {
        (of, sequence): outcome
        for of, sequence, outcome in rows("SELECT stream_id, sequence, outcome FROM tables_round")
    }
    held = set(rows("SELECT table_id, reference FROM tables_hold"))
    every = rows(LOCKS)
    for of, sequence, table, reference, state, ended, put_in in every:
        found = services.named(f"{tables[table]}/{reference}")
        assert found[:2] == (of, sequence) and bytes(found.put_in) == bytes(put_in)
        assert (found.state, found.ended, found.outcome) == (state, ended, outcomes.get((of, ended)))
        assert found.held == ((table, reference) in held)
    assert {outcomes.get((row[0], row[5])) for row in every} == {"settled", "void", None}
    assert len(held) == 1 and services.standing(f"{NEIGHBOUR}/K-1") == "held"
    assert [services.standing(f"{table}/K-2") for table in (TWIN, ALONE)] == ["void", None]
