"""Signs of life of simulated gateways: often enough, for every table with its own key, and whatever the service answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import httpx
import pytest

from devices.management.commands import simulate
from devices.simulator.heartbeat import HEARTBEAT, Heartbeats
from devices.simulator.run import Service, SetUpRefused

KEYS = {"MS-101": "one", "MS-102": "two"}
Answer = Callable[[httpx.Request], httpx.Response]


def said(request: httpx.Request, **more: object) -> httpx.Response:
    assert request.url.path == HEARTBEAT
    return httpx.Response(200, json={"heard_at": None, "silent_after_seconds": 2.0, "closed": [], **more})


def beating(answer: Answer, seconds: float) -> Heartbeats:
    """Begin, and go on for so long."""

    async def run() -> Heartbeats:
        transport = httpx.MockTransport(answer)
        async with httpx.AsyncClient(base_url="http://house", transport=transport) as client:
            heartbeats = Heartbeats(client, KEYS)
            await heartbeats.begin(asyncio.Event())
            going_on = asyncio.create_task(heartbeats.go_on())
            await asyncio.sleep(seconds)
            going_on.cancel()
            return heartbeats

    return asyncio.run(run())


def test_every_gateway_is_heard_of_four_times_in_the_term_that_the_service_names() -> None:
    beats: Counter[str] = Counter()

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            beats[request.headers["Authorization"]] += 1
        return said(request)

    assert beating(answer, 1.3).every_seconds == 0.5
    assert set(beats) == {"Api-Key one", "Api-Key two"}
    assert set(beats.values()) == {3}, "at once, and twice more"


def test_a_run_begins_when_the_tables_that_were_closed_for_silence_are_open() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        closed = asked.count("GET") <= 4 and request.headers["Authorization"] == "Api-Key two"
        return said(request, closed=["MS-102"] if closed else [])

    beating(answer, 0)
    assert asked == ["GET", "GET", "POST", "POST", "GET", "GET", "GET"]


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_a_service_that_cannot_answer_just_now_ends_nothing(status: int) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            raise httpx.ConnectError("away")
        return httpx.Response(status, text="<p>away</p>")

    assert beating(answer, 0).every_seconds == 2.5


@pytest.mark.parametrize(
    ("options", "gives"),
    [
        ((), False),
        (("--show",), False),
        (("--heartbeats",), True),
        (("--heartbeats", "--rounds", "20"), True),
    ],
)
def test_gateways_give_signs_of_life_where_that_is_asked_for(
    options: tuple[str, ...], gives: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[bool] = []

    class Run:
        def __init__(self, *_: object, heartbeats: bool, **more: object) -> None:
            given.append(heartbeats)
            raise SetUpRefused("far enough")

    monkeypatch.setattr(simulate, "Run", Run)
    monkeypatch.setattr(Service, "from_demo", lambda *_, **more: Service("http://house", KEYS))
    parser = simulate.Command().create_parser("manage.py", "simulate")
    with pytest.raises(SetUpRefused):
        simulate.Command()._play(vars(parser.parse_args(["--tables", "MS-101,MS-102", *options])))
    assert given == [gives]
