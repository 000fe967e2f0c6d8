"""Lifetime meters of every level: they only rise, and verify works them out again (REQUIREMENTS R2, R4)."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.db import connection

from devices.audit.findings import Difference
from jackpot.queries import link_states
from tests.services.house import (
    LINKED,
    RECEIVED,
    TWIN,
    House,
    locked,
    message,
    refused_by,
    rows,
    royal,
    run,
    seat,
    two_hits,
    verify,
)
from tests.services.played import tamper

NAMES = ("wagers", "hits", "wins_cents", "contributed_millionths", "reserved_millionths", "overflowed_millionths")
Lifetime = tuple[int, ...]


def lifetime(level: str = "major") -> Lifetime:
    """A level's lifetime meters: wagers, hits, cents won, and in millionths contributed, put to the reserve, overflowed."""
    (found,) = rows(
        f"SELECT {', '.join(NAMES)} FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE code = %s", level
    )
    return tuple(map(int, found))


def test_what_rounds_bring_is_counted_to_the_millionth(house: House) -> None:
    house.play(message("R-1"), message("R-2", seat(1, "3s 7d", progressive=100), seat(2, "4s 8d", progressive=100)))
    assert lifetime() == (3, 0, 0, 300 * 170_003, 300 * 30_007, 0)


def test_what_the_limit_kept_off_is_counted_and_joining_a_reset_takes_nothing_from_it(busy_house: House) -> None:
    """The level minor takes 100 cents to its limit: 500 × 54,321 millionths a wager, so the fourth overflows."""
    busy_house.play(*(message(f"R-{n}", table=TWIN) for n in range(1, 6)))
    brought = 5 * 500 * 54_321
    assert lifetime("minor") == (5, 0, 0, brought, 0, brought - 100 * 10**6)
    before = lifetime("minor")
    busy_house.play(message("R-6", seat(1, "9s 9d", progressive=500), table=TWIN, community="9c 9h Kd"))  # minor is hit
    after = lifetime("minor")
    assert after[1] == 1 and after[2] > 0
    assert after[3:] == (before[3] + 500 * 54_321, 0, before[5] + 500 * 54_321)
    ((overflow,),) = rows(
        "SELECT overflow_cents FROM jackpot_meter JOIN jackpot_level ON id = level_id WHERE code = 'minor'"
    )
    assert overflow == 0, "it became revenue"
    verify()


def test_nothing_that_people_do_lowers_them(busy_house: House) -> None:
    """Hits, a rejection, adjustments, a transfer and the void of a settled round: each leaves them where they were."""
    busy_house.play(two_hits("R-1"), message("R-2"), message("R-3"))
    before = lifetime()
    assert before[0] == 5 and before[1] == 2
    for number, (act, subject, payload) in enumerate([
        ("hit.reject", "ms-mg01-000002", {}),
        ("level.adjust", "ms-mg01/major", {"part": "reserve", "cents": -1, "reason": "reserve_release"}),
        ("level.adjust", "ms-mg01/major", {"part": "display", "cents": 500, "reason": "boost"}),
        ("round.void", f"{LINKED}/R-2", {}),
    ]):  # fmt: skip
        busy_house.act(act, subject, at=RECEIVED + timedelta(minutes=number), **payload)
        assert lifetime() == before, act
    busy_house.act("link.suspend", "ms-mg01", at=RECEIVED + timedelta(minutes=8))
    parts = {"to": "twin/grand", "parts": ["display", "reserve", "overflow"]}
    grand = lifetime("grand")
    busy_house.act("level.transfer", "ms-mg01/major", at=RECEIVED + timedelta(minutes=9), **parts)
    assert (lifetime(), lifetime("grand")) == (before, grand)
    verify()


def test_a_lock_brings_and_what_its_result_takes_back_was_brought_all_the_same(busy_house: House) -> None:
    lock = locked("R-1", 1, 2)
    busy_house.play(lock)
    once = lifetime()
    assert once == (0, 0, 0, 200 * 170_003, 200 * 30_007, 0)
    busy_house.play(message("R-1", seat(1, "3s 7d", progressive=100), seat(2, "4s 8d", progressive=100)))
    assert lifetime() == (2, *once[1:])
    busy_house.play(locked("R-2"), message("R-2", irregularities=[{"code": "shoe_failed"}]))
    twice = lifetime()
    assert twice == (2, 0, 0, 300 * 170_003, 300 * 30_007, 0)
    busy_house.play(locked("R-3"))
    busy_house.act("lock.void", f"{LINKED}/R-3")
    assert lifetime()[3:5] == (400 * 170_003, 400 * 30_007)
    verify()


