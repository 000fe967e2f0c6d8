"""What a house keeps between events: all of it for a file, only what waits for a house that reads its precedents."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from accounting.rules.dated import ALWAYS, Dated
from accounting.rules.moments import nanoseconds
from jackpot.rules.hits import HitState
from jackpot.rules.meter import Meter
from tables.rules.house import House, LockState, RoundState, TableState
from tests.rules.lines import ROYAL, STRAIGHT_FLUSH, Lines, at


def test_a_settled_round_is_kept_without_its_message_and_a_held_one_with_it() -> None:
    lines = Lines()
    lines.lock("R-1")
    lines.round("R-1", board=STRAIGHT_FLUSH)
    lines.round("R-2", dealing={"players": 7})
    settled, held = lines.house.rounds["MS-1", "R-1"], lines.house.rounds["MS-1", "R-2"]
    assert settled.message is None
    assert (settled.link, settled.brought, settled.hits) == (
        "aa",
        (("major", (34_000_000, 6_000_000, 0)),),
        ("aa-000001",),
    )
    assert (settled.stakes_cents, settled.pays_cents) == (8_200, 412_000)
    assert held.message is not None
    assert lines.house.locks["MS-1", "R-1"] == LockState(
        lines.house.locks["MS-1", "R-1"].counts_at, "aa", state="decided"
    )


def test_tables_that_are_taken_over_anew_are_played_by_their_own_terms() -> None:
    """What was let go of leaves its place in memory to what comes next: no game is known by where its terms once stood."""
    house = Lines().house
    table = house.tables["MS-1"]
    first, moment = table.terms.at(ALWAYS), nanoseconds(at("20:00"))
    codes = [f"MS-{number}" for number in range(1, 6)]
    for _ in range(20):
        for code in codes:
            house.take(TableState(code, Dated(replace(first, code=code)), table.opens, table.links))
        assert [house.game(house.tables[code], moment).table.code for code in codes] == codes


def test_a_house_that_remembers_nothing_keeps_open_locks_meters_and_numbers_alone() -> None:
    lines = Lines()
    house: House = lines.house
    house.remembers = False
    lines.lock("R-1")
    lines.lock("R-2")
    lines.round("R-1", board=ROYAL)
    lines.round("R-3", dealing={"players": 7})
    assert (house.rounds, house.hits, house.envy) == ({}, {}, {})
    assert list(house.locks) == [("MS-1", "R-2")]
    assert (house.links["aa"].next_hit, lines.meter("aa")) == (2, Meter(10_000))


def test_it_decides_on_the_precedents_it_is_given_as_one_that_remembers() -> None:
    remembering, given = Lines(), Lines()
    for lines in (remembering, given):
        lines.lock("R-1")
        lines.round("R-1", board=STRAIGHT_FLUSH)
    kept = remembering.house
    settled: RoundState = kept.rounds["MS-1", "R-1"]
    hit: HitState = kept.hits["aa-000001"]
    given.house = House(
        {"aa": given.house.links["aa"]},
        {"MS-1": given.house.tables["MS-1"]},
        rounds={("MS-1", "R-1"): settled},
        hits={hit.name: hit},
        envy={envy.name: envy for envy in hit.envy},
        remembers=False,
    )
    given_answer = given.done("round.void", "MS-1/R-1")
    settled.outcome, hit.state = "settled", "detected"  # the two houses share these records
    for envy in hit.envy:
        envy.state = "owed"
    assert given_answer == remembering.done("round.void", "MS-1/R-1")
    assert given.meter("aa") == remembering.meter("aa") == Meter(10_000)


CHANGES: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("table.close", "MS-1", "22:00", {}),
    ("table.open", "MS-1", "22:10", {}),
    ("table.terms", "MS-1", "22:20", {"minimum_cents": 2_000}),
    ("link.suspend", "aa", "22:30", {"counts_from": at("22:35")}),
    ("link.terms", "aa", "22:40", {"levels": [{"code": "major", "rate_ppm": 160_000}]}),
    ("link.resume", "aa", "22:50", {"counts_from": at("23:10")}),
    ("table.leave", "MS-1", "23:20", {}),
    ("table.join", "MS-1", "23:30", {"link": "aa"}),
)
MOMENTS = [f"{hour}:{minute:02}" for hour in (21, 22, 23) for minute in range(0, 60, 5)]


def test_what_counts_is_the_same_whatever_was_asked_before() -> None:
    """A table's standing is remembered from its last change on; nothing of it is said of a moment before, or after the next."""
    lines, seed = Lines(), Random("standing")
    seen = set()
    for change in (None, *CHANGES):
        if change is not None:
            name, subject, clock, payload = change
            lines.done(name, subject, clock, **payload)
        for moment in seed.sample(MOMENTS, len(MOMENTS)):
            house, counts = lines.house, nanoseconds(at(moment))
            table = house.tables["MS-1"]
            found, link = house.standing("MS-1", counts), house.link_of(table, counts)
            assert found == house.standing_on(table, counts, link)
            assert (found.is_open, found.link_is_open) == (table.opens.at(counts), link is None or link.is_open(counts))
            assert found.game.table.minimum_cents == table.terms.at(counts).minimum_cents
            assert found.game.link == (None if link is None else link.terms.at(counts))
            seen.add((found.is_open, link is None, found.link_is_open, found.game.table.minimum_cents))
    assert len(seen) > 4, "the changes were seen"
