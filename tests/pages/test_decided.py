"""Tables and links: what may be done with them, by whom, and what was decided of them."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from django.test import Client

from accounting.office.models import Proposal
from accounting.office.views.decisions import facts
from accounting.rules.roles import ACCOUNTING, ADMINISTRATOR, AUDITOR, CONTROLLER, MANAGER, SUPERVISOR
from tests.pages.conftest import SignedIn, text_of
from tests.services.house import LINKED, House, message


def offered(client: Client, page: str) -> set[tuple[str, str]]:
    """The acts that a page offers, each with its subject."""
    body = client.get(page).content.decode()
    return set(re.findall(r'href="/decisions/new/([^/]+)/\?subject=([^"]+)"', body))


def ask(client: Client, act: str, subject: str, reason: str = "fire drill", **more: Any) -> dict[str, Any]:
    """Propose by API."""
    body = {"act": act, "subject": subject, "payload": {}, "reason": reason} | more
    response = client.post("/api/v1/proposals", json.dumps(body), content_type="application/json")
    assert response.status_code == 201, response.content
    found: dict[str, Any] = response.json()
    return found


def agree(client: Client, proposal: dict[str, Any]) -> dict[str, Any]:
    """Approve by API."""
    path = f"/api/v1/proposals/{proposal['id']}/approvals"
    found: dict[str, Any] = client.post(path, "{}", content_type="application/json").json()
    assert found["state"] == "done", found
    return found


@pytest.mark.parametrize(
    ("role", "page", "acts"),
    [
        (SUPERVISOR, "/floor/tables/MS-101/", {("table.close", "MS-101")}),
        (MANAGER, "/floor/tables/MS-101/", {("table.close", "MS-101"), ("table.terms", "MS-101")}),
        (AUDITOR, "/floor/tables/MS-101/", set()),
        (
            ACCOUNTING,
            "/jackpots/twin/",
            {("level.adjust", "twin/grand"), ("level.adjust", "twin/minor"), ("link.funds", "twin")},
        ),
        (MANAGER, "/jackpots/twin/", {("link.suspend", "twin")}),
        (AUDITOR, "/jackpots/twin/", set()),
    ],
)
def test_a_page_offers_what_the_role_may_propose_of_it_as_it_stands(
    house: House, signed_in: SignedIn, role: str, page: str, acts: set[tuple[str, str]]
) -> None:
    found = {(act, subject) for act, subject in offered(signed_in(role), page) if not act.startswith(FURTHER)}
    assert found == acts


FURTHER = ("table.join", "table.leave", "level.transfer", "link.close", "link.terms", "link.open")


def test_a_closed_table_is_opened_and_its_history_names_who_and_from_when(house: House, signed_in: SignedIn) -> None:
    supervisor = signed_in(SUPERVISOR)
    closed = ask(supervisor, "table.close", LINKED)
    assert closed["state"] == "done"
    assert ("table.open", LINKED) in offered(supervisor, f"/floor/tables/{LINKED}/")
    assert ("table.close", LINKED) not in offered(supervisor, f"/floor/tables/{LINKED}/")
    page = text_of(supervisor.get(f"/floor/tables/{LINKED}/"))
    assert f"ms-mg01 / {closed['event']['sequence']}" in page
    assert "table state: closed" in page
    assert "table installed: MS-101" in page, "what it opened with is there too"
    assert f"{SUPERVISOR} no. {closed['id']}" in page
    (event,) = [
        event
        for event in supervisor.get("/api/v1/streams/ms-mg01/events").json()["items"]
        if event["kind"] == "table.close"
    ]
    assert (event["act"], event["by"]) == ("table.close", SUPERVISOR)
    assert event["result"]["changes"][0]["open"] is False


def test_terms_are_proposed_agreed_to_and_listed(house: House, signed_in: SignedIn) -> None:
    manager, administrator = signed_in(MANAGER), signed_in(ADMINISTRATOR)
    done = agree(manager, ask(administrator, "table.terms", LINKED, payload={"minimum_cents": 2500}))
    page = text_of(manager.get(f"/floor/tables/{LINKED}/"))
    assert "table terms: minimum $25.00" in page
    assert f"{ADMINISTRATOR} , agreed {MANAGER}" in page.replace(f"{ADMINISTRATOR},", f"{ADMINISTRATOR} ,")
    assert f"ms-mg01 / {done['event']['sequence']}" in page


def test_an_adjustment_stands_on_the_links_page_with_its_documents(house: House, signed_in: SignedIn) -> None:
    accounting, controller = signed_in(ACCOUNTING), signed_in(CONTROLLER)
    payload = {"part": "display", "cents": 500, "reason": "correction"}
    asked = ask(
        accounting, "level.adjust", "ms-mg01/major", "correction", payload=payload, evidence={"reference": "ticket 7"}
    )
    done = agree(controller, asked)
    response = signed_in(AUDITOR).get("/jackpots/ms-mg01/")
    page = text_of(response)
    assert "major $10,000.00 → $10,005.00" in page
    assert f"ms-mg01 / {done['event']['sequence']}" in page
    assert "&quot;act&quot;:&quot;level.adjust&quot;" in response.content.decode()


def test_a_transfer_takes_three_people_and_stands_on_the_pages_of_both_links(house: House, signed_in: SignedIn) -> None:
    accounting, controller, manager = signed_in(ACCOUNTING), signed_in(CONTROLLER), signed_in(MANAGER)
    assert ("level.transfer", "ms-mg01/major") not in offered(accounting, "/jackpots/ms-mg01/"), "it is open"
    assert ask(manager, "link.suspend", "ms-mg01")["state"] == "done"
    assert ("level.transfer", "ms-mg01/major") in offered(accounting, "/jackpots/ms-mg01/")
    form = text_of(accounting.get("/decisions/new/level.transfer/?subject=ms-mg01/major"))
    assert "regulator_approved" in form or "regulator approved" in form
    payload = {"to": "twin/grand", "parts": ["display", "reserve", "overflow"]}
    file = {"name": "report.pdf", "content": base64.b64encode(b"what the engineer found").decode()}
    evidence = {"reference": "WO-4711", "note": "controller replaced", "file": file}
    asked = ask(accounting, "level.transfer", "ms-mg01/major", "replacement", payload=payload, evidence=evidence)
    page = text_of(manager.get(f"/decisions/{asked['id']}/"))
    assert "ms-mg01/major display $10,000.00 $0.00" in page
    assert "twin/grand overflow $0.00 $9,996.00" in page
    path = f"/api/v1/proposals/{asked['id']}/approvals"
    assert manager.post(path, "{}", content_type="application/json").json()["state"] == "waiting"
    done = agree(controller, asked)
    assert done["event"] == {"stream": "ms-mg01", "sequence": 2}
    handed_in = signed_in(AUDITOR).get(f"/api/v1/proposals/{asked['id']}").json()["evidence"]
    assert (handed_in["reference"], handed_in["file"]["name"], handed_in["file"]["size"]) == (
        "WO-4711",
        "report.pdf",
        23,
    )
    for link, sequence, row in (
        ("ms-mg01", 2, "major $10,000.00 → $0.00"),
        ("twin", 1, "grand $20,000.00 → $20,004.00"),
    ):
        response = signed_in(AUDITOR).get(f"/jackpots/{link}/")
        page = text_of(response)
        assert row in page
        assert f"{link} / {sequence}" in page
        (event,) = [
            event
            for event in accounting.get(f"/api/v1/streams/{link}/events").json()["items"]
            if event["kind"] == "level.transfer"
        ]
        assert (event["sequence"], event["by"], len(event["result"]["transfers"])) == (sequence, ACCOUNTING, 2)


def test_events_of_messages_say_nothing_of_people(house: House, signed_in: SignedIn) -> None:
    house.play(message("r-1"))
    items = signed_in().get("/api/v1/streams/ms-mg01/events?rounds=yes").json()["items"]
    (round_,) = [item for item in items if item["kind"] == "round"]
    assert [round_[key] for key in ("act", "by", "result")] == [None, None, None]


def test_the_form_of_terms_says_what_is_in_force_beside_what_would_change_it(house: House, signed_in: SignedIn) -> None:
    """Nobody changes a figure that they do not see; a row typed for another level shows that level's."""
    table = text_of(signed_in("manager").get("/decisions/new/table.terms/?subject=MS-101"))
    assert "As it is: $10.00 ; dollars, like 1,250.00" in table
    assert "as it is: no" in table and "as it is: yes" in table
    administrator = signed_in("administrator")
    link = text_of(administrator.get("/decisions/new/link.terms/?subject=twin"))
    for said in ("As it is: $20,000.00 ;", "As it is: 12.3457 % ;", "As it is: $20,004.00 ;", "As it is: none ;"):
        assert said in link, said
    assert "as it is: next reset" in link and "as it is: revenue" in link
    again = administrator.post(
        "/decisions/new/link.terms/", {"subject": "twin", "p-levels.0.code": "minor", "more": "1"}
    )
    assert "As it is: $50.00 ;" in text_of(again) and "As it is: $20,000.00 ;" not in text_of(again)
    assert "as it is:" not in text_of(administrator.get("/decisions/new/link.terms/")), "of no link nothing is in force"
    assert administrator.get("/decisions/new/link.terms/?subject=nowhere").status_code == 200


