"""Reading rounds, streams and their events (CONTRACT §5)."""

from __future__ import annotations

import json
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

import pytest

from tests.api.conftest import Api, reference
from tests.services.house import ALONE, LINKED, NEIGHBOUR, Message, royal, seat, value


def test_a_round_is_shown_wherever_it_stands(api: Api) -> None:
    sent = api.round()
    api.post(sent)
    queued = api.shown(sent)
    assert set(queued) == {
        "round",
        "table",
        "state",
        "received_at",
        "stream",
        "sequence",
        "message",
        "settlement",
        "decided",
    }
    assert (queued["state"], queued["sequence"], queued["settlement"]) == ("queued", None, None)
    assert (queued["round"], queued["table"], queued["stream"]) == (sent["round"], LINKED, "ms-mg01")
    assert queued["message"] == sent
    assert datetime.fromisoformat(queued["received_at"]) >= datetime.fromisoformat(sent["dealt_at"])
    api.settle()
    settled = api.shown(sent)
    assert settled == queued | {
        "state": "settled",
        "sequence": settled["sequence"],
        "settlement": settled["settlement"],
    }
    assert settled["sequence"] == value("SELECT sequence FROM tables_round WHERE reference = %s", sent["round"])
    assert settled["settlement"]["round"] == sent["round"]
    assert settled["settlement"]["seats"][0]["staked_cents"] == 4100


def test_a_held_round_has_reasons_and_no_sequence(api: Api) -> None:
    (shown,) = api.play(api.round(seat(1, "3s 3s")))
    assert (shown["state"], shown["sequence"]) == ("held", None)
    assert shown["settlement"]["reasons"] == ["duplicate_card"]


def test_a_void_round_has_a_sequence(api: Api) -> None:
    (shown,) = api.play(api.round(irregularities=[{"code": "shoe_failed"}]))
    assert (shown["state"], shown["settlement"]["outcome"]) == ("void", "void")
    assert isinstance(shown["sequence"], int)


@pytest.mark.parametrize(
    "path",
    [
        "rounds/MS-101/nothing",
        "rounds/MS-999/R-1",
        "rounds/MS-101",
        "rounds/MS-101/",
        "rounds//",
        "rounds/MS-101/%00",
        "rounds/%00/R-1",
        "rounds/MS-101/%ff",
        "rounds/MS-101/" + "x" * 5_000,
    ],
)
def test_a_round_that_is_not_there_is_404(path: str, api: Api) -> None:
    answer = api.get(path)
    assert answer.status_code == 404, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "not_found"


def test_tables_and_references_are_percent_encoded(api: Api) -> None:
    sent = api.round(table=ALONE, round=reference("a/b c%2F?é&"))
    (shown,) = api.play(sent)
    assert (shown["table"], shown["round"], shown["state"]) == (ALONE, sent["round"], "settled")
    assert shown["stream"] == ALONE
    # The same reference is another round at another table.
    path = f"rounds/{quote(LINKED, safe='')}/{quote(sent['round'], safe='')}"
    assert api.get(path).status_code == 404


def rounds_of(api: Api, stream: str, **parameters: Any) -> list[Message]:
    """Every round of a stream, page by page to the last."""
    items: list[Message] = []
    cursor: str | None = None
    for _ in range(1_000):
        page = api.found("rounds", stream=stream, **parameters, **({"cursor": cursor} if cursor else {}))
        assert set(page) == {"items", "next"}
        items += page["items"]
        cursor = page["next"]
        if cursor is None:
            return items
    raise AssertionError("it never ends")


