"""One payout's event decided again where somebody looks at it: as much as is said, and every change of it is found."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from statistics import median

import msgspec
import pytest

from devices.audit import on_the_spot
from tests.services.house import House, message, rows, run, two_hits, value

STREAM = "ms-mg01"


@pytest.fixture
def played(house: House) -> House:
    """Rounds before and after a hit, one of them held and released."""
    house.play(message("R-1"), message("H-1", dealing={"method": "shuffler", "mode": "cover_all", "players": 2}))
    house.play(two_hits("R-2"), message("R-3"))
    house.act("round.release", "MS-101/H-1", at=house.now + timedelta(minutes=1))
    house.play(message("R-4"))
    return house


def words(sequence: int) -> dict[str, str]:
    found = on_the_spot.look(STREAM, sequence)
    assert found.ok, found.difference
    return {each.what: each.words for each in found.compared}


def test_what_is_said_is_what_the_record_has(played: House) -> None:
    """Each figure of the words, recomputed from the rows."""
    said = words(2)
    raw, settlement = rows(
        "SELECT message.raw, round.settlement FROM tables_round round JOIN devices_message message ON message.id = message_id"
        " WHERE round.reference = 'R-2'"
    )[0]
    canonical = msgspec.json.encode(msgspec.json.decode(bytes(raw)), order="sorted")
    assert sha256(canonical).hexdigest() in said["Message"]
    assert sha256(bytes(settlement)).hexdigest() in said["Settlement"]
    stream = played.stream(STREAM)
    moved = "SELECT count(*), sum(amount_cents)::bigint FROM accounting_transfer WHERE sequence = 2 AND stream_id = %s"
    ((transfers, cents),) = rows(moved, stream)
    dollars = f"{cents // 100:,}.{cents % 100:02d}"
    assert said["Ledger"].startswith(f"{transfers} transfers follow from it and are booked so, {dollars}")
    payouts = value("SELECT count(*) FROM tables_payout WHERE sequence = 2 AND stream_id = %s", played.stream(STREAM))
    assert said["Payouts"].startswith(f"{payouts} payouts and 2 hits")
    event = bytes(
        value("SELECT hash FROM accounting_event WHERE sequence = 2 AND stream_id = %s", played.stream(STREAM))
    )
    assert event.hex() in said["Hash"]
    assert "Event 3 names it" in said["Hash"]
    assert said["Signed"].startswith("not yet")
    (meter,) = on_the_spot.look(STREAM, 2).meters
    (row,) = msgspec.json.decode(bytes(settlement))["meters"]
    assert (meter.before_cents, meter.after_cents) == (row["before_cents"], row["after_cents"])


def test_every_event_of_a_stream_is_looked_at_alike(played: House) -> None:
    last = value("SELECT next_sequence - 1 FROM accounting_stream WHERE code = %s", STREAM)
    for sequence in range(last + 1):
        assert words(sequence)["Hash"]
    assert "head of its stream" in words(last)["Hash"]
    assert words(4)["Cause"], "the release of a held round"
    head = played.close_day("2026-11-27", at=played.now + timedelta(hours=1))[STREAM]
    assert f"under event {head} of its stream, whose hash was signed when 2026-11-27 was closed" in words(2)["Signed"]
    for stream, sequence in ((STREAM, head + 1), (STREAM, -1), ("nowhere", 0)):
        with pytest.raises(LookupError):
            on_the_spot.look(stream, sequence)


OF_ROUND = "stream_id = (SELECT id FROM accounting_stream WHERE code = 'ms-mg01') AND sequence = 2"
CHANGES: dict[str, tuple[str, str]] = {
    "transfer": (
        f"UPDATE accounting_transfer SET amount_cents = amount_cents + 1 WHERE {OF_ROUND} AND line = 1", "ledger transfers"
    ),
    "payout": (f"UPDATE tables_payout SET cents = cents + 1 WHERE {OF_ROUND} AND line = 1", "payouts"),
    "settlement": (f"UPDATE tables_round SET settlement = settlement || ' ' WHERE {OF_ROUND}", "settlement"),
    "hash": (f"UPDATE accounting_event SET hash = sha256(hash) WHERE {OF_ROUND}", "hash of the event"),
    "day": (f"UPDATE accounting_event SET gaming_date = gaming_date - 1 WHERE {OF_ROUND}", "hash of the event"),
    "hit": ("UPDATE jackpot_hit SET paid_cents = paid_cents + 1 WHERE sequence = 2", "hit ms-mg01-00000"),
    "message": (
        "UPDATE devices_message SET raw = replace(convert_from(raw, 'UTF8'), '1000', '2000')::bytea WHERE reference = 'R-2'",
        "digest of the message",
    ),
    "what the event before left": (
        "UPDATE tables_round SET settlement = replace(convert_from(settlement, 'UTF8'), '\"after_cents\":1',"
        f" '\"after_cents\":2')::bytea WHERE {OF_ROUND.replace('= 2', '= 1')}",
        "sequence 1",
    ),
    "the event after": (
        f"UPDATE accounting_event SET previous = sha256(previous) WHERE {OF_ROUND.replace('= 2', '= 3')}",
        "hash of the event before",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_was_changed_of_it_is_found(change: str, played: House) -> None:
    statement, said = CHANGES[change]
    run("SET LOCAL session_replication_role = replica")
    assert run(statement) >= 1
    run("SET LOCAL session_replication_role = origin")
    found = on_the_spot.look(STREAM, 2)
    assert not found.ok
    assert said in found.difference
    assert found.shown()["difference"] == found.difference


def test_it_takes_well_under_a_second(played: House) -> None:
    assert median(on_the_spot.look(STREAM, 2).milliseconds for _ in range(5)) < 500
