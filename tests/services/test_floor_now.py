"""What the floor shows of rounds as they stand, against the rounds themselves: dealt in one order, posted in another."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.core.cache import cache

from tables.models import Hold
from tables.queries import floor
from tests.services.house import ALONE, DEALT, LINKED, NEIGHBOUR, TWIN, House, message, rows, run, seat, two_hits, value
from tests.services.played import stirred

DAY, BEGAN = date(2026, 11, 27), datetime(2026, 11, 27, 11, tzinfo=UTC)
LAST = datetime(9999, 1, 1, tzinfo=UTC), 2**62


class Round(NamedTuple):
    """A round on record."""

    table: str
    reference: str
    counts_at: datetime
    sequence: int
    stream: str

    @property
    def key(self) -> tuple[datetime, int]:
        """What lists go by."""
        return self.counts_at, self.sequence


def minutes_before(minutes: int) -> str:
    """A deal so many minutes before the last one, as a message says it."""
    return (DEALT - timedelta(minutes=minutes)).isoformat()


@pytest.fixture
def evening(house: House) -> House:
    """Four tables on three streams; what was dealt later came earlier at two of them, and some was dealt at one moment."""
    house.play(
        message("A-1", dealt_at=minutes_before(5)), message("A-12", dealt_at=minutes_before(9)),
        two_hits("a-2", dealt_at=minutes_before(7)), message("A-3", dealt_at=minutes_before(7)),
        message("B-1", table=NEIGHBOUR, dealt_at=minutes_before(6)),
        two_hits("B-12", table=NEIGHBOUR, dealt_at=minutes_before(8)),
        message("T-1", table=TWIN, dealt_at=minutes_before(4)), two_hits("T-2", table=TWIN, dealt_at=minutes_before(4)),
        message("V-1", table=ALONE, dealt_at=minutes_before(10)), message("V-12", table=ALONE, dealt_at=minutes_before(3)),
        message("V-2", table=ALONE, dealt_at=minutes_before(2)),
    )  # fmt: skip
    cache.clear()
    stirred()
    return house


def on_record(*tables: str) -> list[Round]:
    """Every round of some tables, or of all, the newest first."""
    found = [
        Round(*row)
        for row in rows(
            "SELECT tabl.code, round.reference, round.counts_at, round.sequence, stream.code FROM tables_round round"
            " JOIN tables_table tabl ON tabl.id = round.table_id JOIN accounting_stream stream ON stream.id = round.stream_id"
        )
    ]
    return sorted(
        (each for each in found if not tables or each.table in tables), key=lambda each: each.key, reverse=True
    )


def lines(found: list[floor.RoundLine]) -> list[Round]:
    return [Round(line.table, line.reference, line.counts_at, line.sequence, line.stream) for line in found]


def test_the_last_rounds_of_the_floor_are_the_newest_of_every_table(evening: House) -> None:
    assert lines(floor.last_rounds()) == on_record()
    # The lone table's came in the order they were dealt, after all others: of the last few two are its own.
    assert [line.reference for line in floor.last_rounds(limit=2)] == ["V-2", "V-12"]
    assert [line.reference for line in floor.last_rounds(limit=4)] == ["V-2", "V-12", "T-2", "T-1"]


def test_a_round_that_came_early_and_counts_late_is_among_the_last(evening: House) -> None:
    """A link's line was down: what it dealt before comes after the newest round."""
    late = [message(f"late-{number}", dealt_at=minutes_before(20 + number)) for number in range(3)]
    evening.play(message("newest", table=NEIGHBOUR, dealt_at=minutes_before(0)), *late)
    for limit in (1, 2, 3):
        assert lines(floor.last_rounds(limit=limit)) == on_record()[:limit]
    assert on_record()[0].reference == "newest"


def test_rounds_of_one_moment_and_place_on_two_streams_are_each_shown_once(house: House) -> None:
    house.play(message("R-1"), message("R-1", table=TWIN), message("R-1", table=ALONE))
    found = lines(floor.last_rounds())
    assert len({each.key for each in found}) == 1 and sorted(found) == sorted(on_record())


@pytest.mark.parametrize("table", [LINKED, NEIGHBOUR, TWIN, ALONE])
def test_the_rounds_of_a_table_go_on_where_a_page_ended(table: str, evening: House) -> None:
    expected = on_record(table)
    assert lines(floor.rounds_of_table(table, before=LAST)) == expected
    for place, ended in enumerate(expected):
        assert lines(floor.rounds_of_table(table, before=ended.key)) == expected[place + 1 :]
        assert lines(floor.rounds_of_table(table, before=LAST, limit=place + 1)) == expected[: place + 1]