def test_a_list_of_nothing_is_said_in_words() -> None:
    """Somebody who is to agree reads `none`, and no brackets."""
    empty: tuple[Any, ...] = ([], {})
    for nothing in empty:
        proposal = Proposal(act="nobody.knows", payload=json.dumps({"parts": nothing, "levels": ["a_b", "c"]}).encode())
        assert [(fact.title, fact.text) for fact in facts(proposal)] == [("levels", "a b, c"), ("parts", "none")]


def test_who_states_the_payer_again_begins_with_what_was_stated(house: House, signed_in: SignedIn) -> None:
    accounting, page = signed_in(ACCOUNTING), "/decisions/new/payer.state/?subject=BOS"
    assert 'value="Harbor LLC"' not in accounting.get(page).content.decode()
    said = {
        "name": "Harbor LLC", "address": "1 Harbor Street, Boston MA", "telephone": "617 555 0100", "number": "12-3456789",
        "counts_from": "2026-11-01",
    }  # fmt: skip
    agree(signed_in(CONTROLLER), ask(accounting, "payer.state", "BOS", payload=said))
    body = accounting.get(page).content.decode()
    for name in ("name", "address", "telephone", "number"):
        assert f'name="p-{name}" value="{said[name]}"' in body
    assert 'name="p-counts_from" value=""' in body
