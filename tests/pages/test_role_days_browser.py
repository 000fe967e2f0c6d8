"""The whole day of a role in a browser, by what its pages offer: entries of the menu, keys, buttons, links; no addresses."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Download, Locator, Page, expect

from accounting.office.models import Job
from accounting.office.services import jobs, proposals
from accounting.rules.roles import ACCOUNTING, AUDITOR, CAGE, CONTROLLER, MANAGER, SUPERVISOR
from accounting.services import readings
from devices.closing import checklist, sheet, verifying
from tests.conftest import Service
from tests.pages.conftest import PASSWORD, person
from tests.services.desk import ANYBODY
from tests.services.house import House, message, rows, royal, run, two_hits, verify

pytestmark = pytest.mark.browser

HIT = "ms-mg01-000001"
WINNER = {
    "Name": "Pat Winner", "Address": "1 Main Street, Boston MA", "Taxpayer's number": "123-45-6789",
    "First identification": "MA S1234567", "Second identification": "passport 555",
}  # fmt: skip
CHECKS = ["cards", "seat", "wager_sensor", "surveillance"]


def asked(role: str, act: str, subject: str, *, evidence: Any = None, **payload: Any) -> int:
    """What somebody of another role asks for meanwhile; its proposal."""
    body = {"act": act, "subject": subject, "payload": payload, "reason": "looked into"}
    body |= {"evidence": evidence} if evidence else {}
    return proposals.propose(body, by=ANYBODY[role], at=datetime.now(UTC)).pk


def signed_off_by_the_controller() -> None:
    """Whoever else must look at a reading that was explained has."""
    for (number,) in rows("SELECT DISTINCT reading_id FROM accounting_readingnote"):
        readings.sign_off(number, at=datetime.now(UTC), by="con")


def as_cents(shown: str) -> int:
    """An amount as a page shows it, in cents."""
    return int(re.sub(r"[^0-9]", "", shown))


def in_dollars(cents: int) -> str:
    """As people type it."""
    return f"{cents // 100}.{cents % 100:02d}"


@pytest.fixture
def played(open_house: House) -> House:
    """An evening: a royal with its envy that was verified and approved, a second hit, a held round, a losing one."""
    run("INSERT INTO accounting_gamingday (date, closed_at) VALUES ('2026-11-26', now())")
    open_house.play(
        message("r-1"),
        royal("r-2"),
        two_hits("r-3", table="TW-201"),
        message("r-4", community="2c 2c Kd"),
        message("r-5"),
    )
    asked(SUPERVISOR, "hit.verify", HIT, checks=CHECKS)
    asked(MANAGER, "hit.approve", HIT, note="seen on the recording")
    return open_house


class Desk:
    """Somebody at their desk, signed in by the form, who works with what the pages offer."""

    def __init__(self, page: Page, service: Service, name: str, role: str) -> None:
        self.page, self.name = page, name
        user = person(name, role)
        User.objects.filter(pk=user.pk).update(password=make_password(PASSWORD, hasher="scrypt"))
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(service.url)
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.locator("header.bar summary")).to_contain_text(name)

    def keys(self, *keys: str) -> None:
        """Press one key after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def at(self, heading: str | re.Pattern[str]) -> None:
        """Arrive at a page."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(heading)
        self.kept()

    def link(self, name: str | re.Pattern[str], within: Page | Locator | None = None) -> None:
        """Follow a link by its name."""
        (within or self.page).get_by_role("link", name=name).first.click()

    def button(self, name: str | re.Pattern[str]) -> None:
        """Press a button by its name."""
        self.page.get_by_role("button", name=name).first.click()

    def part(self, name: str | re.Pattern[str]) -> Locator:
        """A region of the page by its name."""
        return self.page.get_by_role("region", name=name)

    def taken(self, press: Callable[[], None]) -> Download:
        """What the browser saves when something is pressed."""
        with self.page.expect_download() as found:
            press()
        return found.value

    def kept(self) -> None:
        """A picture for whoever asks for them: `SCREENSHOTS` names the folder."""
        if folder := os.environ.get("SCREENSHOTS"):
            place = len(list(Path(folder).glob(f"{self.name}-*.png")))
            self.page.screenshot(path=Path(folder) / f"{self.name}-{place:02d}.png", full_page=True)


def work_is_done() -> None:
    """What a worker does meanwhile."""
    for job in Job.objects.filter(state="queued"):
        jobs.run(job.pk, clock=timezone.now)


@pytest.fixture
def desk(live_service: Service, browser_page: Page) -> Callable[[str, str], Desk]:
    """Somebody comes to work: a name, and a role."""
    return lambda name, role: Desk(browser_page, live_service, name, role)


Comes = Callable[[str, str], Desk]


def test_the_cage_pays_a_hit_and_hands_its_slip_over(played: House, desk: Comes) -> None:
    cy = desk("cy", CAGE)
    cy.keys("g", "h")
    cy.at("Hits")
    cy.link(re.compile("My turn"))
    expect(cy.page.get_by_role("link", name="All of them")).to_be_visible()
    cy.keys("j", "Enter")
    cy.at(re.compile(HIT))
    cy.link("Who won")  # tax is withheld: it is taken down before it is paid
    cy.at(re.compile("Who won"))
    expect(cy.page.get_by_label("Name 1")).to_be_focused()
    for label, text in WINNER.items():
        cy.page.get_by_label(f"{label} 1").fill(text)
    cy.kept()
    cy.button("Keep, sealed")
    cy.at(re.compile(HIT))
    cy.link("Pay a hit")
    cy.at("Pay a hit")
    expect(cy.page.get_by_label("Paid from")).to_be_focused()
    cy.keys("ArrowDown", "Tab")
    cy.page.keyboard.type("counted twice")
    cy.button("Show what would change")
    expect(cy.page.get_by_role("row", name="Handed over $7,600.63")).to_be_visible()
    expect(cy.page.get_by_role("button", name="Pay a hit")).to_be_focused()
    cy.keys("Enter")
    expect(cy.part("What changed")).to_contain_text("slip 000001, $7,600.63 handed over, $2,399.88 of tax withheld")
    cy.kept()
    cy.link("slip 000001")
    cy.at("Slip 000001")
    expect(cy.part("Tax")).to_contain_text("taken down")
    for copy, (press, kept) in enumerate((("Print the original", "original"), ("Print a duplicate", "duplicate 1"))):
        with cy.page.expect_popup() as opened:
            cy.button(press)
        opened.value.wait_for_url(f"**/slips/000001/prints/{copy}.pdf")
        assert cy.page.request.get(opened.value.url).body().startswith(b"%PDF")
        opened.value.close()
        expect(cy.part("Prints").get_by_role("row", name=kept)).to_contain_text("cy")
    cy.keys("g", "h")
    cy.link("Pay envy", cy.part("Envy that is owed").get_by_role("row", name="$1,000.00"))
    cy.at("Pay envy")
    expect(cy.page.get_by_label("Paid from")).to_be_focused()
    cy.keys("ArrowDown", "Tab")
    cy.page.keyboard.type("counted")
    cy.button("Pay envy")
    expect(cy.part("What changed")).to_contain_text("slip 000002")
    cy.keys("g", "l")
    cy.at("Slips")
    cy.page.get_by_label("Prepared by").fill("cy")
    cy.button("Search")
    expect(cy.page.get_by_role("row", name="Paid, 2")).to_contain_text("$11,000.51")
    assert cy.taken(lambda: cy.link("All that match as CSV")).path().read_text().count("cy") >= 2
    verify()


def test_accounting_reads_the_meters_explains_reports_adjusts_and_signs_first(played: House, desk: Comes) -> None:
    ann = desk("ann", ACCOUNTING)
    ann.keys("g", "a")
    ann.at("Trial balance")
    ann.link("Gaming days")
    ann.at("Gaming days")
    ann.link("Readings", ann.page.get_by_role("row", name="27 Nov 2026"))
    ann.at("Meter readings")
    major = ann.page.get_by_label("Reading of ms-mg01/major")
    expect(major).to_be_focused()
    rows = ann.page.get_by_role("form", name="Readings").locator("tbody tr")
    for place, cents in enumerate((1, 0, 0)):
        expected = rows.nth(place).locator("td").nth(-5).inner_text()
        ann.page.keyboard.type(in_dollars(as_cents(expected) + cents))
        ann.keys("Enter")
    ann.page.get_by_label("Note").fill("signs over pit 1")
    ann.button("Keep these readings")
    expect(ann.page.get_by_role("status").first).to_have_text("3 readings are on record.")
    expect(ann.page.get_by_label("Explanation of ms-mg01/major")).to_be_focused()
    ann.page.keyboard.type("the sign was read a round early")
    ann.keys("Enter")
    taken = ann.part("Readings on record")
    expect(taken).to_contain_text("the sign was read a round early")
    ann.kept()
    signed_off_by_the_controller()
    ann.keys("[")
    ann.at(re.compile("Gaming day"))
    expect(ann.page.get_by_role("button", name="Propose to close")).to_be_disabled()
    ann.button("Verify now")
    work_is_done()
    expect(ann.page.locator(".head .state")).to_have_text("ready to be closed")
    expect(ann.page.get_by_role("link", name=f"{HIT} approved")).to_be_visible()
    ann.kept()
    ann.button("Propose to close")
    expect(ann.part("Who must agree")).to_contain_text("accounting manager")
    ann.kept()
    ann.keys("g", "r")
    ann.link("Daily progressive report")
    ann.at("Daily progressive report")
    expect(ann.page.locator("main")).to_contain_text("software version")
    ann.kept()
    for form, begins in (("CSV", b"Daily progressive report"), ("XLSX", b"PK"), ("PDF", b"%PDF")):
        content = ann.taken(lambda form=form: ann.link(form)).path().read_bytes()  # type: ignore[misc]
        assert begins in content[:200], form
    ann.keys("g", "j")
    ann.link(re.compile("Multi-Game 1|ms-mg01"), ann.page.locator("main"))
    ann.link("Adjust a level")
    ann.at("Adjust a level")
    ann.page.get_by_label("Part").select_option("display")
    ann.page.get_by_label("Amount").fill("5.00")
    ann.page.get_by_label("Reason", exact=True).select_option("correction")
    ann.page.get_by_label("Why").fill("a wager was not counted")
    ann.page.get_by_label("Reference").fill("Ticket 4711")
    ann.button("Show what would change")
    expect(ann.part("What would change")).to_contain_text("$10,005.17")
    ann.button("Propose")
    expect(ann.page.locator(".head .state")).to_have_text("waiting")
    ann.keys("g", "w")
    expect(ann.part("Proposed by me, waiting").get_by_role("row")).to_have_count(3)
    ann.kept()


def test_the_controller_approves_signs_second_and_follows_a_total_to_its_message(played: House, desk: Comes) -> None:
    verifying.verify_all(at=datetime.now(UTC))
    evidence = {"reference": "Ticket 4711"}
    asked(
        ACCOUNTING, "level.adjust", "ms-mg01/major", evidence=evidence, part="display", cents=500, reason="correction"
    )
    day = date(2026, 11, 27)
    sheet.read_by_machine(day, at=datetime.now(UTC), by="ann")
    verifying.verify_all(at=datetime.now(UTC))
    asked(ACCOUNTING, "day.close", "2026-11-27", sequences=checklist.look(day, at=datetime.now(UTC)).sequences)
    con = desk("con", CONTROLLER)
    con.keys("g", "w")
    con.at("Decisions")
    for title, note in (("Close a gaming day", "as counted"), ("Adjust a level", "the ticket is there")):
        con.link(title, con.part("Waiting for me"))
        con.at(title)
        con.page.get_by_label("Note").fill(note)
        con.button("Approve")
        expect(con.page.get_by_role("status").first).to_contain_text("You agreed.")
        con.kept()
        con.keys("[")
    expect(con.part("Waiting for me")).to_contain_text("Nothing waits for you")
    con.keys("g", "a")
    con.link("Gaming days")
    con.link("27 Nov 2026", con.part("Closed"))
    expect(con.part("Signed heads")).to_contain_text("ms-mg01")
    con.kept()
    con.button("The day's pack")
    work_is_done()
    pack = con.taken(lambda: con.link(re.compile(r"BOS-2026-11-27\.zip")))
    assert pack.path().read_bytes().startswith(b"PK")
    con.kept()
    con.keys("g", "a")
    con.at("Trial balance")
    con.keys("[")
    expect(con.page.locator(".head")).to_contain_text("27 Nov 2026")
    expect(con.part("Accounts")).to_contain_text("debits equal credits")
    con.kept()
    con.link("Awards payable to players")
    con.link("ms-mg01 / 2")
    con.at("Event 2 of ms-mg01")
    con.link("MS-101/r-2")
    con.at("r-2")
    expect(con.page.locator("main")).to_contain_text('"community"')
    con.kept()


def test_an_auditor_finds_a_payout_verifies_it_and_takes_a_pack_away(
    played: House, desk: Comes, tmp_path: Path
) -> None:
    aud = desk("aud", AUDITOR)
    aud.keys("g", "p")
    aud.at("Payouts")
    aud.page.get_by_label("Kind").select_option("level")
    aud.page.get_by_label("Link").select_option("ms-mg01")
    aud.button("Search")
    expect(aud.page).to_have_url(re.compile("kind=level"))
    aud.keys("j", "Enter")
    aud.at(re.compile(r"How \$10,000\.51 was reached"))
    acts_offered(aud)
    aud.button("Verify")
    expect(aud.part("Verified on the spot")).to_contain_text("no difference")
    aud.kept()
    aud.keys("g", "u")
    aud.at("Audit")
    aud.kept()
    aud.link(re.compile("pack", re.IGNORECASE), aud.page.locator("main"))
    key = re.findall(r"\b[0-9a-f]{64}\b", aud.part("What is in it").inner_text())[0]
    aud.page.get_by_label("Stream", exact=True).select_option("ms-mg01")
    aud.button("Make the pack")
    work_is_done()
    file = aud.taken(lambda: aud.link(re.compile(r"ms-mg01-.*\.zip")))
    aud.kept()
    file.save_as(tmp_path / "pack.zip")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", "pack.zip", "out"], cwd=tmp_path, check=True)
    offline = subprocess.run(
        [sys.executable, "-I", "-S", "out/verifier.pyz", "pack.zip", "--key", key],
        cwd=tmp_path, capture_output=True, text=True, check=False, env={"PYTHONTZPATH": ""},
    )  # fmt: skip
    assert (offline.returncode, offline.stdout.splitlines()[-1]) == (0, "no difference"), offline.stderr
    for key in "fjhplaradosw":
        aud.keys("g", key)
        expect(aud.page.locator('nav.side a[aria-current="page"]')).to_have_attribute("data-key", key)
        acts_offered(aud)


LOOKS = re.compile(r"/(sign-out|account/.*|payouts/.*|searches.*|audit/.*|reports/.*|decisions/)$")
"""Where an auditor's forms may go: to whatever looks, keeps a search, or makes a file."""


def acts_offered(desk: Desk) -> None:
    """None is offered on this page: no link to a form of an act, no form that sends anything but a question."""
    expect(desk.page.locator("main a[href*='/decisions/new/']")).to_have_count(0)
    forms = desk.page.locator("form[method=post]")
    sent = [str(forms.nth(n).evaluate("(form) => new URL(form.action).pathname")) for n in range(forms.count())]
    assert [address for address in sent if not LOOKS.search(address)] == []
