"""Settling a stream: the order, batches, sequences, entries and holds (ARCHITECTURE §3, §4.2-4.4)."""

from __future__ import annotations

import threading
from datetime import date

import pytest
from django.db import DatabaseError, connections, transaction

from accounting.services.copying import RowsAstray
from devices import queries
from devices.audit.inbox_check import verify_inbox
from devices.intake import settling
from tests.services import auditor
from tests.services.house import (
    ALONE,
    DEALT,
    LINKED,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    message,
    rows,
    royal,
    run,
    seat,
    two_hits,
    value,
)
from tests.services.played import unindexed


def settle_next(house: House, stream: str = "ms-mg01", limit: int = 1_000) -> settling.Taken:
    return settling.settle_next(house.stream(stream), clock=lambda: RECEIVED, limit=limit)


def test_rounds_of_a_link_are_ordered_by_receipt_and_index_over_all_its_tables(house: House) -> None:
    house.post(message("N-9", table=NEIGHBOUR), message("L-5"), message("N-1", table=NEIGHBOUR))
    house.post(message("L-1"))
    house.post(message("A-1", table=ALONE), message("L-0"), message("N-0", table=NEIGHBOUR))
    house.settle()
    assert house.order() == ["N-9", "L-5", "N-1", "L-1", "L-0", "N-0"]
    assert house.order(ALONE) == ["A-1"]


def test_the_place_in_the_queue_decides_never_the_order_of_inserts(house: House) -> None:
    """A post that began first but was stored last: ids say one thing, the receipt another, and the receipt counts."""
    house.post(message("late"), message("later"))
    house.post(message("early"))
    low, high = value("SELECT min(receipt) FROM devices_queued"), value("SELECT max(receipt) FROM devices_queued")
    run("UPDATE devices_queued SET receipt = receipt + 1000 WHERE receipt = %s", low)
    assert high < low + 1000
    house.settle()
    assert house.order() == ["early", "late", "later"]


def test_the_meter_follows_the_order_and_not_the_time_of_the_deal(house: House) -> None:
    """Dealt later but received first: first in the link, and paid first (SPEC §6.6)."""
    first, second = (
        royal("R-1", dealt_at="2026-11-27T21:20:00-05:00"),
        royal("R-2", dealt_at="2026-11-27T21:10:00-05:00"),
    )
    house.play(first, second, at=RECEIVED)
    assert house.settlement(first)["awards"][0]["paid_cents"] == 1_000_034
    assert house.settlement(second)["awards"][0]["paid_cents"] == 1_000_034
    assert [house.settlement(sent)["awards"][0]["hit"] for sent in (first, second)] == [
        "ms-mg01-000001",
        "ms-mg01-000002",
    ]


def test_a_batch_takes_no_more_than_its_limit_and_the_next_goes_on_from_there(house: House) -> None:
    house.post(*(message(f"R-{number}") for number in range(7)))
    taken = settle_next(house, limit=3)
    assert (taken.batch.settled, taken.batch.last_sequence, taken.more, taken.busy) == (3, 3, True, False)
    assert house.order() == ["R-0", "R-1", "R-2"]
    assert house.waiting() == 4
    auditor.everything_agrees()
    taken = settle_next(house, limit=3)
    assert (taken.batch.settled, taken.batch.last_sequence, taken.more) == (3, 6, True)
    taken = settle_next(house, limit=3)
    assert (taken.batch.settled, taken.batch.last_sequence, taken.more) == (1, 7, False)
    assert settle_next(house).batch.settled == 0
    assert house.order() == [f"R-{number}" for number in range(7)]
    auditor.everything_agrees()


def test_a_thousand_messages_are_one_batch(house: House) -> None:
    for cut in range(0, 1_100, 550):
        house.post(*(message(f"R-{number:04d}", seat(1, "3s 7d"), table=ALONE) for number in range(cut, cut + 550)))
    taken = settle_next(house, ALONE)
    assert (taken.batch.settled, taken.more) == (1_000, True)
    taken = settle_next(house, ALONE)
    assert (taken.batch.settled, taken.more) == (100, False)
    assert house.order(ALONE) == [f"R-{number:04d}" for number in range(1_100)]


