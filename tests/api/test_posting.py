"""POST /api/v1/rounds: what is stored, what is answered, and what leaves nothing behind (CONTRACT §5)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.test import Client

from devices.intake import significant as noting
from devices.intake.significant import Notebook
from tests.api.conftest import Api, reference
from tests.services.house import ALONE, LINKED, NEIGHBOUR, TWIN, Message, rows, seat, value

Poster = Callable[..., Any]


@pytest.fixture(params=["event loop", "django"])
def post(request: pytest.FixtureRequest, api: Api) -> Poster:
    """Both ways in answer alike: the fast one of the web process, and the plain one where there is no event loop."""
    if request.param == "event loop":
        return api.post

    def plainly(body: object, *, table: str = LINKED, **headers: str) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        answer = Client().post(
            "/api/v1/rounds", content, content_type="application/json", headers=api.key(table) | headers
        )
        return httpx.Response(answer.status_code, headers=dict(answer.items()), content=answer.content)

    return plainly


def stored() -> int:
    found: int = value("SELECT count(*) FROM devices_message")
    return found


def is_stored(sent: Message) -> bool:
    return bool(rows("SELECT FROM devices_message WHERE reference = %s", sent["round"]))


def problem(answer: httpx.Response, status: int, code: str, pointer: str | None) -> Message:
    """The body of an answer that must be this problem."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: Message = answer.json()
    assert (body["status"], body["code"], body.get("pointer")) == (status, code, pointer)
    assert body["detail"]
    assert body["title"]
    assert body["type"] == "about:blank"
    return body


def test_a_message_is_stored_before_it_is_answered_202_with_its_receipt(api: Api, post: Poster) -> None:
    sent = api.round()
    answer = post(sent)
    assert answer.status_code == 202
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"index": 0, "round": sent["round"], "table": LINKED, "status": "accepted"}
    assert is_stored(sent)
    assert api.shown(sent)["state"] == "queued"


def test_the_same_content_again_is_200_duplicate(api: Api, post: Poster) -> None:
    sent = api.round()
    post(sent)
    before = stored()
    for again in (sent, dict(reversed(sent.items()))):
        answer = post(again)
        assert (answer.status_code, answer.json()["status"]) == (200, "duplicate")
    answer = post(json.dumps(sent, indent=2).encode())
    assert (answer.status_code, answer.json()) == (
        200, {"index": 0, "round": sent["round"], "table": LINKED, "status": "duplicate"},
    )  # fmt: skip
    assert stored() == before


def test_other_content_under_the_same_reference_is_409_and_the_first_stands(api: Api, post: Poster) -> None:
    sent = api.round()
    post(sent)
    body = problem(post(sent | {"community": ["2d", "9h", "Kd"]}), 409, "reference_reused", "/round")
    assert (body["index"], body["round"], body["table"]) == (0, sent["round"], LINKED)
    assert api.shown(sent)["message"] == sent


def anted(amount: object) -> Message:
    """Seats with one ante of this amount."""
    return {"seats": [seat(1, "3s 7d") | {"wagers": {"ante": amount}}]}


