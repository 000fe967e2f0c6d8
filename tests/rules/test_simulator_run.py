"""Plans of simulated runs, and the command that makes them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from devices.simulator import rig
from devices.simulator.floor import PACE_SECONDS
from devices.simulator.run import RUSH, Plan, Run, Service, SetUpRefused, default_prefix, load_floor

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "jackpot" / "config" / "demo" / "floor.toml"
GAMES = ROOT / "tests" / "acceptance" / "floors" / "games.toml"
START = datetime(2026, 11, 28, 1, 0, tzinfo=UTC)


def plan(**changes: Any) -> Plan:
    settled: dict[str, Any] = {"floor": load_floor(DEMO), "start": START, "prefix": "T", **changes}
    return Plan(**settled)


def simulate(*options: str) -> None:
    call_command("simulate", *options)


def test_tables_are_chosen_by_code_or_by_number() -> None:
    assert len(plan().chosen()) == 8
    assert list(plan(tables=("MS-105", "MS-101")).chosen()) == ["MS-105", "MS-101"]
    assert list(plan(tables=("3",)).chosen()) == ["MS-101", "MS-102", "MS-103"]
    with pytest.raises(SetUpRefused, match="MS-999"):
        plan(tables=("MS-999",)).chosen()
    with pytest.raises(SetUpRefused, match="the floor has 8"):
        plan(tables=("9",)).chosen()


def test_speed_divides_the_time_between_rounds() -> None:
    real, fast, rush = (
        [dealt.at_ms for dealt, _ in zip(plan(speed=speed).play().deals(), range(400), strict=False)][-1]
        for speed in (1.0, 10.0, RUSH)
    )
    assert abs(real / fast - 10) < 0.1
    assert real > PACE_SECONDS * 1000 * 30
    # Without pace the rounds are dated as if dealt at once, so that none is dated ahead of its receipt.
    assert rush < 100


def test_the_show_has_a_jackpot_within_a_minute() -> None:
    deals = plan(speed=rig.SHOW_SPEED, rigs=rig.show()).play().deals()
    moments = {}
    for dealt in deals:
        if dealt.at_ms > 60_000:
            break
        if dealt.note is not None and dealt.note.startswith("rig "):
            moments[dealt.note] = dealt.at_ms
    assert 20_000 <= moments["rig straight_flush"] < 30_000
    assert 40_000 <= moments["rig royal_flush"] < 50_000


def test_a_prefix_of_its_own_for_every_start() -> None:
    assert default_prefix(START) == "20261128T010000"


def test_the_command_writes_the_same_file_for_the_same_plan(tmp_path: Path) -> None:
    options = ["--seed", "9", "--prefix", "A", "--start", "2026-11-28T01:00:00+00:00", "--rounds", "200"]
    options += ["--rig", "royal@50"]
    once, again, other = tmp_path / "once", tmp_path / "again", tmp_path / "other"
    simulate(*options, "--out", str(once))
    simulate(*options, "--out", str(again))
    simulate(*options, "--out", str(other), "--tables", "2")
    assert once.read_bytes() == again.read_bytes()
    messages = [json.loads(line) for line in once.read_text().splitlines()]
    assert len(messages) == 200
    assert len({message["round"] for message in messages}) == 200
    assert messages[0]["dealt_at"] == "2026-11-27T20:00:00.000-05:00"
    assert {json.loads(line)["table"] for line in other.read_text().splitlines()} == {"MS-101", "MS-102"}


def test_another_floor_can_be_played(tmp_path: Path) -> None:
    harbor = ROOT / "tests" / "acceptance" / "floors" / "harbor.toml"
    simulate(str(harbor), "--out", str(tmp_path / "out"), "--rounds", "60", "--prefix", "A")
    played = {json.loads(line)["table"] for line in (tmp_path / "out").read_text().splitlines()}
    assert "MS-110" in played


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rig", "nonsense"], "HAND@ROUND"),
        (["--rig", "royal@3:MS-999", "--out", "never"], "MS-999"),
        (["--speed", "-1"], "--speed"),
        (["--rounds", "0"], "--rounds"),
        (["--start", "2026-11-28T01:00:00"], "offset"),
        (["--tables", "MS-9", "--out", "never"], "MS-9"),
        (["--batch", "5000"], "1000 messages at most"),
        (["nowhere.toml"], "nowhere.toml"),
        (["--demo", "nowhere.json"], "manage.py up"),
        ([str(GAMES), "--out", "never"], "no tables"),
    ],
)
def test_what_cannot_be_played_is_said(options: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        simulate(*options)
    assert not Path("never").exists()


def test_a_floor_of_another_service_is_refused(tmp_path: Path) -> None:
    demo = tmp_path / "demo.json"
    demo.write_text(json.dumps({"base_url": "http://127.0.0.1:9", "devices": {"MS-101": {"api_key": "k"}}}))
    service = Service.from_demo(demo)
    with pytest.raises(SetUpRefused, match=r"no key for MS-102, .*own floor"):
        Run(plan(), service)
    demo.write_text('{"devices": []}')
    with pytest.raises(SetUpRefused, match=r"not a demo\.json"):
        Service.from_demo(demo)