@pytest.mark.parametrize("limit", [1, 2, 3, 1_000])
def test_the_size_of_batches_changes_no_cent(limit: int, house: House) -> None:
    """Meters carried inside a batch and meters read back from the database come to the same."""
    house.post(
        *(two_hits(f"A-{number}", table=TWIN) for number in range(3)),
        *(royal(f"B-{number}", table=TWIN) for number in range(2)),
        *(message(f"C-{number}", seat(1, "3s 3d", progressive=500), table=TWIN, community="3c 3h 9d") for number in range(3)),
    )  # fmt: skip
    while settle_next(house, "twin", limit=limit).more:
        pass
    auditor.everything_agrees()
    meters = rows("""SELECT code, value_cents, residual_millionths, reserve_cents, overflow_cents,
        overflow_residual_millionths, wagers, hits, wins_cents FROM jackpot_meter JOIN jackpot_level ON id = level_id
        WHERE code IN ('grand', 'minor') ORDER BY code""")  # fmt: skip
    assert meters == [
        # 16 wagers give 987.656 cents: five royals and three tenths leave those of the last three rounds and the fractions.
        ("grand", 2_000_185, 656_000, 15, 0, 0, 16, 8, 3 * (200_018 + 2_000_000) + 2_000_124 + 2_000_123),
        # Full after the second round; the overflow of 280.247 cents becomes revenue at the first award, its fraction stays.
        ("minor", 5_000, 321_000, 0, 0, 247_000, 16, 3, 5_100 + 5_027 + 5_027),
    ]


def test_a_held_round_takes_no_sequence_and_moves_nothing(house: House) -> None:
    held = message("R-2", seat(1, "3s 3s", progressive=100))
    house.play(message("R-1"), held, message("R-3"))
    assert house.outcome(held) == ("held", ["duplicate_card"])
    assert rows("SELECT sequence, reference FROM tables_round ORDER BY sequence") == [(1, "R-1"), (2, "R-3")]
    assert value("SELECT next_sequence FROM accounting_stream WHERE code = 'ms-mg01'") == 3
    assert value("SELECT wagers FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE code = 'major'") == 2
    assert house.waiting() == 0
    (hold,) = rows("SELECT reference, reasons, error, dealt_at, held_at, table_id FROM tables_hold")
    assert hold == ("R-2", ["duplicate_card"], "", DEALT, RECEIVED, house.table(LINKED))
    settlement = house.settlement(held)
    assert settlement == {
        "round": "R-2", "table": LINKED, "outcome": "held", "reasons": ["duplicate_card"], "players": 1,
        "seats": [], "awards": [], "meters": [],
    }  # fmt: skip
    auditor.everything_agrees()


def test_a_batch_of_held_rounds_alone_leaves_the_stream_where_it_was(house: House) -> None:
    before = rows("SELECT next_sequence, head FROM accounting_stream ORDER BY id")
    house.play(*(message(f"R-{number}", seat(1, "3s 3s")) for number in range(3)))
    assert rows("SELECT next_sequence, head FROM accounting_stream ORDER BY id") == before
    assert value("SELECT count(*) FROM tables_hold") == 3
    assert house.waiting() == 0


def test_a_void_round_takes_a_sequence_and_moves_no_money(house: House) -> None:
    sent = royal("R-1", irregularities=[{"code": "shoe_failed"}])
    (settlement,) = house.play(sent)
    assert (settlement["outcome"], settlement["reasons"]) == ("void", ["shoe_failed"])
    assert rows("SELECT sequence, outcome FROM tables_round") == [(1, "void")]
    assert value("SELECT count(*) FROM accounting_transfer WHERE sequence = 1") == 0
    assert value("SELECT count(*) FROM tables_payout") == value("SELECT count(*) FROM jackpot_hit") == 0
    assert rows("SELECT value_cents, wagers, sequence FROM jackpot_meter JOIN jackpot_level ON id = level_id"
                " WHERE code = 'major'") == [(1_000_000, 0, 1)]  # fmt: skip
    auditor.everything_agrees()


