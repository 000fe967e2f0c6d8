"""Keys, menus and clicks: everything is reached without a mouse, and every entry and shortcut leads to its page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounting.rules.roles import ROLES
from tests.conftest import Service
from tests.pages.browsers import sign_in
from tests.pages.conftest import person
from tests.services.house import House, message, two_hits

pytestmark = pytest.mark.browser


def test_keys_lead_through_the_house(open_house: House, live_service: Service, browser_page: Page) -> None:
    open_house.play(message("r-1"), message("r-2"), message("r-3"))
    sign_in(browser_page, live_service)
    for keys, address in (("gj", "/jackpots/"), ("ga", "/accounting/"), ("gu", "/audit/"), ("gf", "/")):
        for key in keys:
            browser_page.keyboard.press(key)
        browser_page.wait_for_url(f"{live_service.url}{address}")
    browser_page.keyboard.press("?")
    help_list = browser_page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(help_list).to_be_visible()
    browser_page.keyboard.press("Escape")
    expect(help_list).to_be_hidden()
    browser_page.keyboard.press("/")
    finder = browser_page.get_by_label("Find a round, payout or hit")
    expect(finder).to_be_focused()
    browser_page.keyboard.type("r-2gj?")
    expect(finder).to_have_value("r-2gj?")
    finder.fill("r-2")
    browser_page.keyboard.press("Enter")
    browser_page.wait_for_url(f"{live_service.url}/rounds/MS-101/r-2")
    browser_page.keyboard.press("]")
    browser_page.wait_for_url(f"{live_service.url}/rounds/MS-101/r-3")
    browser_page.keyboard.press("[")
    browser_page.wait_for_url(f"{live_service.url}/rounds/MS-101/r-2")


def test_rows_are_walked_with_j_and_k_and_keep_the_place_when_read_anew(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    open_house.play(message("r-1"), message("r-2"))
    sign_in(browser_page, live_service)
    browser_page.keyboard.press("j")
    browser_page.keyboard.press("j")
    browser_page.keyboard.press("k")
    chosen = browser_page.evaluate("document.activeElement.id")
    assert chosen.startswith("round-ms-mg01-")
    open_house.play(message("r-3"))
    expect(browser_page.locator("#rounds")).to_contain_text("r-3")
    expect(browser_page.locator(f"#{chosen}")).to_be_focused()
    browser_page.keyboard.press("Enter")
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("r-2")


def test_the_theme_is_chosen_and_kept(open_house: House, live_service: Service, browser_page: Page) -> None:
    sign_in(browser_page, live_service)
    root, button = browser_page.locator("html"), browser_page.locator("#theme")
    expect(root).to_have_attribute("data-bs-theme", "light")
    button.click()
    button.click()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    browser_page.reload()
    expect(root).to_have_attribute("data-bs-theme", "dark")
    button.click()
    browser_page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-bs-theme", "dark")
    browser_page.emulate_media(color_scheme="light")
    expect(root).to_have_attribute("data-bs-theme", "light")


def test_the_keyboard_reaches_the_page_first_by_the_skip_link(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    sign_in(browser_page, live_service)
    browser_page.keyboard.press("Tab")
    skip = browser_page.get_by_role("link", name="Skip to the page")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    browser_page.keyboard.press("Enter")
    expect(browser_page.locator("#main")).to_be_focused()


def as_role(page: Page, service: Service, role: str) -> list[tuple[str, str]]:
    """Somebody with this role alone, signed in; the entries of the menu by name with the key that leads there."""
    person(f"a-{role}", role)
    sign_in(page, service, f"a-{role}")
    menu = page.locator("nav.side a[data-key]")
    entries = [(menu.nth(n).inner_text().strip(), menu.nth(n).get_attribute("data-key")) for n in range(menu.count())]
    assert entries, "a role without any page"
    return [(name, key or "") for name, key in entries]


@pytest.mark.parametrize("role", list(ROLES))
def test_every_menu_entry_and_shortcut_leads_to_its_page_as_every_role(
    open_house: House, live_service: Service, page: Page, role: str
) -> None:
    open_house.play(two_hits("r-1"), message("held", community="2c 2c Kd"))
    entries = as_role(page, live_service, role)
    for name, key in entries:
        page.get_by_role("navigation", name="Sections").get_by_role("link", name=name).click()
        expect(page.locator('nav.side a[aria-current="page"]')).to_have_text(name)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        clicked = page.url
        page.get_by_role("navigation", name="Sections").get_by_role("link", name=entries[0][0]).click()
        expect(page.locator('nav.side a[aria-current="page"]')).to_have_text(entries[0][0])
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(clicked)
        expect(page.locator('nav.side a[aria-current="page"]')).to_have_text(name)


def test_the_menus_payouts_is_a_page(open_house: House, live_service: Service, browser_page: Page) -> None:
    """It opened the raw JSON of the API, which had the same name."""
    sign_in(browser_page, live_service)
    browser_page.get_by_role("navigation", name="Sections").get_by_role("link", name="Payouts").click()
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Payouts")


def test_lists_that_are_all_there_are_sorted_by_a_click(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    open_house.play(two_hits("r-1"), message("r-2", table="MS-102"))
    sign_in(browser_page, live_service, onward="/accounting/tables/2026-11-27/")
    first = browser_page.locator("main tbody tr").first
    expect(first).to_contain_text("MS-101")
    heading = browser_page.get_by_role("columnheader", name="Pays")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    expect(browser_page.locator("main tbody tr").last).to_contain_text("MS-101")
    heading.get_by_role("button").click()
    expect(first).to_contain_text("MS-101")
