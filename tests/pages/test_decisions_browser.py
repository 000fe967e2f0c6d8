"""Decisions in a real browser: two people, two browsers; keys, forms, a job that is watched, contrast."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from accounting.office import registry
from accounting.office.models import Job
from accounting.office.services import proposals
from tables.services import floors
from tests.pages.browsers import faults
from tests.pages.conftest import person
from tests.services.desk import ACTS, ANYBODY, asking, the_name
from tests.services.house import FLOOR, OPENED

pytestmark = pytest.mark.browser

PEOPLE = {"sue": "supervisor", "ben": "manager", "con": "controller", "aud": "auditor", "ada": "administrator"}


@pytest.fixture
def office(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A house with the tests' acts, served by this very process; its address."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    monkeypatch.setattr(registry, "acts", lambda: ACTS)
    floors.install(FLOOR, at=OPENED)
    for name, role in PEOPLE.items():
        person(name, role)
    return str(live_server.url)


@pytest.fixture
def browsers(browser: Browser, office: str) -> Iterator[Any]:
    """Opens a browser in which somebody is signed in, on a page; nothing may be said on its console."""
    said: list[str] = []
    contexts = []

    def opened(name: str, onward: str = "/decisions/", **options: Any) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        client = Client()
        client.force_login(User.objects.get(username=name), backend="django.contrib.auth.backends.ModelBackend")
        context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": office}])
        page = context.new_page()
        page.set_default_timeout(40_000)
        page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(office + onward)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [line for line in said if "422" not in line] == []


def test_one_proposes_and_another_approves(office: str, browsers: Any) -> None:
    ada, ben = browsers("ada"), browsers("ben")
    ada.locator("summary", has_text="Propose").click()
    ada.get_by_role("link", name="Rename the house").click()
    ada.get_by_role("combobox", name="Property").fill("BOS")
    ada.get_by_label("New name").fill("Boston Light")
    ada.get_by_label("Why").fill("a new owner")
    ada.get_by_role("button", name="Show what would change").click()
    expect(ada.get_by_role("region", name="What would change")).to_contain_text("Boston Harbor")
    ada.get_by_role("button", name="Propose").click()
    expect(ada.get_by_role("heading", level=1)).to_have_text("Rename the house")
    expect(ada.get_by_role("button", name="Withdraw")).to_be_visible()
    expect(ada.get_by_role("button", name="Approve")).to_have_count(0)
    ben.reload()
    ben.keyboard.press("j")
    ben.keyboard.press("Enter")
    ben.get_by_label("Note").fill("seen the deed")
    ben.get_by_role("button", name="Approve").click()
    expect(ben.get_by_role("status").first).to_have_text("You agreed.")
    ada.reload()
    expect(ada.get_by_role("region", name="What changed")).to_contain_text("Boston Light")
    expect(ada.get_by_role("region", name="Who must agree")).to_contain_text("seen the deed")
    assert the_name() == "Boston Light"
    aud = browsers("aud", "/audit/")
    expect(aud.get_by_role("region", name="Records")).to_contain_text("name Boston Harbor → Boston Light")


def test_a_fault_is_found_where_it_was_made(office: str, browsers: Any) -> None:
    sue = browsers("sue", "/decisions/new/house.grant/?subject=BOS")
    sue.get_by_label("Amount").fill("12,50")
    sue.get_by_label("Why").select_option("boost")
    sue.get_by_label("Reference").fill("Ticket 7")
    sue.keyboard.press("Enter")
    amount = sue.get_by_label("Amount")
    expect(amount).to_have_accessible_description("An amount like 1,250.00 or 1250 is expected")
    expect(amount).to_have_value("12,50")
    amount.fill("1,250.00")
    sue.keyboard.press("Enter")
    expect(sue.get_by_role("region", name="Asked for")).to_contain_text("$1,250.00")


def test_a_job_is_watched_until_it_is_over(office: str, browsers: Any) -> None:
    now = datetime.now(UTC)
    job = Job.objects.create(
        kind="verify", by="aud", asked_at=now, state="running", started_at=now, beat_at=now, done=250, total=1_000
    )
    aud = browsers("aud", f"/audit/jobs/{job.pk}/")
    expect(aud.get_by_role("region", name="Progress")).to_contain_text("250 of 1,000")
    Job.objects.update(done=700)
    expect(aud.get_by_role("region", name="Progress")).to_contain_text("700 of 1,000")
    Job.objects.update(
        state="done", finished_at=now, done=1_000, detail="no difference in 1,000 events",
        result={"ok": True, "summary": "no difference in 1,000 events", "counts": {"events": 1_000}},
    )  # fmt: skip
    expect(aud.get_by_role("status")).to_have_text("No difference in 1,000 events")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable_and_fit(office: str, browsers: Any, scheme: Any) -> None:
    at = datetime.now(UTC)
    large = asking("house.grant", payload={"cents": -12_345_678_90, "part": "reserve"})
    waiting = proposals.propose(large, by=ANYBODY["supervisor"], at=at)
    proposals.approve(waiting.pk, by=ANYBODY["manager"], at=at, note="seen")
    refused = proposals.propose(asking(payload={"name": "Unlucky"}), by=ANYBODY["administrator"], at=at)
    proposals.approve(refused.pk, by=ANYBODY["manager"], at=at)
    job = Job.objects.create(kind="verify", by="aud", asked_at=at, state="failed", finished_at=at, detail="broken")
    seen = {
        "con": ("/decisions/", f"/decisions/{waiting.pk}/", f"/decisions/{refused.pk}/"),
        "sue": ("/decisions/new/house.grant/?subject=BOS", "/decisions/new/house.note/"),
        "aud": ("/decisions/", f"/audit/jobs/{job.pk}/", "/audit/"),
    }
    for name, addresses in seen.items():
        page = browsers(name, color_scheme=scheme, viewport={"width": 1280, "height": 800})
        for address in addresses:
            page.goto(office + address)
            expect(page.locator("html")).to_have_attribute("data-bs-theme", scheme)
            assert faults(page) == [], address
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{address} is too wide"
