"""Plans of simulated runs, and the command that makes them."""

import asyncio
import json
from collections import Counter
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command
from rich.console import Console

from devices.management.commands import simulate as command
from devices.simulator import progress, rig
from devices.simulator.floor import PACE_SECONDS
from devices.simulator.gateway import Weather
from devices.simulator.poster import PostingFailed
from devices.simulator.progress import Show
from devices.simulator.run import RUSH, Plan, Run, Service, SetUpRefused, default_prefix, load_floor
from devices.simulator.tally import Hit, Tally
from tests.rules.test_simulator_gateway import Service as Taking

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "jackpot" / "config" / "demo" / "floor.toml"
GAMES = ROOT / "tests" / "acceptance" / "floors" / "games.toml"
START = datetime(2026, 11, 28, 1, 0, tzinfo=UTC)


def plan(**changes: Any) -> Plan:
    settled: dict[str, Any] = {"floor": load_floor(DEMO), "start": START, "prefix": "T", "seed": 1, **changes}
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
        (["--speed", "1000000"], "--speed"),
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


def test_a_show_has_its_own_speed_and_hands_unless_others_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Plan] = []

    def write(plan: Plan, file: Path, rounds: int) -> Tally:
        plans.append(plan)
        return Tally()

    monkeypatch.setattr(command, "write", write)
    wanted: list[tuple[list[str], float, tuple[rig.Rig, ...]]] = [
        ([], 1.0, ()),
        (["--show"], rig.SHOW_SPEED, rig.show()),
        (["--show", "--speed", "4"], 4.0, rig.show()),
        (["--show", "--speed", "max", "--rig", "royal@3"], RUSH, (rig.read("royal@3"), *rig.show())),
    ]
    for options, _, _ in wanted:
        simulate(*options, "--out", str(tmp_path / "out"))
    assert [(plan.speed, plan.rigs) for plan in plans] == [tuple(rest) for _, *rest in wanted]


def test_a_floor_of_another_service_is_refused(tmp_path: Path) -> None:
    demo = tmp_path / "demo.json"
    demo.write_text(json.dumps({"base_url": "http://127.0.0.1:9", "devices": {"MS-101": {"api_key": "k"}}}))
    service = Service.from_demo(demo)
    with pytest.raises(SetUpRefused, match=r"no key for MS-102, .*own floor"):
        Run(plan(), service)
    demo.write_text('{"devices": []}')
    with pytest.raises(SetUpRefused, match=r"not a demo\.json"):
        Service.from_demo(demo)


class House(Taking):
    """A service that takes rounds and, asked for its health, has one message less in its queue each time."""

    def __init__(self, *, queued: int = 0, refuses: bool = False) -> None:
        super().__init__()
        self.queued = queued
        self.refuses = refuses
        self.asked: Counter[str] = Counter()

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked[request.url.path] += 1
        if request.url.path == "/api/v1/health":
            self.queued = max(self.queued - 1, 0)
            return httpx.Response(200, json={"status": "ok", "queued": self.queued})
        if request.url.path == "/api/v1/links":
            return httpx.Response(200, json=[{"levels": [{"hits": 7}, {"hits": len(self.stored)}]}])
        return httpx.Response(400, text="no") if self.refuses else await super().__call__(request)


def ran(house: House, *, stopped_after: int | None = None, **changes: Any) -> Tally:
    """A run at this house, stopped once so many rounds were dealt."""
    chosen = plan(**{"speed": RUSH, "tables": ("2",), "weather": Weather.calm(), **changes})
    keys = dict.fromkeys(chosen.chosen(), "k1")
    run = Run(
        chosen,
        Service("http://house", keys, transport=httpx.MockTransport(house)),
        on_dealt=lambda dealt: run.stop() if dealt.floor_round == stopped_after else None,
    )
    return asyncio.run(run.run())


def test_a_run_ends_when_what_it_posted_is_settled() -> None:
    house = House(queued=4)
    tally = ran(house, rounds=30)
    assert (tally.dealt, tally.receipts, len(house.stored)) == (30, {"accepted": 30}, 30)
    assert (tally.queued, tally.link_hits) == (0, 30), "the hits since it began"
    assert house.queued == 0 and house.asked["/api/v1/health"] >= 5, "asked until nothing waits"


