"""A level's parts carried over to another link: one event on each stream, the same on both (CONTRACT §7, R38)."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from typing import Any

import pytest

from accounting.rules.acts import ActRefused
from devices.audit.verification import verify_stream
from jackpot.queries import liabilities, meter_series, meters_of
from jackpot.rules.between import booked_elsewhere
from jackpot.rules.decision import Act
from jackpot.services import acts
from tests.services import auditor
from tests.services.house import (
    LINKED,
    PROGRESSIVE,
    RECEIVED,
    TWIN,
    House,
    message,
    rows,
    royal,
    run,
    seat,
    value,
    verify,
)

ONE, OTHER = "ms-mg01/major", "twin/grand"
ALL = ["display", "reserve", "overflow"]
MILLION = 1_000_000


def play(house: House, first: int, rounds: int) -> None:
    """Rounds on both links, so that their meters have fractions."""
    for number in range(first, first + rounds):
        house.post(message(f"t-{number}"), message(f"t-{number}", table=TWIN))
    house.settle()


def parts(link: str) -> dict[str, list[int]]:
    """Display, reserve and overflow of each level in millionths of a cent."""
    return {
        level: [value * MILLION + fraction for value, fraction in zip(found[::2], found[1::2], strict=True)]
        for level, *found in rows(
            """SELECT level.code, value_cents, residual_millionths, reserve_cents, reserve_residual_millionths,
            overflow_cents, overflow_residual_millionths FROM jackpot_meter JOIN jackpot_level level ON level.id = level_id
            JOIN jackpot_link link ON link.id = link_id WHERE link.code = %s""",
            link,
        )
    }


def documents(stream: str, sequence: int) -> tuple[bytes, bytes]:
    """Cause and result of an event."""
    ((cause, result),) = rows(
        "SELECT cause, result FROM accounting_document WHERE stream_id = %s AND sequence = %s",
        House.stream(stream),
        sequence,
    )
    return bytes(cause), bytes(result)


def booked(stream: str, sequence: int) -> list[tuple[str, str, int, str]]:
    """The movements of an event."""
    return rows(
        """SELECT debit.code, credit.code, amount_cents, reason FROM accounting_transfer
        JOIN accounting_account debit ON debit.id = debit_id JOIN accounting_account credit ON credit.id = credit_id
        WHERE stream_id = %s AND sequence = %s ORDER BY line""",
        House.stream(stream),
        sequence,
    )


def transfer(house: House, source: str = ONE, to: str = OTHER, named: list[str] = ALL, **more: Any) -> tuple[str, int]:
    return house.act("level.transfer", source, to=to, parts=named, **more)


def suspend(house: House, *links: str) -> None:
    for link in links:
        house.act("link.suspend", link)


def test_a_transfer_is_the_same_event_on_both_streams_and_conserves_the_millionth(busy_house: House) -> None:
    house = busy_house
    play(house, 1, 3)
    suspend(house, "ms-mg01")
    before, taking = parts("ms-mg01")["major"], parts("twin")["grand"]
    assert all(part % MILLION for part in (before[0], before[1], taking[0], taking[1])), "fractions on both"
    stream, sequence = transfer(house)
    assert (stream, sequence) == ("ms-mg01", 5)
    cause, result = documents("ms-mg01", 5)
    assert documents("twin", 4) == (cause, result)
    asked = json.loads(cause)
    assert [(side["link"], side["sequence"], side["state"]) for side in asked["between"]] == [
        ("ms-mg01", 5, "suspended"),
        ("twin", 4, "open"),
    ]
    assert asked["by"] == "tester"
    # Its limit of $20,004.00 holds what fits, to the millionth; the rest is in the overflow.
    after = parts("twin")["grand"]
    assert parts("ms-mg01")["major"] == [0, 0, 0]
    assert after[0] == 2_000_400 * MILLION
    assert sum(after) == sum(before) + sum(taking)
    assert after[1] == before[1] + taking[1]
    # Every movement is one row, on the stream that gave.
    moved = booked("ms-mg01", 5)
    assert booked("twin", 4) == []
    assert [row[:2] for row in moved][:2] == [
        (f"level:{ONE}:liability", f"level:{OTHER}:liability"),
        (f"level:{ONE}:liability", f"level:{OTHER}:overflow"),
    ]
    assert {row[3] for row in moved} == {"transfer"}
    assert all(balance.agrees for balance in liabilities())
    auditor.everything_agrees()
    verify()


def test_a_cent_that_two_fractions_complete_is_a_contribution(busy_house: House) -> None:
    house = busy_house
    play(house, 1, 3)  # leaves 0.1855 of a cent on twin/grand
    suspend(house, "twin")
    transfer(house, OTHER, ONE, ["display"])
    house.act("link.resume", "twin", at=RECEIVED + timedelta(seconds=1))
    now = RECEIVED + timedelta(seconds=5)
    house.play(*(message(f"n-{n}", table=TWIN, dealt_at=now.isoformat()) for n in range(4)), at=now)  # and now 0.914
    house.act("link.suspend", "twin", at=now)
    taking, giving = parts("ms-mg01")["major"][0], parts("twin")["grand"][0]
    _, sequence = transfer(house, OTHER, ONE, ["display"], at=now)
    completed = ("contribution_expense", f"level:{ONE}:liability", 1, "transfer")
    assert booked("twin", sequence)[-1] == completed
    assert parts("ms-mg01")["major"][0] == taking + giving
    auditor.everything_agrees()
    verify()


def test_play_goes_on_and_each_stream_is_verified_by_itself(busy_house: House) -> None:
    house = busy_house
    play(house, 1, 3)
    suspend(house, "ms-mg01")
    transfer(house)
    house.act("link.resume", "ms-mg01", at=RECEIVED + timedelta(seconds=1))
    later = {"dealt_at": (RECEIVED + timedelta(seconds=2)).isoformat()}
    sent = (royal("after", table=TWIN, **later), message("after", **later))
    house.play(*sent, at=RECEIVED + timedelta(seconds=3))
    assert [house.outcome(each)[0] for each in sent] == ["settled", "settled"]
    for link in ("ms-mg01", "twin"):
        assert verify_stream(house.stream(link)).events
        assert verify_stream(house.stream(link), size=1).events
    auditor.everything_agrees()
    verify()


def test_the_meter_over_time_has_the_step(house: House) -> None:
    """What came from the other link is booked there; the series of the target still passes through what it showed."""
    play(house, 1, 3)
    suspend(house, "ms-mg01")
    shown = {meter.level.code: meter.value_cents for meter in meters_of("twin")}
    transfer(house)
    play(house, 4, 2)
    (grand,) = (meter for meter in meters_of("twin") if meter.level.code == "grand")
    series = [(sequence, cents) for sequence, _, cents in meter_series(grand, events=100)]
    assert (3, shown["grand"]) in series
    assert series[-1] == (4, grand.value_cents) == (4, 2_000_400), "full: what came later overflowed"


def test_two_levels_of_one_link_are_one_event(busy_house: House) -> None:
    house = busy_house
    play(house, 1, 2)
    suspend(house, "twin")
    before = sum(sum(level) for level in parts("twin").values())
    stream, sequence = transfer(house, "twin/minor", OTHER)
    cause, _ = documents(stream, sequence)
    assert "between" not in json.loads(cause)
    assert value("SELECT count(*) FROM accounting_event WHERE kind = 'level.transfer'") == 1
    assert sum(sum(level) for level in parts("twin").values()) == before
    assert parts("twin")["minor"] == [0, 0, 0]
    verify()


@pytest.mark.parametrize(
    ("source", "to", "suspended", "code"),
    [
        (ONE, OTHER, (), "link_open"),
        (ONE, OTHER, ("twin",), "link_open"),
        (ONE, ONE, ("ms-mg01",), "invalid_value"),
        (ONE, "twin/none", ("ms-mg01",), "invalid_value"),
        (ONE, "none/grand", ("ms-mg01",), "invalid_value"),
        ("ms-mg01/none", OTHER, ("ms-mg01",), "unknown_subject"),
        ("none/major", OTHER, (), "unknown_subject"),
    ],
)
def test_what_is_refused_leaves_nothing(
    busy_house: House, source: str, to: str, suspended: tuple[str, ...], code: str
) -> None:
    house = busy_house
    suspend(house, *suspended)
    events = value("SELECT count(*) FROM accounting_event")
    at = RECEIVED.isoformat()
    with pytest.raises(ActRefused) as foreseen:
        acts.decide(Act("level.transfer", source, at, {"to": to, "parts": ALL}))
    with pytest.raises(ActRefused) as refused:
        transfer(house, source, to)
    assert (foreseen.value.code, refused.value.code) == (code, code)
    assert value("SELECT count(*) FROM accounting_event") == events
    verify()


@pytest.mark.parametrize("seed", range(4))
def test_random_transfers_there_and_back_lose_no_millionth(busy_house: House, seed: int) -> None:
    """Rounds, hits and transfers in any order: over both links and the accounts, what was is what is."""
    house = busy_house
    rng = random.Random(seed)
    suspended: set[str] = set()
    levels = ["ms-mg01/major", "twin/grand", "twin/minor"]
    now = RECEIVED
    for number in range(14):
        now += timedelta(seconds=1)
        if rng.random() < 0.5:
            table = rng.choice((LINKED, TWIN))
            dealt = {"dealt_at": (now - timedelta(milliseconds=500)).isoformat()}
            sent = rng.choice((royal, message))(f"r-{number}", table=table, **dealt)
            house.play(
                sent, message(f"q-{number}", seat(1, "3s 7d", **PROGRESSIVE[table]), table=table, **dealt), at=now
            )
        else:
            source, to = rng.sample(levels, 2)
            while source.split("/")[0] == to.split("/")[0]:
                source, to = rng.sample(levels, 2)
            link = source.split("/")[0]
            if link not in suspended:
                house.act("link.suspend", link, at=now)
                suspended.add(link)
            total = sum(sum(level) for code in ("ms-mg01", "twin") for level in parts(code).values())
            named = rng.sample(ALL, rng.randint(1, 3))
            transfer(house, source, to, named, at=now + timedelta(microseconds=1))
            assert sum(sum(level) for code in ("ms-mg01", "twin") for level in parts(code).values()) == total
            if rng.random() < 0.6:
                house.act("link.resume", link, at=now + timedelta(microseconds=2))
                suspended.discard(link)
    assert value("SELECT count(*) FROM accounting_event WHERE kind = 'level.transfer'") >= 4
    auditor.everything_agrees()
    verify()


def test_what_another_stream_books_is_told_by_account(house: House) -> None:
    suspend(house, "ms-mg01")
    decision = acts.decide(Act("level.transfer", ONE, RECEIVED.isoformat(), {"to": OTHER, "parts": ["display"]}))
    from jackpot.services import meters, standing

    twin = house.stream("twin")
    read = meters.read(twin)
    assert read is not None
    brought = booked_elsewhere(decision.movements, standing.of_link(twin, read))
    assert brought == {"level:twin/grand:liability": 400, "level:twin/grand:overflow": 999_600}


def test_meters_are_never_of_two_moments(house: House) -> None:
    """The sequence of every meter is that of the transfer's event on its own stream."""
    suspend(house, "ms-mg01")
    transfer(house)
    assert dict(
        rows(
            """SELECT DISTINCT link.code, meter.sequence FROM jackpot_meter meter JOIN jackpot_level level
            ON level.id = level_id JOIN jackpot_link link ON link.id = link_id"""
        )
    ) == {"ms-mg01": 2, "twin": 1}
    assert run("SELECT FROM accounting_event WHERE kind = 'level.transfer'") == 2


