"""Gateways and posters of the simulator: nothing dealt is lost on the way, whatever line and service do."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from devices.simulator import poster
from devices.simulator.gateway import Gateway, Sending, Weather
from devices.simulator.kept import Kept, KeptRefused, read, resend
from devices.simulator.poster import Poster, PostingFailed
from devices.simulator.table import Dealt
from devices.simulator.tally import Tally

STORM = Weather(outage=0.2, swapped=0.5, late=0.2, again=0.2, drop=0.1)


def dealt(number: int, note: str | None = None) -> Dealt:
    message = {"round": f"MS-1-{number}", "table": "MS-1", "seats": [{"seat": 1}]}
    return Dealt("MS-1", number, number, number * 1000, message, "settled", note)


def sent(weather: Weather, rounds: int, *, seed: int = 4) -> list[Sending]:
    gateway = Gateway("MS-1", seed=seed, weather=weather)
    leaving = [sending for number in range(rounds) for sending in gateway.send(dealt(number))]
    return leaving + gateway.flush()


def test_a_calm_gateway_sends_every_round_once_and_in_order() -> None:
    assert [sending.dealt.table_round for sending in sent(Weather.calm(), 300)] == list(range(300))


def test_a_storm_loses_nothing_and_does_everything_that_storms_do() -> None:
    order = [sending.dealt.table_round for sending in sent(STORM, 2_000)]
    counts = Counter(order)
    assert set(counts) == set(range(2_000))
    assert 50 < sum(count > 1 for count in counts.values()) < 600
    assert max(counts.values()) == 2
    assert sum(later < earlier for earlier, later in pairwise(order)) > 100
    assert any(sending.drop for sending in sent(STORM, 2_000))
    assert order == [sending.dealt.table_round for sending in sent(STORM, 2_000)]
    assert order != [sending.dealt.table_round for sending in sent(STORM, 2_000, seed=5)]


def test_the_weather_of_a_seed_is_what_it_has_always_been() -> None:
    """Every chance of it counts, so that an evening can be repeated years later."""
    left = [(sending.dealt.table_round, sending.drop) for sky in (STORM, Weather()) for sending in sent(sky, 2_000)]
    assert sha256(repr(left).encode()).hexdigest() == "9fc816b590190ce9c0a726dee5bff57095d27e33364d203b07501e663ffa4d7c"


def test_a_rigged_round_leaves_at_once_with_all_that_waited() -> None:
    gateway = Gateway("MS-1", weather=Weather(outage=1.0))
    assert gateway.send(dealt(0)) == []
    assert [sending.dealt.table_round for sending in gateway.send(dealt(1, "rig royal_flush"))] == [0, 1]


class Service:
    """A service that keeps what it is sent and answers by the contract, after failing as it is told to."""

    def __init__(self, *troubles: int | type[httpx.TransportError]) -> None:
        self.troubles = list(troubles)
        self.requests: list[httpx.Request] = []
        self.stored: dict[str, Any] = {}

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        value = json.loads(request.content)
        messages = value if isinstance(value, list) else [value]
        trouble = self.troubles.pop(0) if self.troubles else None
        if isinstance(trouble, int):
            return httpx.Response(trouble, headers={"Retry-After": "0"}, text="not now")
        receipts = [self.take(index, message) for index, message in enumerate(messages)]
        if trouble is not None:
            raise trouble("the line broke after the message was stored")
        if isinstance(value, list):
            return httpx.Response(202, json=receipts)
        if "Prefer" in request.headers:
            return httpx.Response(200, json=settlement(value))
        return httpx.Response(202 if receipts[0]["status"] == "accepted" else 200, json=receipts[0])

    def take(self, index: int, message: dict[str, Any]) -> dict[str, Any]:
        known = self.stored.setdefault(message["round"], message)
        status = "accepted" if known is message else "duplicate"
        return {"index": index, "round": message["round"], "table": message["table"], "status": status}


def settlement(message: dict[str, Any]) -> dict[str, Any]:
    award = {"order": 1, "seat": 2, "level": "major", "hand": "royal_flush", "paid_cents": 1_234_500}
    return {"round": message["round"], "table": message["table"], "outcome": "settled", "awards": [award]}


def post(
    answer: Callable[[httpx.Request], Any],
    rounds: list[Dealt],
    *,
    batch: int = 50,
    wait_seconds: int = 0,
    drops: int | None = None,
    kept: Kept | None = None,
) -> Tally:
    """Post rounds that all wait already when the line opens; round `drops` loses its connection."""
    tally = Tally()

    async def play() -> None:
        poster = Poster(
            "MS-1",
            base_url="http://service",
            api_key="k1",
            tally=tally,
            batch=batch,
            wait_seconds=wait_seconds,
            transport=httpx.MockTransport(answer),
            kept=kept,
        )

        async def feed() -> None:
            for each in rounds:
                await poster.put(Sending(each, drop=each.table_round == drops))
            await poster.close()

        feeding = asyncio.create_task(feed())
        await asyncio.sleep(0)
        await poster.run()
        await feeding
        await poster.aclose()

    asyncio.run(play())
    return tally


def test_a_single_message_goes_alone_and_a_heap_goes_together() -> None:
    service = Service()
    assert post(service, [dealt(1)]).receipts == {"accepted": 1}
    assert isinstance(json.loads(service.requests[0].content), dict)
    assert service.requests[0].headers["Authorization"] == "Api-Key k1"

    service = Service()
    tally = post(service, [dealt(number) for number in range(50)], batch=30)
    assert [len(json.loads(request.content)) for request in service.requests] == [30, 20]
    assert tally.receipts == {"accepted": 50}
    assert list(service.stored) == [f"MS-1-{number}" for number in range(50)]


def test_the_very_same_bytes_go_out_again_until_they_are_answered() -> None:
    service = Service(503, httpx.ReadError, 500, 429)
    tally = post(service, [dealt(1), dealt(2)])
    assert len({request.content for request in service.requests}) == 1
    assert len(service.requests) == 5
    assert tally.retries == 4
    # Stored when the line broke, so the fifth try is told that it is known.
    assert tally.receipts == {"duplicate": 2}
    assert len(service.stored) == 2


def test_a_round_that_loses_its_connection_goes_alone() -> None:
    service = Service(httpx.ReadTimeout)
    tally = post(service, [dealt(number) for number in range(5)], drops=0)
    sizes = [len(value) if isinstance(value := json.loads(each.content), list) else 1 for each in service.requests]
    assert sizes == [1, 1, 4]
    assert tally.receipts == {"duplicate": 1, "accepted": 4}
    assert tally.dropped == 1

    service = Service()
    post(service, [dealt(number) for number in range(5)], drops=3)
    assert list(service.stored) == [f"MS-1-{number}" for number in range(5)]
    assert [request.extensions["timeout"]["read"] < 1 for request in service.requests] == [False, True, False]


def test_a_settlement_that_was_waited_for_is_counted_with_its_hit() -> None:
    tally = post(Service(), [dealt(1)], wait_seconds=2)
    assert tally.outcomes == {"settled": 1}
    assert tally.receipts == {"accepted": 1}
    assert [(hit.hand, hit.paid_cents) for hit in tally.hits] == [("royal_flush", 1_234_500)]


def test_reasons_are_counted_of_rounds_that_are_held() -> None:
    tally = Tally()
    for outcome, reason in (("held", "duplicate_card"), ("settled", "late"), ("void", "misdeal"), ("held", "late")):
        assert tally.settlement({"outcome": outcome, "reasons": [reason]}) == []
    assert tally.held_for == {"duplicate_card": 1, "late": 1}
    assert tally.outcomes == {"held": 2, "settled": 1, "void": 1}


@pytest.mark.parametrize(
    ("troubles", "status"),
    [
        ((429,), "accepted"), ((503,), "duplicate"), ((httpx.ReadError,), "duplicate"), ((503, 429), "duplicate"),
        ((httpx.ReadError, 429, 429), "duplicate"),
    ],
)  # fmt: skip
def test_what_may_have_been_stored_before_is_no_new_message(
    troubles: tuple[Any, ...], status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for a settlement is not told whether its message was new; what is turned away at the door was not taken."""
    monkeypatch.setattr(poster, "_FIRST_PAUSE", 0.001)
    tally = post(Service(*troubles), [dealt(1)], wait_seconds=2)
    assert tally.receipts == {status: 1}