def test_a_run_that_is_stopped_posts_what_was_dealt_and_waits_for_nothing() -> None:
    house = House(queued=100)
    tally = ran(house, stopped_after=9)
    assert (tally.dealt, len(house.stored)) == (9, 9)
    assert house.queued > 90, "and it does not wait for the queue"


def test_a_house_that_refuses_ends_a_run_unless_it_was_to_end_anyway() -> None:
    with pytest.raises(PostingFailed, match="400 no"):
        ran(House(refuses=True), rounds=30)
    assert ran(House(refuses=True), stopped_after=1).receipts == {}


HIT = Hit("MS-101", "R-1", 2, "royal_flush", "major", 1_234_567)


@pytest.mark.parametrize(
    ("counted", "words"),
    [
        ({}, "0 rounds posted  0.0/s  0 settled  0 held  0 refused  0 hits"),
        (
            {"receipts": {"accepted": 1_200, "duplicate": 3, "refused": 4, "reused": 5}, "queued": 1_000},
            "1,212 rounds posted  0.0/s  200 settled or held  1,000 queued  0 held  9 refused  0 hits",
        ),
        (
            {"receipts": {"accepted": 2}, "queued": 5, "link_hits": 1},
            "2 rounds posted  0.0/s  0 settled or held  5 queued  0 held  0 refused  1 hit",
        ),
        (
            {"outcomes": {"settled": 6, "void": 2, "held": 3}, "queued": 0, "hits": [HIT, HIT], "link_hits": 1},
            "0 rounds posted  0.0/s  8 settled  3 held  0 refused  2 hits",
        ),
    ],
)
def test_the_line_of_a_run_says_how_far_it_is(
    counted: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.0)
    out = StringIO()
    counts: dict[str, Any] = {
        name: Counter(value) if isinstance(value, dict) else value for name, value in counted.items()
    }
    with Show(Tally(**counts), rounds=None, console=Console(file=out, width=200, highlight=False)):
        pass
    assert out.getvalue() == words + "\n"
    monkeypatch.setattr(progress, "QUIET_SECONDS", 600.0)
    with Show(Tally(**counts), rounds=None, console=Console(file=out, width=200, highlight=False)):
        pass
    assert out.getvalue() == words + "\n", "not again so soon"


def test_a_run_is_summed_up_with_every_count_and_its_last_hits() -> None:
    out = StringIO()
    tally = Tally(dealt=1_500, posts=4, retries=2, dropped=1, queued=3, link_hits=21)
    tally.hits += [Hit("MS-101", f"R-{number}", 2, "flush", "minor", number) for number in range(21)]
    for receipt in (
        {"status": "accepted"},
        {"status": "refused", "code": "unknown_table"},
        {"status": "reused", "code": "b"},
    ):
        tally.receipt(receipt)
        tally.lock(receipt)
        tally.lock(receipt)
    told = tally.settlement({
        "outcome": "settled", "table": "MS-101", "round": "R-1",
        "awards": [{"seat": 2, "hand": "royal_flush", "level": "major", "paid_cents": 1_234_567}],
    })  # fmt: skip
    tally.settlement({"outcome": "held", "reasons": ["duplicate_card", "wager_not_allowed"]})
    assert told == [HIT]
    show = Show(tally, rounds=10, console=Console(file=out, width=200, highlight=False))
    show.hit(HIT)
    show.summary()
    said = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert said[:-1] == [
        "royal flush at MS-101 seat 2: $12,345.67 from major (R-1)",
        "1,500 rounds dealt",
        "1 receipts: accepted", "1 receipts: refused", "1 receipts: reused",
        "3 refused as b", "3 refused as unknown_table",
        "2 locks before the cards: accepted", "2 locks before the cards: refused", "2 locks before the cards: reused",
        "1 settlements read: held", "1 settlements read: settled",
        "1 held for duplicate_card", "1 held for wager_not_allowed",
        *(f"$0.{number:02} flush at MS-101 seat 2, minor" for number in range(2, 21)),
        "$12,345.67 royal_flush at MS-101 seat 2, major",
        "21 hits on the links since the run began", "1 connections dropped on purpose", "2 retries", "3 still queued",
    ]  # fmt: skip
    assert said[-1].startswith("3 answers in ")