def test_a_round_is_one_journal_entry_to_the_cent(house: House) -> None:
    house.play(royal("R-1"))
    assert rows("SELECT kind, subject, gaming_date, original_date FROM accounting_event WHERE sequence = 1") == [
        ("round", "MS-101/R-1", date(2026, 11, 27), None)
    ]
    entry = rows("""
        SELECT debit.code, credit.code, amount_cents, reason FROM accounting_transfer transfer
        JOIN accounting_account debit ON debit.id = debit_id JOIN accounting_account credit ON credit.id = credit_id
        WHERE sequence = 1 ORDER BY line
    """)
    # 10,100 + 4,100 + 1,000 staked; 500 to 1 on 10,000 is 5,000,000 and the stake back; 17.0003 and 3.0007 cents twice.
    assert entry == [
        ("table:MS-101:inventory", "wagers", 15_200, "wager"),
        ("fixed_pays", "table:MS-101:inventory", 5_010_000, "fixed_pay"),
        ("envy", "awards_payable", 100_000, "envy"),
        ("contribution_expense", "level:ms-mg01/major:liability", 34, "contribution"),
        ("contribution_expense", "level:ms-mg01/major:reserve", 6, "contribution"),
        ("level:ms-mg01/major:liability", "awards_payable", 1_000_034, "award"),
        ("level:ms-mg01/major:reserve", "level:ms-mg01/major:liability", 6, "seed"),
        ("seed_expense", "level:ms-mg01/major:liability", 999_994, "seed"),
    ]


def test_hits_are_numbered_over_the_link_and_detected(house: House) -> None:
    house.play(two_hits("R-1"), message("R-2"), royal("R-3", table=NEIGHBOUR))
    assert rows("""
        SELECT number, sequence, "order", "table", round, seat, hand, share_ppm, paid_cents, dealt_at, detected_at
        FROM jackpot_hit ORDER BY number
    """) == [
        (1, 1, 1, LINKED, "R-1", 6, "straight_flush", 100_000, 100_005, DEALT, RECEIVED),
        (2, 1, 2, LINKED, "R-1", 2, "royal_flush", 1_000_000, 900_046, DEALT, RECEIVED),
        (3, 3, 1, NEIGHBOUR, "R-3", 3, "royal_flush", 1_000_000, 1_000_051, DEALT, RECEIVED),
    ]  # fmt: skip
    assert rows(
        "SELECT hit.number, state, by FROM jackpot_hitstep step JOIN jackpot_hit hit ON hit.id = hit_id ORDER BY 1"
    ) == [(number, "detected", "settlement") for number in (1, 2, 3)]
    assert value("SELECT next_hit FROM jackpot_link WHERE code = 'ms-mg01'") == 4
    auditor.everything_agrees()


def test_streams_do_not_touch_each_other(house: House) -> None:
    house.post(royal("R-1"), royal("R-1", table=TWIN), message("R-1", table=ALONE))
    before = rows("SELECT code, next_sequence, head FROM accounting_stream WHERE code <> 'ms-mg01' ORDER BY 1")
    settle_next(house)
    assert rows("SELECT code, next_sequence, head FROM accounting_stream WHERE code <> 'ms-mg01' ORDER BY 1") == before
    assert house.waiting() == 2
    assert rows("SELECT DISTINCT stream_id FROM accounting_event WHERE sequence > 0") == [(house.stream("ms-mg01"),)]


def test_streams_that_wait_longest_come_first(house: House) -> None:
    """Each once, by the first receipt that waits there."""
    for table in (ALONE, LINKED, TWIN, ALONE, LINKED):
        house.post(message(f"R-{house.waiting()}", table=table))
    unindexed()
    assert settling.streams_waiting() == [house.stream(code) for code in (ALONE, "ms-mg01", "twin")]


