"""Held rounds, from what is wrong to what was decided: the page, the API, and what may be done by whom."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from accounting.rules.roles import AUDITOR, CAGE, MANAGER, SUPERVISOR
from tests.pages.conftest import SignedIn, text_of
from tests.pages.test_decided import offered
from tests.services.house import LINKED, House, message, run, seat


@pytest.fixture
def held(house: House) -> House:
    """Three held rounds: a player miscounted, a street too high, a card twice."""
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-26', now())")
    outcomes = [
        settlement["outcome"]
        for settlement in house.play(
            message("miscounted", dealing={"method": "shuffler", "mode": "cover_all", "players": 2}),
            message("too-high", seat(4, "Jc Js", 1, 4, 1, progressive=100), seat(2, "2s 7d", three_card_bonus=500)),
            message("twice", community="2c 2c Kd"),
        )
    ]
    assert outcomes == ["held", "held", "held"]
    return house


def post(client: Client, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Ask by JSON."""
    response = client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
    return response.status_code, response.json()


def proposal(act: str, round_: str, **payload: Any) -> dict[str, Any]:
    """What asks for an act about a round."""
    return {"act": act, "subject": f"{LINKED}/{round_}", "payload": payload, "reason": "looked into"}


def posted(client: Client, round_: str) -> dict[str, Any]:
    """The message as it was posted."""
    found: dict[str, Any] = client.get(f"/api/v1/rounds/{LINKED}/{round_}").json()["message"]
    return found