def test_a_refusal_is_counted_by_its_code() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        return httpx.Response(422, json={"code": "unknown_table", "pointer": "/table", "detail": "no such table"})

    tally = post(refuse, [dealt(1), dealt(2)], batch=1)
    assert tally.receipts == {"refused": 2}
    assert tally.refusals == {"unknown_table": 2}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_an_answer_that_will_never_change_ends_the_run(status: int) -> None:
    with pytest.raises(PostingFailed, match=f"MS-1: {status} no"):
        post(lambda request: httpx.Response(status, text="no"), [dealt(1)])


def test_what_was_sent_is_kept_once_and_sent_again_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "kept.ndjson"
    kept, service = Kept(file), Service(503, httpx.ReadError)
    post(service, [dealt(1), dealt(2), dealt(2), dealt(3)], wait_seconds=2, batch=1, drops=3, kept=kept)
    assert [(sent.answered_at is not None, sent.settled) for sent in kept.sent.values()] == [(True, True)] * 3
    assert read(file) == kept.messages() == [dealt(number).message for number in (1, 2, 3)]
    restored = Service()
    restored.stored = {"MS-1-1": read(file)[0]}
    tally = Tally()

    async def again() -> None:
        transport = httpx.MockTransport(restored)
        poster = Poster("MS-1", base_url="http://service", api_key="k1", tally=tally, transport=transport)
        await resend(read(file), {"MS-1": poster})
        await poster.aclose()

    asyncio.run(again())
    assert tally.receipts == {"accepted": 2, "duplicate": 1}
    assert list(restored.stored.values()) == kept.messages()


def test_what_nobody_has_answered_is_kept_as_well() -> None:
    kept = Kept()
    with pytest.raises(PostingFailed):
        post(Service(400), [dealt(1)], kept=kept)
    assert [sent.answered_at for sent in kept.sent.values()] == [None]


def test_a_batch_is_one_to_a_thousand_messages() -> None:
    for batch in (1, 1_000):
        assert post(Service(), [dealt(number) for number in range(3)], batch=batch).posts == (3 if batch == 1 else 1)
    for batch in (0, 1_001):
        with pytest.raises(ValueError, match=f"a batch is 1 to 1000 messages, not {batch}"):
            post(Service(), [], batch=batch)


@pytest.mark.parametrize("text", ["no message", "{}", "[1]", "3"])
def test_a_file_of_something_else_is_not_sent(text: str, tmp_path: Path) -> None:
    file = tmp_path / "kept.ndjson"
    file.write_text(text)
    with pytest.raises(KeptRefused, match="one a line"):
        read(file)
    with pytest.raises(KeptRefused, match="No such file"):
        read(tmp_path / "none")