DOOR: list[tuple[str, Callable[[Message], object], str, str]] = [
    ("no table", lambda sent: {"round": sent["round"]}, "missing_field", "/table"),
    ("unknown key", lambda sent: sent | {"surrender": 1}, "unknown_field", "/surrender"),
    ("key to escape", lambda sent: sent | {"a/b~c": 1}, "unknown_field", "/a~1b~0c"),
    ("unknown table", lambda sent: sent | {"table": "MS-999"}, "unknown_table", "/table"),
    ("float", lambda sent: sent | anted(1000.0), "invalid_value", "/seats/0/wagers/ante"),
    ("no amount", lambda sent: sent | anted(0), "invalid_value", "/seats/0/wagers/ante"),
    ("no card", lambda sent: sent | {"community": ["2c", "9h", "1d"]}, "invalid_value", "/community/2"),
    ("seat twice", lambda sent: sent | {"seats": [seat(1, "3s 7d"), seat(1, "4s 8d")]}, "duplicate_seat", "/seats/1/seat"),
    ("no offset", lambda sent: sent | {"dealt_at": "2026-11-27T21:14:05"}, "invalid_value", "/dealt_at"),
    ("long reference", lambda sent: sent | {"round": "x" * 65}, "invalid_value", "/round"),
    ("NUL", lambda sent: sent | {"round": "a\x00b"}, "invalid_value", "/round"),
    ("a cent too much", lambda sent: sent | anted(10**12 + 1), "invalid_value", "/seats/0/wagers/ante"),
    ("year 1", lambda sent: sent | {"dealt_at": "0001-01-01T00:00:00Z"}, "invalid_value", "/dealt_at"),
    ("year 9999", lambda sent: sent | {"dealt_at": "9999-12-31T23:59:59Z"}, "invalid_value", "/dealt_at"),
    ("year 1899", lambda sent: sent | {"dealt_at": "1899-12-31T23:59:59Z"}, "invalid_value", "/dealt_at"),
    ("year 2200", lambda sent: sent | {"dealt_at": "2200-01-01T00:00:00Z"}, "invalid_value", "/dealt_at"),
    ("a long device", lambda sent: sent | {"dealing": {"method": "hand", "device": "x" * 65}}, "invalid_value",
     "/dealing/device"),
    ("a device of half a megabyte", lambda sent: sent | {"dealing": {"method": "hand", "device": "x" * 500_000}},
     "invalid_value", "/dealing/device"),
    ("a long deck", lambda sent: sent | {"dealing": {"method": "hand", "deck": "x" * 65}}, "invalid_value", "/dealing/deck"),
    ("a long mode", lambda sent: sent | {"dealing": {"method": "hand", "mode": "x" * 65}}, "invalid_value", "/dealing/mode"),
    ("sequence nought", lambda sent: sent | {"sequence": 0}, "invalid_value", "/sequence"),
    ("sequence beyond every device", lambda sent: sent | {"sequence": 2**63}, "invalid_value", "/sequence"),
    ("text", lambda sent: "R-1", "invalid_json", ""),
    ("number", lambda sent: 5, "invalid_json", ""),
    ("null", lambda sent: None, "invalid_json", ""),
    ("true", lambda sent: True, "invalid_json", ""),
]  # fmt: skip


@pytest.mark.parametrize(("make", "code", "pointer"), [each[1:] for each in DOOR], ids=[each[0] for each in DOOR])
def test_what_the_door_refuses_is_422_and_not_stored(
    make: Callable[[Message], object], code: str, pointer: str, api: Api, post: Poster
) -> None:
    before = stored()
    sent = make(api.round())
    body = problem(post(sent), 422, code, pointer)
    readable = sent.get("round") if isinstance(sent, dict) else None
    assert (body["index"], body["round"]) == (0, readable)
    assert stored() == before
    # In an array the same fault is that message's own receipt, and the others pass.
    good = api.round()
    answer = post([sent, good])
    assert answer.status_code == 202
    first, second = answer.json()
    assert (first["index"], first["status"], first["code"], first["pointer"]) == (0, "refused", code, pointer)
    assert second == {"index": 1, "round": good["round"], "table": LINKED, "status": "accepted"}
    assert stored() == before + 1


ENDLESS = "9" * 4_301


def bonus(cents: object) -> Message:
    """A seat with a side wager of whatever is given."""
    found = seat(1, "3s 7d")
    found["wagers"]["three_card_bonus"] = cents
    return found


