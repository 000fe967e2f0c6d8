"""Pages fit: on small screens and large ones, under a finger, on paper."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from devices.intake import contact
from devices.models import Device
from tables.models import Table
from tests.conftest import Service
from tests.pages.browsers import sign_in
from tests.pages.lived_in import furnish, pages_of_everybody
from tests.services.house import LINKED, House, two_hits

pytestmark = pytest.mark.browser


CUT = """() => [...document.querySelectorAll("main .scroll, main table, main .sheet, main .facts, .bar")]
    .filter((box) => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).display !== "table"
        || box.tagName === "TABLE" && box.parentElement.clientWidth + 1 < box.offsetWidth)
    .map((box) => (box.id || box.className || box.tagName) + ": " + box.scrollWidth + " in " + box.parentElement.clientWidth)"""


NEEDLESS = """() => {
    const inside = document.documentElement.clientHeight, page = document.querySelector("main");
    const shown = [...page.children].filter((part) => part.checkVisibility());
    const last = Math.max(...shown.map((part) => part.getBoundingClientRect().bottom));
    return document.documentElement.scrollHeight > inside && last + scrollY + 40 <= inside;
}"""


BROKEN = """() => {
    const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), broken = new Set();
    const apart = (a, b) => Math.abs(a.top - b.top) > 4;
    while (words.nextNode()) {
        const text = words.currentNode, inside = text.parentElement;
        if (!inside.checkVisibility() || inside.closest("code, pre, .hash, .mono, .unseen, option")) { continue; }
        for (const found of text.data.matchAll(/[\\p{L}\\p{N}$.,]+/gu)) {
            const range = new Range();
            range.setStart(text, found.index);
            range.setEnd(text, found.index + found[0].length);
            const lines = [...range.getClientRects()];
            if (lines.some((line) => apart(line, lines[0]))) { broken.add(found[0]); }
        }
    }
    return [...broken];
}"""
"""Words and figures that go over two lines."""


SKEWED = """() => [...document.querySelectorAll("main svg rect")].filter((rect) => rect.checkVisibility()
        && ["width", "height"].some((side) => Math.abs(rect.getBBox()[side] - rect.getAttribute(side)) > .01))
    .map((rect) => rect.outerHTML + ": drawn " + rect.getBBox().width + " by " + rect.getBBox().height)"""
"""What a style sheet draws longer or higher than its figure is."""


def fallen_silent(table: str) -> None:
    """A table whose device was heard of two days ago for the last time: what says so is long."""
    device = Device.objects.create(code="G-1", enrolled_at=timezone.now())
    device.tables.set(Table.objects.filter(code=table))
    contact.hear(device.pk, at=timezone.now() - timedelta(days=2, hours=5))
    assert contact.watch(at=timezone.now()) == [table]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_nothing_is_cut_off_and_no_page_scrolls_for_nothing(
    open_house: House, live_service: Service, page: Page, width: int, height: int
) -> None:
    furnish(open_house)
    fallen_silent(LINKED)
    page.set_viewport_size({"width": width, "height": height})
    cut, broken, skewed = {}, {}, {}
    for role, address in pages_of_everybody():
        sign_in(page, live_service, f"a-{role}", onward=address)
        if found := page.evaluate(CUT):
            cut[address] = found
        if found := page.evaluate(BROKEN):
            broken[address] = found
        if found := page.evaluate(SKEWED):
            skewed[address] = found
        assert not page.evaluate(NEEDLESS), f"{address} scrolls for nothing"
    assert cut == {}
    assert broken == {}
    assert skewed == {}


TOO_SMALL = """() => [...document.querySelectorAll("main a, nav a, main button, header a, header button")]
    .filter((part) => part.checkVisibility() && !part.classList.contains("skip") && part.getBoundingClientRect().height < 24)
    .map((part) => part.textContent.trim() + ": " + part.getBoundingClientRect().height)"""


@pytest.mark.timeout(600)
def test_links_are_large_enough_for_a_finger_on_a_tablet(
    open_house: House, live_service: Service, browser: Browser
) -> None:
    furnish(open_house)
    wrong = {}
    with browser.new_context(viewport={"width": 1024, "height": 768}, has_touch=True, is_mobile=True) as context:
        page = context.new_page()
        for role, address in pages_of_everybody():
            sign_in(page, live_service, f"a-{role}", onward=address)
            if found := page.evaluate(TOO_SMALL):
                wrong[address] = found
    assert wrong == {}


def test_the_printed_payouts_name_their_filters(open_house: House, live_service: Service, browser_page: Page) -> None:
    open_house.play(two_hits("r-1"))
    sign_in(browser_page, live_service, onward="/payouts/?table=MS-101&kind=level&min=5&from=2026-11-27")
    browser_page.emulate_media(media="print")
    expect(
        browser_page.get_by_text("From gaming day 2026-11-27; Table MS-101; Kind level; At least, $ 5; newest first.")
    ).to_be_visible()
    expect(browser_page.locator("form.filters")).to_be_hidden()
    expect(browser_page.locator("tfoot")).to_contain_text("All that match, 2 payouts")
