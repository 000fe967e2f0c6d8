"""Tables that join and leave links in the running house: on record on both streams, rounds where their moment belongs."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest

from accounting.rules.acts import ActRefused
from devices.audit import verification
from devices.audit.verification import Difference
from tables.services import terms
from tests.services.house import (
    ALONE,
    DEALT,
    LINKED,
    NEIGHBOUR,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    rows,
    seat,
    value,
    verify,
)
from tests.services.played import tamper

EARLY = DEALT - timedelta(hours=5)
JOINS, LEAVES = DEALT - timedelta(hours=2), DEALT - timedelta(hours=1)


def dealt(reference: str, at: Any, *, table: str = ALONE, progressive: int | None = 100) -> dict[str, Any]:
    """A losing round of one seat dealt at a moment, with the progressive wager or without."""
    wager: dict[str, Any] = {} if progressive is None else {"progressive": progressive}
    return message(reference, seat(1, "3s 7d", **wager), table=table, dealt_at=at.isoformat())


def stream_of(sent: dict[str, Any]) -> str:
    """The stream on which a round was settled."""
    found: str = value(
        "SELECT stream.code FROM tables_round round JOIN accounting_stream stream ON stream.id = round.stream_id"
        " WHERE round.reference = %s", sent["round"],
    )  # fmt: skip
    return found


def every_way() -> None:
    """Verified whole, and cut into ranges of every small size."""
    verify()
    for size in (1, 2, 3):
        verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)


def test_a_round_counts_on_the_stream_that_its_moment_belongs_to(busy_house: House) -> None:
    house = busy_house
    assert house.act("table.join", ALONE, at=JOINS, link="ms-mg01") == ("ms-mg01", 1)
    assert value("SELECT count(*) FROM accounting_event WHERE kind = 'table.join'") == 2
    causes = rows("SELECT cause, result FROM accounting_document document JOIN accounting_event event"
                  " ON event.stream_id = document.stream_id AND event.sequence = document.sequence"
                  " WHERE event.kind = 'table.join'")  # fmt: skip
    assert causes[0] == causes[1]
    assert json.loads(bytes(causes[0][0]))["from"] == {"stream": ALONE, "sequence": 1}
    every_way()
    before, after = (
        dealt("R-1", JOINS - timedelta(minutes=1), progressive=None),
        dealt("R-2", JOINS + timedelta(minutes=1)),
    )
    offered_too_early = dealt("R-3", JOINS - timedelta(minutes=2))
    other = message("R-4", table=LINKED)
    house.play(after, before, offered_too_early, other)
    assert [house.outcome(each) for each in (before, after, offered_too_early)] == [
        ("settled", []), ("settled", []), ("held", ["wager_not_offered"]),
    ]  # fmt: skip
    assert [stream_of(each) for each in (before, after, other)] == [ALONE, "ms-mg01", "ms-mg01"]
    every_way()
    # Left again, some time before now: what was dealt between counts on the link, however late.
    house.now += timedelta(seconds=1)
    house.act("table.leave", ALONE)
    at_last, late = dealt("R-5", house.now, progressive=None), dealt("R-6", DEALT - timedelta(minutes=3))
    house.play(at_last, late, at=house.now + timedelta(seconds=2))
    assert [(house.outcome(each)[0], stream_of(each)) for each in (at_last, late)] == [
        ("settled", ALONE), ("settled", "ms-mg01"),
    ]  # fmt: skip
    every_way()
    house.act("round.void", f"{ALONE}/R-3", at=house.now + timedelta(seconds=3))
    assert stream_of(offered_too_early) == ALONE
    every_way()


def test_a_table_that_was_on_a_link_from_the_beginning_gets_a_stream_of_its_own(busy_house: House) -> None:
    house = busy_house
    house.act("table.terms", LINKED, at=EARLY, minimum_cents=500)
    house.act("table.leave", LINKED, at=LEAVES)
    opened = rows(
        "SELECT kind, subject FROM accounting_event event JOIN accounting_stream stream ON stream.id = event.stream_id"
        " WHERE stream.code = %s ORDER BY sequence", LINKED,
    )  # fmt: skip
    assert opened == [("opened", LINKED)]
    every_way()
    on_it, off_it = (
        dealt("R-1", EARLY + timedelta(hours=1), table=LINKED),
        dealt("R-2", DEALT, table=LINKED, progressive=None),
    )
    house.play(off_it, on_it)
    assert [stream_of(each) for each in (on_it, off_it)] == ["ms-mg01", LINKED]
    house.act("table.terms", LINKED, at=house.now, minimum_cents=2_000)
    house.now += timedelta(seconds=10)
    house.act("table.join", LINKED, link="ms-mg01")
    house.now += timedelta(seconds=10)
    cheap, between = (
        dealt("R-3", house.now, table=LINKED),
        dealt("R-4", DEALT + timedelta(milliseconds=1), table=LINKED),
    )
    house.play(cheap, between)
    assert house.outcome(cheap) == ("held", ["wager_not_allowed"])
    assert house.outcome(between) == ("held", ["wager_not_offered"])
    every_way()
    house.act("round.void", f"{LINKED}/R-3")
    house.act("round.void", f"{LINKED}/R-4", at=house.now + timedelta(seconds=1))
    assert [stream_of(each) for each in (cheap, between)] == ["ms-mg01", LINKED]
    every_way()


def test_a_held_round_is_corrected_onto_the_stream_of_the_moment_that_it_is_corrected_to(busy_house: House) -> None:
    house = busy_house
    house.act("table.join", ALONE, at=JOINS, link="ms-mg01")
    sent = dealt("R-1", JOINS - timedelta(minutes=1))
    house.play(sent)
    assert house.outcome(sent) == ("held", ["wager_not_offered"])
    house.act("round.correct", f"{ALONE}/R-1", at=house.now, message=dealt("R-1", JOINS + timedelta(minutes=1)))
    assert stream_of(sent) == "ms-mg01"
    every_way()


def test_locks_set_aside_before_their_tables_moved_are_verified_by_what_was_known_then(busy_house: House) -> None:
    house = busy_house
    early = (DEALT - timedelta(minutes=5)).isoformat()
    not_offered = locked("R-1", table=ALONE, locked_at=early, progressive=100)
    other_sum = locked("R-1", table=LINKED, locked_at=early, progressive=200)
    house.play(not_offered, other_sum)
    assert [house.outcome(each) for each in (not_offered, other_sum)] == [
        ("held", ["wager_not_offered"]), ("held", ["wager_not_allowed"]),
    ]  # fmt: skip
    house.act("table.join", ALONE, at=house.now + timedelta(seconds=1), link="ms-mg01")
    house.act("table.leave", LINKED, at=house.now + timedelta(seconds=1))
    every_way()
    house.now += timedelta(seconds=2)
    late = locked("R-2", table=ALONE, locked_at=early, progressive=100)
    house.play(late)
    assert house.outcome(late) == ("held", ["wager_not_offered"])
    every_way()


def test_a_result_held_after_its_table_left_the_link_of_its_lock_is_verified_there(busy_house: House) -> None:
    house = busy_house
    house.play(locked("R-1", table=LINKED))
    house.act("table.leave", LINKED, at=house.now + timedelta(seconds=1))
    house.now += timedelta(seconds=3)
    sent = message("R-1", seat(2, "3s 7d", progressive=100), table=LINKED,
                   dealt_at=(house.now - timedelta(seconds=1)).isoformat())  # fmt: skip
    house.play(sent)
    assert house.outcome(sent) == ("held", ["lock_mismatch"])
    every_way()
    house.act("round.release", f"{LINKED}/R-1")
    assert stream_of(sent) == "ms-mg01"
    every_way()


def test_what_was_held_before_an_act_is_verified_without_it_whatever_the_clock_of_the_act_says(
    busy_house: House,
) -> None:
    """Whoever acts reads the clock and then waits for the stream: a round may be held on it meanwhile, at a later time."""
    house = busy_house
    asked_at, dealt_at = house.now + timedelta(seconds=5), house.now + timedelta(seconds=7)
    house.now += timedelta(seconds=10)
    sent = message("R-1", seat(1, "3s 3s", progressive=100), dealt_at=dealt_at.isoformat())
    lock = locked("R-2", locked_at=dealt_at.isoformat(), progressive=200)
    house.play(sent, lock)
    house.act("link.suspend", "ms-mg01", at=asked_at)
    house.act("table.close", LINKED, at=asked_at)
    assert house.outcome(sent) == ("held", ["duplicate_card"])
    assert house.outcome(lock) == ("held", ["wager_not_allowed"])
    every_way()
    again, late = sent | {"round": "R-3"}, locked("R-4", locked_at=dealt_at.isoformat(), progressive=200)
    house.play(again, late, at=asked_at)  # by a worker whose clock is slow
    assert house.outcome(again) == ("held", ["duplicate_card", "link_not_open", "table_closed"])
    every_way()


def test_tables_stand_by_their_codes_whatever_streams_they_are_on(house: House) -> None:
    assert [(code, table.link) for code, table in terms.now_in_force().items()] == [
        (LINKED, "ms-mg01"), (NEIGHBOUR, "ms-mg01"), (TWIN, "twin"), (ALONE, None),
    ]  # fmt: skip
    house.act("table.join", ALONE, at=JOINS, link="ms-mg01")
    assert [(code, table.link) for code, table in terms.now_in_force().items()] == [
        (LINKED, "ms-mg01"), (NEIGHBOUR, "ms-mg01"), (TWIN, "twin"), (ALONE, "ms-mg01"),
    ]  # fmt: skip


def test_what_cannot_move(house: House) -> None:
    def refused(name: str, table: str, **payload: Any) -> tuple[str, str | None]:
        with pytest.raises(ActRefused) as refusal:
            house.act(name, table, **payload)
        return refusal.value.code, refusal.value.pointer

    assert refused("table.join", LINKED, link="twin") == ("wrong_state", None)
    assert refused("table.join", LINKED, link="ms-mg01") == ("wrong_state", None)
    assert refused("table.leave", ALONE) == ("wrong_state", None)
    assert refused("table.join", ALONE, link="nowhere") == ("invalid_value", "/payload/link")
    assert refused("table.join", ALONE) == ("missing_field", "/payload/link")
    assert refused("table.join", ALONE, link=7) == ("invalid_value", "/payload/link")
    assert refused("table.join", "nowhere", link="twin") == ("unknown_subject", None)
    assert refused("table.leave", "nowhere") == ("unknown_subject", None)
    house.act("link.file", "two", filing="a", link={
        "code": "two", "paytable": "ms-mg-01", "decks": 2,
        "levels": [{"code": "major", "reset_cents": 1, "rate_ppm": 1}],
    })  # fmt: skip
    assert refused("table.join", ALONE, link="two") == ("does_not_fit", None)
    house.post(dealt("R-1", DEALT, progressive=None))
    assert refused("table.join", ALONE, link="twin") == ("wrong_state", None), "a round of it waits"
    house.settle()
    assert house.act("table.join", ALONE, link="twin") == ("twin", 1)


def test_a_table_joins_a_filed_link_and_plays_once_it_is_open(busy_house: House) -> None:
    house = busy_house
    house.act("link.file", "nn", at=EARLY, filing="a", initial={"major": 25_000}, link={
        "code": "nn", "paytable": "ms-mg-01", "levels": [{"code": "major", "reset_cents": 10_000, "rate_ppm": 170_000}],
    })  # fmt: skip
    house.act("table.join", ALONE, at=EARLY, link="nn")
    early = dealt("R-1", EARLY + timedelta(minutes=5))
    house.act("link.open", "nn", at=EARLY + timedelta(minutes=10))
    house.play(early, dealt("R-2", DEALT))
    assert house.outcome(early) == ("held", ["link_not_open"])
    assert value("SELECT value_cents FROM jackpot_meter meter JOIN jackpot_level level ON level.id = meter.level_id"
                 " JOIN jackpot_link link ON link.id = level.link_id WHERE link.code = 'nn'") == 25_017  # fmt: skip
    every_way()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (f"UPDATE tables_table SET link_id = NULL, link_paytable_id = NULL WHERE code = '{ALONE}'",
         f"stream ms-mg01: table {ALONE}: link"),
        (f"UPDATE tables_table SET stream_id = (SELECT id FROM accounting_stream WHERE code = '{ALONE}')"
         f" WHERE code = '{ALONE}'", "stream .*: tables"),
        (f"DELETE FROM accounting_event WHERE kind = 'table.join' AND stream_id = (SELECT id FROM accounting_stream"
         f" WHERE code = '{ALONE}')", f"stream {ALONE}"),
    ],
)  # fmt: skip
def test_a_table_that_shows_another_place_is_found(busy_house: House, change: str, named: str) -> None:
    house = busy_house
    house.act("table.join", ALONE, at=JOINS, link="ms-mg01")
    verify()
    tamper(change)
    with pytest.raises(Difference, match=named):
        verify()


def test_a_move_that_is_another_on_the_other_stream_is_found(busy_house: House) -> None:
    busy_house.act("table.join", ALONE, at=JOINS, link="ms-mg01")
    tamper("UPDATE accounting_event SET message_digest = sha256('x') WHERE kind = 'table.join' AND stream_id ="
           f" (SELECT id FROM accounting_stream WHERE code = '{ALONE}')")  # fmt: skip
    planted = re.escape(str(sha256(b"x").digest()))
    with pytest.raises(Difference, match=rf"the same event on stream {ALONE}, .*, found \({planted}"):
        verification.verify_stream(House.stream("ms-mg01"))


def test_tables_of_several_links_in_turn(busy_house: House) -> None:
    """From link to link by way of no link; each stream knows what it needs and hands over the rest."""
    house = busy_house
    times = [DEALT - timedelta(minutes=50 - 10 * number) for number in range(5)]
    house.act("table.join", ALONE, at=times[0], link="ms-mg01")
    house.act("table.leave", ALONE, at=times[1])
    house.act("table.join", ALONE, at=times[2], link="twin")
    house.act("table.leave", ALONE, at=times[3])
    house.act("table.join", ALONE, at=times[4], link="ms-mg01")
    wagers = [None, 100, None, 500, None, 100]
    moments = [time - timedelta(minutes=5) for time in times] + [times[4] + timedelta(minutes=5)]
    sent = [dealt(f"R-{n}", at, progressive=wager) for n, (at, wager) in enumerate(zip(moments, wagers, strict=True))]
    house.play(*reversed(sent))
    assert [house.outcome(each) for each in sent] == [("settled", [])] * 6
    assert [stream_of(each) for each in sent] == [ALONE, "ms-mg01", ALONE, "twin", ALONE, "ms-mg01"]
    house.play(message("R-9", table=TWIN))
    every_way()


def test_a_result_that_counts_on_another_stream_did_not_come_before_its_lock(busy_house: House) -> None:
    """The lock is void and its table has left, so the round that it was for stands at a lower place of another stream."""
    house = busy_house
    house.play(*(message(f"R-{number}") for number in range(5)), locked("K-1", table=NEIGHBOUR))
    house.act("lock.void", f"{NEIGHBOUR}/K-1")
    house.act("table.leave", NEIGHBOUR, at=RECEIVED + timedelta(minutes=1))
    sent = dealt("K-1", RECEIVED + timedelta(minutes=2), table=NEIGHBOUR, progressive=None)
    house.play(sent, at=RECEIVED + timedelta(minutes=3))
    assert stream_of(sent) == NEIGHBOUR
    assert value("SELECT sequence FROM tables_round WHERE reference = 'K-1'") < value(
        "SELECT sequence FROM tables_lock"
    )
    every_way()