WHERE: list[tuple[str, Callable[[Message], object], str, str]] = [
    ("ante", lambda sent: sent | anted("@"), "invalid_value", "/seats/0/wagers/ante"),
    ("side wager", lambda sent: sent | {"seats": [bonus("@")]}, "invalid_value",
     "/seats/0/wagers/three_card_bonus"),
    ("seat", lambda sent: sent | {"seats": [seat(1, "3s 7d") | {"seat": "@"}]}, "invalid_value", "/seats/0/seat"),
    ("players", lambda sent: sent | {"dealing": {"method": "hand", "players": "@"}}, "invalid_value", "/dealing/players"),
    ("card", lambda sent: sent | {"community": ["@", "9h", "Kd"]}, "invalid_value", "/community/0"),
    ("sequence", lambda sent: sent | {"sequence": "@"}, "invalid_value", "/sequence"),
    ("unknown key", lambda sent: sent | {"surplus": [1, {"a": ["@"]}]}, "unknown_field", "/surplus"),
    ("the whole", lambda sent: "@", "invalid_json", ""),
    ("alone in a list", lambda sent: sent | {"seats": ["@"]}, "invalid_value", "/seats/0"),
]  # fmt: skip


@pytest.mark.parametrize("number", [ENDLESS, "-" + ENDLESS, "9" * 400, "1e400"], ids=["4301", "-4301", "400", "1e400"])
@pytest.mark.parametrize(("make", "code", "pointer"), [each[1:] for each in WHERE], ids=[each[0] for each in WHERE])
def test_a_number_of_any_length_costs_that_message_alone(
    make: Callable[[Message], object], code: str, pointer: str, number: str, api: Api, post: Poster
) -> None:
    raw = json.dumps(make(api.round())).replace('"@"', number)
    problem(post(raw.encode()), 422, code, pointer)
    good = [api.round(), api.round()]
    answer = post(f"[{json.dumps(good[0])}, {raw}, {json.dumps(good[1])}]".encode())
    assert answer.status_code == 202, answer.text
    assert [receipt["status"] for receipt in answer.json()] == ["accepted", "refused", "accepted"]
    assert (answer.json()[1]["code"], answer.json()[1]["pointer"]) == (code, pointer)
    assert all(is_stored(sent) for sent in good)


@pytest.mark.parametrize("sequence", [1, 2**63 - 1])
def test_a_device_may_number_its_messages(sequence: int, api: Api) -> None:
    sent = api.round(sequence=sequence)
    assert api.post(sent).status_code == 202
    assert value("SELECT device_sequence FROM devices_message WHERE reference = %s", sent["round"]) == sequence


UNREADABLE = {
    "nothing": b"",
    "white space": b" \n ",
    "half": b'{"round": "R-1"',
    "words": b"hello",
    "bad bytes": b'{"round": "\xff"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "a key twice": b'{"round": "a", "round": "a"}',
    "a key twice deep inside": b'{"seats": [{"wagers": {"ante": 1, "ante": 1}}]}',
    "a key twice by escape": b'{"round": "a", "roun\\u0064": "a"}',
    "NaN": b'{"round": NaN}',
    "infinity": b'{"round": -Infinity}',
    "half a surrogate pair": b'{"round": "\\ud800"}',
    "two values": b"{} {}",
    "trailing comma": b'{"round": "a",}',
    "too deep": b"[" * 100_000 + b"]" * 100_000,
    "single quotes": b"{'round': 'a'}",
}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_json_is_400(body: bytes, api: Api, post: Poster) -> None:
    before = stored()
    problem(post(body), 400, "invalid_json", "")
    assert stored() == before


