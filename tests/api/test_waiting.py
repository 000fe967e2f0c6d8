"""`Prefer: wait`: the settlement as soon as it is there, or the receipt when it is not in time (CONTRACT §5)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.api.conftest import Api
from tests.services.house import ALONE, LINKED, rows, seat


def test_a_wait_is_answered_200_with_the_settlement(api: Api) -> None:
    sent = api.round()
    with api.settling():
        answer = api.post(sent, wait=5)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["preference-applied"] == "wait=5"
    assert answer.json() == api.shown(sent)["settlement"]
    assert (answer.json()["outcome"], answer.json()["round"]) == ("settled", sent["round"])


def test_the_answer_comes_at_once_after_settling(api: Api) -> None:
    """It is told, not polled for: well within the quarter of a second after which it looks by itself."""
    took = [1.0]
    with api.settling():
        while min(took) >= 0.2 and len(took) < 60:  # one moment in which the machine is free will do
            began = time.monotonic()
            assert api.post(api.round(), wait=5).status_code == 200
            took.append(time.monotonic() - began)
    assert min(took) < 0.2, took


def test_a_held_round_is_settled_enough_to_answer(api: Api) -> None:
    with api.settling():
        answer = api.post(api.round(seat(1, "3s 3s")), wait=5)
    assert (answer.status_code, answer.json()["outcome"]) == (200, "held")
    assert answer.json()["reasons"] == ["duplicate_card"]


def test_a_void_round_is_answered_too(api: Api) -> None:
    with api.settling():
        answer = api.post(api.round(irregularities=[{"code": "shoe_failed"}]), wait=5)
    assert (answer.status_code, answer.json()["outcome"]) == (200, "void")


def test_a_duplicate_that_waits_gets_the_settlement_of_the_first(api: Api) -> None:
    sent, held = api.round(), api.round(seat(1, "3s 3s"))
    api.play(sent, held)
    for known in (sent, held):
        began = time.monotonic()
        answer = api.post(known, wait=5)
        assert (answer.status_code, answer.json()) == (200, api.shown(known)["settlement"])
        assert time.monotonic() - began < 4, "it waited"


def test_a_duplicate_of_a_round_still_queued_waits_for_it(api: Api) -> None:
    sent = api.round()
    assert api.post(sent).status_code == 202
    with api.settling():
        answer = api.post(sent, wait=5)
    assert (answer.status_code, answer.json()["outcome"]) == (200, "settled")


@pytest.mark.parametrize("again", [False, True], ids=["accepted", "duplicate"])
def test_a_wait_that_expires_is_202_with_the_receipt_and_the_round_is_not_lost(again: bool, api: Api) -> None:
    sent = api.round()
    if again:
        api.post(sent)
    began = time.monotonic()
    answer = api.post(sent, wait=1)
    assert 0.95 < time.monotonic() - began < 5
    assert answer.status_code == 202
    assert answer.json() == {
        "index": 0, "round": sent["round"], "table": LINKED, "status": "duplicate" if again else "accepted",
    }  # fmt: skip
    api.settle()
    assert api.shown(sent)["state"] == "settled"


def test_what_is_refused_does_not_wait(api: Api) -> None:
    sent = api.round()
    api.post(sent)
    began = time.monotonic()
    assert api.post(sent | {"seats": []}, wait=5).status_code == 422
    assert api.post(sent | {"community": ["2d", "9h", "Kd"]}, wait=5).status_code == 409
    assert api.post(b"{", wait=5).status_code == 400
    assert api.post(api.round(table="MS-102"), wait=5).status_code == 403
    assert time.monotonic() - began < 5, "one of them waited"


def test_an_array_does_not_wait(api: Api) -> None:
    began = time.monotonic()
    answer = api.post([api.round()], wait=5)
    assert (answer.status_code, answer.json()[0]["status"]) == (202, "accepted")
    assert time.monotonic() - began < 4, "it waited"


@pytest.mark.parametrize(
    "prefer", ["wait=3", "respond-async, wait=3", "respond-async; wait=3", 'wait="3"', "WAIT=3", "wait = 3"]
)
def test_the_preference_is_read_as_its_rfc_writes_it(prefer: str, api: Api) -> None:
    with api.settling():
        answer = api.post(api.round(), Prefer=prefer)
    assert (answer.status_code, answer.json()["outcome"]) == (200, "settled")


@pytest.mark.parametrize("prefer", ["", "wait", "wait=", "wait=soon", "wait=-1", "await=3", "return=minimal"])
def test_any_other_preference_is_ignored(prefer: str, api: Api) -> None:
    began = time.monotonic()
    answer = api.post(api.round(), Prefer=prefer)
    assert (answer.status_code, answer.json()["status"]) == (202, "accepted")
    assert time.monotonic() - began < 2.5, "it waited"


def test_many_wait_at_once_and_each_gets_its_own(api: Api) -> None:
    """Twenty dealers wait, some for the same round: everybody is answered with the settlement of what he sent."""
    sent = [api.round(table=LINKED if number % 2 else ALONE) for number in range(20)]
    asked = [*sent, *sent[:5]]

    def ask(message: dict[str, object]) -> httpx.Response:
        return api.post(message, table=str(message["table"]), wait=10)

    with api.settling(), ThreadPoolExecutor(len(asked)) as dealers:
        answers = list(dealers.map(ask, asked))
    assert [answer.status_code for answer in answers] == [200] * len(asked)
    assert [answer.json()["round"] for answer in answers] == [message["round"] for message in asked]
    settled = dict(rows("SELECT reference, count(*) FROM tables_round WHERE reference = ANY(%s) GROUP BY reference",
                        [message["round"] for message in sent]))  # fmt: skip
    assert set(settled.values()) == {1}
    assert len(settled) == 20