def test_a_rounds_neighbours_are_those_of_its_table(evening: House) -> None:
    for table in (LINKED, NEIGHBOUR, TWIN, ALONE):
        expected = [None, *reversed(on_record(table)), None]
        for earlier, round, later in zip(expected, expected[1:], expected[2:], strict=False):
            assert round is not None
            found = floor.neighbours(House.stream(round.stream), round.sequence)
            assert found.previous == (earlier and earlier[:2]), round
            assert found.following == (later and later[:2]), round
            for statement, beside in ((floor.BEFORE, earlier), (floor.AFTER, later)):
                assert rows(statement, House.stream(round.stream), round.sequence) == ([beside[:2]] if beside else [])


def test_rounds_are_found_by_how_they_end_at_the_tables_that_are_asked(
    evening: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ending(tail: str, *tables: str) -> list[tuple[str, str]]:
        """The newest first; of one moment by table."""
        by_table = sorted(on_record(*tables), key=lambda each: each.table)
        newest = sorted(by_table, key=lambda each: each.counts_at, reverse=True)
        return [each[:2] for each in newest if each.reference.lower().endswith(tail.lower())]

    every = [LINKED, NEIGHBOUR, TWIN, ALONE]
    for tail in ("2", "-1", "12", "A-2", "a-12", "nothing"):
        assert floor.rounds_ending(tail, tables=every, limit=20) == ending(tail, *every)
        assert floor.rounds_ending(tail, tables=every, limit=2) == ending(tail, *every)[:2]
        assert floor.rounds_ending(tail, tables=[ALONE], limit=20) == ending(tail, ALONE)
        assert floor.rounds_ending(tail, tables=[LINKED], limit=1) == ending(tail, LINKED)[:1]
    monkeypatch.setattr(floor, "LOOKED_THROUGH", 2)
    assert floor.rounds_ending("-1", tables=[LINKED], limit=9) == [(LINKED, "A-1")]
    assert floor.rounds_ending("A-12", tables=[LINKED], limit=9) == [], "the oldest of its table"
    assert floor.rounds_ending("A-2", tables=[LINKED], limit=9) == [], "dealt with A-3, and before it on the stream"


def test_no_more_rounds_of_a_table_are_looked_at_than_are_wanted_of_those_that_end_so(house: House) -> None:
    house.play(*(message(f"{number}-7", table=ALONE, dealt_at=minutes_before(number)) for number in range(1, 13)))
    house.play(*(message(f"{number}-7", dealt_at=minutes_before(number + 20)) for number in range(1, 5)))
    for way in ("seqscan", "bitmapscan", "sort"):
        run(f"SET LOCAL enable_{way} = off")
    read = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'tables_round'"
    before = value(read)
    assert floor.rounds_ending("-7", tables=[ALONE], limit=2) == [(ALONE, "1-7"), (ALONE, "2-7")]
    assert value(read) - before < 6
    before = value(read)
    assert [line.reference for line in floor.last_rounds(limit=2)] == ["1-7", "2-7"]
    assert value(read) - before <= 6, "two of each table that has some, and the two newest of those whole"


def test_a_table_shows_its_last_round_and_what_counts_on_the_day(evening: House) -> None:
    evening.play(message("H-1", seat(1, "3s 3s"), table=ALONE), message("H-2", seat(1, "3s 3s"), table=ALONE))
    evening.play(message("H-3", seat(1, "3s 3s", progressive=100)))
    evening.act("round.void", f"{ALONE}/H-1")
    counted = [each for each in on_record() if each.reference != "H-1"]
    shown = {each.code: each for each in floor.tables_now(DAY, BEGAN)}
    for table in (LINKED, NEIGHBOUR, TWIN, ALONE):
        own = [each for each in counted if each.table == table]
        assert shown[table].rounds_today == len(own) + (table == ALONE)
        assert shown[table].last_at == max(each.counts_at for each in on_record() if each.table == table)
    assert {code: each.held for code, each in shown.items()} == {LINKED: 1, NEIGHBOUR: 0, TWIN: 0, ALONE: 1}
    assert floor.tables_now(DAY - timedelta(days=1), BEGAN - timedelta(days=1))[0].rounds_today == 0
    evening.play(message("V-3", table=ALONE))
    assert {each.code: each.rounds_today for each in floor.tables_now(DAY, BEGAN)} == {
        code: each.rounds_today for code, each in shown.items()
    }, "they are counted anew every few seconds"
    cache.clear()
    assert floor.tables_now(DAY, BEGAN)[-1].rounds_today == shown[ALONE].rounds_today + 1


def test_a_voided_round_and_a_misdated_one_say_so_in_their_line(evening: House) -> None:
    evening.play(message("V-3", table=ALONE, dealt_at="2027-11-27T21:14:05-05:00"))
    evening.act("round.void", f"{LINKED}/A-3")
    shown: dict[str, Any] = {line.reference: line for line in floor.last_rounds()}
    assert {reference for reference, line in shown.items() if line.outcome == "void"} == {"A-3"}
    assert {reference for reference, line in shown.items() if line.reported_at} == {"V-3"}
    assert shown["V-3"].reported_at.startswith("2027-11-2")


def test_a_rounds_payouts_are_named_by_seat_and_wager_and_its_envy_by_its_place(evening: House) -> None:
    for each in on_record():
        stream_id = House.stream(each.stream)
        expected: dict[tuple[int, str, int], str] = {}
        for line, number, kind, wager in rows(
            "SELECT line, seat, kind, wager FROM tables_payout WHERE stream_id = %s AND sequence = %s ORDER BY line",
            stream_id, each.sequence,
        ):  # fmt: skip
            of = "envy" if kind == "envy" else wager
            place = sum(1 for other in expected if other[:2] == (number, "envy")) if kind == "envy" else 0
            expected[number, of, place] = f"{each.stream}-{each.sequence}-{line}"
        found = floor.payout_ids(stream_id, each.stream, each.sequence)
        assert {key: str(name) for key, name in found.items()} == expected
        assert len(expected) > 2 or each.reference not in {"a-2", "B-12", "T-2"}


@pytest.fixture
def held(house: House) -> House:
    """Rounds held at three tables for two reasons, at two moments, and dealt in another order; one of them was voided."""
    miscounted: dict[str, Any] = {"dealing": {"method": "shuffler", "mode": "cover_all", "players": 2}}
    twice: dict[str, Any] = {"community": "2c 2c Kd"}
    house.play(
        message("H-1", dealt_at=minutes_before(4), **miscounted), message("H-2", dealt_at=minutes_before(9), **twice),
        message("H-1", table=TWIN, dealt_at=minutes_before(4), **twice), message("H-3", dealt_at=minutes_before(8), **twice),
        at=house.now + timedelta(minutes=1),
    )  # fmt: skip
    house.play(message("H-1", table=ALONE, dealt_at=minutes_before(2), **twice), message("H-4", **miscounted))
    house.act("round.void", f"{LINKED}/H-3")
    stirred()
    return house


class Waiting(NamedTuple):
    """A round that waits for people."""

    message_id: int
    name: str
    reasons: list[str]
    held_at: datetime
    dealt_at: datetime


def that_wait() -> list[Waiting]:
    """Every round that is held and was not decided, in the order of receipt."""
    settled = {message_id for (message_id,) in rows("SELECT message_id FROM tables_round")}
    codes = dict(rows("SELECT id, code FROM tables_table"))
    found = [
        Waiting(message_id, f"{codes[table_id]}/{reference}", reasons, held_at, dealt_at)
        for message_id, table_id, reference, reasons, held_at, dealt_at in rows(
            "SELECT message_id, table_id, reference, reasons, held_at, dealt_at FROM tables_hold"
        )
        if message_id not in settled
    ]
    return sorted(found, key=lambda each: each.message_id)


def named(found: list[Hold]) -> list[str]:
    return [f"{each.table.code}/{each.reference}" for each in found]


def test_held_rounds_are_listed_as_they_came_of_a_table_or_for_a_reason(held: House) -> None:
    every = that_wait()
    assert len(every) == 5 and f"{LINKED}/H-3" not in {each.name for each in every}
    for table in (None, LINKED, TWIN, ALONE, NEIGHBOUR):
        for reason in (None, "players_mismatch", "duplicate_card"):
            expected = [
                each
                for each in every
                if (table is None or each.name.startswith(f"{table}/")) and (reason is None or reason in each.reasons)
            ]
            for after in (0, *(each.message_id for each in every)):
                beyond = [each.name for each in expected if each.message_id > after]
                for limit in (1, 2, 9):
                    found = floor.held_rounds(after=after, table=table, reason=reason, limit=limit)
                    assert named(found) == beyond[:limit], (table, reason, after, limit)


def test_the_floor_shows_the_rounds_first_that_have_waited_longest_and_counts_them_all(held: House) -> None:
    expected = [each.name for each in sorted(that_wait(), key=lambda each: (each.held_at, each.message_id))]
    assert expected != [each.name for each in that_wait()]
    for limit in (0, 1, 3, 9):
        found, count = floor.waiting(limit=limit)
        assert (named(found), count) == (expected[:limit], 5)


def test_what_a_days_list_names_was_dealt_before_its_end(held: House) -> None:
    by_deal = sorted(that_wait(), key=lambda each: (each.dealt_at, each.message_id))
    assert len({each.dealt_at for each in by_deal}) < len(by_deal), "two were dealt at one moment"
    for until in (*(each.dealt_at for each in by_deal), LAST[0]):
        expected = [each.name for each in by_deal if each.dealt_at < until]
        for limit in (1, 3, 9):
            assert floor.held_until(until, limit=limit) == expected[:limit]
