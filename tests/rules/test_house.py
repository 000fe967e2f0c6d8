"""What a house keeps between events: all of it for a file, only what waits for a house that reads its precedents."""

from __future__ import annotations

from jackpot.rules.hits import HitState
from jackpot.rules.meter import Meter
from tables.rules.house import House, LockState, RoundState
from tests.rules.lines import ROYAL, STRAIGHT_FLUSH, Lines


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
