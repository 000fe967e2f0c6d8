"""What is read of envy that is owed and of what ended, against the rows themselves: on streams that count alike."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest

from devices.queries import explanation_of
from tables.queries import ends, explanations, payouts, statistics, unclaimed
from tests.services import house as played
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
    house.act("hit.verify", "ms-mg01-000001")
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


def test_envy_is_explained_by_the_very_hit_that_it_was_paid_for(ended: House) -> None:
    """Whatever stands at the same place on another stream, and whichever of several the seat was paid."""
    called = names()
    hits: dict[tuple[int, ...], str] = {
        (stream_id, sequence, seat): f"{link}-{number:06d}"
        for stream_id, link, sequence, seat, number in rows(
            "SELECT link.stream_id, link.code, hit.sequence, hit.seat, hit.number FROM jackpot_hit hit"
            " JOIN jackpot_link link ON link.id = hit.link_id"
        )
    }
    streams = dict(rows("SELECT id, code FROM accounting_stream"))
    found = {}
    for place in called:
        explained = explanation_of(payouts.payout_id(streams[place[0]], *place[1:]))
        assert explained is not None
        (envy,) = explained["envy"]
        found[place] = envy["hit"]
    assert found == {place: hits[*place[:2], int(name.rpartition("/")[2])] for place, name in called.items()}
    assert len(set(found.values())) > 3


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


def states() -> dict[tuple[int, ...], str]:
    """The state of every payout by where it stands: of its hit's last step, of its envy's end, or of its round."""
    last: dict[tuple[int, ...], str] = {}
    for stream_id, sequence, seat, state in rows(
        "SELECT link.stream_id, hit.sequence, hit.seat, step.state FROM jackpot_hitstep step"
        " JOIN jackpot_hit hit ON hit.id = step.hit_id JOIN jackpot_link link ON link.id = hit.link_id ORDER BY step.id"
    ):
        last[stream_id, sequence, seat] = state
    found, waits, voided = by_place(ENDED), by_place(WAITS), by_place(VOIDED, 2)
    return {
        place: last[*place[:2], seat]
        if kind == "level"
        else (found[place][0] if place in found else "unclaimed" if place in waits else "owed")
        if kind == "envy"
        else ("void" if place[:2] in voided else "paid")
        for place, (seat, kind) in by_place("SELECT stream_id, sequence, line, seat, kind FROM tables_payout").items()
    }


FALLEN = ("rejected", "cancelled", "void")


def test_a_payout_has_its_own_round_and_state_and_is_added_up_by_it(ended: House) -> None:
    streams = dict(rows("SELECT id, code FROM accounting_stream"))
    references = dict(rows("SELECT (stream_id, sequence)::text, reference FROM tables_round"))
    expected = {
        f"{streams[place[0]]}-{place[1]}-{place[2]}": (references[f"({place[0]},{place[1]})"], state)
        for place, state in states().items()
    }
    found = payouts.page({}, limit=payouts.MOST).items
    assert {each["id"]: (each["round"], each["state"]) for each in found} == expected and len(found) == len(expected)
    assert {state for _, state in expected.values()} == {
        "detected", "verified", "rejected", "owed", "paid", "cancelled", "unclaimed", "void"
    }  # fmt: skip
    for state in payouts.STATES:
        of_state = [each for each in found if each["state"] == state]
        assert payouts.page({"state": state}, limit=payouts.MOST).items == of_state
        cents = sum(each["cents"] for each in of_state)
        fallen = (len(of_state), cents) if state in FALLEN else (0, 0)
        assert payouts.total({"state": state}, seconds=20) == payouts.Total(len(of_state), cents, *fallen)
    for each in found:
        assert payouts.by_id(each["id"]) == each
        ((_, _, _, seat, kind, *_, settlement, _, _, _, _, _, _),) = rows(
            explanations.DETAIL, *each["id"].rsplit("-", 2)
        )
        said = json.loads(bytes(settlement))
        assert (seat, kind, said["table"], said["round"]) == tuple(
            each[key] for key in ("seat", "kind", "table", "round")
        )


def test_a_share_of_a_level_is_found_by_its_round_and_seat_and_counted_on_its_day(ended: House) -> None:
    ended.play(royal("R-4", table=TWIN, dealt_at=(DEALT + timedelta(days=1)).isoformat()), royal("R-4"))
    stirred()
    shares = rows(
        "SELECT stream_id, sequence, seat, line, gaming_date, level_id, cents FROM tables_payout WHERE kind = 'level'"
    )
    at = {row[:3]: (*row[:2], row[3]) for row in shares}
    for stream_id, sequence in rows("SELECT stream_id, sequence FROM tables_round"):
        for seat in range(1, 8):
            place = payouts.place_of_level(stream_id, sequence, seat)
            assert place == at.get((stream_id, sequence, seat))
    days = sorted({row[4:6] for row in shares})
    assert payouts.won_by_day(days[0][0], days[-1][0]) == [
        (*day, sum(row[4:6] == day for row in shares), sum(row[6] for row in shares if row[4:6] == day)) for day in days
    ]
    assert len({day for day, _ in days}) == 2 and len(days) == 3
    assert payouts.won_by_day(days[-1][0] + timedelta(days=1), date(2027, 1, 1)) == []


def test_the_meters_at_a_rounds_awards_are_those_that_the_first_award_of_each_level_found(ended: House) -> None:
    """Whoever paid the seed: the reserve, the house or what had run over."""
    ended.play(
        message("R-4", played.seat(1, "Ks Kc", progressive=500), table=TWIN, community="Kd Kh 2c"),
        *(message(f"R-{number}", table=TWIN) for number in range(5, 12)),
        message("R-12", played.seat(1, "Ks Kc", progressive=500), table=TWIN, community="Kd Kh 2c"),
        royal("R-13", table=TWIN),
    )
    seeds: Counter[str] = Counter()
    for (settlement,) in rows("SELECT settlement FROM tables_round ORDER BY stream_id, sequence"):
        said = json.loads(bytes(settlement))
        found = statistics._decoder.decode(bytes(settlement)).meters_at_the_awards()
        expected = {row["level"]: row["after_cents"] for row in said["meters"]}
        for award in reversed(said["awards"]):
            expected[award["level"]] = award["meter_before_cents"]
            seeds.update({part: cents for part, cents in award["seed"].items() if cents})
        assert found == expected
    assert {part for part in seeds if part.endswith("_cents")} == {"reserve_cents", "house_cents", "overflow_cents"}


def test_statistics_leave_out_what_was_voided_and_nothing_at_its_place_on_another_stream(ended: House) -> None:
    settled = rows("SELECT stream_id, sequence, settlement FROM tables_round WHERE outcome = 'settled'")
    voided = by_place(VOIDED, 2)
    handle: Counter[str] = Counter()
    progressive: dict[tuple[int, int], list[int]] = {}
    for stream_id, sequence, settlement in settled:
        said = json.loads(bytes(settlement))
        lines = [line for seat in said["seats"] for line in seat["lines"]]
        if (stream_id, sequence) not in voided:
            handle[said["table"]] += sum(line["stake_cents"] for line in lines)
        stakes = [line["stake_cents"] for line in lines if line["wager"] == "progressive" and line["result"] != "void"]
        progressive[stream_id, sequence] = stakes
    found = statistics.over(DEALT.date() - timedelta(days=1), DEALT.date())
    assert (found.rounds, found.voided) == (len(settled), len(voided))
    assert {hold.table: hold.handle_cents for hold in statistics.by_table(found)} == dict(handle)
    for stream_id in {place[0] for place in progressive}:
        for after, through in ((0, 9), (0, 1), (1, 2), (1, 3), (3, 9)):
            taken = [progressive.get((stream_id, sequence), []) for sequence in range(after + 1, through + 1)]
            expected = sum(map(len, taken)), sum(map(sum, taken))
            assert statistics.progressive_stakes(stream_id, after, through) == expected
