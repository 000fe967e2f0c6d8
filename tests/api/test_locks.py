"""Locks by the door of the rounds: what is stored and answered, alone and among results (CONTRACT §2, §5, DECISIONS A50)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api, now_dealt, reference
from tests.api.test_posting import Poster, post, problem, stored
from tests.api.test_stream import watching
from tests.services.house import ALONE, LINKED, Message, locked, rows, value

__all__ = ["post"]  # the fixture of both ways in


def lock(*seats: int, round: str | None = None, **more: Any) -> Message:
    """A lock under a reference of its own, pressed just now."""
    return locked(round or reference("L"), *seats, locked_at=now_dealt(), **more)


def test_a_lock_is_stored_before_it_is_answered(api: Api, post: Poster) -> None:
    sent = lock(1, 2)
    answer = post(sent)
    assert (answer.status_code, answer.json()) == (
        202, {"index": 0, "round": sent["round"], "table": LINKED, "status": "accepted"},
    )  # fmt: skip
    assert rows("SELECT kind FROM devices_message WHERE reference = %s", sent["round"]) == [("lock",)]


def test_a_locks_reference_is_its_own(api: Api, post: Poster) -> None:
    sent = lock()
    result = api.round(round=sent["round"])
    assert [post(each).status_code for each in (sent, result)] == [202, 202]
    assert [post(each).status_code for each in (sent, result)] == [200, 200]
    other = sent | {"locked_at": now_dealt(30)}
    body = problem(post(other), 409, "reference_reused", "/round")
    assert body["receipt"] == "reused"


def test_locks_and_results_come_in_one_array(api: Api, post: Poster) -> None:
    sent = lock()
    result = api.round(round=sent["round"])
    answer = post([result, sent, sent, sent | {"seats": []}, sent | {"locked_at": now_dealt(30)}, result])
    assert answer.status_code == 202
    assert [(each["status"], each.get("code"), each.get("pointer")) for each in answer.json()] == [
        ("accepted", None, None),
        ("accepted", None, None),
        ("duplicate", None, None),
        ("refused", "invalid_value", "/seats"),
        ("reused", "reference_reused", "/round"),
        ("duplicate", None, None),
    ]


WAGER = {"progressive": 100}
SEAT = {"seat": 1, "wagers": WAGER}


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        ({"kind": "result"}, "invalid_value", "/kind"),
        ({"kind": None}, "invalid_value", "/kind"),
        ({"dealt_at": "2026-11-27T21:14:05-05:00"}, "unknown_field", "/dealt_at"),
        ({"round": ""}, "invalid_value", "/round"),
        ({"round": "x" * 65}, "invalid_value", "/round"),
        ({"table": "nowhere"}, "unknown_table", "/table"),
        ({"table": ["MS-101"]}, "invalid_value", "/table"),
        ({"locked_at": "yesterday"}, "invalid_value", "/locked_at"),
        ({"seats": {}}, "invalid_value", "/seats"),
        ({"seats": [1]}, "invalid_value", "/seats/0"),
        ({"seats": [SEAT | {"cards": []}]}, "unknown_field", "/seats/0/cards"),
        ({"seats": [SEAT, SEAT]}, "duplicate_seat", "/seats/1/seat"),
        ({"seats": [{"seat": 2**63, "wagers": WAGER}]}, "invalid_value", "/seats/0/seat"),
        ({"seats": [{"seat": 1}]}, "missing_field", "/seats/0/wagers"),
        ({"seats": [{"seat": 1, "wagers": {"ante": 100}}]}, "unknown_field", "/seats/0/wagers/ante"),
        ({"seats": [{"seat": 1, "wagers": {}}]}, "missing_field", "/seats/0/wagers/progressive"),
        ({"seats": [{"seat": 1, "wagers": {"progressive": 0}}]}, "invalid_value", "/seats/0/wagers/progressive"),
        (
            {"seats": [{"seat": 1, "wagers": {"progressive": 10**12 + 1}}]},
            "invalid_value",
            "/seats/0/wagers/progressive",
        ),
        ({"seats": [{"seat": 1, "wagers": {"progressive": 1.5}}]}, "invalid_value", "/seats/0/wagers/progressive"),
        ({"sequence": 0}, "invalid_value", "/sequence"),
    ],
)
def test_a_lock_is_refused_for_its_first_fault(
    changes: Message, code: str, pointer: str, api: Api, post: Poster
) -> None:
    before = stored()
    body = problem(post(lock() | changes), 422, code, pointer)
    assert body["receipt"] == "refused"
    assert stored() == before


def test_a_number_of_thousands_of_digits_is_refused_like_any_other(api: Api, post: Poster) -> None:
    sent = lock()
    body = (
        b'{"kind": "lock", "round": "%s", "table": "MS-101", "locked_at": "%s", "seats": [{"seat": 1, "wagers":'
        b' {"progressive": %s}}]}' % (sent["round"].encode(), sent["locked_at"].encode(), b"9" * 5000)
    )  # fmt: skip
    problem(post(body), 422, "invalid_value", "/seats/0/wagers/progressive")


def test_a_device_locks_at_its_own_table_only(api: Api, post: Poster) -> None:
    before = stored()
    problem(post(lock(table=ALONE, progressive=100)), 403, "not_your_table", "/table")
    assert stored() == before


def test_whoever_waits_is_told_what_the_lock_came_to(api: Api) -> None:
    sent = lock(1, 3)
    with api.settling():
        answer = api.post(sent, wait=5)
        late = api.round()
        api.post(late, wait=5)
        duplicate = api.post(lock(round=late["round"]), wait=5)
        held = api.post(lock(progressive=300), wait=5)
    assert answer.status_code == 200
    assert (answer.json()["kind"], answer.json()["outcome"]) == ("lock", "locked")
    (row,) = answer.json()["meters"]
    assert row["contributed_millionths"] == 200 * 170003
    assert (duplicate.json()["outcome"], duplicate.json()["meters"]) == ("duplicate", [])
    assert (held.json()["outcome"], held.json()["reasons"]) == ("held", ["wager_not_allowed"])


def test_a_lock_is_among_the_events_of_its_stream(api: Api) -> None:
    sent = lock()
    api.post(sent)
    api.settle()
    events = api.found("streams/ms-mg01/events", after_sequence=0, limit=1000)["items"]
    (event,) = [each for each in events if each["subject"] == f"{LINKED}/{sent['round']}"]
    assert (event["kind"], event["act"], event["device_id"] is not None) == ("lock", None, True)
    assert event["received_at"] is not None


def test_the_display_moves_at_the_lock(api: Api) -> None:
    api.settle()  # what other tests have left
    before = api.found("links/ms-mg01")["levels"][0]
    api.post(lock(1, 2, 3))
    api.settle()
    after = api.found("links/ms-mg01")["levels"][0]
    moved = (after["value_cents"] - before["value_cents"]) * 1_000_000
    moved += after["residual_millionths"] - before["residual_millionths"]
    assert moved == 300 * 170003
    assert after["wagers"] == before["wagers"], "a wager is counted when its round is settled"


def test_whoever_watches_sees_the_meter_move_at_the_lock(api: Api) -> None:
    with watching(api, "ms-mg01") as browser:
        browser.opening(levels=1)
        api.post(lock(1, 2))
        api.settle()
        event = browser.next("meter")
        assert event.data == {"link": "ms-mg01", **api.found("links/ms-mg01")["levels"][0]}
        assert event.id == value("SELECT max(sequence) FROM tables_lock")
