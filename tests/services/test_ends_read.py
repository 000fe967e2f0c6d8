"""What is read of envy that is owed and of what ended, against the rows themselves: on streams that count alike."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from tables.queries import ends, unclaimed
from tests.services.house import (
    ALONE,
    DEALT,
    LINKED,
    NEIGHBOUR,
    TWIN,
    House,
    message,
    rows,
    royal,
    run,
    two_hits,
    value,
)
from tests.services.played import stirred

ENVY = "SELECT stream_id, sequence, line, seat, hand, cents, counts_at FROM tables_payout WHERE kind = 'envy'"
ENDED = "SELECT stream_id, sequence, line, state, event, at, by, note FROM tables_envyend"
WAITS = "SELECT stream_id, sequence, line, event, at, by, note FROM tables_envyunclaimed"
VOIDED = "SELECT stream_id, sequence, event, at, by, note FROM tables_voidedround"


def before(minutes: int) -> str:
    """A deal so many minutes before the last one."""
    return (DEALT - timedelta(minutes=minutes)).isoformat()


@pytest.fixture
def ended(house: House) -> House:
    """Envy on two streams at the same places, dealt in another order than it came; some paid, cancelled, unclaimed or void."""
    house.play(
        two_hits("R-1", dealt_at=before(5)), royal("R-2", table=NEIGHBOUR, dealt_at=before(9)), royal("R-3", dealt_at=before(1)),
        two_hits("R-1", table=TWIN, dealt_at=before(7)), royal("R-2", table=TWIN, dealt_at=before(3)),
        royal("R-3", table=TWIN, dealt_at=before(2)), message("R-1", table=ALONE),
    )  # fmt: skip
    house.act("payout.pay", f"{LINKED}/R-1/4/6", method="table")
    house.act("payout.pay", f"{TWIN}/R-1/2/6", method="cage")
    house.act("hit.reject", "ms-mg01-000002")
    house.act("round.void", f"{TWIN}/R-3")
    house.act("round.void", f"{ALONE}/R-1")
    house.now += timedelta(days=1)
    house.act("payout.unclaimed", f"{LINKED}/R-1/2/6")
    house.act("payout.unclaimed", f"{TWIN}/R-1/4/2")
    house.act("payout.unclaimed", f"{TWIN}/R-2/1/3")
    house.act("payout.pay", f"{TWIN}/R-2/1/3", method="cage")
    stirred()
    return house


def by_place(statement: str, columns: int = 3) -> dict[tuple[int, ...], tuple[Any, ...]]:
    """Rows by the columns that say where they stand."""
    return {row[:columns]: row[columns:] for row in rows(statement)}


def names() -> dict[tuple[int, ...], str]:
    """What each envy payout is called: its seat's entries stand in the order of their lines."""
    found: dict[tuple[int, ...], str] = {}
    for stream_id, sequence, settlement in rows("SELECT stream_id, sequence, settlement FROM tables_round"):
        said = json.loads(bytes(settlement))
        lines = sorted(line for stream, at, line in by_place(ENVY) if (stream, at) == (stream_id, sequence))
        called = [
            f"{said['table']}/{said['round']}/{seat['seat']}/{envy['from_seat']}"
            for seat in said["seats"]
            for envy in seat["envy"]
        ]
        found |= {(stream_id, sequence, line): name for line, name in zip(lines, called, strict=True)}
    return found


def still_owed() -> list[tuple[int, ...]]:
    """Where the envy stands that has not ended, the oldest first."""
    envy = by_place(ENVY)
    return sorted((place for place in envy if place not in by_place(ENDED)), key=lambda place: (envy[place][3], *place))


