"""Before a worker's first round on a stream, the stream looks at itself (REQUIREMENTS R21): nothing is built on what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client

from devices.intake import self_check, settling
from devices.intake.self_check import SelfCheckFailed
from tables.services.rounds import StreamHead
from tests.services.house import ALONE, RECEIVED, TWIN, House, message, rows, run, value, verify
from tests.services.played import tamper

MENDED = """UPDATE jackpot_meter SET value_cents = value_cents - 1 WHERE level_id =
    (SELECT id FROM jackpot_level WHERE code = 'major')"""


@pytest.fixture(autouse=True)
def started_now() -> Iterator[None]:
    """Every test begins as a process does, and leaves nothing known."""
    self_check.forget()
    yield
    self_check.forget()


def settle(house: House) -> int:
    return settling.settle_next(house.stream("ms-mg01"), clock=lambda: RECEIVED).batch.settled


def failures() -> list[str]:
    return [detail["difference"] for detail in House.significant("self_check_failed")]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE accounting_stream SET head = sha256('x') WHERE code = 'ms-mg01'", "head of the chain"),
        ("UPDATE accounting_stream SET next_sequence = next_sequence + 1 WHERE code = 'ms-mg01'", "gap in the sequence"),
        (
            "UPDATE accounting_stream SET (next_sequence, head) = (SELECT event.sequence, event.previous FROM"
            " accounting_event event WHERE event.stream_id = id AND event.sequence = next_sequence - 1) WHERE code = 'ms-mg01'",
            "after the last event",
        ),
        ("DELETE FROM accounting_event WHERE sequence = 5 AND stream_id = $stream", "gap in the sequence"),
        (
            "UPDATE jackpot_meter SET value_cents = value_cents + 1 WHERE level_id ="
            " (SELECT id FROM jackpot_level WHERE code = 'major')",
            "meter major after the last event",
        ),
        (
            "UPDATE jackpot_meter SET reserve_residual_millionths = reserve_residual_millionths + 1 WHERE level_id ="
            " (SELECT id FROM jackpot_level WHERE code = 'major')",
            "meter major after the last event",
        ),
        ("UPDATE tables_round SET settlement = overlay(settlement placing '\\x39'::bytea from 12 for 1)"
         " WHERE sequence = 5 AND stream_id = $stream", "settlement"),
        ("UPDATE tables_tableterms SET minimum_cents = 1500 WHERE table_id = $table", "minimum_cents"),
        ("UPDATE jackpot_levelterms SET rate_ppm = rate_ppm + 1", "rate_ppm"),
        (
            "UPDATE accounting_document SET result = replace(convert_from(result, 'UTF8'), '170003', '170004')::bytea"
            " WHERE stream_id = $stream AND sequence = 0",
            "sequence 0: digests of its documents",
        ),
        ("UPDATE jackpot_link SET state = 'suspended' WHERE code = 'ms-mg01'", "link: state"),
    ],
)  # fmt: skip
def test_a_stream_whose_record_does_not_agree_stands_still_and_says_why(
    statement: str, said: str, played: House
) -> None:
    tamper(statement.replace("$stream", str(played.stream("ms-mg01"))).replace("$table", str(played.table("MS-101"))))
    before = played.order(), played.waiting()
    for _ in range(3):
        with pytest.raises(SelfCheckFailed, match=said):
            settle(played)
    assert (played.order(), played.waiting()) == before
    assert value("SELECT count(*) FROM tables_hold") == 1, "nothing is held for it"
    assert value("SELECT max(attempts) FROM devices_attempt WHERE stream_id = %s", played.stream("ms-mg01")) == 0
    ((code, reason),) = rows("SELECT code, reason FROM devices_stoppage JOIN accounting_stream ON id = stream_id")
    assert code == "ms-mg01"
    assert "SelfCheckFailed: its own check failed: stream ms-mg01" in reason
    (failure,) = failures()
    assert said in failure, "said once, however often it was tried"
    status = Client().get("/api/v1/health").json()
    assert [each["stream"] for each in status["stopped"]] == ["ms-mg01"]


def test_other_links_play_on_and_it_goes_on_when_it_is_mended(played: House) -> None:
    tamper(MENDED.replace("- 1", "+ 1"))
    played.post(message("on"), message("on", table=TWIN), message("on", table=ALONE))
    for stream, reason in (
        ("ms-mg01", "KeyError: no such level"),
        ("twin", f"SelfCheckFailed: {self_check.SAID}: more"),
    ):
        run(
            "INSERT INTO devices_stoppage (stream_id, since, reason) VALUES (%s, %s, %s)",
            played.stream(stream), RECEIVED, reason,
        )  # fmt: skip
    with pytest.raises(SelfCheckFailed):
        settle(played)
    assert len(failures()) == 1, "whatever it stood still for before, and whoever else does"
    for stream in ("twin", ALONE):
        assert settling.settle_next(played.stream(stream), clock=lambda: RECEIVED).batch.settled == 1
    tamper(MENDED)
    assert settle(played) == 2
    assert value("SELECT count(*) FROM devices_stoppage") == 0
    verify()


def test_a_process_looks_once_and_one_that_starts_looks_again(played: House, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    real = self_check._compare

    def compare(stream: StreamHead, code: str) -> None:
        looked.append(stream.id)
        real(stream, code)

    monkeypatch.setattr(self_check, "_compare", compare)
    for number in range(3):
        played.play(message(f"again-{number}"))
    assert looked == [played.stream("ms-mg01")]
    self_check.forget()
    played.play(message("anew"))
    assert len(looked) == 2


def test_a_stream_passes_at_any_of_its_events(busy_house: House) -> None:
    """After its opening alone, after acts, after rounds: whatever came last, it can be decided again."""
    later = RECEIVED + timedelta(minutes=1)

    def passes(number: int) -> None:
        self_check.forget()
        busy_house.play(message(f"r-{number}"), message(f"r-{number}", table=TWIN))

    passes(1)
    busy_house.act("level.adjust", "ms-mg01/major", part="reserve", cents=5, reason="correction")
    busy_house.act("table.close", "TW-201", at=later)
    passes(2)
    busy_house.act("table.open", "TW-201", at=later + timedelta(seconds=1))
    busy_house.act("link.suspend", "ms-mg01", at=later)
    busy_house.act("level.transfer", "ms-mg01/major", at=later, to="twin/grand", parts=["display", "reserve"])
    passes(3)
    assert failures() == []
    assert run("SELECT FROM tables_round") == 6
    verify()