@pytest.mark.parametrize("seats", [[seat(1, "3s 7d", progressive=100)], [seat(1, "3s 7d")]], ids=["with", "without"])
def test_a_closed_link_holds_progressive_wagers_alone(seats: list[dict[str, object]], house: House) -> None:
    house.suspend("ms-mg01")
    sent = message("R-1", *seats)
    house.play(sent)
    wagered = "progressive" in str(seats)
    assert house.outcome(sent) == (("held", ["link_not_open"]) if wagered else ("settled", []))
    auditor.everything_agrees()


def test_a_closed_table_holds_its_rounds_and_no_others(house: House) -> None:
    house.act("table.close", LINKED, at=DEALT)
    closed, open_, faulty = message("R-1"), message("R-1", table=NEIGHBOUR), message("R-2", seat(1, "3s 3s"))
    house.play(closed, open_, faulty)
    assert house.outcome(closed) == ("held", ["table_closed"])
    assert house.outcome(open_) == ("settled", [])
    assert house.outcome(faulty) == ("held", ["duplicate_card", "table_closed"])


def test_a_stream_in_other_hands_is_left_to_them(busy_house: House) -> None:
    """Its row is locked by another worker: nothing is done, nothing waits."""
    busy_house.post(message("R-1"))
    stream_id = busy_house.stream("ms-mg01")
    locked, done = threading.Event(), threading.Event()

    def another_worker() -> None:
        try:
            with transaction.atomic():
                run("SELECT FROM accounting_stream WHERE id = %s FOR NO KEY UPDATE", stream_id)
                locked.set()
                done.wait(60)
        finally:
            connections.close_all()

    thread = threading.Thread(target=another_worker)
    thread.start()
    assert locked.wait(60)
    taken = settling.settle_next(stream_id, clock=lambda: RECEIVED)
    assert (taken.busy, taken.batch.settled, busy_house.waiting()) == (True, 0, 1)
    assert rows("SELECT FROM devices_attempt") == [], "it was not even an attempt"
    assert busy_house.settle() == 0, "a drain must end although a queue is in other hands"
    done.set()
    thread.join(60)
    assert busy_house.settle() == 1


