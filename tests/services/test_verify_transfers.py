"""`manage.py verify` on transfers: each side is looked at from the other, and neither can be changed or missing alone."""

from __future__ import annotations

from hashlib import sha256
from string import Template

import pytest

from accounting.rules.chain import event_hash
from devices.audit import verification
from devices.audit.verification import Difference, verify_stream
from tests.services.house import House, rows, value, verify
from tests.services.played import planted_is_what_was_found, tamper
from tests.services.tampering import BETWEEN_LINKS


@pytest.fixture
def carried(played: House) -> House:
    """The played house with the level of one link carried over to the other."""
    played.settle()
    played.act("link.suspend", "ms-mg01")
    assert played.act("level.transfer", "ms-mg01/major", to="twin/grand", parts=["display", "reserve", "overflow"]) == (
        "ms-mg01",
        8,
    )
    verify()
    return played


def places(house: House) -> dict[str, int]:
    """What the statements name."""
    grand = value("SELECT id FROM jackpot_level WHERE code = 'grand'")
    return {"stream": house.stream("ms-mg01"), "twin": house.stream("twin"), "grand": grand}


@pytest.mark.parametrize("what", BETWEEN_LINKS)
def test_tampering_with_a_transfer_is_found_and_named(what: str, carried: House) -> None:
    statement, named = (Template(each) for each in BETWEEN_LINKS[what])
    planted = tamper(statement.substitute(places(carried)))
    with pytest.raises(Difference) as difference:
        verify()
    assert named.template in str(difference.value)
    planted_is_what_was_found(planted, str(difference.value))
    for size in (1, 3):
        with pytest.raises(Difference) as again:
            verification.verify([stream_id for stream_id, _, _ in verification.streams()], size=size)
        assert str(again.value) == str(difference.value), size


def test_a_stream_without_its_side_is_whole_by_itself_and_missed_by_the_other(carried: House) -> None:
    """Nothing on its own stream would show it: only the other side knows."""
    what = "the other side of a transfer taken out, as if it had never been"
    tamper(Template(BETWEEN_LINKS[what][0]).substitute(places(carried)))
    verify_stream(carried.stream("twin"))
    with pytest.raises(Difference, match="its event on stream twin"):
        verify_stream(carried.stream("ms-mg01"))


def test_a_side_that_was_hashed_anew_is_found_from_both(carried: House) -> None:
    """Somebody rewrites one side, its digest, its hash and the head of its stream: the other still says who did it."""
    stream = carried.stream("twin")
    ((cause, kind, subject, day, at, rules, result_digest, previous),) = rows(
        """SELECT cause, kind, subject, gaming_date, recorded_at, rules, result_digest, previous
        FROM accounting_document JOIN accounting_event USING (stream_id, sequence)
        WHERE stream_id = %s AND sequence = 3""",
        stream,
    )
    forged = bytes(cause).replace(b"tester", b"nobody")
    digest = sha256(forged).digest()
    head = event_hash(
        bytes(previous), stream="twin", sequence=3, kind=kind, subject=subject, gaming_date=day, recorded_at=at,
        message_digest=digest, result_digest=bytes(result_digest), rules=rules, received_at=None, device_id=None,
    )  # fmt: skip
    tamper(
        f"WITH document AS (UPDATE accounting_document SET cause = '\\x{forged.hex()}'"
        f" WHERE stream_id = {stream} AND sequence = 3),"
        f" event AS (UPDATE accounting_event SET message_digest = '\\x{digest.hex()}', hash = '\\x{head.hex()}'"
        f" WHERE stream_id = {stream} AND sequence = 3)"
        f" UPDATE accounting_stream SET head = '\\x{head.hex()}' WHERE id = {stream}"
    )
    with pytest.raises(Difference, match="its event on stream ms-mg01, sequence"):
        verify_stream(stream)
    with pytest.raises(Difference, match="its event on stream twin, sequence 3"):
        verify_stream(carried.stream("ms-mg01"))
