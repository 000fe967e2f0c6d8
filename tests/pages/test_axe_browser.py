"""axe on every page as every role that sees it, light and dark: it finds nothing."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounting.rules.roles import ROLES
from accounting.shell.navigation import SECTIONS
from tests.conftest import Service
from tests.pages.browsers import Seen, faults_in_both_themes, sign_in
from tests.pages.lived_in import client_of, furnish
from tests.pages.walking import kind_of, pages_of
from tests.services.house import House

pytestmark = pytest.mark.browser


def told(wrong: dict[str, list[str]]) -> str:
    """Faults, one a line."""
    return "\n".join(f"{where}: {fault}" for where, faults in wrong.items() for fault in faults)


SEEN = Seen()
"""What was looked at already, as another role."""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("role", ROLES)
def test_axe_finds_nothing_on_any_page_of_a_role(
    open_house: House, live_service: Service, browser_page: Page, role: str
) -> None:
    furnish(open_house)
    sign_in(browser_page, live_service, f"a-{role}", onward="/account/")
    browser_page.emulate_media(reduced_motion="reduce")
    wrong = {}
    for address in pages_of(client_of(role), role).one_of_each():
        browser_page.goto(live_service.url + address)
        if found := faults_in_both_themes(browser_page, SEEN, kind_of(address)):
            wrong[address] = found
        assert browser_page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (
            f"{address}: too wide"
        )
    assert wrong == {}, told(wrong)


def test_axe_finds_nothing_where_something_is_refused_or_open_to_all(
    open_house: House, live_service: Service, page: Page
) -> None:
    """Doors, signs, what is not there or not for one's role, what cannot be read; the menu and the list of keys."""
    furnish(open_house)
    page.emulate_media(reduced_motion="reduce")
    wrong = {}

    def look(name: str) -> None:
        if found := faults_in_both_themes(page):
            wrong[name] = found

    for address in ("/sign-in", "/first-sign-in/tess", "/first-sign-in/nobody", "/sign/twin", "/sign/none"):
        page.goto(live_service.url + address)
        look(address)
    page.goto(f"{live_service.url}/sign-in")
    page.get_by_label("User name").fill("a-cage")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    look("a wrong password")
    sign_in(page, live_service, "a-cage")
    closed = next(section for section in SECTIONS if "cage" not in section.roles)
    for address in (
        "/nowhere",
        f"/{closed.code}/",
        "/payouts/?min=12,50",
        "/find?q=none",
        "/find?q=r",
        "/devices/?before=x",
    ):
        page.goto(live_service.url + address)
        look(address)
    page.locator("details.menu summary").click()
    look("the menu")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    look("the keys")
    assert wrong == {}, told(wrong)
