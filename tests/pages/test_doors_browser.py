"""Coming in: by the form, and by an invitation that somebody else made."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from accounting.rules.roles import SECURITY
from tests.conftest import Service
from tests.pages.browsers import faults, sign_in
from tests.pages.conftest import GIVE_UP_MILLISECONDS, PASSWORD, person
from tests.services.house import House

pytestmark = pytest.mark.browser


def test_signing_in_leads_to_what_was_asked_for_and_a_refusal_says_why(
    open_house: House, live_service: Service, browser_page: Page
) -> None:
    User.objects.filter(username="maria").update(password=make_password(PASSWORD, hasher="scrypt"))
    browser_page.goto(f"{live_service.url}/devices/")
    browser_page.get_by_label("User name").fill("maria")
    browser_page.get_by_label("Password").fill("wrong")
    browser_page.keyboard.press("Enter")
    expect(browser_page.get_by_role("alert")).to_contain_text("correct username and password")
    expect(browser_page.get_by_label("User name")).to_have_value("maria")
    browser_page.get_by_label("Password").fill(PASSWORD)
    browser_page.get_by_role("button", name="Sign in").click()
    browser_page.wait_for_url(f"{live_service.url}/devices/")
    browser_page.locator("summary", has_text="maria").click()
    browser_page.get_by_role("button", name="Sign out").click()
    expect(browser_page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_somebody_is_invited_in_one_browser_and_comes_in_by_the_link_in_another(
    open_house: House, live_service: Service, browser_page: Page, browser: Browser, scheme: Any
) -> None:
    person("sam", SECURITY)
    browser_page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    sign_in(browser_page, live_service, "sam", onward="/people/")
    browser_page.get_by_label("Account name").fill("tess")
    browser_page.get_by_label("cage").check()
    assert faults(browser_page) == []
    browser_page.get_by_role("button", name="Invite").click()
    secret = browser_page.locator("#secret")
    expect(secret).to_be_focused()
    link = secret.input_value()
    assert browser_page.evaluate("String(getSelection())") in (link, ""), "ready to be copied"
    assert faults(browser_page) == []

    with browser.new_context(color_scheme=scheme, reduced_motion="reduce") as elsewhere:
        tess = elsewhere.new_page()
        tess.set_default_timeout(GIVE_UP_MILLISECONDS)
        tess.goto(link)
        expect(tess.locator("#id_secret")).to_have_value(link.partition("#")[2])
        assert tess.url == link.partition("#")[0], "the secret does not stay in the address"
        tess.get_by_label("New password").fill(PASSWORD)
        tess.get_by_label("The same again").fill(PASSWORD)
        assert faults(tess) == []
        tess.get_by_role("button", name="Set password").click()
        tess.wait_for_url(f"{live_service.url}/")
        expect(tess.locator("summary")).to_contain_text("tess")

        browser_page.get_by_role("link", name="I have it").click()
        expect(browser_page.locator(".head")).to_contain_text("active")
        assert faults(browser_page) == []
        browser_page.get_by_role("button", name="Suspend").click()
        expect(browser_page.locator(".notice")).to_contain_text("Suspended")
        assert faults(browser_page) == []
        # The page hears by itself that its session ended; whoever asks for another is sent to the door as well.
        expect(tess.get_by_role("heading", level=1)).to_have_text("Sign in")
        tess.goto(f"{live_service.url}/")
        expect(tess.get_by_role("heading", level=1)).to_have_text("Sign in")
