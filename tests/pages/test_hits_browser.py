"""A jackpot from hit to paid by three people in three browsers, with the keyboard where that is quicker."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tables.services import floors
from tests.pages.browsers import faults
from tests.pages.conftest import person
from tests.pages.test_held_browser import browsers as browsers_fixture
from tests.services.house import FLOOR, LINKED, NEIGHBOUR, OPENED, House, message, royal, run, two_hits, value, verify
from tests.services.winners import taken_down

browsers = browsers_fixture  # opens a browser in which somebody is signed in
pytestmark = pytest.mark.browser
expect.set_options(timeout=20_000)

FIRST, SECOND = "ms-mg01-000001", "ms-mg01-000002"
PEOPLE = {"sue": "supervisor", "ben": "manager", "cy": "cage", "con": "controller", "aud": "auditor"}


@pytest.fixture
def floor(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A house in which two tables have hit; its address."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    floors.install(FLOOR, at=OPENED)
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-26', now())")
    for name, role in PEOPLE.items():
        person(name, role)
    House().play(message("r-0"), two_hits("r-1"), royal("r-2", table=NEIGHBOUR))
    return str(live_server.url)


def kept(page: Page, name: str) -> None:
    """A picture for whoever asks for them: `SCREENSHOTS` names the folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def proposed(page: Page, title: str, why: str) -> None:
    """Fill in the rest of a form and have it done."""
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.get_by_label("Why").fill(why)
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_role("region", name="What would change")).to_contain_text("Hit")
    kept(page, title.replace(" ", "-").lower())
    page.get_by_role("button", name=re.compile(f"^(Propose|{title})$")).click()  # its name where nobody else must agree
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_a_jackpot_goes_from_hit_to_paid_by_three_people(floor: str, browsers: Any) -> None:
    shape = {"viewport": {"width": 1280, "height": 900}}
    sue = browsers("sue", "/decisions/", **shape)
    sue.keyboard.press("g")
    sue.keyboard.press("h")
    expect(sue.get_by_role("heading", level=1)).to_have_text("Hits")
    expect(sue.get_by_role("region", name="On their way")).to_contain_text(FIRST)
    kept(sue, "queue-of-a-supervisor")
    sue.get_by_role("link", name=SECOND).click()
    expect(sue.get_by_role("region", name="Why it is no. 2")).to_contain_text("the lower sequence is first")
    kept(sue, "hit-detected")
    sue.get_by_role("link", name="Verify a hit").click()
    for check in ("cards", "seat", "wager sensor", "surveillance"):
        sue.get_by_role("checkbox", name=check).check()
    proposed(sue, "Verify a hit", "royal of spades, fanned before the camera")

    ben = browsers("ben", "/hits/?turn=mine", **shape)
    row = ben.get_by_role("row", name=SECOND)
    expect(row).to_contain_text("verified")
    row.get_by_role("link", name="Approve a hit").click()
    ben.get_by_label("Note optional").fill("tape 12")
    proposed(ben, "Approve a hit", "pictures agree")

    cy = browsers("cy", "/hits/?turn=mine", **shape)
    expect(cy.get_by_role("region", name="On their way").get_by_role("row")).to_have_count(2)
    kept(cy, "queue-of-the-cage")
    taken_down(SECOND)
    cy.get_by_role("row", name=SECOND).get_by_role("link", name="Pay a hit").click()
    cy.get_by_label("Paid from").select_option("cage")
    proposed(cy, "Pay a hit", "cash, counted twice")

    sue.goto(f"{floor}/hits/{SECOND}/")
    expect(sue.locator(".head .state").first).to_have_text("paid")
    steps = sue.get_by_role("region", name="Steps")
    for said in ("checked: cards, seat, wager sensor, surveillance", "sue", "tape 12", "ben", "from the cage", "cy"):
        expect(steps).to_contain_text(said)
    kept(sue, "hit-paid")
    paid = value("SELECT amount_cents FROM accounting_transfer WHERE reason = 'payment'")
    assert paid == value('SELECT paid_cents FROM jackpot_hit WHERE number = 2 AND "table" = %s', LINKED)
    assert verify().rounds > 0, "no difference was found"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_queue_a_hit_and_a_voided_round_can_be_read_and_fit(
    floor: str,
    browsers: Any,
    scheme: str,
) -> None:
    house = House()
    house.act("round.void", f"{LINKED}/r-1")
    sue = browsers("sue", "/hits/", color_scheme=scheme, viewport={"width": 1280, "height": 900})
    for address in ("/hits/", f"/hits/{FIRST}/", f"/rounds/{LINKED}/r-1", f"/payouts/?table={LINKED}"):
        sue.goto(floor + address)
        assert faults(sue) == [], address
        assert sue.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), address
        kept(sue, f"{scheme}-{address.strip('/').replace('/', '-').partition('?')[0]}")
