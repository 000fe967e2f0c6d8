"""A simulated evening at the real service: gateways post, a real worker settles, and what was dealt is what is told."""

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from devices import demo
from devices.audit.inbox_check import verify_inbox
from devices.audit.verification import streams, verify_stream
from devices.simulator import rig
from devices.simulator.gateway import Weather
from devices.simulator.irregularities import Rates
from devices.simulator.poster import PostingFailed
from devices.simulator.run import RUSH, Plan, Run, Service, load_floor
from devices.simulator.table import Dealt
from devices.simulator.tally import Tally
from tables.services import floors

pytestmark = [pytest.mark.alone, pytest.mark.timeout(120)]

DEMO = Path(__file__).resolve().parents[2] / "jackpot" / "config" / "demo" / "floor.toml"
MISHAPS = Rates(times=20)


@pytest.fixture
def house(live_service: Any, settling_worker: Callable[[], Any]) -> Iterator[Service]:
    """The demo floor, open, with a worker that settles."""
    floors.install(DEMO.read_text(), at=timezone.now())
    keys = {code: device["api_key"] for code, device in demo.ensure()["devices"].items()}
    service = Service(live_service.url, keys)
    with settling_worker():
        opening = plan(seed=1, prefix="W", rounds=1, speed=RUSH, rates=Rates(times=0), weather=Weather.calm())
        waited, _ = play(opening, service, wait_seconds=30)
        assert waited.outcomes == {"settled": 1}, "the worker does not settle"
        yield service


def plan(**changes: Any) -> Plan:
    chosen: dict[str, Any] = {
        "floor": load_floor(DEMO), "start": datetime.now(UTC), "prefix": "E", "seed": 1, "rates": MISHAPS,
    }  # fmt: skip
    return Plan(**chosen | changes)


def play(chosen: Plan, service: Service, **options: Any) -> tuple[Tally, list[Dealt]]:
    dealt: list[Dealt] = []

    async def run() -> Tally:
        return await Run(chosen, service, on_dealt=dealt.append, **options).run()

    return asyncio.run(run()), dealt


def told(service: Service, dealt: list[Dealt]) -> list[dict[str, Any]]:
    """What the API says of each round."""
    key = next(iter(service.keys.values()))
    with httpx.Client(
        base_url=service.base_url, headers={"Authorization": f"Api-Key {key}"}, trust_env=False, timeout=60
    ) as client:
        return [client.get(f"/api/v1/rounds/{each.table}/{each.message['round']}").json() for each in dealt]


def verify() -> None:
    """Everything recorded is what the messages give; Difference says where it is not."""
    for stream_id, _, _ in streams():
        verify_stream(stream_id)
    verify_inbox()


def test_gateways_read_the_settlement_while_the_dealer_waits(house: Service) -> None:
    rigs = (rig.read("straight_flush@60"), rig.read("royal@90"))
    chosen = plan(seed=3, speed=90.0, rounds=160, rigs=rigs, weather=Weather.calm(), rates=Rates(times=60))
    tally, dealt = play(chosen, house, wait_seconds=20, batch=1)  # one at a time, also when a table falls behind
    assert tally.receipts == {"accepted": 160}
    assert sum(tally.outcomes.values()) == 160
    assert tally.outcomes["held"] > 0
    assert [hit.hand for hit in tally.hits][:2] == ["straight_flush", "royal_flush"]
    assert tally.link_hits == len(tally.hits)

    for each, state in zip(dealt, told(house, dealt), strict=True):
        assert state["state"] == each.meant, (each, state)
        assert state["message"] == each.message
    verify()


def test_bad_lines_lose_nothing_and_a_repeated_evening_changes_nothing(house: Service) -> None:
    storm = Weather(outage=0.05, late=0.05, again=0.05, drop=0.02)
    chosen = plan(seed=4, speed=RUSH, rounds=200, rigs=(rig.read("royal@100"),), weather=storm)
    tally, dealt = play(chosen, house, batch=20)
    assert set(tally.receipts) == {"accepted", "duplicate"}
    assert tally.dropped > 0
    assert [state["state"] for state in told(house, dealt)] == [each.meant for each in dealt]
    verify()

    again, dealt_again = play(chosen, house, batch=500)
    assert [each.message for each in dealt_again] == [each.message for each in dealt]
    assert set(again.receipts) == {"duplicate"}
    assert again.link_hits == 0
    verify()


def test_the_command_plays_and_sums_up(house: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = {code: {"api_key": key} for code, key in house.keys.items()}
    known = tmp_path / "demo.json"
    known.write_text(json.dumps({"base_url": house.base_url, "devices": keys}))
    call_command(
        "simulate", "--demo", str(known), "--speed", "80", "--rounds", "20", "--tables", "MS-101,MS-105",
        "--rig", "royal@10", "--prefix", "C", "--calm", "--irregularities", "0", "--batch", "1",
        "--keep", str(tmp_path / "kept"),
    )  # fmt: skip
    said = capsys.readouterr().out
    assert "2 tables play at http://127.0.0.1" in said
    assert "royal flush at MS-10" in said
    assert "20  receipts: accepted" in said
    assert "1  hits on the links since the run began" in said
    call_command("simulate", "--demo", str(known), "--resend", str(tmp_path / "kept"))
    said = capsys.readouterr().out
    assert "messages sent again: " in said and "duplicate" in said and "accepted" not in said


def test_a_key_for_another_table_ends_the_run_and_says_so(house: Service) -> None:
    keys = {**house.keys, "MS-101": house.keys["MS-102"]}
    with pytest.raises(PostingFailed, match="MS-101: 403"):
        play(plan(speed=RUSH, rounds=50), Service(house.base_url, keys))
