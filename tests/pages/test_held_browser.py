"""A held round corrected by two people in two browsers, settled, and found in the audit trail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from tables.services import floors
from tests.pages.browsers import faults
from tests.pages.conftest import person
from tests.services.house import FLOOR, LINKED, OPENED, House, message, run, seat, verify

pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)

PEOPLE = {"sue": "supervisor", "ben": "manager", "aud": "auditor"}


@pytest.fixture
def floor(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A house with a held round and a settled one beside it; its address."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    floors.install(FLOOR, at=OPENED)
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-26', now())")
    for name, role in PEOPLE.items():
        person(name, role)
    house = House()
    house.play(
        message("r-1"),
        message(
            "r-2",
            seat(4, "Jc Js", 1, 4, 1, progressive=100),
            seat(2, "2s 7d", three_card_bonus=500),
            dealing={"method": "shuffler", "mode": "cover_all", "players": 3},
        ),
    )
    return str(live_server.url)


@pytest.fixture
def browsers(browser: Browser, floor: str) -> Iterator[Any]:
    """Opens a browser in which somebody is signed in, on a page; nothing may be said on its console."""
    said: list[str] = []
    contexts = []

    def opened(name: str, onward: str, **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        client = Client()
        client.force_login(User.objects.get(username=name), backend="django.contrib.auth.backends.ModelBackend")
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": floor}])
        page = context.new_page()
        page.set_default_timeout(40_000)
        page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(floor + onward)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [line for line in said if "422" not in line] == []


def test_two_people_correct_a_held_round_and_an_auditor_finds_it(floor: str, browsers: Any) -> None:
    sue = browsers("sue", f"/rounds/{LINKED}/r-2")
    assert "1 round held" in sue.request.get(f"{floor}/floor/now").text()
    why = sue.get_by_role("region", name="This round waits for a supervisor.")
    expect(why).to_contain_text("$40: $10, $20 or $30 would be right, with $10 on ante")
    expect(why).to_contain_text("3 players were counted: 2 seats are in the message")
    sue.get_by_role("link", name="Correct a held round").click()
    sue.get_by_label("Why").fill("the camera shows three chips and two players")
    editor = sue.get_by_label("Corrected message")
    begun = editor.input_value()
    editor.fill(begun.replace('"fourth_street": 4000', '"fourth_street": "3000"'))
    sue.get_by_role("button", name="Show what would change").click()
    expect(editor).to_have_accessible_description("Seats/0/wagers/fourth_street: refused at the door: invalid value")
    editor.fill(begun.replace('"fourth_street": 4000', '"fourth_street": 3000'))
    sue.get_by_role("checkbox", name="players mismatch").check()
    sue.get_by_role("button", name="Show what would change").click()
    expect(sue.get_by_role("region", name="What would change")).to_contain_text("seat 4 fourth street")
    sue.get_by_role("button", name="Propose").click()
    expect(sue.get_by_role("heading", level=1)).to_have_text("Correct a held round")

    ben = browsers("ben", f"/rounds/{LINKED}/r-2")
    ben.get_by_role("link", name="waits: Correct a held round").click()
    expect(ben.get_by_role("region", name="Asked for")).to_contain_text("players mismatch")
    ben.get_by_label("Note").fill("seen it too")
    ben.get_by_role("button", name="Approve").click()
    expect(ben.get_by_role("status").first).to_have_text("You agreed.")

    sue.goto(f"{floor}/rounds/{LINKED}/r-2")
    expect(sue.locator(".head .state").first).to_have_text("settled")
    decided = sue.get_by_role("region", name="Corrected")
    expect(decided).to_contain_text("the camera shows three chips and two players")
    expect(decided).to_contain_text("seat 4 fourth street 4000 → 3000")
    expect(decided).to_contain_text("ben")
    assert "1 round held" not in sue.request.get(f"{floor}/floor/now").text()

    aud = browsers("aud", f"/audit/?subject={LINKED}/r-2")
    records = aud.get_by_role("region", name="Records")
    expect(records).to_contain_text("Round held → settled")
    expect(records).to_contain_text("Message: seat 4 fourth street 4000 → 3000")
    expect(records).to_contain_text("seen it too")
    found = aud.request.get(f"{floor}/api/v1/rounds/{LINKED}/r-2").json()
    assert (found["state"], found["decided"]["by"], found["decided"]["approved_by"]) == ("settled", "sue", ["ben"])
    corrected = {seat["seat"]: seat["wagers"] for seat in found["decided"]["message"]["seats"]}
    assert corrected[4]["fourth_street"] == 3000
    assert json.loads(begun) == found["message"], "the posted message stays"
    assert verify().rounds > 0, "no difference was found"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_held_round_can_be_read_and_fits(floor: str, browsers: Any, scheme: str, width: int) -> None:
    sue = browsers("sue", f"/rounds/{LINKED}/r-2", color_scheme=scheme, viewport={"width": width, "height": 900})
    assert faults(sue) == []
    assert sue.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    sue.goto(f"{floor}/decisions/new/round.correct/?subject={LINKED}/r-2")
    assert faults(sue) == []
    assert sue.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