@pytest.mark.parametrize("broken", ['{"round": "a", "round": "a"}', '{"round": NaN}', '{"round": "\\ud800"}', "{]"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_unreadable_message_makes_the_whole_array_400(broken: str, place: int, api: Api) -> None:
    good = [json.dumps(api.round()) for _ in range(2)]
    good.insert(place, broken)
    before = stored()
    problem(api.post(f"[{', '.join(good)}]".encode()), 400, "invalid_json", "")
    assert stored() == before


def test_an_array_is_202_with_a_receipt_for_each_in_order(api: Api, post: Poster) -> None:
    known = api.round()
    post(known)
    sent = [api.round() for _ in range(3)]
    answer = post([
        sent[0], known, known | {"community": ["2d", "9h", "Kd"]}, sent[1], sent[1] | {"seats": []}, sent[0], "x", sent[2],
        sent[2] | {"community": ["2d", "9h", "Kd"]},
    ])  # fmt: skip
    assert answer.status_code == 202
    assert answer.headers["content-type"] == "application/json"
    reused = {"code": "reference_reused", "pointer": "/round"}
    assert answer.json() == [
        {"index": 0, "round": sent[0]["round"], "table": LINKED, "status": "accepted"},
        {"index": 1, "round": known["round"], "table": LINKED, "status": "duplicate"},
        {"index": 2, "round": known["round"], "table": LINKED, "status": "reused", **reused},
        {"index": 3, "round": sent[1]["round"], "table": LINKED, "status": "accepted"},
        {"index": 4, "round": sent[1]["round"], "table": LINKED, "status": "refused", "code": "invalid_value",
         "pointer": "/seats"},
        {"index": 5, "round": sent[0]["round"], "table": LINKED, "status": "duplicate"},
        {"index": 6, "round": None, "table": None, "status": "refused", "code": "invalid_json", "pointer": ""},
        {"index": 7, "round": sent[2]["round"], "table": LINKED, "status": "accepted"},
        {"index": 8, "round": sent[2]["round"], "table": LINKED, "status": "reused", **reused},
    ]  # fmt: skip


def test_an_array_of_one_is_answered_as_an_array(api: Api, post: Poster) -> None:
    sent = api.round()
    answer = post([sent])
    assert (answer.status_code, [receipt["status"] for receipt in answer.json()]) == (202, ["accepted"])
    answer = post([sent])
    assert (answer.status_code, [receipt["status"] for receipt in answer.json()]) == (202, ["duplicate"])


def test_an_empty_array_is_202_and_empty(post: Poster) -> None:
    answer = post([])
    assert (answer.status_code, answer.json()) == (202, [])


def test_a_thousand_messages_are_taken_and_one_more_is_413(api: Api) -> None:
    many = [api.round() for _ in range(1_001)]
    before = stored()
    problem(api.post(many), 413, "too_many_messages", None)
    assert stored() == before
    answer = api.post(many[:1_000])
    assert answer.status_code == 202
    assert [receipt["index"] for receipt in answer.json()] == list(range(1_000))
    assert {receipt["status"] for receipt in answer.json()} == {"accepted"}
    assert stored() == before + 1_000
    # What is too many says so before it is judged: a thousand and one unreadable messages are 413 as well.
    assert api.post(b"[" + b",".join([b"5"] * 1_001) + b"]").status_code == 413
    api.settle()


def test_a_body_too_big_is_413(api: Api) -> None:
    before = stored()
    answer = api.post(b'{"round": "' + b"x" * (16 * 1024 * 1024) + b'"}')
    problem(answer, 413, "too_large", None)
    assert stored() == before


@pytest.mark.parametrize("header", [{}, {"Authorization": ""}, {"Authorization": "Api-Key"}, {"Authorization": "Api-Key wrong"},
                                    {"Authorization": "Bearer {key}"}, {"Authorization": "{key}"}])  # fmt: skip
def test_no_or_an_unknown_key_is_401_whatever_was_sent(header: dict[str, str], api: Api) -> None:
    before = stored()
    header = {name: text.replace("{key}", api.keys[LINKED]) for name, text in header.items()}
    for body in (json.dumps(api.round()).encode(), b"not JSON", b"[]"):
        answer = api.client.post("/api/v1/rounds", content=body, headers=header)
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"] == "Api-Key"
        assert answer.json()["code"]
    assert stored() == before


def test_a_person_s_session_does_not_post_rounds(api: Api) -> None:
    from django.contrib.auth.models import User

    client = Client()
    client.force_login(User.objects.get(username="supervisor"))
    cookies = {"sessionid": client.cookies["sessionid"].value}
    answer = httpx.post(f"{api.url}/api/v1/rounds", json=api.round(), cookies=cookies, trust_env=False)
    assert answer.status_code == 401
    # Nor where the fast way in does not stand before it, which says why.
    for who, status in ((client, 403), (Client(), 401)):
        refused = who.post("/api/v1/rounds", json.dumps(api.round()), content_type="application/json")
        assert (refused.status_code, refused["content-type"]) == (status, "application/problem+json")


def test_a_key_posts_for_its_own_table_only(api: Api, post: Poster) -> None:
    before = stored()
    foreign = api.round(table=NEIGHBOUR)
    problem(post(foreign), 403, "not_your_table", "/table")
    own = api.round()
    problem(post([own, foreign]), 403, "not_your_table", "/table")
    problem(post([foreign | {"seats": []}, own]), 403, "not_your_table", "/table")
    assert stored() == before
    # A table that is not there is nobody's: refused before anybody asks whose it is.
    problem(post(own | {"table": "MS-999"}), 422, "unknown_table", "/table")
    assert post(own).status_code == 202
    assert post(foreign, table=NEIGHBOUR).status_code == 202


def significant(code: str, round: str) -> list[tuple[Any, ...]]:
    """Table and device of the significant events of a round, as soon as there is one."""
    give_up = time.monotonic() + 20
    while True:
        found = rows(
            'SELECT "table", device FROM devices_significantevent WHERE code = %s'
            " AND (detail ->> 'round' = %s OR detail ->> 'last_round' = %s)", code, round, round,
        )  # fmt: skip
        if found or time.monotonic() > give_up:
            return found
        time.sleep(0.05)


@pytest.mark.parametrize("way", ["event loop", "django"])
def test_what_a_device_should_not_have_done_is_put_on_record(
    way: str, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reference with other content, alone and in an array, and a post for somebody else's table."""

    def post(body: object, table: str) -> int:
        if way == "event loop":
            return api.post(body, table=table).status_code
        headers = api.key(table)
        return (
            Client()
            .post("/api/v1/rounds", json.dumps(body), content_type="application/json", headers=headers)
            .status_code
        )

    # By a device that no other test sends so, for only the first of a minute is put down at once.
    monkeypatch.setattr(noting, "note", Notebook(noting._record_aside).note)
    sent = api.round(table=TWIN)
    assert post(sent, TWIN) == 202
    assert post(sent | {"community": ["2d", "9h", "Kd"]}, TWIN) == 409
    assert significant("reference_reused", sent["round"]) == [(TWIN, f"demo-{TWIN}")]
    foreign = api.round(table=NEIGHBOUR)
    assert post(foreign, TWIN) == 403
    assert significant("not_your_table", foreign["round"]) == [(NEIGHBOUR, f"demo-{TWIN}")]
    api.settle()


@pytest.mark.parametrize("table", [LINKED, NEIGHBOUR, TWIN, ALONE])
def test_every_table_posts_with_its_own_key(table: str, api: Api) -> None:
    sent = api.round(table=table)
    assert api.post(sent, table=table).status_code == 202
    assert api.shown(sent)["stream"] == {LINKED: "ms-mg01", NEIGHBOUR: "ms-mg01", TWIN: "twin", ALONE: ALONE}[table]


def test_the_scheme_of_the_key_may_be_written_in_any_case(api: Api) -> None:
    answer = api.client.post("/api/v1/rounds", json=[], headers={"authorization": f"api-key {api.keys[LINKED]}"})
    assert answer.status_code == 202


def test_what_was_answered_is_stored_even_if_nobody_settles(api: Api) -> None:
    """202 means durable: the raw bytes are there, word for word."""
    sent = api.round()
    body = json.dumps(sent, indent=1).encode()
    assert api.post(body).status_code == 202
    assert bytes(value("SELECT raw FROM devices_message WHERE reference = %s", sent["round"])) == body


def test_a_reference_of_any_signs_is_kept_and_found(api: Api) -> None:
    for odd in ("a/b", "a//b", "?#%25", "é €", "a+b", "..", ".", "a\\b", "\u202e", " x ", "x" * 64, "a%2Fb", "'; --"):
        sent = api.round(round=f"{odd[:50]}{reference('')}" if len(odd) < 60 else odd, table=ALONE)
        assert api.post(sent, table=ALONE).status_code == 202
        assert api.shown(sent)["message"] == sent
