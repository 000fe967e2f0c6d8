"""Before signing it, see it, in a real browser at 1280 pixels: typing, looking, the drawing; nothing runs out of the page."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from accounting.office.services import jobs
from accounting.rules.roles import ADMINISTRATOR
from devices.foresight.work import FORESEE
from tests.conftest import Service
from tests.pages.browsers import faults
from tests.pages.conftest import person
from tests.services.desk import ANYBODY
from tests.services.house import RECEIVED, House, message, royal, two_hits

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, open_house: House, live_service: Service) -> Page:
    """A links administrator at a link with a few rounds and hits."""
    open_house.play(message("R-1"), two_hits("R-2"), message("R-3"), royal("R-4"), message("R-5"))
    person("ada", ADMINISTRATOR)
    client = Client()
    client.force_login(User.objects.get(username="ada"), backend="django.contrib.auth.backends.ModelBackend")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=live_service.url)
    context.add_cookies([
        {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_service.url}
    ])  # fmt: skip
    found = context.new_page()
    found.set_default_timeout(40_000)
    return found


def fits(page: Page) -> None:
    """Nothing is wider than the window."""
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    for box in page.locator(".scroll").all():
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth + 1"), box.text_content()


def nothing_is_cut(page: Page) -> None:
    """Every choice of a list is shown whole, whichever is chosen."""
    cut = page.evaluate("""() => [...document.querySelectorAll(".terms-form select")].flatMap(list => {
        const style = getComputedStyle(list), pen = document.createElement("canvas").getContext("2d");
        pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const room = list.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        return [...list.options].filter(one => pen.measureText(one.text).width > room + 1).map(one => one.text);
    })""")
    assert cut == []


def test_terms_are_typed_looked_at_and_their_replay_drawn(page: Page) -> None:
    page.goto("/jackpots/ms-mg01/")
    page.get_by_role("link", name="Foresee terms").click()
    rate = page.get_by_label("Rate, % of the wager of major")
    expect(rate).to_have_value("17.0003")
    nothing_is_cut(page)
    rate.fill("25")
    page.get_by_label("Progressive wagers a month").fill("200000")
    page.get_by_role("button", name="Foresee", exact=True).click()
    row = page.get_by_role("row", name="Contributed a month")
    expect(row).to_contain_text("$34,000.60")
    expect(row).to_contain_text("$50,000.00")
    fits(page)
    # The drawing of a replay that is done.
    asked = {"link": "ms-mg01", "first": 1, "last": 5, "levels": [{"code": "major", "rate_ppm": 250_000}]}
    job = jobs.start(FORESEE, by=ANYBODY["administrator"], at=RECEIVED, asked=asked)
    assert jobs.run(job.pk, clock=lambda: RECEIVED)
    page.goto(f"/foreseen/{job.pk}/")
    drawing = page.get_by_role("img", name="Level major: the meter ended at")
    expect(drawing).to_be_visible()
    assert drawing.locator("path.line").count() == 2 and drawing.locator("g.mark.hit").count() == 3
    fits(page)
    for theme in ("light", "dark"):
        page.evaluate("theme => document.documentElement.dataset.bsTheme = theme", theme)
        assert faults(page) == []
    page.emulate_media(media="print")
    expect(drawing).to_be_visible()


def test_the_meter_over_time_is_zoomed_and_compared(page: Page) -> None:
    page.goto("/jackpots/ms-mg01/meters/")
    expect(page.locator("g.mark.reset")).to_have_count(2)
    page.get_by_label("Beside").select_option("twin")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("path.line.second")).to_have_count(1)
    fits(page)
    page.get_by_role("link", name="Closer").click()
    assert "from=" in page.url and "with=twin" in page.url
    assert faults(page) == []