CLOSING = [
    {"level": "major", "part": "display", "to": OTHER},
    {"level": "major", "part": "reserve", "to": "revenue_booked"},
    {"level": "major", "part": "overflow", "to": OTHER},
]


def test_a_closing_link_leaves_its_money_to_a_level_of_another_link(busy_house: House) -> None:
    """One event on each stream, in one commit; either is verified by itself and against the other."""
    house = busy_house
    play(house, 1, 3)
    house.act("link.suspend", "ms-mg01")
    (display, reserve, _), before = parts("ms-mg01")["major"], parts("twin")["grand"]
    there = value("SELECT next_sequence FROM accounting_stream WHERE code = 'twin'")
    stream, sequence = house.act("link.close", "ms-mg01", disposition=CLOSING)
    assert (stream, documents("ms-mg01", sequence)) == ("ms-mg01", documents("twin", there))
    assert booked("twin", there) == []
    assert parts("ms-mg01")["major"] == [0, 0, 0]
    after = parts("twin")["grand"]
    assert (after[0] + after[2], after[1]) == (before[0] + before[2] + display, before[1])
    assert (
        after[0] == before[0] + display
        or after[0]
        == value(
            "SELECT limit_cents FROM jackpot_levelterms JOIN jackpot_level level ON level.id = level_id WHERE code = 'grand'"
        )
        * MILLION
    )
    revenue = [row for row in booked("ms-mg01", sequence) if row[3] == "revenue_booked"]
    assert [cents for _, _, cents, _ in revenue] == [reserve // MILLION]
    assert rows("SELECT code, state FROM jackpot_link ORDER BY code") == [("ms-mg01", "closed"), ("twin", "open")]
    verify()
    house.play(message("t-9", table=TWIN), message("t-9"))
    assert house.outcome(house.posted[-2]) == ("settled", [])
    assert house.outcome(house.posted[-1]) == ("held", ["link_not_open"])
    verify()
    for code in ("ms-mg01", "twin"):
        verify_stream(House.stream(code))


def test_a_link_that_receives_while_another_closes_is_only_moved(busy_house: House) -> None:
    """Its own hits and state have no part in it; the closing link's have, whichever stream has the lower id."""
    house = busy_house
    play(house, 1, 2)
    house.play(royal("t-5"), royal("t-5", table=TWIN))
    house.act("link.suspend", "twin")
    with pytest.raises(ActRefused) as refusal:
        house.act("link.close", "twin", disposition=[
            {"level": level, "part": part, "to": ONE} for level in parts("twin") for part in ALL
        ])  # fmt: skip
    assert refusal.value.code == "open_hits"
    steps: list[tuple[str, dict[str, Any]]] = [("verify", {}), ("approve", {}), ("pay", {"method": "cage"})]
    for step, payload in steps:
        for (hit,) in rows(
            "SELECT number FROM jackpot_hit JOIN jackpot_link link ON link.id = link_id WHERE code = 'twin'"
        ):
            house.act(f"hit.{step}", f"twin-{hit:06}", **payload)
    house.act("link.close", "twin", disposition=[
        {"level": level, "part": part, "to": ONE} for level in parts("twin") for part in ALL
    ])  # fmt: skip
    assert all(found == [0, 0, 0] for found in parts("twin").values())
    verify()