def test_all_that_is_held_is_listed_page_by_page(
    held: House, signed_in: SignedIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The floor shows the oldest few."""
    from devices.views import held as view

    held.play(message("elsewhere", table="MS-102", community="2c 2c Kd"))
    client = signed_in(SUPERVISOR)

    def listed(address: str) -> list[str]:
        return re.findall(r'title="([^"]+)" data-row', client.get(address).content.decode())

    assert listed("/floor/held/") == ["miscounted", "too-high", "twice", "elsewhere"]
    assert listed("/floor/held/?table=MS-102") == ["elsewhere"]
    assert listed("/floor/held/?reason=duplicate_card") == ["twice", "elsewhere"]
    assert listed("/floor/held/?table=MS-101&reason=duplicate_card") == ["twice"]
    assert listed("/floor/held/?table=&reason=") == listed("/floor/held/")
    assert 'href="/floor/held/?table=MS-101"' in client.get("/floor/tables/MS-101/").content.decode()
    assert '<li class="warn"><a href="/floor/held/">' in client.get("/").content.decode()
    monkeypatch.setattr(view, "SHOWN", 2)
    assert 'rel="next"' not in client.get("/floor/held/?reason=duplicate_card").content.decode(), "two fit on a page"
    first = client.get("/floor/held/").content.decode()
    (onward,) = re.findall(r'rel="next" href="([^"]+)"', first)
    assert listed(html.unescape(onward)) == ["twice", "elsewhere"]
    done = post(client, "proposals", proposal("round.void", "twice"))[1]
    post(signed_in(MANAGER), f"proposals/{done['id']}/approvals", {})
    assert listed("/floor/held/?reason=duplicate_card") == ["elsewhere"], "what was decided waits no more"
    assert "3 held" in text_of(client.get("/floor/held/"))


def test_the_page_names_the_seat_and_the_wager_at_fault(held: House, signed_in: SignedIn) -> None:
    response = signed_in(SUPERVISOR).get(f"/rounds/{LINKED}/too-high")
    assert "wager not allowed seat 4 , fourth street $40: $10, $20 or $30 would be right" in text_of(response)
    body = response.content.decode()
    assert body.count('class="sheet seat at-fault"') == 1
    assert body.count('<p class="fault">') == 0, "a wager's fault stands at the wager, the seat has none of its own"
    assert '<tr class="at-fault"><td>fourth street</td>' in body
    assert body.count("<td>fourth street</td>") == body.count("<td>third street</td>"), "in the wager's own line"
    assert '<tr class="at-fault"><td>third street</td>' not in body


@pytest.mark.parametrize(
    ("role", "round_", "offered"),
    [
        (SUPERVISOR, "miscounted", {"round.release", "round.correct", "round.void"}),
        (MANAGER, "too-high", {"round.release", "round.correct", "round.void"}),
        (SUPERVISOR, "twice", {"round.correct", "round.void"}),
        (AUDITOR, "miscounted", set()),
    ],
)
def test_what_the_reasons_and_the_role_allow_is_offered(
    held: House, signed_in: SignedIn, role: str, round_: str, offered: set[str]
) -> None:
    body = signed_in(role).get(f"/rounds/{LINKED}/{round_}").content.decode()
    acts = {"round.release", "round.correct", "round.void"}
    assert {act for act in acts if f'href="/decisions/new/{act}/?subject={LINKED}/{round_}"' in body} == offered
    assert ("It cannot be released as posted: duplicate card" in body) == (round_ == "twice")


def test_the_form_of_a_correction_begins_with_the_message_as_posted(held: House, signed_in: SignedIn) -> None:
    client = signed_in(SUPERVISOR)
    form = client.get(f"/decisions/new/round.correct/?subject={LINKED}/too-high").context["form"]
    begun = {one.name: one for one in form.inputs}
    assert json.loads(begun["p-message"].typed) == posted(client, "too-high")
    assert '\n  {"seat": 4, ' in begun["p-message"].typed, "a seat is a line"
    assert begun["p-override"].of.kind == "choices"


def test_a_correction_that_the_door_refuses_says_which_key(held: House, signed_in: SignedIn) -> None:
    client = signed_in(SUPERVISOR)
    wrong = posted(client, "too-high")
    wrong["seats"][0]["wagers"]["ante"] = "ten"
    data = {"subject": f"{LINKED}/too-high", "p-message": json.dumps(wrong), "reason": "typed wrong"}
    response = client.post("/decisions/new/round.correct/", data)
    assert response.status_code == 422
    assert "seats/0/wagers/ante: refused at the door: invalid value" in text_of(response).lower()


def test_a_release_by_api_settles_the_round_and_says_who_decided(held: House, signed_in: SignedIn) -> None:
    supervisor, manager = signed_in(SUPERVISOR), signed_in(MANAGER)
    status, asked = post(supervisor, "proposals", proposal("round.release", "miscounted"))
    assert (status, asked["state"], asked["needs"]) == (201, "waiting", [{"role": MANAGER, "count": 1}])
    waiting = text_of(supervisor.get(f"/rounds/{LINKED}/miscounted"))
    assert "waits: Release a held round" in waiting
    status, done = post(manager, f"proposals/{asked['id']}/approvals", {"note": "seen on camera"})
    assert (status, done["state"]) == (200, "done")
    found = manager.get(f"/api/v1/rounds/{LINKED}/miscounted").json()
    assert (found["state"], found["sequence"]) == ("settled", done["event"]["sequence"])
    assert found["settlement"]["reasons"] == ["players_mismatch"]
    decided = found["decided"]
    assert [decided[key] for key in ("act", "by", "approved_by", "proposal", "message")] == [
        "round.release", SUPERVISOR, [MANAGER], asked["id"], None,
    ]  # fmt: skip
    page = text_of(manager.get(f"/rounds/{LINKED}/miscounted"))
    assert "Released as posted" in page
    assert "Looked into players mismatch" in page
    assert "waits for a supervisor" not in page
    assert "round.release" in page


def test_a_correction_is_shown_beside_what_was_posted(held: House, signed_in: SignedIn) -> None:
    supervisor, manager = signed_in(SUPERVISOR), signed_in(MANAGER)
    right = posted(supervisor, "too-high")
    right["seats"][0]["wagers"]["fourth_street"] = 3000
    right["community"] = ["Jd", "9h", "9c"]
    _, asked = post(supervisor, "proposals", proposal("round.correct", "too-high", message=right))
    _, done = post(manager, f"proposals/{asked['id']}/approvals", {})
    assert done["state"] == "done", done
    found = manager.get(f"/api/v1/rounds/{LINKED}/too-high").json()
    assert found["decided"]["message"] == right
    assert found["message"]["seats"][0]["wagers"]["fourth_street"] == 4000, "the posted message stays"
    response = manager.get(f"/rounds/{LINKED}/too-high")
    page = text_of(response)
    assert "seat 4 fourth street 4000 → 3000" in page
    assert response.content.decode().count('<span class="state warn">changed</span>') == 2, "the board and seat 4"
    assert 'aria-label="jack of diamonds, nine of hearts, nine of clubs"' in response.content.decode()
    bonus = manager.get("/api/v1/payouts?kind=bonus").json()["items"][0]
    explained = manager.get(f"/api/v1/payouts/{bonus['id']}/explanation").json()
    assert explained["cards"]["community"] == ["Jd", "9h", "9c"]
    table = manager.get(f"/floor/tables/{LINKED}/").content.decode()
    assert "Jd" in table or "jack of diamonds" in table, "lists show the corrected board"


def test_a_round_that_is_called_off_is_void(held: House, signed_in: SignedIn) -> None:
    _, asked = post(signed_in(SUPERVISOR), "proposals", proposal("round.void", "twice"))
    manager = signed_in(MANAGER)
    _, done = post(manager, f"proposals/{asked['id']}/approvals", {})
    assert done["state"] == "done", done
    found = manager.get(f"/api/v1/rounds/{LINKED}/twice").json()
    assert (found["state"], found["settlement"]["reasons"]) == ("void", ["voided"])
    page = text_of(manager.get(f"/rounds/{LINKED}/twice"))
    assert "Void, as people decided" in page
    assert "Called off" in page


@pytest.mark.parametrize(
    ("role", "body", "status", "code"),
    [
        (SUPERVISOR, proposal("round.release", "twice"), 422, "not_releasable"),
        (SUPERVISOR, proposal("round.release", "nowhere"), 422, "unknown_subject"),
        (CAGE, proposal("round.release", "miscounted"), 403, "not_your_role"),
        (AUDITOR, proposal("round.void", "miscounted"), 403, "not_your_role"),
        (SUPERVISOR, proposal("table.open", "x") | {"subject": LINKED}, 422, "wrong_state"),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_code(
    held: House, signed_in: SignedIn, role: str, body: dict[str, Any], status: int, code: str
) -> None:
    answered, problem = post(signed_in(role), "proposals", body)
    assert (answered, problem["code"]) == (status, code)


def test_a_correction_that_still_holds_is_refused_and_the_round_stays_held(held: House, signed_in: SignedIn) -> None:
    client = signed_in(SUPERVISOR)
    _, asked = post(client, "proposals", proposal("round.correct", "too-high", message=posted(client, "too-high")))
    _, ended = post(signed_in(MANAGER), f"proposals/{asked['id']}/approvals", {})
    assert (ended["state"], ended["code"]) == ("refused", "still_held")
    assert client.get(f"/api/v1/rounds/{LINKED}/too-high").json()["state"] == "held"


def test_a_round_is_decided_once(held: House, signed_in: SignedIn) -> None:
    supervisor, manager = signed_in(SUPERVISOR), signed_in(MANAGER)
    _, first = post(supervisor, "proposals", proposal("round.release", "miscounted"))
    post(manager, f"proposals/{first['id']}/approvals", {})
    for act in ("round.release", "round.correct"):
        more = {"message": posted(supervisor, "miscounted")} if act == "round.correct" else {}
        status, again = post(supervisor, "proposals", proposal(act, "miscounted", **more))
        assert (status, again["code"]) == (422, "wrong_state")
    page = f"/rounds/{LINKED}/miscounted"
    assert offered(supervisor, page) == {("round.void", f"{LINKED}/miscounted")}, (
        "settled, all that is left is its void"
    )
    _, undone = post(supervisor, "proposals", proposal("round.void", "miscounted"))
    post(manager, f"proposals/{undone['id']}/approvals", {})
    status, again = post(supervisor, "proposals", proposal("round.void", "miscounted"))
    assert (status, again["code"]) == (422, "wrong_state")
    assert offered(supervisor, page) == set(), "nothing is offered any more"
