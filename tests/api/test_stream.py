"""The event stream of a link: the current state at once, every change, every award once, resumed where it broke off."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.api.conftest import Api, now_dealt, reference
from tests.services.house import TWIN, Message, royal, run, two_hits, value

GIVE_UP_SECONDS = 30.0
"""Nothing that a test waits for is promised so late: only then it is sure that it does not come."""


@dataclass
class Event:
    """One server-sent event."""

    id: int
    kind: str
    data: dict[str, Any]
    at: float


@dataclass
class Watching:
    """A browser that watches a link; events are read in a thread."""

    answer: httpx.Response
    heard: queue.Queue[Event | str] = field(default_factory=queue.Queue)

    def listen(self) -> None:
        fields: dict[str, str] = {}
        try:
            for line in self.answer.iter_lines():
                if line.startswith(":"):
                    self.heard.put(line)
                elif line:
                    name, _, text = line.partition(": ")
                    fields[name] = text
                elif "event" in fields:
                    event = Event(int(fields["id"]), fields["event"], json.loads(fields["data"]), time.monotonic())
                    self.heard.put(event)
                    fields = {}
                else:
                    fields = {}
        except httpx.HTTPError:
            return

    def next(self, kind: str | None = None, *, within: float = GIVE_UP_SECONDS) -> Event:
        """The next event, of a kind where one is named; queue.Empty when none comes."""
        deadline = time.monotonic() + within
        while True:
            event = self.heard.get(timeout=max(0.001, deadline - time.monotonic()))
            if isinstance(event, Event) and kind in (None, event.kind):
                return event

    def opening(self, levels: int) -> list[Event]:
        """What every connection starts with: the state, then each level."""
        events = [self.next() for _ in range(1 + levels)]
        assert [event.kind for event in events] == ["state"] + ["meter"] * levels
        return events

    def until_meter(self, sequence: int, level: str) -> list[Event]:
        """Everything up to this level as it stands after this sequence."""
        events: list[Event] = []
        while not events or (events[-1].id, events[-1].data.get("code")) != (sequence, level):
            events.append(self.next())
        return events


@contextmanager
def watching(api: Api, link: str, *, last: object = None, **headers: str) -> Iterator[Watching]:
    """Watch a link for the time of the block."""
    resumed = {} if last is None else {"Last-Event-ID": str(last)}
    headers = headers or api.key()
    asked = httpx.Headers(headers | resumed | {"Accept": "text/event-stream"}, encoding="latin-1")
    path = f"{api.url}/api/v1/links/{link}/stream"
    with httpx.stream("GET", path, headers=asked, timeout=GIVE_UP_SECONDS, trust_env=False) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["cache-control"] == "no-cache"
        browser = Watching(answer)
        thread = threading.Thread(target=browser.listen, daemon=True)
        thread.start()
        yield browser


def sequence(link: str) -> int:
    found: int = value("SELECT next_sequence - 1 FROM accounting_stream WHERE code = %s", link)
    return found


def hits_of(*shown: Message) -> list[tuple[int, dict[str, Any]]]:
    """The awards of rounds as the stream must tell them: the sequence, and the row of the settlement with its place."""
    return [
        (
            each["sequence"],
            award | {"table": each["table"], "round": each["round"], "link": each["settlement"]["meters"][0]["link"]},
        )
        for each in shown
        for award in each["settlement"]["awards"]
    ]


def won(deal: Callable[..., Message]) -> Message:
    """A round with awards at the table of two levels, dealt just now."""
    return deal(reference(), table=TWIN, dealt_at=now_dealt())


def told(events: list[Event]) -> list[tuple[int, dict[str, Any]]]:
    """The hits among events, without the time of the deal."""
    found = []
    for event in events:
        if event.kind == "hit":
            assert event.data.pop("dealt_at")
            found.append((event.id, event.data))
    return found


def test_a_connection_starts_with_the_current_state(api: Api) -> None:
    api.play(won(two_hits))
    with watching(api, "twin") as browser:
        state, *meters = browser.opening(levels=2)
    assert state.data == {"link": "twin", "state": "open"}
    assert [meter.data for meter in meters] == [
        {"link": "twin", **level} for level in api.found("links/twin")["levels"]
    ]
    assert {event.id for event in (state, *meters)} == {sequence("twin")}


def test_a_meter_is_out_soon_after_settling_with_its_sequence(api: Api) -> None:
    with watching(api, "ms-mg01") as browser:
        browser.opening(levels=1)
        took: list[float] = []
        while len(took) < 3 or (min(took) >= 0.5 and len(took) < 30):  # one moment in which the machine is free will do
            (shown,) = api.play(api.round())
            settled = time.monotonic()
            event = browser.next("meter")
            took.append(event.at - settled)
            assert event.id == shown["sequence"]
            assert event.data == {"link": "ms-mg01", **api.found("links/ms-mg01")["levels"][0]}
            (row,) = shown["settlement"]["meters"]
            assert event.data["value_cents"] == row["after_cents"]
    assert min(took) < 0.5, took


def test_every_award_is_an_event_of_its_own_although_meters_are_coalesced(api: Api) -> None:
    """Twelve rounds in one batch with eighteen awards: eighteen hits in their order, each once, and at last the meter."""
    sent = [won(two_hits if number % 2 else royal) for number in range(12)]
    with watching(api, "twin") as browser:
        browser.opening(levels=2)
        shown = api.play(*sent)
        events = browser.until_meter(shown[-1]["sequence"], "minor")
    hits = told(events)
    assert hits == hits_of(*shown)
    assert len({hit["hit"] for _, hit in hits}) == 18
    assert [event.data["code"] for event in events[-2:]] == ["grand", "minor"]
    assert len([event for event in events if event.kind == "meter"]) < 2 * 12


def test_ids_never_go_back(api: Api) -> None:
    with watching(api, "twin") as browser:
        events = browser.opening(levels=2)
        for _ in range(4):
            last = api.play(won(royal), won(royal))[-1]
        events += browser.until_meter(last["sequence"], "minor")
    ids = [event.id for event in events]
    assert ids == sorted(ids)


def test_a_resumed_connection_gets_every_award_from_its_sequence_on_then_the_state(api: Api) -> None:
    (quiet,) = api.play(api.round(table=TWIN))
    with watching(api, "twin") as browser:
        last = browser.opening(levels=2)[-1].id
    assert last == quiet["sequence"]
    missed = api.play(*(won(two_hits) for _ in range(3)))
    with watching(api, "twin", last=last) as browser:
        events = [browser.next() for _ in range(6 + 1 + 2)]
        more = api.play(won(royal))
        later = browser.until_meter(more[-1]["sequence"], "minor")
    assert [event.kind for event in events] == ["hit"] * 6 + ["state", "meter", "meter"]
    assert told(events) == hits_of(*missed)
    assert told(later) == hits_of(*more)
    # Resumed in the middle of what was missed: what came with that sequence comes again, and then the rest.
    with watching(api, "twin", last=missed[1]["sequence"]) as browser:
        events = [browser.next() for _ in range(2 + 2 + 1 + 1 + 2)]
    assert told(events) == hits_of(missed[1], missed[2], *more)


def test_a_stream_dropped_between_two_awards_of_one_round_loses_neither(api: Api) -> None:
    """Both bear the sequence of their round, so whoever heard the first alone resumes with it (CONTRACT §5)."""
    with watching(api, "twin") as browser:
        browser.opening(levels=2)
        (shown,) = api.play(won(two_hits))
        first = browser.next("hit")
    with watching(api, "twin", last=first.id) as browser:
        again = browser.until_meter(shown["sequence"], "minor")
    assert first.id == shown["sequence"]
    assert told(again) == hits_of(shown)
    assert len({hit["hit"] for _, hit in told([first]) + hits_of(shown)}) == 2


def test_a_resumed_connection_that_missed_nothing_gets_the_state_alone(api: Api) -> None:
    (quiet,) = api.play(api.round(table=TWIN))
    with watching(api, "twin", last=quiet["sequence"]) as browser:
        browser.opening(levels=2)
        with pytest.raises(queue.Empty):
            browser.next(within=0.5)


@pytest.mark.parametrize("last", ["", "x", "-1", "1.5", "99999999999999999999", "²"])
def test_an_id_that_is_none_is_a_new_connection(last: str, api: Api) -> None:
    api.play(won(royal))
    with watching(api, "twin", last=last) as browser:
        browser.opening(levels=2)


def test_awards_of_the_past_are_not_told_to_a_new_connection(api: Api) -> None:
    api.play(won(royal))
    with watching(api, "twin") as browser:
        browser.opening(levels=2)
        (shown,) = api.play(won(royal))
        events = browser.until_meter(shown["sequence"], "minor")
    assert told(events) == hits_of(shown)


def test_a_connection_resumed_in_the_moment_of_an_award_hears_it_once(api: Api) -> None:
    """Somebody else watches, so the same award is under way to everybody while the resumed connection reads it."""
    with watching(api, "twin") as other:
        last = other.opening(levels=2)[-1].id
        for _ in range(5):
            (shown,) = api.play(won(royal))
            with watching(api, "twin", last=last) as browser:
                (further,) = api.play(won(royal))
                events = browser.until_meter(further["sequence"], "minor")
            hits = told(events)
            assert [hit for hit in hits if hit[0] > last] == hits_of(shown, further)
            assert all(sequence >= last for sequence, _ in hits)
            last = further["sequence"]


def test_all_who_watch_hear_the_same(api: Api) -> None:
    with ExitStack() as stack:
        browsers = [stack.enter_context(watching(api, "twin")) for _ in range(12)]
        for browser in browsers:
            browser.opening(levels=2)
        shown = api.play(*(won(two_hits) for _ in range(3)))
        heard = [browser.until_meter(shown[-1]["sequence"], "minor") for browser in browsers]
        connected = value(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    for events in heard:
        assert told(events) == hits_of(*shown)
    assert connected <= 8, "an open stream must not keep a connection to the database"


def test_links_are_told_apart(api: Api) -> None:
    with watching(api, "ms-mg01") as browser:
        browser.opening(levels=1)
        api.play(won(royal))
        (shown,) = api.play(api.round())
        events = browser.until_meter(shown["sequence"], "major")
    assert {event.data["link"] for event in events} == {"ms-mg01"}
    assert told(events) == []


def test_a_link_that_closes_says_so(api: Api) -> None:
    with watching(api, "twin") as browser:
        browser.opening(levels=2)
        run("UPDATE jackpot_link SET state = 'closed' WHERE code = 'twin'")
        try:
            assert browser.next("state").data == {"link": "twin", "state": "closed"}
            assert browser.next("meter").data["state"] == "closed"
        finally:
            run("UPDATE jackpot_link SET state = 'open' WHERE code = 'twin'")
        assert browser.next("state").data["state"] == "open"


def test_a_quiet_stream_comments_every_five_seconds(api: Api) -> None:
    with watching(api, "twin") as browser:
        last = browser.opening(levels=2)[-1]
        comment = browser.heard.get(timeout=GIVE_UP_SECONDS)
    assert isinstance(comment, str)
    assert comment.startswith(":")
    assert 4 < time.monotonic() - last.at < 9  # five, and what a busy machine adds


def test_who_may_watch(api: Api) -> None:
    path = f"{api.url}/api/v1/links/twin/stream"
    for header in ({}, {"Authorization": "Api-Key wrong"}):
        answer = httpx.get(path, headers=header, trust_env=False)
        assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
    client = Client()
    client.force_login(User.objects.get(username="auditor"))
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    with watching(api, "twin", Cookie=cookie) as browser:
        browser.opening(levels=2)
