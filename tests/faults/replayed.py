"""What the API lists is what was dealt, and what a house that never failed would have settled.

The same messages in the same order go through `manage.py settle`, which knows neither database nor faults: the settlements are
the same, and the meters stand as its last one says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from devices.simulator.table import Dealt
from tests.faults.hall import LINK, Accountable


def compare(hall: Accountable, dealt: Mapping[str, Dealt]) -> int:
    """AssertionError where it is not so; the number of hits."""
    with hall.client() as client:
        return _compare(hall, dealt, client)


def _compare(hall: Accountable, dealt: Mapping[str, Dealt], client: httpx.Client) -> int:
    listed = list(_pages(client, "/api/v1/rounds", stream=LINK))
    events = list(_pages(client, f"/api/v1/streams/{LINK}/events", rounds="yes"))
    sequences = [event["sequence"] for event in events]
    assert sequences == list(range(1, len(sequences) + 1)), "the stream's sequence has a gap"
    assert [item["sequence"] for item in listed] == [e["sequence"] for e in events if e["kind"] == "round"]

    references = [item["round"] for item in listed]
    assert len(set(references)) == len(references), "a round was settled twice"
    ends = {reference: each.meant for reference, each in dealt.items()}
    held = {reference for reference, meant in ends.items() if meant == "held"}
    assert set(references) == set(ends) - held, "what was settled is not what was dealt"
    for item in listed:
        assert item["state"] == ends[item["round"]], item
        assert item["message"] == dealt[item["round"]].message
    for reference in sorted(held):
        item = client.get(f"/api/v1/rounds/{quote(dealt[reference].table)}/{quote(reference)}").json()
        assert item["state"] == "held", item

    _replay(hall, listed)
    awards = [award for item in listed for award in item["settlement"]["awards"]]
    assert [award["hit"] for award in awards] == [f"{LINK}-{number:06d}" for number in range(1, len(awards) + 1)]
    link = client.get(f"/api/v1/links/{LINK}").json()
    level, last = link["levels"][0], listed[-1]["settlement"]["meters"][0]
    assert level["hits"] == len(awards)
    assert (level["value_cents"], level["residual_millionths"]) == (
        last["after_cents"],
        last["residual_millionths"],
    )
    return len(awards)


def _replay(hall: Accountable, listed: list[dict[str, Any]]) -> None:
    """The same messages in the stream's order through `manage.py settle` give the same settlements."""
    lines = b"".join(json.dumps(item["message"]).encode() + b"\n" for item in listed)
    replayed = hall.manage("settle", str(hall.floor_file), "-", stdin=lines)
    assert replayed.returncode == 0, replayed.stderr.decode()
    for item, line in zip(listed, replayed.stdout.splitlines(), strict=True):
        assert json.loads(line) == item["settlement"], item["round"]


def _pages(client: httpx.Client, path: str, **query: str) -> Iterator[dict[str, Any]]:
    cursor: str | None = None
    while True:
        answer = client.get(path, params={**query, "limit": "1000", **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        yield from page["items"]
        cursor = page["next"]
        if cursor is None:
            return