def test_envy_is_owed_until_it_ends_and_the_oldest_comes_first(ended: House) -> None:
    """With its own round, event and state; what is unclaimed is owed still."""
    streams = dict(rows("SELECT id, code FROM accounting_stream"))
    recorded = dict(rows("SELECT (stream_id, sequence)::text, recorded_at FROM accounting_event"))
    envy, called, waits = by_place(ENVY), names(), by_place(WAITS)
    expected = [
        {
            "stream": streams[stream_id], "sequence": sequence, "line": line,
            **dict(zip(("table", "round"), called[stream_id, sequence, line].split("/")[:2], strict=True)),
            "seat": envy[stream_id, sequence, line][0], "hand": envy[stream_id, sequence, line][1],
            "cents": envy[stream_id, sequence, line][2], "recorded_at": recorded[f"({stream_id},{sequence})"],
            "state": "unclaimed" if (stream_id, sequence, line) in waits else "owed",
            "name": called[stream_id, sequence, line],
        }
        for stream_id, sequence, line in still_owed()
    ]  # fmt: skip
    assert {each["state"] for each in expected} == {"owed", "unclaimed"}
    assert len({each["sequence"] for each in expected}) < len({(each["stream"], each["sequence"]) for each in expected})
    assert ends.envy_owed() == expected
    assert [ends.envy_owed(limit=limit) for limit in (0, 1, 3)] == [expected[:limit] for limit in (0, 1, 3)]


def test_what_nobody_has_handed_over_names_the_same_envy_in_the_same_order(ended: House) -> None:
    called, envy, waits = names(), by_place(ENVY), by_place(WAITS)
    assert [(each.name, each.cents, each.state) for each in unclaimed.owed() if each.what == "payout"] == [
        (called[place], envy[place][2], "unclaimed" if place in waits else "owed") for place in still_owed()
    ]


def test_an_end_is_found_at_its_own_place(ended: House) -> None:
    """Of every payout and round, also where another of the same stream, place or line has ended."""
    found, waits, voided = by_place(ENDED), by_place(WAITS), by_place(VOIDED, 2)
    assert {state for state, *_ in found.values()} == {"paid", "cancelled"} and len(waits) == 3 and len(voided) == 2
    for place in rows("SELECT stream_id, sequence, line FROM tables_payout"):
        assert ends.envy_end_shown(*place) == found.get(place)
        assert ends.envy_unclaimed_shown(*place) == waits.get(place)
    for place in rows("SELECT stream_id, sequence FROM tables_round"):
        assert ends.void_shown(*place) == voided.get(place)
        assert list((ends.voided(*place) or {}).values()) == list(voided.get(place, ()))


def test_an_end_that_no_act_made_is_found_and_the_first_of_several(ended: House) -> None:
    """By what it is, its stream's code and its event; a stream that is not there comes last."""
    assert ends.stray_end() is None
    bay, twin = House.stream("ms-mg01"), House.stream("twin")
    run("SET session_replication_role = replica")
    for place, (what, stream_id, event, first) in enumerate(
        (
            ("round", 4711, 3, ("round", None, 3)),
            ("round", twin, 91, ("round", "twin", 91)),
            ("round", bay, 95, ("round", "ms-mg01", 95)),
            ("round", bay, 94, ("round", "ms-mg01", 94)),
            ("envy", twin, 93, ("envy", "twin", 93)),
        ),
        701,
    ):
        table, line = ("tables_voidedround", "") if what == "round" else ("tables_envyunclaimed", ", line")
        run(
            f"INSERT INTO {table} (stream_id, sequence, event, at, by, note{line})"
            f" VALUES (%s, %s, %s, %s, 'me', ''{', 1' if line else ''})",
            stream_id, place, event, DEALT,
        )  # fmt: skip
        assert ends.stray_end() == first


def test_an_act_of_another_stream_at_the_same_place_made_no_end(ended: House) -> None:
    void = value("SELECT event FROM tables_voidedround WHERE stream_id = %s", House.stream("twin"))
    assert void > value("SELECT max(sequence) FROM accounting_event WHERE stream_id = %s", House.stream(ALONE))
    run("SET session_replication_role = replica")
    assert run("UPDATE tables_voidedround SET event = %s WHERE stream_id = %s", void, House.stream(ALONE))
    assert ends.stray_end() == ("round", ALONE, void)