def test_a_house_of_before_has_them_worked_out_from_its_events(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the migration that brought them, from every kind of event, a few at a time: as they are counted since."""
    house.play(
        royal("R-1"), locked("R-2"), message("R-2"), two_hits("R-1", table=TWIN), locked("R-2", table=TWIN), locked("R-3"),
        message("R-3"), message("R-4"), *(message(f"T-{n}", table=TWIN) for n in range(5)),
    )  # fmt: skip
    for number, (act, subject, payload) in enumerate([
        ("level.adjust", "ms-mg01/major", {"part": "reserve", "cents": 7, "reason": "correction"}),
        ("level.adjust", "twin/grand", {"part": "display", "cents": 9, "reason": "correction"}),
        ("round.void", f"{LINKED}/R-4", {}),
        ("link.suspend", "ms-mg01", {}),
    ]):  # fmt: skip
        house.act(act, subject, at=RECEIVED + timedelta(minutes=number), **payload)
    brought = ", ".join(NAMES[3:])
    before = rows(f"SELECT level_id, {brought} FROM jackpot_meter ORDER BY level_id")
    assert all(sum(column) for column in zip(*before, strict=True)), "some of each"
    migration = import_module("jackpot.migrations.0006_lifetime_meters")
    for chunk in (3, migration.CHUNK):
        monkeypatch.setattr(migration, "CHUNK", chunk)
        tamper(f"UPDATE jackpot_meter SET {', '.join(f'{name} = 0' for name in NAMES[3:])}")
        migration.work_out(None, SimpleNamespace(connection=connection))
        assert rows(f"SELECT level_id, {brought} FROM jackpot_meter ORDER BY level_id") == before, chunk


def test_what_an_event_says_of_another_link_is_not_counted_to_its_level_of_the_same_name() -> None:
    brought = import_module("jackpot.migrations.0006_lifetime_meters")._event
    parts = ("reserve_cents", "reserve_residual_millionths", "overflow_cents", "overflow_residual_millionths")
    row = {"level": "major", "contributed_millionths": 5} | dict.fromkeys(parts, 1)
    held: dict[str, tuple[int, int]] = {}
    found: dict[str, list[int]] = {}
    brought({"meters": [row | {"link": "other"}]}, "own", True, held, found)
    assert (held, found) == ({}, {})
    brought({"meters": [row | {"link": "own"}]}, "own", True, held, found)
    assert found == {"major": [5, 1_000_001, 1_000_001]}


def test_they_never_fall_whoever_writes(house: House) -> None:
    house.play(royal("R-1"))
    for name in NAMES[:5]:
        with refused_by("lifetime_meters_never_fall"):
            run(f"UPDATE jackpot_meter SET {name} = {name} - 1 WHERE {name} > 0")
    house.play(*(message(f"T-{n}", table=TWIN) for n in range(5)))
    with refused_by("lifetime_meters_never_fall"):
        run("UPDATE jackpot_meter SET overflowed_millionths = 0 WHERE overflowed_millionths > 0")


def test_the_api_shows_them_as_cents_and_their_fraction(house: House) -> None:
    house.play(message("R-1"))
    (level,) = link_states("ms-mg01")[0]["levels"]
    assert (level["contributed_cents"], level["contributed_residual_millionths"]) == (17, 300)
    assert (level["reserved_cents"], level["reserved_residual_millionths"]) == (3, 700)
    assert (level["overflowed_cents"], level["overflowed_residual_millionths"]) == (0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_verify_finds_each_of_them_changed(played: House, name: str) -> None:
    tamper(f"UPDATE jackpot_meter SET {name} = {name} + 1 WHERE level_id = (SELECT min(level_id) FROM jackpot_meter)")
    with pytest.raises(Difference, match="meter major"):
        verify()


def test_moments_never_run_backwards_along_a_stream_because_somebody_waited(busy_house: House) -> None:
    """An act asked for two seconds before the rounds that it waited for is recorded, and done, after them."""
    busy_house.play(message("R-1"), at=RECEIVED)
    asked = RECEIVED - timedelta(seconds=2)
    _, sequence = busy_house.act("level.adjust", "ms-mg01/major", at=asked, part="display", cents=5, reason="boost")
    _, later = busy_house.act("table.close", LINKED, at=asked)
    ((moment, cause),) = rows(
        "SELECT recorded_at, convert_from(cause, 'UTF8')::json ->> 'at' FROM accounting_event"
        " JOIN accounting_document USING (stream_id, sequence) WHERE stream_id = %s AND sequence = %s",
        busy_house.stream("ms-mg01"), sequence,
    )  # fmt: skip
    assert (moment, cause) == (RECEIVED, RECEIVED.isoformat()) and later == sequence + 1
    moments = rows("SELECT recorded_at FROM accounting_event WHERE stream_id = %s AND sequence > 0 ORDER BY sequence",
                   busy_house.stream("ms-mg01"))  # fmt: skip
    assert moments == sorted(moments)
    verify()


def test_a_clock_that_is_wrong_is_not_followed(house: House) -> None:
    """What a clock an hour ahead recorded does not drag acts along to another moment, or to another day."""
    house.play(message("R-1"), at=RECEIVED + timedelta(hours=1))
    _, sequence = house.act("level.adjust", "ms-mg01/major", part="display", cents=5, reason="boost")
    ((moment,),) = rows(
        "SELECT recorded_at FROM accounting_event WHERE sequence = %s AND kind = 'level.adjust'", sequence
    )
    assert moment == RECEIVED