def test_rounds_of_a_stream_are_listed_in_its_order_to_the_last_page(api: Api) -> None:
    sent = [api.round(table=LINKED if number % 3 else NEIGHBOUR) for number in range(7)]
    held = api.round(seat(1, "3s 3s"))
    first = api.play(*sent[:4], held, *sent[4:])[0]["sequence"]
    waiting = api.round()
    api.post(waiting)
    listed = rounds_of(api, "ms-mg01", after_sequence=first - 1, limit=3)
    assert [item["round"] for item in listed] == [message["round"] for message in sent]
    assert [item["sequence"] for item in listed] == list(range(first, first + 7))
    assert listed == [api.shown(message) for message in sent]
    everything = rounds_of(api, "ms-mg01", limit=1_000)
    others = {event["sequence"] for event in every_event(api, rounds="no")}
    assert [item["sequence"] for item in everything] == [each for each in range(first + 7) if each not in others]
    assert everything[-7:] == listed
    api.settle()


def test_a_page_that_ends_with_the_last_round_is_the_last(api: Api) -> None:
    last = api.play(api.round(), api.round())[-1]["sequence"]
    page = api.found("rounds", stream="ms-mg01", after_sequence=last - 2, limit=2)
    assert (len(page["items"]), page["next"]) == (2, None)
    assert api.found("rounds", stream="ms-mg01", after_sequence=last) == {"items": [], "next": None}
    events = api.found("streams/ms-mg01/events", rounds="yes", after_sequence=last - 2, limit=2)
    assert ([event["sequence"] for event in events["items"]], events["next"]) == ([last - 1, last], None)


@pytest.mark.parametrize("list_of", ["rounds?stream=ms-mg01&", "streams/ms-mg01/events?"])
@pytest.mark.parametrize(
    "parameter",
    ["limit=0", "limit=1001", "limit=-1", "limit=x", "limit=1.5",
     "limit=%C2%B2", "limit=1_0", "limit=%2B5", "limit=007", "limit=" + "9" * 5_000, "after_sequence=x", "after_sequence=--5",
     "after_sequence=-2", "cursor=x", "cursor=--5", "cursor=9999999999999999999", "limit=%D9%A1",
     "limit=5&limit=5", "cursor=1&cursor=2", "after_sequenc=5", "format=json"],
)  # fmt: skip
def test_what_is_no_number_is_400_naming_the_parameter(list_of: str, parameter: str, api: Api) -> None:
    answer = api.get(list_of + parameter)
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (body["code"], body["pointer"]) == ("invalid_value", "/" + parameter.split("=")[0])


@pytest.mark.parametrize("list_of", ["rounds?stream=ms-mg01", "streams/ms-mg01/events?rounds="])
def test_an_empty_parameter_is_as_if_not_given(list_of: str, api: Api) -> None:
    assert api.found(f"{list_of}&limit=&cursor=&after_sequence=") == api.found(list_of)


@pytest.mark.parametrize("address", ["links?limit=5", "links?x=", "links?code=ms-mg01"])
def test_a_list_refuses_parameters_that_it_does_not_know(address: str, api: Api) -> None:
    answer = api.get(address)
    pointer = "/" + address.partition("?")[2].partition("=")[0]
    assert (answer.status_code, answer.json()["code"], answer.json()["pointer"]) == (400, "invalid_value", pointer)


@pytest.mark.parametrize("query", ["", "?stream=", "?limit=5"])
def test_a_stream_must_be_named(query: str, api: Api) -> None:
    answer = api.get(f"rounds{query}")
    assert (answer.status_code, answer.json()["pointer"]) == (400, "/stream")


@pytest.mark.parametrize("stream", ["nobody", "MS-101", "x" * 3_000])
def test_an_unknown_stream_is_404(stream: str, api: Api) -> None:
    """A linked table has no stream of its own."""
    assert api.get(f"rounds?stream={stream}").status_code == 404
    assert api.get(f"streams/{stream}/events").status_code == 404