def test_nothing_of_a_batch_stands_when_its_commit_fails(busy_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker dies after writing and before the commit: the queue, the meters and the books are as before."""
    from tables.services import rounds

    busy_house.post(royal("R-1"), message("R-2"))
    real = rounds.settle_batch

    def dying(*args: object, **kwargs: object) -> object:
        real(*args, **kwargs)  # type: ignore[arg-type]
        raise SystemExit("killed")

    monkeypatch.setattr(rounds, "settle_batch", dying)
    with pytest.raises(SystemExit):
        busy_house.settle()
    monkeypatch.undo()
    assert value("SELECT count(*) FROM accounting_event WHERE sequence > 0") == 0
    assert busy_house.waiting() == 2
    auditor.everything_agrees()
    busy_house.settle()
    assert busy_house.order() == ["R-1", "R-2"]
    auditor.everything_agrees()


def test_a_message_that_stays_in_the_queue_is_not_settled(busy_house: House) -> None:
    """What is taken from the queue must be exactly what was settled, or it would be settled twice."""
    busy_house.post(royal("R-1"), message("R-2"))
    run("""
        CREATE FUNCTION keep_it() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF OLD.position = 1 THEN RETURN NULL; END IF; RETURN OLD; END $$;
        CREATE TRIGGER keep_it BEFORE DELETE ON devices_queued FOR EACH ROW EXECUTE FUNCTION keep_it();
    """)
    with pytest.raises(RowsAstray, match=r"DELETE FROM devices_queued .*2 rows were meant, the server says 1"):
        busy_house.settle()
    assert (busy_house.waiting(), busy_house.order()) == (2, [])
    run("DROP TRIGGER keep_it ON devices_queued")
    assert busy_house.settle() == 2
    assert busy_house.order() == ["R-1", "R-2"]
    auditor.everything_agrees()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("jackpot_meter", "a meter of link ms-mg01 was not written after sequence"),
        ("accounting_stream", "stream ms-mg01 was not moved on to sequence"),
        ("accounting_total", "duplicate key value violates unique constraint"),
    ],
)
def test_what_a_batch_changes_is_written_or_the_batch_is_undone(table: str, said: str, busy_house: House) -> None:
    """These rows are found by where they lie: one that was not there would be a sum that silently stays as it was."""
    busy_house.play(message("R-1"))
    run(f"""
        CREATE FUNCTION pass_by() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE TRIGGER pass_by BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION pass_by();
    """)
    busy_house.post(message("R-2"))
    with pytest.raises((RowsAstray, DatabaseError), match=said):
        busy_house.settle()
    assert (busy_house.waiting(), busy_house.order()) == (1, ["R-1"])
    run(f"DROP TRIGGER pass_by ON {table}")
    assert busy_house.settle() == 1
    auditor.everything_agrees()


# ── a table that changes streams ────────────────────────────────────────────────────────────────────────────────
def misplace(references: str, stream: str) -> int:
    """Let waiting messages lie in the queue of a stream that their table was on when they were accepted; the stream's id."""
    wrong = House.stream(stream)
    run(
        "UPDATE devices_queued SET stream_id = %s WHERE message_id IN"
        " (SELECT id FROM devices_message WHERE reference LIKE %s)", wrong, references,
    )  # fmt: skip
    return wrong


def plain(reference: str, table: str = NEIGHBOUR) -> dict[str, object]:
    """A round without a progressive wager, as any table may deal it."""
    return message(reference, seat(1, "3s 7d"), table=table)


@pytest.mark.parametrize("limit", [1, 2, 1_000])
def test_a_message_whose_table_has_gone_to_another_stream_is_settled_there(limit: int, house: House) -> None:
    """Accepted while the table moved, it lies in the old queue: it goes on to the new one, in its order, and is not held."""
    house.post(message("T-1", table=TWIN), plain("N-1"), plain("N-2"), message("T-2", table=TWIN))
    wrong = misplace("N-%", "twin")
    while settling.settle_next(wrong, clock=lambda: house.now, limit=limit).more:
        pass
    assert house.order("twin") == ["T-1", "T-2"]
    places = rows(
        "SELECT message_id FROM devices_queued WHERE stream_id = %s ORDER BY receipt, position", house.stream("ms-mg01")
    )
    assert places == rows("SELECT id FROM devices_message WHERE reference LIKE 'N-%%' ORDER BY id")
    house.post(plain("N-3"))
    assert house.settle() == 3
    assert house.order() == ["N-1", "N-2", "N-3"]
    assert value("SELECT count(*) FROM tables_hold") == 0
    assert value("SELECT count(*) FROM devices_stoppage") == 0
    shown = queries.round_of(NEIGHBOUR, "N-1")
    assert shown is not None
    assert (shown.stream, shown.sequence, shown.stream_id) == ("ms-mg01", 1, house.stream("ms-mg01"))


def test_a_drain_ends_only_when_what_was_handed_on_is_settled_too(house: House) -> None:
    house.post(plain("N-1"))
    misplace("N-%", "twin")
    assert house.settle() == 1
    assert house.waiting() == 0


def test_what_was_handed_on_and_held_there_can_be_verified(house: House) -> None:
    house.post(message("N-1", seat(1, "3s 3s"), table=NEIGHBOUR))
    misplace("N-%", "twin")
    house.settle()
    assert rows("SELECT reference, reasons FROM tables_hold") == [("N-1", ["duplicate_card"])]
    assert verify_inbox().holds == 1


def test_a_message_of_a_table_that_is_nowhere_stops_its_stream(busy_house: House) -> None:
    busy_house.post(message("L-1"), plain("N-1"))
    run("SET session_replication_role = replica")
    run("UPDATE tables_table SET id = 999 WHERE code = %s", NEIGHBOUR)
    run("UPDATE accounting_stream SET terms_version = terms_version + 1")
    for _ in range(5):
        with pytest.raises(settling.TableAstray):
            settle_next(busy_house)
    assert (busy_house.waiting(), value("SELECT count(*) FROM tables_hold")) == (2, 0)
    assert "1 messages of tables that are not on this stream" in value("SELECT reason FROM devices_stoppage")