@pytest.mark.parametrize(
    ("asked", "at_fault"),
    [
        ("stream=%00", "stream"),
        ("stream=ms-mg01&cursor=%00", "cursor"),
        ("stream=ms-mg01&anything=a%00b", "anything"),
        ("stream=ms-mg01&a%00b", "a\\0b"),
    ],
)
def test_a_parameter_with_a_nul_is_named(asked: str, at_fault: str, api: Api) -> None:
    answer = api.get(f"rounds?{asked}")
    said = answer.json()
    assert (answer.status_code, said["code"], said["pointer"]) == (400, "invalid_value", f"/{at_fault}")


def test_a_table_on_no_link_is_a_stream_by_its_code(api: Api) -> None:
    (shown,) = api.play(api.round(table=ALONE))
    listed = rounds_of(api, ALONE, after_sequence=shown["sequence"] - 1)
    assert [item["round"] for item in listed] == [shown["round"]]
    events = api.found(f"streams/{quote(ALONE, safe='')}/events", after_sequence=-1)
    assert [event["kind"] for event in events["items"]] == ["opened"]


def test_events_of_a_stream_are_its_opening_and_whatever_is_no_round(api: Api) -> None:
    last = api.play(api.round())[0]["sequence"]
    assert api.get("streams/%00/events").status_code == 404
    page = api.found("streams/ms-mg01/events", after_sequence=-1)
    first = page["items"][0]
    assert (first["sequence"], first["kind"], first["subject"]) == (0, "opened", "ms-mg01")
    found = {event["sequence"] for event in every_event(api, rounds="no")}
    rounds = {event["sequence"] for event in every_event(api, rounds="yes") if event["kind"] == "round"}
    assert last in rounds and found.isdisjoint(rounds) and found | rounds == set(range(last + 1))
    assert api.found("streams/ms-mg01/events", after_sequence=last)["items"] == []


def every_event(api: Api, *, rounds: str) -> list[Message]:
    """The events of a link's stream to the last page, its rounds among them or not."""
    events: list[Message] = []
    further: dict[str, Any] = {"after_sequence": -1}
    while True:
        page = api.found("streams/ms-mg01/events", rounds=rounds, limit=200, **further)
        events += page["items"]
        if page["next"] is None:
            return events
        further = {"cursor": page["next"]}


def micro(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1_000_000)


def test_events_carry_what_the_chain_is_recomputed_from(api: Api) -> None:
    """Whoever reads the list can check it: each hash over the one before, the digests and the heading."""
    sent = royal(reference(), dealt_at=api.round()["dealt_at"])
    (shown,) = api.play(sent)
    events = every_event(api, rounds="yes")
    assert [event["sequence"] for event in events] == list(range(shown["sequence"] + 1))
    previous = "00" * 32
    for event in events:
        fields = [event[name] for name in ("stream", "sequence", "kind", "subject", "gaming_date")]
        fields += [micro(event["recorded_at"]), event["rules"]]
        fields += (
            [micro(event["received_at"]), event["device_id"]] if event["kind"] in ("round", "lock") else ["-", "-"]
        )
        heading = "\n".join(map(str, fields))
        chained = bytes.fromhex(previous + event["message_digest"] + event["result_digest"]) + heading.encode()
        assert (event["previous"], event["hash"]) == (previous, sha256(chained).hexdigest()), event["sequence"]
        previous = event["hash"]
    last = events[-1]
    assert (last["subject"], last["kind"]) == (f"{LINKED}/{sent['round']}", "round")
    assert last["message_digest"] == sha256(canonical(sent)).hexdigest()
    assert last["result_digest"] == sha256(canonical(shown["settlement"])).hexdigest()


def canonical(message: Message) -> bytes:
    """JSON with sorted keys and no white space: what digests are taken of."""
    return json.dumps(message, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.parametrize("rounds", ["maybe", "Yes", "1"])
def test_rounds_among_events_are_asked_for_with_yes_or_no(rounds: str, api: Api) -> None:
    answer = api.get(f"streams/ms-mg01/events?rounds={rounds}")
    assert (answer.status_code, answer.json()["pointer"]) == (400, "/rounds")
